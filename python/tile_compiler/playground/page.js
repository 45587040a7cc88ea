"use strict";
// The playground: checks while one types, runs and explains when asked.

const token = document.querySelector("meta[name=tile-token]").content;
const byId = id => document.getElementById(id);

const examples = {
  "vector add": ["--random N=20", `kernel add(x: in f32[N], y: in f32[N], z: out f32[N])
  where N in 1..=1048576
  grid (i: cdiv(N, 1024))
{
  let n = block(i, 1024);
  z[n] = x[n] + y[n];
}
`],
  "softmax": ["-D T=f32 --random M=6,N=40 --shape M=4096,N=4096",
    `kernel softmax[T: dtype in {f16, bf16, f32}, BLOCK: int = 1024](
    x: in T[M, N], y: out T[M, N])
  where M in 1..=1048576 opt 4096, N in 1..=1048576 opt 4096
  grid (row: M)
{
  var top: f32 = lowest(f32);
  var den: f32 = 0.0;
  for n in blocks(N, BLOCK) {
    let v = load(x[row, n], pad: -inf) as f32;
    let t = max(top, max(v));
    den = den * exp(top - t) + sum(exp(v - t));
    top = t;
  }
  for n in blocks(N, BLOCK) {
    y[row, n] = (exp(x[row, n] as f32 - top) / den) as T;
  }
}
`],
  "matmul": ["--random M=32,N=40,K=24 --shape M=4096,N=4096,K=4096",
    `kernel matmul(a: in f16[M, K], b: in f16[K, N], c: out f16[M, N])
  where M in 1..=65536 opt 4096, N in 8..=65536 opt 4096, K in 8..=65536 opt 4096,
        K % 8 == 0, N % 8 == 0
  grid (i: cdiv(M, 128), j: cdiv(N, 256))
  with grouped(8), persistent, warps(8), stages(4)
{
  let m = block(i, 128);
  let n = block(j, 256);
  var acc = zeros(f32, [128, 256]);
  for k in blocks(K, 64) {
    acc = dot(a[m, k], b[k, n], acc);
  }
  c[m, n] = acc as f16;
}
`],
};

async function ask(what) {
  const answer = await fetch("/api/" + what, {
    method: "POST",
    headers: { "Content-Type": "application/json", "X-Tile-Token": token },
    body: JSON.stringify({ source: editor.text, options: byId("options").value }),
  });
  if (!answer.ok) throw new Error(await answer.text());
  return answer.json();
}

/** Offsets of diagnostics count bytes of UTF-8, those of the editor UTF-16 units. */
function toUnits(text, bytes) {
  const encoded = new TextEncoder().encode(text);
  return new TextDecoder().decode(encoded.slice(0, bytes)).length;
}

function showDiagnostics(diagnostics) {
  const list = byId("diagnostics"), marks = [];
  list.replaceChildren();
  for (const each of diagnostics) {
    const item = document.createElement("li"), severity = document.createElement("b");
    severity.className = each.severity;
    severity.textContent = `${each.severity} ${each.code || ""} `;
    item.append(severity, each.message);
    const place = each.place;
    if (place) {
      const begin = toUnits(editor.text, place.begin.offset);
      const end = Math.max(toUnits(editor.text, place.end.offset), begin + 1);
      marks.push({ begin, end, kind: each.severity === "error" ? "wrong" : "doubtful" });
      item.onclick = () => editor.goTo(begin);
      severity.textContent += `line ${place.begin.line}: `;
    }
    for (const note of each.notes || []) {
      const small = document.createElement("small");
      small.textContent = note.text;
      item.append(small);
    }
    list.append(item);
  }
  editor.mark(marks.sort((a, b) => a.begin - b.begin));
}

let waiting = 0, round = 0;
async function check() {
  const mine = ++round;
  try {
    const result = await ask("check");
    if (mine === round) showDiagnostics(result.diagnostics);
  } catch (error) { showResult(String(error)); }
}

function later() {
  clearTimeout(waiting);
  waiting = setTimeout(check, 350);
}

function showResult(...children) {
  byId("page").hidden = true;
  byId("result").hidden = false;
  byId("result").replaceChildren(...children);
}

function text(tag, words, name) {
  const node = document.createElement(tag);
  node.textContent = words;
  if (name) node.className = name;
  return node;
}

async function run() {
  showResult(text("p", "running …", "note"));
  const result = await ask("run");
  showDiagnostics(result.diagnostics);
  if (!result.outputs)
    return showResult(text("p", "The kernel was not run.", "note"), text("pre",
      result.diagnostics.map(each => each.message).join("\n") || result.said));
  const parts = [text("pre", result.said.trim())];
  for (const output of result.outputs) {
    parts.push(text("h2", `${output.name}: ${output.dtype}[${output.shape.join(", ")}]`));
    const table = document.createElement("table");
    for (const row of output.rows) {
      const line = document.createElement("tr");
      line.append(...row.map(value => text("td", value)));
      table.append(line);
    }
    parts.push(table);
    if (output.cut) parts.push(text("p", "The rest is left out.", "note"));
  }
  showResult(...parts);
}

async function explain() {
  showResult(text("p", "compiling …", "note"));
  const result = await ask("explain");
  showDiagnostics(result.diagnostics);
  if (!result.page)
    return showResult(text("p", "The kernel does not compile.", "note"), text("pre",
      result.diagnostics.map(each => each.message).join("\n") || result.said));
  byId("result").hidden = true;
  byId("page").hidden = false;
  byId("page").srcdoc = result.page;
}

function guarded(work) {
  return () => work().catch(error => showResult(text("pre", String(error))));
}

const editor = new Editor(byId("editor"), later);
for (const name of Object.keys(examples)) byId("examples").append(text("option", name));
byId("examples").onchange = () => {
  [byId("options").value, editor.text] = examples[byId("examples").value];
  check();
};
byId("run").onclick = guarded(run);
byId("explain").onclick = guarded(explain);
addEventListener("keydown", event => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) guarded(run)();
});
const start = new URLSearchParams(location.search).get("example") || "softmax";
byId("examples").value = examples[start] ? start : "softmax";
byId("examples").onchange();
const first = new URLSearchParams(location.search).get("do");
if (first === "run") guarded(run)();
if (first === "explain") guarded(explain)();
