"""Random edits of a file of 1,000 lines: the server lives, answers, and has the diagnostics that a
fresh server has for the same text.

  edits.py TILEC EXAMPLES FOLDER [--edits 300] [--between 30] [--seeds 1 | 1..4] [--log FILE
  [--commit HASH]]

Each seed makes --edits edits, and compares after every --between. --log appends a line of JSON for
each seed: edits, comparisons, findings (what was wrong, empty if nothing was), and the commit of
the sources. A text that went wrong stays in FOLDER. The record of a long run is
test/fuzz/results/edits.jsonl.
"""

import argparse
import json
import os
import pathlib
import random
import subprocess
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


class Finding(Exception):
    """The server was wrong, or went away."""


def run(tilec, examples, folder, edits, between, seed):
    """Edits with one seed. Returns the numbers of comparisons, and of those with diagnostics."""
    uri = lsp.uri_of(folder / "edited.tile")
    edited, fresh = (lsp.Client([tilec, "lsp"], folder) for _ in range(2))
    original = lsp.thousand_lines(examples)
    edited.open(uri, original)
    chance = random.Random(seed)
    undo = []
    comparisons = wrong = count = 0

    def keep():
        path = folder / f"seed-{seed}.tile"
        path.write_text(edited.texts[uri])
        return f"after {count} edits (seed {seed}), see {path}"

    try:
        for count in range(1, edits + 1):
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
                    chance.choice(("hover", "completion", "signatureHelp", "definition")),
                    uri,
                    place,
                )
            if chance.random() < 0.01:
                edited.ask(
                    chance.choice(
                        ("documentSymbol", "semanticTokens/full", "foldingRange", "formatting")
                    ),
                    uri,
                )
            if count % between and count != edits:
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
                stale = [each for each in shown(found) if each not in shown(wanted)][:3]
                lacking = [each for each in shown(wanted) if each not in shown(found)][:3]
                raise Finding(f"stale {stale}, lacking {lacking}, {keep()}")
        while undo:
            begin, end, old = undo.pop()
            edited.edit(uri, begin, end, old)
        errors = [each for each in edited.wait_for_diagnostics(uri) if each["severity"] == 1]
        if edited.texts[uri] != original or errors:
            raise Finding(f"errors after all is undone: {errors[:3]}, {keep()}")
        if edited.end() or fresh.end():
            raise Finding(f"the server did not end well, {keep()}")
    except (EOFError, BrokenPipeError, RuntimeError) as error:
        raise Finding(f"{error}, {keep()}") from error
    finally:
        for each in (edited, fresh):
            each.process.kill()
            each.process.wait()
    return comparisons, wrong


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    for name in ("tilec", "examples", "folder"):
        parser.add_argument(name)
    parser.add_argument("--edits", type=int, default=300)
    parser.add_argument("--between", type=int, default=30)
    parser.add_argument("--seeds", default="1")
    parser.add_argument("--log")
    parser.add_argument("--commit", help="what tilec was built from (default: this checkout)")
    options = parser.parse_args()
    folder = pathlib.Path(options.folder).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    os.environ["XDG_CACHE_HOME"] = str(folder / "cache")
    first, _, last = options.seeds.partition("..")
    findings = []
    for seed in range(int(first), int(last or first) + 1):
        comparisons = wrong = 0
        found = []
        try:
            comparisons, wrong = run(
                options.tilec, options.examples, folder, options.edits, options.between, seed
            )
        except Finding as finding:
            found = [str(finding)]
        print(
            f"seed {seed}: {options.edits} edits, {comparisons} comparisons, {wrong} of texts with"
            f" diagnostics: {found[0] if found else 'none was stale'}",
            flush=True,
        )
        findings += found
        if options.log:
            commit = (
                options.commit
                or subprocess.run(
                    ["git", "-C", os.path.dirname(__file__), "rev-parse", "--short", "HEAD"],
                    capture_output=True,
                    text=True,
                    check=True,
                ).stdout.strip()
            )
            line = {
                "seed": seed,
                "edits": options.edits,
                "comparisons": comparisons,
                "with_diagnostics": wrong,
                "commit": commit,
                "findings": found,
            }
            with open(options.log, "a", encoding="utf-8") as file:
                file.write(json.dumps(line) + "\n")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
