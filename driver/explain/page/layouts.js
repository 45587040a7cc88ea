// Layouts drawn: which thread holds which element, and in which bank of shared memory it lies.

const warpColors = ["#4269d0", "#ef8a17", "#3ca951", "#e0485a", "#9467bd", "#2f9e9e", "#b5852a",
  "#d15a9c", "#5b7083", "#7aa22f", "#3f8fd8", "#c96a3f", "#6d5fd3", "#4f9f72", "#a8497c",
  "#7b8794"];

/** The image of a number under basis vectors: coordinates combine by XOR. */
function imageOf(bases, number, start) {
  const result = start.slice();
  bases.forEach((basis, bit) => {
    if (number >> bit & 1) basis.forEach((value, d) => { result[d] ^= value; });
  });
  return result;
}

/** Who holds each element: a list of [register, lane, warp] by the element's number, row-major. */
function ownersOf(layout) {
  if (layout.owners) return layout.owners;
  const rank = layout.shape.length, zero = new Array(rank).fill(0), owners = new Map();
  const strides = layout.shape.map((_, d) => layout.shape.slice(d + 1).reduce((a, b) => a * b, 1));
  for (let warp = 0; warp < 1 << layout.warp.length; ++warp) {
    const atWarp = imageOf(layout.warp, warp, zero);
    for (let lane = 0; lane < 1 << layout.lane.length; ++lane) {
      const atLane = imageOf(layout.lane, lane, atWarp);
      for (let register = 0; register < 1 << layout.register.length; ++register) {
        const at = imageOf(layout.register, register, atLane);
        const number = at.reduce((sum, value, d) => sum + value * strides[d], 0);
        if (!owners.has(number)) owners.set(number, []);
        owners.get(number).push([register, lane, warp]);
      }
    }
  }
  return layout.owners = owners;
}

/** The last two dimensions of a tile; those before are at 0. */
function planeOf(shape) {
  return shape.length === 1 ? [1, shape[0]] : shape.slice(-2);
}

function drawRegisters(layout, origin, info) {
  const [rows, columns] = planeOf(layout.shape), owners = ownersOf(layout);
  const high = Math.min(rows, 16), wide = Math.min(columns, 32), size = 29, left = 34, top = 20;
  const picture = svg("svg", { viewBox: `0 0 ${left + wide * size + 2} ${top + high * 22 + 2}`,
    id: "chart-registers", role: "img", "aria-label": "threads that hold the elements",
    style: `width:${left + wide * size + 2}px` });
  const cells = new Map();
  for (let r = 0; r < high; ++r) {
    const row = origin[0] + r;
    picture.append(svg("text", { x: left - 6, y: top + r * 22 + 15, "text-anchor": "end",
      class: "muted" }, String(row)));
    for (let c = 0; c < wide; ++c) {
      const column = origin[1] + c;
      if (r === 0 && c % 4 === 0) picture.append(svg("text", { x: left + c * size + size / 2, y: 13,
        "text-anchor": "middle", class: "muted" }, String(column)));
      const held = owners.get(row * columns + column) || [];
      const [register, lane, warp] = held[0] || [0, 0, 0];
      const thread = warp + ":" + lane;
      const cell = svg("g", { class: "cell" },
        svg("rect", { x: left + c * size, y: top + r * 22, width: size - 1, height: 21, rx: 2,
          fill: warpColors[warp % warpColors.length],
          "fill-opacity": .28 + .55 * (lane % 8) / 7 }),
        svg("text", { x: left + c * size + size / 2 - .5, y: top + r * 22 + 14.5,
          "text-anchor": "middle", class: "mono", style: "font-size:9.5px" }, String(lane)));
      if (!cells.has(thread)) cells.set(thread, []);
      cells.get(thread).push(cell);
      cell.addEventListener("mouseenter", () => {
        picture.querySelectorAll(".same").forEach(each => each.classList.remove("same"));
        cells.get(thread).forEach(each => each.classList.add("same"));
        info.textContent = `element (${row}, ${column}): ` + held.slice(0, 4).map(([g, l, w]) =>
          `warp ${w}, lane ${l}, register ${g}`).join(" and ") +
          (held.length > 4 ? ` and ${held.length - 4} more` : "");
      });
      picture.append(cell);
    }
  }
  return picture;
}

