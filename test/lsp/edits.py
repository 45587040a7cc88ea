"""Random edits of a file of 1,000 lines: the server lives, answers, and has the diagnostics that a
fresh server has for the same text.
Call: edits.py TILEC EXAMPLES FOLDER [EDITS [EDITS_BETWEEN_COMPARISONS [SEED]]]"""

import os
import pathlib
import random
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "Inputs"))
import client as lsp

PIECES = [
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ";",
    ",",
    ":",
    "..",
    '"',
    "//",
    "/*",
    "*/",
    " ",
    "\n",
    "x",
    "0",
    "1.5",
    "kernel ",
    "fn f(a) { return a; }\n",
    "let t = 1;\n",
    "const ",
    "if ",
    "for i in 0..4 {\n",
    'import "std/norms.tile";\n',
    "/// doc\n",
    "return",
    "sum(x, axis: 1)",
    "as f16",
    "var v = zeros(f32, [8]);\n",
    "ä",
    "𝛼",
    "-",
    "+=",
    "const C = 3;\n",
    "where",
    "grid (i: 4)",
    "kernel k(y: out f32[N]) { y[0] = 1.0; }\n",
]


def mutate(random, text):
    """(begin, end, replacement) of an edit such as people make, or clumsy ones do."""
    begin = random.randrange(len(text) + 1)
    kind = random.randrange(6)
    if kind == 0:
        return begin, min(len(text), begin + random.choice((1, 1, 1, 2, 10, 200))), ""
    if kind == 1:
        return begin, begin, random.choice(PIECES)
    if kind == 2:  # a word becomes another
        end = begin
        while end < len(text) and text[end].isalnum():
            end += 1
        return begin, end, random.choice(PIECES)
    if kind == 3:  # a line is doubled
        first = text.rfind("\n", 0, begin) + 1
        last = text.find("\n", begin)
        return first, first, text[first : last + 1]
    if kind == 4:  # some lines are copied elsewhere
        other = random.randrange(len(text) + 1)
        return begin, begin, text[other : other + random.choice((5, 40, 300))]
    return begin, min(len(text), begin + 1), random.choice(PIECES)


def shown(diagnostics):
    return sorted(
        (
            each["range"]["start"]["line"],
            each["range"]["start"]["character"],
            each["code"],
            each["message"],
            str(each.get("relatedInformation", "")),
        )
        for each in diagnostics
    )


def main(tilec, examples, folder, edits="300", between="30", seed="1"):
    folder = pathlib.Path(folder).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    os.environ["XDG_CACHE_HOME"] = str(folder / "cache")
    uri = lsp.uri_of(folder / "edited.tile")
    edited, fresh = (lsp.Client([tilec, "lsp"], folder) for _ in range(2))
    original = lsp.thousand_lines(examples)
    edited.open(uri, original)
    chance = random.Random(int(seed))
    undo = []
    comparisons = wrong = 0
    for count in range(1, int(edits) + 1):
        text = edited.texts[uri]
        if undo and (len(undo) > 12 or chance.random() < 0.45):
            begin, end, old = undo.pop()
        else:
            begin, end, old = mutate(chance, text)
            undo.append((begin, begin + len(old), text[begin:end]))
        edited.edit(uri, begin, end, old)
        if chance.random() < 0.1:
            place = min(begin, len(edited.texts[uri]))
            edited.ask(
                chance.choice(("hover", "completion", "signatureHelp", "definition")), uri, place
            )
        if chance.random() < 0.01:
            edited.ask(
                chance.choice(
                    ("documentSymbol", "semanticTokens/full", "foldingRange", "formatting")
                ),
                uri,
            )
        if count % int(between) and count != int(edits):
            if chance.random() < 0.5:
                edited.wait_for_diagnostics(uri)
            continue
        found = edited.wait_for_diagnostics(uri)
        fresh.open(uri, edited.texts[uri], count)
        wanted = fresh.wait_for_diagnostics(uri)
        fresh.close(uri)
        fresh.diagnostics.clear()
        comparisons += 1
        wrong += bool(wanted)
        if shown(found) != shown(wanted):
            (folder / "stale.tile").write_text(edited.texts[uri])
            stale = [each for each in shown(found) if each not in shown(wanted)][:3]
            lacking = [each for each in shown(wanted) if each not in shown(found)][:3]
            raise SystemExit(
                f"after {count} edits (seed {seed}): stale {stale}, lacking {lacking}; "
                f"see {folder / 'stale.tile'}"
            )
    while undo:
        begin, end, old = undo.pop()
        edited.edit(uri, begin, end, old)
    errors = [each for each in edited.wait_for_diagnostics(uri) if each["severity"] == 1]
    if edited.texts[uri] != original or errors:
        raise SystemExit(f"errors after all is undone: {errors[:3]}")
    for each in (edited, fresh):
        if each.end():
            raise SystemExit("the server did not end well")
    print(
        f"{edits} edits, {comparisons} comparisons, {wrong} of texts with diagnostics: none was"
        " stale"
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
