// Roofline, occupancy, candidates, schedule and shared memory as pictures.

/** Attainable operations by operations for each byte, both by logarithm; the kernel as a point. */
function drawRoofline(data, estimate) {
  const width = 620, height = 330, left = 58, right = 16, top = 14, bottom = 42;
  const device = data.device, peak = estimate.peak_gops;
  const point = {
    x: estimate.operations / Math.max(estimate.dram_bytes, 1),
    y: estimate.operations / estimate.ms / 1e6,
  };
  const ridge = peak / device.memory_gbps;
  const x0 = Math.min(point.x, ridge) / 8, x1 = Math.max(point.x, ridge) * 8;
  const y1 = peak * 2.2, y0 = Math.min(point.y, x0 * device.memory_gbps) / 2.5;
  const log = Math.log10;
  const x = v => left + (width - left - right) * (log(v) - log(x0)) / (log(x1) - log(x0));
  const y = v => top + (height - top - bottom) * (log(y1) - log(v)) / (log(y1) - log(y0));
  const picture = svg("svg", { viewBox: `0 0 ${width} ${height}`, id: "chart-roofline", role: "img",
    "aria-label": "roofline" });
  for (let e = Math.ceil(log(x0)); e <= log(x1); ++e)
    picture.append(svg("line", { x1: x(10 ** e), x2: x(10 ** e), y1: top, y2: height - bottom,
      stroke: "var(--line)" }),
      svg("text", { x: x(10 ** e), y: height - bottom + 15, class: "muted",
      "text-anchor": "middle" }, e < 0 ? (10 ** e).toFixed(-e) : withPrefix(10 ** e, "").trim()));
  for (let e = Math.floor(log(y0)); e <= log(y1); ++e)
    for (const value of [1, 2, 5].map(digit => digit * 10 ** e).filter(v => v >= y0 && v <= y1))
      picture.append(svg("line", { x1: left, x2: width - right, y1: y(value), y2: y(value),
        stroke: "var(--line)" }), svg("text", { x: left - 8, y: y(value) + 4, class: "muted",
        "text-anchor": "end" }, withPrefix(value * 1e9, "")));
  const roof = (rate, color, name, dash) => {
    const end = Math.min(peak / rate, x1);
    const from = Math.max(x0, y0 / rate);
    picture.append(svg("path", { d: `M${x(from)} ${y(from * rate)}L${x(end)} ${y(end * rate)}`,
      stroke: color, "stroke-width": 2, fill: "none", "stroke-dasharray": dash }));
    const at = Math.sqrt(from * end);
    const turn = -Math.atan2(y(from * rate) - y(end * rate), x(end) - x(from)) * 180 / Math.PI;
    picture.append(svg("text", { x: x(at), y: y(at * rate) - 6, class: "muted",
      "text-anchor": "middle", transform: `rotate(${turn} ${x(at)} ${y(at * rate) - 6})` }, name));
  };
  roof(device.memory_gbps, "var(--copy)", "memory " + withPrefix(device.memory_gbps * 1e9, "B/s"));
  roof(device.cache_gbps, "var(--copy)", "L2 " + withPrefix(device.cache_gbps * 1e9, "B/s"), "4 4");
  picture.append(svg("path", {
    d: `M${x(Math.min(peak / device.cache_gbps, x1))} ${y(peak)}H${width - right}`,
    stroke: "var(--product)", "stroke-width": 2 }));
  picture.append(svg("text", { x: width - right, y: y(peak) - 7, class: "muted",
    "text-anchor": "end" }, estimate.peak_name + ", " + withPrefix(peak * 1e9, "op/s")));
  const above = Math.min(peak, point.x * device.memory_gbps);
  const share = (100 * point.y / above).toFixed(0);
  picture.append(svg("line", { x1: x(point.x), x2: x(point.x), y1: y(point.y), y2: y(above),
    stroke: "var(--text)", "stroke-dasharray": "2 3" }));
  picture.append(svg("circle", { cx: x(point.x), cy: y(point.y), r: 6.5, fill: "var(--text)",
    stroke: "var(--surface)", "stroke-width": 2, ...tip(`${withPrefix(point.y * 1e9, "op/s")}, ` +
      `${point.x.toFixed(1)} operations for each byte`) }));
  const toLeft = x(point.x) > width * 0.66;
  picture.append(svg("text", { x: x(point.x) + (toLeft ? -12 : 12), y: y(point.y) + 16,
    "text-anchor": toLeft ? "end" : "start", style: "font-weight:600" },
    `${withPrefix(point.y * 1e9, "op/s")}: ${share}% of the roof`));
  picture.append(svg("text", { x: (left + width - right) / 2, y: height - 8, class: "muted",
    "text-anchor": "middle" }, "operations for each byte of memory"));
  return picture;
}