/** The whole tile, coloured by warp; a click moves the window. */
function drawOverview(layout, origin, move) {
  const [rows, columns] = planeOf(layout.shape), owners = ownersOf(layout);
  const across = Math.min(columns, 64), down = Math.min(rows, 64), unit = 320 / across;
  const high = Math.max(Math.min(320, 320 * rows / columns), 8), unitHigh = high / down;
  const picture = svg("svg", { viewBox: `0 0 322 ${high + 2}`, style: "width:322px",
    id: "chart-overview", role: "img", "aria-label": "warps of the tile" });
  for (let r = 0; r < down; ++r)
    for (let c = 0; c < across; ++c) {
      const row = Math.floor(r * rows / down), column = Math.floor(c * columns / across);
      const held = owners.get(row * columns + column) || [[0, 0, 0]];
      picture.append(svg("rect", { x: 1 + c * unit, y: 1 + r * unitHigh, width: unit + .2,
        height: unitHigh + .2, fill: warpColors[held[0][2] % warpColors.length],
        "fill-opacity": .75, style: "cursor:pointer",
        onclick: () => move(row, column),
        ...tip(`row ${row}, column ${column}: ` + [...new Set(held.map(each => each[2]))]
          .map(warp => "warp " + warp).join(", ")) }));
    }
  picture.append(svg("rect", { x: 1 + 320 * origin[1] / columns, y: 1 + high * origin[0] / rows,
    width: 320 * Math.min(32, columns) / columns, height: high * Math.min(16, rows) / rows,
    fill: "none", stroke: "var(--text)", "stroke-width": 2, style: "pointer-events:none" }));
  return picture;
}

function viewRegisters(layout) {
  const [rows, columns] = planeOf(layout.shape);
  const info = el("p", { class: "note" }, "Point at an element: the elements of the same thread " +
    "are outlined. Numbers are lanes, colours warps.");
  const place = el("div", { class: "scroll" }), overview = el("div", {});
  let origin = [0, 0];
  const draw = () => {
    place.replaceChildren(drawRegisters(layout, origin, info));
    overview.replaceChildren(drawOverview(layout, origin, (row, column) => {
      origin = [Math.max(0, Math.min(row - row % 8, rows - 16)),
        Math.max(0, Math.min(column - column % 8, columns - 32))];
      draw();
    }));
  };
  draw();
  const threads = 32 << layout.warp.length;
  const held = 1 << layout.register.length;
  return [
    card(`${layout.name}: ${layout.tiles.join(", ")}`, null,
      el("div", { class: "chips" },
        el("span", { class: "chip" }, `${threads} threads`),
        el("span", { class: "chip" }, `${held} elements each`),
        layout.lines.map(line => el("span", { class: "chip" }, lineLink(line))),
        layout.ops.slice(0, 8).map(op => el("span", { class: "chip mono" }, op))),
      info, place),
    card("The whole tile by warp", "A click moves the window above.", overview,
      legend([...Array(Math.min(1 << layout.warp.length, 16)).keys()].map(warp =>
        ["warp " + warp, warpColors[warp % warpColors.length]]))),
  ];
}

/** Byte offset of an element in shared memory. */
function offsetOf(layout, coord) {
  return coord.reduce((sum, value, d) => layout.offsets[d].reduce((offset, image, bit) =>
    value >> bit & 1 ? offset ^ image : offset, sum), 0);
}

/** The banks that 8 rows of 16 bytes touch, as a matrix load or a product reads them. */
function conflictsOf(layout) {
  const rank = layout.shape.length, fast = layout.order[0], slow = layout.order[1];
  if (slow === undefined || layout.shape[slow] < 8) return null;
  const perChunk = Math.max(1, 16 / layout.element_bytes), seen = new Map();
  for (let r = 0; r < 8; ++r) {
    const coord = new Array(rank).fill(0);
    coord[slow] = r;
    const line = offsetOf(layout, coord) >> 4;
    seen.set(line % 8, (seen.get(line % 8) || 0) + 1);
  }
  return { ways: Math.max(...seen.values()), perChunk };
}

