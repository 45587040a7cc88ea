// Evaluates a tree-sitter grammar: every rule that is named is defined and used, every pattern is
// one. node grammar.js FILE
"use strict";
const path = require("path");
const used = new Set();
const part = (kind) => (...parts) => {
  for (const each of parts)
    if (each === undefined)
      throw new Error(`${kind} of nothing`);
  return {kind, parts};
};
for (const kind of ["seq", "choice", "repeat", "repeat1", "optional", "field", "token", "prec"])
  global[kind] = part(kind);
global.grammar = (own) => own;
const own = require(path.resolve(process.argv[2]));
const names = new Proxy({}, {
  get : (_, name) => {
    used.add(name);
    return {kind : "name", name};
  }
});
const texts = {
  int : [ "42", "0xff", "1_000" ],
  float : [ "1.5", "2e-5" ],
  string : [ '"a\\n"', '""' ],
  id : [ "_a1" ],
  doc_comment : [ "/// d", "///" ],
  line_comment : [ "// c" ],
  block_comment : [ "/* a * b */" ]
};
const patterns = (node) =>
    (node instanceof RegExp ? [ node ] : (node.parts || []).flatMap(patterns));
for (const [name, rule] of Object.entries(own.rules)) {
  const choices = patterns(rule(names)); // a long pattern is a choice of several
  for (const text of texts[name] || [])
    if (!choices.some((each) => new RegExp(`^(?:${each.source})$`).test(text)))
      throw new Error(`${text} is no ${name}`);
}
own.word(names);
own.extras(names);
const lacking = [...used ].filter((name) => !own.rules[name]);
const unused = Object.keys(own.rules).filter((name) => !used.has(name) && name !== "program");
if (lacking.length || unused.length)
  throw new Error(`not defined: ${lacking}; not used: ${unused}`);
console.log(`${Object.keys(own.rules).length} rules`);
