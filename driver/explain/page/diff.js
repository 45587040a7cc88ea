// The page of a comparison: figures beside each other, and the difference of two texts.

function changeOf(row) {
  if (typeof row.a !== "number" || typeof row.b !== "number") return "";
  if (row.a === row.b || !row.a) return "";
  const percent = (row.b / row.a - 1) * 100;
  return (percent > 0 ? "+" : "−") + Math.abs(percent).toFixed(1) + "%";
}

function showValue(row, side) {
  const value = row[side];
  if (value === null || value === undefined || value === "") return "–";
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (typeof value === "number" && row.unit === "ms") return milliseconds(value);
  if (typeof value === "number" && row.unit === "bytes")
    return value >= 1e6 ? withPrefix(value, "B") : value.toLocaleString("en") + " B";
  if (typeof value === "number") return Number.isInteger(value) ? value.toLocaleString("en") :
    value.toFixed(2);
  return value;
}

function tableOf(rows, title) {
  return el("table", {},
    el("tr", {}, el("th", {}, title), el("th", { class: "number" }, "A"),
      el("th", { class: "number" }, "B"), el("th", { class: "number" }, "change")),
    rows.map(row => el("tr", {}, el("td", {}, row.name),
      el("td", { class: "number" }, showValue(row, "a")),
      el("td", { class: "number" }, showValue(row, "b")),
      el("td", { class: "number " + (changeOf(row).startsWith("+") ? "warn" : "") },
        changeOf(row)))));
}

/** Lines of the longer common subsequence matched, by Myers' greedy algorithm on whole lines. */
function diffLines(a, b) {
  const max = a.length + b.length, trace = [];
  let frontier = new Map([[1, 0]]);
  outer: for (let d = 0; d <= max; ++d) {
    const next = new Map(frontier);
    for (let k = -d; k <= d; k += 2) {
      let x = k === -d || (k !== d && (frontier.get(k - 1) ?? -1) < (frontier.get(k + 1) ?? -1)) ?
        frontier.get(k + 1) : frontier.get(k - 1) + 1;
      while (x < a.length && x - k < b.length && a[x] === b[x - k]) ++x;
      next.set(k, x);
      if (x >= a.length && x - k >= b.length) { trace.push(next); break outer; }
    }
    trace.push(next);
    frontier = next;
    if (d > 3000) return null;
  }
  const result = [];
  let x = a.length, y = b.length;
  for (let d = trace.length - 1; d > 0; --d) {
    const before = trace[d - 1], k = x - y;
    const down = k === -d || (k !== d && (before.get(k - 1) ?? -1) < (before.get(k + 1) ?? -1));
    const from = down ? k + 1 : k - 1, px = before.get(from), py = px - from;
    while (x > px && y > py && x > (down ? px : px + 1)) result.push([" ", --x, --y]);
    if (down) result.push(["+", -1, --y]); else result.push(["-", --x, -1]);
  }
  while (x > 0 && y > 0) result.push([" ", --x, --y]);
  return result.reverse();
}

/** Numbers of values and registers change with each insertion and say nothing. */
function normalized(line) {
  return line.replace(/%[\w#]+/g, "%").replace(/\/\*[0-9a-f]+\*\//g, "").trim();
}

function viewTexts(a, b, stage) {
  const text = side => {
    const listing = side.listings && side.listings.find(each => each.stage === stage);
    return listing ? listing.text.replace(/\t/g, "    ").split("\n") : null;
  };
  const first = text(a), second = text(b);
  if (!first || !second) return el("p", { class: "note" }, "one of the two has no such stage");
  const found = diffLines(first.map(normalized), second.map(normalized));
  if (!found) return el("p", { class: "note" },
    "the texts have too little in common to be aligned");
  const near = new Set();
  found.forEach(([kind], i) => {
    if (kind !== " ") for (let k = i - 3; k <= i + 3; ++k) near.add(k);
  });
  const box = el("div", { class: "diff mono", id: "difference" });
  let skipped = false;
  found.forEach(([kind, x, y], i) => {
    if (!near.has(i)) {
      if (!skipped) box.append(el("div", { class: "row" }, el("span", { class: "no" }, "⋯")));
      skipped = true;
      return;
    }
    skipped = false;
    box.append(el("div", { class: "row " + ({ "+": "add", "-": "del" }[kind] || "") },
      el("span", { class: "no" }, x >= 0 ? String(x + 1) : ""),
      el("span", { class: "no" }, y >= 0 ? String(y + 1) : ""),
      el("pre", {}, kind + " " + (x >= 0 && kind !== "+" ? first[x] : second[y]))));
  });
  if (!near.size) box.append(el("p", { class: "note" }, "no difference but in numbers of values"));
  return box;
}

function viewComparison(data) {
  const views = [];
  data.kernels.forEach(kernel => {
    views.push(el("div", { class: "two" },
      card(kernel.a === kernel.b ? kernel.a : `${kernel.a} and ${kernel.b}`, null,
        tableOf(kernel.metrics, "figure")),
      el("div", {},
        card("Settings that differ", null, kernel.settings.length ? tableOf(kernel.settings,
          "setting") : el("p", { class: "note" }, "none")),
        card("Remarks of one side", null,
          kernel.remarks.length ? tableOf(kernel.remarks, "remark") :
          el("p", { class: "note" }, "none")))));
    views.push(el("div", { class: "two", style: "margin-top:1rem" },
      card("Operations of the kernel", "Counted before they become code for one thread.",
        kernel.ops.length ? tableOf(kernel.ops, "operation")
          : el("p", { class: "note" }, "none differ")),
      card("Passes that changed one side only", null, data.passes.length ?
        tableOf(data.passes, "pass") : el("p", { class: "note" }, "none"))));
  });
  const stages = [["gpu", "tile_gpu IR"], ["tile", "tile IR"], ["tile-opt", "tile IR, optimised"],
    ["ptx", "PTX"], ["sass", "SASS"]];
  const place = el("div", {});
  const select = el("select", { "aria-label": "stage", onchange: () =>
    place.replaceChildren(viewTexts(data.a, data.b, select.value)) },
    stages.map(([value, name]) => el("option", { value }, name)));
  place.append(viewTexts(data.a, data.b, "gpu"));
  views.push(el("div", { style: "margin-top:1rem" },
    card("The code", null, el("div", { class: "controls" }, select,
      el("span", { class: "minus" }, "− A: " + data.a.title),
      el("span", { class: "plus" }, "+ B: " + data.b.title)), place)));
  const counts = ["ptx", "sass"].filter(stage => data[stage] && data[stage].length);
  views.push(el("div", { class: "two" }, counts.map(stage =>
    card(stage.toUpperCase() + " instructions", null, tableOf(data[stage], "instruction")))));
  return views;
}
