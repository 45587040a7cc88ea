// What all views share: elements, numbers as text, the tooltip, lines of the source as links.

/** An element with properties and children; children are elements, texts or nothing. */
function el(tag, properties, ...children) {
  const node = document.createElement(tag);
  setAll(node, properties);
  node.append(...children.flat().filter(child => child !== null && child !== undefined));
  return node;
}

/** The same for SVG. */
function svg(tag, properties, ...children) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  setAll(node, properties);
  node.append(...children.flat().filter(child => child !== null && child !== undefined));
  return node;
}

function setAll(node, properties) {
  for (const [name, value] of Object.entries(properties || {})) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (value === true) node.setAttribute(name, "");
    else if (value !== false && value !== undefined) node.setAttribute(name, value);
  }
}

/** 1.64 G, 230 k: a number between 1 and 1000 with a prefix. */
function withPrefix(value, unit) {
  const prefixes = ["", "k", "M", "G", "T", "P"];
  let i = 0;
  for (; Math.abs(value) >= 1000 && i + 1 < prefixes.length; ++i) value /= 1000;
  const digits = Number.isInteger(value) && i === 0 ? 0 : value < 10 ? 2 : value < 100 ? 1 : 0;
  return value.toFixed(digits) + " " + prefixes[i] + unit;
}

function bytes(value) {
  if (value < 1024) return value + " B";
  const kib = value / 1024;
  return (Number.isInteger(kib) ? kib : kib.toFixed(1)) + " KiB";
}

function milliseconds(value) {
  return value < 1 ? (value * 1000).toFixed(1) + " µs" : value.toFixed(3) + " ms";
}

function showTip(event, text) {
  const tip = document.getElementById("tip");
  tip.textContent = text;
  tip.hidden = false;
  const box = tip.getBoundingClientRect();
  tip.style.left = Math.min(event.clientX + 14, innerWidth - box.width - 8) + "px";
  tip.style.top = Math.min(event.clientY + 16, innerHeight - box.height - 8) + "px";
}

function hideTip() { document.getElementById("tip").hidden = true; }

/** Properties that show `text` beside the pointer. */
function tip(text) {
  return { onmousemove: event => showTip(event, text), onmouseleave: hideTip };
}

/** A line of the input that opens the code at it. */
function lineLink(line) {
  if (!line) return null;
  return el("a", { class: "line", onclick: () => pinLine(0, line) }, "line " + line);
}

function legend(entries) {
  return el("div", { class: "legend" }, entries.map(([name, color]) =>
    el("span", {}, el("i", { style: "background:" + color }), name)));
}

function card(title, note, ...children) {
  return el("div", { class: "card" }, title ? el("h2", {}, title) : null,
    note ? el("p", { class: "note" }, note) : null, children);
}

const kindColors = {
  copy: "var(--copy)", product: "var(--product)", arithmetic: "var(--arithmetic)",
  reduction: "var(--reduction)", access: "var(--access)", wait: "var(--wait)",
  hold: "var(--hold)",
};