function viewShared(layout) {
  const rank = layout.shape.length, fast = layout.order[0];
  const slow = layout.order.length > 1 ? layout.order[1] : fast;
  const perWord = Math.max(1, Math.floor(4 / layout.element_bytes));
  const rows = slow === fast ? 1 : Math.min(layout.shape[slow], 16);
  const words = Math.min(Math.ceil(layout.shape[fast] / perWord), 32);
  const size = 29, left = 40, top = 20;
  const picture = svg("svg", { viewBox: `0 0 ${left + words * size + 2} ${top + rows * 22 + 2}`,
    style: `width:${left + words * size + 2}px`, id: "chart-banks", role: "img",
    "aria-label": "banks of shared memory" });
  for (let r = 0; r < rows; ++r) {
    picture.append(svg("text", { x: left - 6, y: top + r * 22 + 15, "text-anchor": "end",
      class: "muted" }, String(r)));
    for (let w = 0; w < words; ++w) {
      const coord = new Array(rank).fill(0);
      if (slow !== fast) coord[slow] = r;
      coord[fast] = w * perWord;
      const offset = offsetOf(layout, coord), bank = offset / 4 & 31;
      if (r === 0 && w % 4 === 0) picture.append(svg("text", { x: left + w * size + size / 2, y: 13,
        "text-anchor": "middle", class: "muted" }, String(w * perWord)));
      picture.append(svg("g",
        tip(`row ${r}, columns ${w * perWord} to ${w * perWord + perWord - 1}` +
          `\nbyte ${offset}, bank ${bank}`),
        svg("rect", { x: left + w * size, y: top + r * 22, width: size - 1, height: 21, rx: 2,
          fill: `hsl(${(bank >> 2) * 45} 62% 55%)`, "fill-opacity": .35 + .16 * (bank & 3) }),
        svg("text", { x: left + w * size + size / 2 - .5, y: top + r * 22 + 14.5, class: "mono",
          "text-anchor": "middle", style: "font-size:9.5px;pointer-events:none" }, String(bank))));
    }
  }
  const found = conflictsOf(layout);
  return [card(`${layout.name}`, null,
    el("div", { class: "chips" },
      el("span", { class: "chip" }, layout.swizzle ? `swizzle of ${layout.swizzle} bytes` :
        "rows follow each other"),
      el("span", { class: "chip" }, bytes(layout.bytes)),
      found ? el("span", { class: "chip " + (found.ways > 1 ? "minus" : "plus"), id: "conflicts" },
        found.ways > 1 ? `8 rows of 16 bytes: ${found.ways} ways of conflict` :
          "8 rows of 16 bytes: no bank conflict") : null,
      layout.lines.map(line => el("span", { class: "chip" }, lineLink(line)))),
    el("p", { class: "note" },
      `Rows of the tile downwards, words of 4 bytes to the right; numbers ` +
      `and colours are banks. The same colour below another, read at once, is a conflict.`),
    el("div", { class: "scroll" }, picture))];
}

function viewLayouts(kernel) {
  const registers = kernel.layouts.registers, shared = kernel.layouts.shared;
  const place = el("div", {}), list = el("div", { class: "card list" });
  const links = [];
  const add = (layout, view, what) => {
    const link = el("a", { onclick: () => show(link, layout, view), "aria-selected": "false" },
      el("b", {}, layout.name.split(" ")[0] + " "), layout.tiles[0],
      el("small", {}, what(layout)));
    links.push([link, layout, view]);
    list.append(link);
  };
  const show = (link, layout, view) => {
    links.forEach(([each]) => each.setAttribute("aria-selected", String(each === link)));
    place.replaceChildren(...view(layout));
  };
  list.append(el("h2", {}, "Registers"));
  registers.forEach(layout => add(layout, viewRegisters, each =>
    `${1 << each.register.length} registers, ${1 << each.warp.length} warps`));
  list.append(el("h2", { style: "margin-top:1rem" }, "Shared memory"));
  shared.forEach(layout => add(layout, viewShared, each =>
    each.swizzle ? `swizzle ${each.swizzle}` : "plain rows"));
  if (!links.length) return [card("Layouts", "This kernel has no tiles in registers.")];
  const largest = [...links].sort((a, b) => size(b[1]) - size(a[1]))
    .find(([, , view]) => view === viewRegisters) || links[0];
  show(...largest);
  return [el("div", { class: "side" }, list, place)];
}

function size(layout) { return layout.shape.reduce((a, b) => a * b, 1); }