/** What a block takes of a multiprocessor, resource by resource. */
function drawOccupancy(data, kernel) {
  const compiled = kernel.compiled, estimate = kernel.estimate, device = data.device;
  const registers = compiled.registers || estimate.registers;
  const blocks = compiled.occupancy.blocks;
  const rows = [["threads", compiled.threads, device.threads, ""],
    ["registers", registers * compiled.threads, device.registers, ""],
    ["shared memory", compiled.shared_bytes + 1024, device.shared_bytes, "B"],
    ["blocks", 1, device.blocks, ""]];
  const width = 560, rowHeight = 34, left = 104, right = 128;
  const picture = svg("svg", { viewBox: `0 0 ${width} ${rows.length * rowHeight + 4}`,
    id: "chart-occupancy", role: "img", "aria-label": "occupancy" });
  rows.forEach(([name, used, limit], row) => {
    const y = row * rowHeight + 6, whole = width - left - right;
    picture.append(svg("text", { x: 0, y: y + 15 }, name));
    picture.append(svg("rect", { x: left, y, width: whole, height: 20, rx: 4,
      fill: "var(--sunken)", stroke: "var(--line)" }));
    for (let b = 0; b < Math.min(blocks, 32); ++b) {
      const part = whole * used / limit;
      picture.append(svg("rect", { x: left + b * part, y, width: Math.max(part - 1, .5), height: 20,
        rx: 3, fill: name === compiled.occupancy.bound ? "var(--product)" : "var(--copy)",
        ...tip(`block ${b}: ${used} of ${limit} ${name}`) }));
    }
    picture.append(svg("text", { x: width - right + 10, y: y + 15, class: "muted" },
      `${withPrefix(used * blocks, "").trim()} of ${withPrefix(limit, "").trim()}`));
  });
  return picture;
}

/** Candidates of the cost model, the best first. */
function drawCandidates(kernel) {
  const usable = kernel.candidates.filter(each => each.ms !== undefined);
  const shown = usable.slice(0, 24), rowHeight = 21, left = 400, width = 900, right = 80;
  const text = each => Object.entries(each.config).map(([name, value]) => `${name}=${value}`)
    .join("  ");
  const order = each => Object.keys(each.config).length;
  const most = Math.max(...shown.map(each => each.ms));
  const picture = svg("svg", { viewBox: `0 0 ${width} ${shown.length * rowHeight + 4}`,
    id: "chart-candidates", role: "img", "aria-label": "candidates of the cost model" });
  shown.forEach((each, row) => {
    const y = row * rowHeight, length = (width - left - right) * each.ms / most;
    picture.append(svg("text", { x: 0, y: y + 15, class: "mono",
      style: row === 0 ? "font-weight:700" : "" }, text(each)));
    picture.append(svg("rect", { x: left, y: y + 4, width: length, height: 14, rx: 3,
      fill: row === 0 ? "var(--product)" : "var(--copy)", opacity: row === 0 ? 1 : .75,
      ...tip(`${text(each)}\n${milliseconds(each.ms)}`) }));
    picture.append(svg("text", { x: left + length + 6, y: y + 15, class: "muted" },
      milliseconds(each.ms)));
  });
  return picture;
}

/** Who copies, computes and waits when. */
function drawTimeline(timeline) {
  const left = 130, width = 1240, rowHeight = 30, top = 24;
  const height = top + timeline.rows.length * rowHeight + 8;
  const x = time => left + (width - left - 10) * time / Math.max(timeline.end, 1);
  const picture = svg("svg", { viewBox: `0 0 ${width} ${height}`, id: "chart-timeline", role: "img",
    "aria-label": "schedule of a block" });
  const step = [100, 200, 500, 1000, 2000, 5000, 10000, 20000, 50000]
    .find(each => timeline.end / each <= 12) || timeline.end / 10;
  for (let t = 0; t <= timeline.end; t += step)
    picture.append(svg("line", { x1: x(t), x2: x(t), y1: top - 6, y2: height - 4,
      stroke: "var(--line)" }), svg("text", { x: x(t), y: 12, class: "muted",
      "text-anchor": "middle" }, t >= 1000 ? (t / 1000) + " µs" : t + " ns"));
  timeline.rows.forEach((row, i) => {
    picture.append(svg("text", { x: left - 10, y: top + i * rowHeight + 19, "text-anchor": "end" },
      row));
    picture.append(svg("line", { x1: left, x2: width - 10, y1: top + (i + 1) * rowHeight,
      y2: top + (i + 1) * rowHeight, stroke: "var(--line)" }));
  });
  for (const bar of timeline.bars) {
    const y = top + bar.row * rowHeight + 5, wide = Math.max(x(bar.end) - x(bar.start), 1);
    const rect = svg("rect", {
      x: x(bar.start), y, width: Math.max(wide - .6, .8), height: 21, rx: 2.5,
      fill: kindColors[bar.kind], class: "bar", style: bar.line ? "cursor:pointer" : "",
      ...tip(`${bar.kind}: ${bar.label}\n${bar.start} to ${bar.end} ns` +
        (bar.trip >= 0 ? `, trip ${bar.trip}` : "") + (bar.line ? `, line ${bar.line}` : "")),
      onclick: () => bar.line && pinLine(0, bar.line) });
    picture.append(rect);
    if (wide > 22 && bar.trip >= 0)
      picture.append(svg("text", { x: x(bar.start) + wide / 2, y: y + 15, "text-anchor": "middle",
        style: "pointer-events:none;fill:" + (bar.kind === "wait" || bar.kind === "hold" ?
          "var(--text)" : "var(--surface)") }, String(bar.trip)));
  }
  return picture;
}

