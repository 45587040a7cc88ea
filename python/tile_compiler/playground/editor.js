"use strict";
// An editor for one text: colours below a transparent text field, underlined where the compiler
// has something to say.

const keywords = "kernel fn let var for in out inout if else const where grid with tune config " +
  "import return while as key dtype true false";
// Comments, texts, keywords, numbers, types.
const tokens = new RegExp([/(\/\/.*)/, /("(?:[^"\\\n]|\\.)*")/,
  new RegExp(`\\b(${keywords.replaceAll(" ", "|")})\\b`), /\b(\d[\w.]*)\b/,
  /\b([fui]\d+|bf16|tf32|f8e\w+|bool|index|int)\b/].map(part => part.source).join("|"), "g");

class Editor {
  constructor(place, changed) {
    this.field = document.createElement("textarea");
    this.field.spellcheck = false;
    this.field.setAttribute("aria-label", "source");
    this.colors = document.createElement("pre");
    this.numbers = document.createElement("div");
    this.numbers.className = "numbers";
    const inside = document.createElement("div");
    inside.className = "inside";
    inside.append(this.colors, this.numbers, this.field);
    place.append(inside);
    this.marks = [];
    this.field.addEventListener("input", () => { this.marks = []; this.draw(); changed(); });
    this.field.addEventListener("keydown", event => {
      if (event.key !== "Tab") return;
      event.preventDefault();
      this.field.setRangeText("  ", this.field.selectionStart, this.field.selectionEnd, "end");
      this.draw();
      changed();
    });
  }

  get text() { return this.field.value; }
  set text(value) { this.field.value = value; this.marks = []; this.draw(); }

  /** Underlines: {begin, end} in UTF-16 units, and a class. */
  mark(marks) { this.marks = marks; this.draw(); }

  goTo(offset) {
    this.field.focus();
    this.field.setSelectionRange(offset, offset);
  }

  draw() {
    const text = this.text, pieces = [];
    let last = 0;
    for (const match of text.matchAll(tokens)) {
      pieces.push([last, match.index, ""]);
      const kind = ["c", "s", "k", "n", "t"][match.slice(1).findIndex(part => part !== undefined)];
      pieces.push([match.index, match.index + match[0].length, kind]);
      last = match.index + match[0].length;
    }
    pieces.push([last, text.length, ""]);
    this.colors.replaceChildren();
    for (const [begin, end, kind] of pieces)
      for (const [from, to, name] of this.cut(begin, end)) {
        const span = document.createElement("span");
        span.className = [kind, name].filter(Boolean).join(" ");
        span.textContent = text.slice(from, to);
        this.colors.append(span);
      }
    this.colors.append("\n");
    this.numbers.textContent = text.split("\n").map((_, i) => i + 1).join("\n");
  }

  /** Parts of a piece by the marks on them. */
  cut(begin, end) {
    const result = [];
    let at = begin;
    for (const mark of this.marks) {
      const from = Math.max(at, mark.begin), to = Math.min(end, mark.end);
      if (from >= to) continue;
      if (at < from) result.push([at, from, ""]);
      result.push([from, to, mark.kind]);
      at = to;
    }
    if (at < end) result.push([at, end, ""]);
    return result;
  }
}
