// Source beside tile IR, PTX and SASS. A line under the pointer lights up what it became and where
// it came from; a click keeps it and brings the others into view.

const code = { panes: [], index: new Map(), pinned: null };

function keyOf(file, line) { return file + ":" + line; }

/** One expression of alternatives: its groups are comments, texts, words, numbers and types. */
const anyOf = (...parts) => new RegExp(parts.map(part => part.source).join("|"), "g");
const quoted = /("(?:[^"\\]|\\.)*")/;
const keywords = "kernel fn let var for in out inout if else const where grid with tune config " +
  "import return while as struct key dtype true false";

const words = {
  source: anyOf(/(\/\/.*)/, quoted, new RegExp(`\\b(${keywords.replaceAll(" ", "|")})\\b`),
    /\b(\d[\w.]*)\b/, /\b([fui]\d+|bf16|tf32|f8e\w+|bool|index|int)\b/),
  ir: anyOf(/(\/\/.*)/, quoted,
    /\b((?:tile_gpu|tile|arith|math|scf|tensor|vector|gpu|func)\.[\w.]+)/,
    /\b(\d[\w.]*)\b/, /([!#][\w.]+|\btensor<[^>]*>)/),
  ptx: anyOf(/(\/\/.*)/, quoted, /(?<=^\s*(?:@!?%?\w+\s+)?)([a-z][\w.:]*)(?=[\s;])/,
    /\b(0[fdx][0-9A-Fa-f]+|\d+)\b/, /(%[\w.]+)/),
  sass: anyOf(/(\/\*[0-9a-f]+\*\/)/, quoted, /\b([A-Z][A-Z0-9]+(?:\.[A-Z0-9_.]+)*)(?=[\s;])/,
    /\b(0x[0-9a-f]+|\d+)\b/, /\b(U?R\d+|U?P\d+|[UR]*Z|PT)\b/),
};

function colored(text, language) {
  const result = [];
  let last = 0;
  for (const match of text.matchAll(words[language])) {
    const kind = ["c", "s", "k", "n", "t"][match.slice(1).findIndex(part => part !== undefined)];
    result.push(text.slice(last, match.index), el("span", { class: kind }, match[0]));
    last = match.index + match[0].length;
  }
  result.push(text.slice(last));
  return result;
}

/** The rows of a pane, each with the source lines it belongs to. */
function addRow(pane, number, text, language, keys, heat) {
  const row = el("div", { class: keys.length ? "row has" : "row" },
    el("span", { class: "no" }, String(number)), heat,
    el("pre", {}, colored(text, language)));
  row.keys = keys;
  for (const key of keys) {
    if (!code.index.has(key)) code.index.set(key, new Set());
    code.index.get(key).add(row);
  }
  pane.body.append(row);
}

function clearPane(pane) {
  for (const rows of code.index.values())
    for (const row of [...rows]) if (row.pane === pane) rows.delete(row);
  pane.body.replaceChildren();
}

/** How many lines of a listing come from each source line, calls included. */
function countLines(listing) {
  const counts = new Map();
  for (const [, ...places] of listing ? listing.places : [])
    for (let i = 0; i < places.length; i += 2) {
      const key = keyOf(places[i], places[i + 1]);
      counts.set(key, (counts.get(key) || 0) + 1);
    }
  return counts;
}

/** What a profile counted at each source line, and at each line of the SASS. */
function profiledLines(data) {
  const lines = new Map(), machine = new Map();
  if (!data.profile) return { lines, machine };
  const isShown = each => page.kernel && each.kernel === page.kernel.symbol;
  const kernel = data.profile.kernels.find(isShown) ||
    data.profile.kernels[0];
  for (const row of kernel.lines) lines.set(keyOf(row.file, row.line), row);
  for (const [line, samples, executed] of kernel.code || [])
    machine.set(line, { samples, executed });
  return { lines, machine, kernel };
}

/** The bar of a row of a profile: its part of all samples. */
function profileHeat(row, kernel) {
  if (!row) return el("span", { class: "heat" });
  const part = kernel.samples ? 100 * row.samples / kernel.samples : 0;
  const stalls = Object.entries(row.stalls || {}).sort((a, b) => b[1] - a[1]).slice(0, 4)
    .map(([name, count]) => `${name} ${count}`).join(", ");
  return el("span", { class: "heat", title: `${row.samples} samples (${part.toFixed(1)}%), ` +
    `${row.executed} instructions executed` + (stalls ? `: ${stalls}` : "") },
    String(row.samples), el("i", { style: `width:${Math.max(2, part)}%` }));
}

function fillSource(pane, data) {
  clearPane(pane);
  const profile = profiledLines(data);
  const machine = data.listings.find(each => each.stage === "sass") ||
    data.listings.find(each => each.stage === "ptx");
  const counts = countLines(machine);
  const most = Math.max(1, ...counts.values());
  data.sources.forEach((source, file) => {
    if (source.text === undefined) return;
    if (file > 0) pane.body.append(el("h3", {}, source.name));
    source.text.replace(/\n$/, "").split("\n").forEach((text, i) => {
      const count = counts.get(keyOf(file, i + 1));
      const heat = profile.kernel ? profileHeat(profile.lines.get(keyOf(file, i + 1)),
        profile.kernel) : el("span", { class: "heat", title: count ?
        `${count} instructions of ${machine.title} come from this line` : "" },
        count ? String(count) : "",
        count ? el("i", { style: `width:${Math.max(2, 100 * count / most)}%` }) : null);
      addRow(pane, i + 1, text, "source", [keyOf(file, i + 1)], heat);
    });
  });
  pane.count.textContent = profile.kernel ? "samples of " + data.profile.file
    : machine ? "instructions of " + machine.title : "";
  for (const row of pane.body.children) row.pane = pane;
}

function fillListing(pane, data) {
  clearPane(pane);
  const listing = data.listings.find(each => each.stage === pane.select.value);
  if (!listing) {
    const why = (data.missing || {})[pane.select.value] || "this stage was not made";
    pane.body.append(el("p", { class: "empty" }, why));
    pane.count.textContent = "";
    return;
  }
  const profile = listing.stage === "sass" ? profiledLines(data) : { machine: new Map() };
  const places = new Map(listing.places.map(([line, ...rest]) => [line, rest]));
  const language = { ptx: "ptx", sass: "sass" }[listing.stage] || "ir";
  listing.text.split("\n").forEach((text, i) => {
    const keys = [], found = places.get(i + 1) || [];
    for (let k = 0; k < found.length; k += 2) keys.push(keyOf(found[k], found[k + 1]));
    const shown = text.replace(/\t/g, "    ").replace(/^\s+(\/\*[0-9a-f]{4,}\*\/)\s{9}/, "$1");
    addRow(pane, i + 1, shown, language, keys, profile.machine.size ?
      profileHeat(profile.machine.get(i + 1), profile.kernel) : null);
  });
  pane.count.textContent = listing.text.split("\n").length + " lines";
  for (const row of pane.body.children) row.pane = pane;
  if (code.pinned) light(code.pinned, "pinned", pane);
}

function light(keys, name, from) {
  document.querySelectorAll(".row." + name).forEach(row => row.classList.remove(name));
  const seen = new Set();
  for (const key of keys || [])
    for (const row of code.index.get(key) || []) {
      row.classList.add(name);
      if (name === "pinned" && row.pane !== from && !seen.has(row.pane)) {
        seen.add(row.pane);
        const body = row.pane.body;
        body.scrollTop = row.offsetTop - body.offsetTop - body.clientHeight / 3;
      }
    }
}

/** Keeps the line of a file lit and brings it into view everywhere. */
function pinLine(file, line) {
  code.pinned = [keyOf(file, line)];
  openTab("code");
  light(code.pinned, "pinned", null);
}

function makePane(title, stages, value) {
  const pane = { body: el("div", { class: "pane" }), count: el("span", { class: "count" }) };
  if (stages) {
    pane.select = el("select", { "aria-label": "stage" }, stages.map(([stage, name]) =>
      el("option", { value: stage, selected: stage === value }, name)));
  }
  pane.node = el("div", { class: "card" },
    el("div", { class: "bar" }, stages ? pane.select : el("b", {}, title), pane.count), pane.body);
  pane.body.addEventListener("mouseover", event => {
    const row = event.target.closest(".row");
    light(row ? row.keys : [], "hot", pane);
  });
  pane.body.addEventListener("mouseleave", () => light([], "hot", pane));
  pane.body.addEventListener("click", event => {
    const row = event.target.closest(".row");
    code.pinned = row && row.keys.length ? row.keys : null;
    light(code.pinned, "pinned", pane);
  });
  code.panes.push(pane);
  return pane;
}

function viewCode(data) {
  const stages = [["tile", "tile IR"], ["tile-opt", "tile IR, optimised"], ["gpu", "tile_gpu IR"],
    ["ptx", "PTX"], ["sass", "SASS"]].filter(([stage]) =>
      data.listings.some(each => each.stage === stage) || (data.missing || {})[stage]);
  const names = stages.map(([stage]) => stage);
  const source = makePane(data.sources[0].name, null, "");
  const left = makePane("", stages, names.includes("gpu") ? "gpu" : names[0]);
  const right = makePane("", stages, names[names.length - 1]);
  fillSource(source, data);
  for (const pane of [left, right]) {
    pane.select.addEventListener("change", () => fillListing(pane, data));
    fillListing(pane, data);
  }
  return [el("div", { class: "panes" }, source.node, left.node, right.node)];
}