/** The part of the time in which one of the rows' bars of these kinds is there. */
function unionOf(bars) {
  const sorted = bars.map(bar => [bar.start, bar.end]).sort((a, b) => a[0] - b[0]), result = [];
  for (const [start, end] of sorted) {
    const last = result[result.length - 1];
    if (last && start <= last[1]) last[1] = Math.max(last[1], end);
    else result.push([start, end]);
  }
  return result;
}
function lengthOf(spans) { return spans.reduce((sum, [a, b]) => sum + b - a, 0); }
function overlapOf(a, b) {
  let sum = 0;
  for (const [s, e] of a)
    for (const [t, f] of b) sum += Math.max(0, Math.min(e, f) - Math.max(s, t));
  return sum;
}

/** Shared memory: bytes upwards, the kernel's text to the right. */
function drawMemory(memory) {
  const left = 74, width = 1000, height = 440, top = 16, bottom = 34, right = 16;
  const most = Math.max(memory.limit || 0, memory.bytes || 0, 1);
  const x = op => left + (width - left - right) * op / Math.max(memory.length, 1);
  const y = offset => height - bottom - (height - top - bottom) * offset / most;
  const picture = svg("svg", { viewBox: `0 0 ${width} ${height}`, id: "chart-memory", role: "img",
    "aria-label": "plan of shared memory" });
  const step = [256, 1024, 4096, 16384, 32768, 65536].find(each => most / each <= 9) || 65536;
  for (let b = 0; b <= most; b += step)
    picture.append(svg("line", { x1: left, x2: width - right, y1: y(b), y2: y(b),
      stroke: "var(--line)" }), svg("text", { x: left - 8, y: y(b) + 4, class: "muted",
      "text-anchor": "end" }, bytes(b)));
  const colors = ["var(--copy)", "var(--access)", "var(--reduction)", "var(--arithmetic)",
    "var(--product)"];
  memory.items.forEach((item, i) => {
    const box = (name, offset, size, opacity, label) => {
      const wide = Math.max(x(item.end + 1) - x(item.start), 3);
      const high = y(offset) - y(offset + size);
      picture.append(svg("rect", { x: x(item.start), y: y(offset + size), width: wide,
        height: Math.max(high - .8, .8), rx: 2, fill: colors[i % colors.length], opacity,
        style: item.line ? "cursor:pointer" : "", onclick: () => item.line && pinLine(0, item.line),
        ...tip(`${name}\n${bytes(size)} from byte ${offset}` +
          (item.line ? `, line ${item.line}` : "")) }));
      if (label && high > 13 && wide > 90)
        picture.append(svg("text", { x: x(item.start) + 8, y: y(offset + size / 2) + 4,
          style: "fill:var(--surface);pointer-events:none" }, name + ", " + bytes(size)));
    };
    if (item.parts) item.parts.forEach((part, p) =>
      box(part.name, part.offset, part.bytes, p % 2 ? .72 : .88, true));
    else box(item.name, item.offset, item.bytes, .85, true);
  });
  if (memory.limit)
    picture.append(svg("line", { x1: left, x2: width - right, y1: y(memory.limit),
      y2: y(memory.limit), stroke: "var(--bad)", "stroke-width": 1.5, "stroke-dasharray": "5 4" }));
  picture.append(svg("text", { x: (left + width) / 2, y: height - 8, class: "muted",
    "text-anchor": "middle" }, "operations of the kernel, in the order of its text →"));
  return picture;
}
