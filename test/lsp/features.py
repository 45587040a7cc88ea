"""Every feature of the language server on a file of 1,000 lines and on small files.
Call: features.py TILEC EXAMPLES FOLDER [--times]"""

import os
import pathlib
import shutil
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "Inputs"))
import client as lsp

SMALL = """import "std/activations.tile";
import "std/norms.tile" as norms;
import "mine.tile";

const SCALE: float = 0.5;

/// Half of x.
fn half(x) {
  return x * SCALE;
}

/// Adds a row to each row.
kernel add[BM: int = 64](x: in f32[M, N], row: in f32[N], y: out f32[M, N], factor: f32 = 1.0)
  where M in 1..=65536, N % 8 == 0
  grid (i: cdiv(M, BM))
{
  let m = block(i, BM);
  for n in blocks(N, 32) with unroll(2) {
    let tile = x[m, n] * factor;
    var sums = half(tile) + row[n];   // größer 𝛼
    sums += gelu(tile);
    y[m, n] = max(sums, thirds(tile));
  }
}

fn broken(a, b) {
  let c = a +
  return c * (
}

kernel scale(x: in f16[N], y: out f16[N]) grid (i: cdiv(N, 256)) {
  let n = block(i, 256);
  let wide = x[n] as f32;
  y[n] = (wide * 2.0) as f16;
}
"""
MINE = (
    "/// A third.\nfn thirds(x) {\n  return half_of(x) / 1.5;\n}\n\nfn half_of(y) {\n  return y *"
    " 0.5;\n}\n"
)


def check(condition, what):
    if not condition:
        raise AssertionError(what)


def equal(found, wanted, what):
    check(found == wanted, f"{what}: expected {wanted!r}, found {found!r}")


class Session:
    def __init__(self, tilec, folder, encoding):
        self.folder = pathlib.Path(folder).resolve()
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        os.environ["XDG_CACHE_HOME"] = str(self.folder / "cache")
        (self.folder / "mine.tile").write_text(MINE)
        self.client = lsp.Client([tilec, "lsp", "--stdio"], self.folder, encoding)
        self.small = lsp.uri_of(self.folder / "small.tile")
        self.client.open(self.small, SMALL)

    def at(self, text, nth=0, inside=1):
        return self.client.find(self.small, text, nth, inside)

    def ask(self, method, *place, **more):
        return self.client.ask(method, self.small, self.at(*place) if place else None, **more)

    def hover(self, *place):
        answer = self.ask("hover", *place)
        return answer["contents"]["value"] if answer else ""

    def text_at(self, uri, range):
        return self.client.texts[uri][
            self.client.offset(uri, range["start"]) : self.client.offset(uri, range["end"])
        ]


def check_diagnostics(s):
    found = s.client.wait_for_diagnostics(s.small)
    check(
        all(each["code"].startswith(("E", "W")) and each["source"] == "tile" for each in found),
        found,
    )
    broken = [each for each in found if each["severity"] == 1]
    check(broken, "the broken function has no error")
    lines = {each["range"]["start"]["line"] for each in broken}
    begin = SMALL[: SMALL.index("fn broken")].count("\n")
    check(lines <= set(range(begin, begin + 5)), f"errors outside of the broken function: {broken}")
    # A constant that no kernel uses is checked with all of them: once repaired, it is forgotten.
    uri = lsp.uri_of(s.folder / "constant.tile")
    s.client.open(
        uri,
        "const C: flo = 1.0;\n\nkernel f(y: out f32[N]) grid (i: cdiv(N, 64)) {\n"
        "  y[block(i, 64)] = 1.0;\n}\n",
    )
    found = s.client.wait_for_diagnostics(uri)
    equal([each["code"] for each in found], ["E0204"], "the dtype of a constant")
    place = s.client.find(uri, "flo", 0, 3)
    s.client.edit(uri, place, place, "at")
    equal(s.client.wait_for_diagnostics(uri), [], "diagnostics of a repaired constant")
    s.client.close(uri)
    # A mistake of types, with a related place and a fix.
    uri = lsp.uri_of(s.folder / "fix.tile")
    s.client.open(
        uri,
        "kernel f(x: in f32[N], y: out f32[N]) grid (i: cdiv(N, 64)) {\n  let n = block(i, 64);\n"
        "  let t = sqrtt(x[n]);\n  let t = 1.0;\n  y[n] = t;\n}\n",
    )
    found = s.client.wait_for_diagnostics(uri)
    equal([each["code"] for each in found][:1], ["E0201"], "codes")
    actions = s.client.ask(
        "codeAction", uri, range=found[0]["range"], context={"diagnostics": found}
    )
    equal(actions[0]["edit"]["changes"][uri][0]["newText"], "sqrt", "the fix")
    s.client.apply(actions[0]["edit"])
    found = s.client.wait_for_diagnostics(uri)
    equal(
        [each["code"] for each in found if each["severity"] == 1], ["E0202"], "codes after the fix"
    )
    equal(
        found[0]["relatedInformation"][0]["location"]["range"]["start"],
        {"line": 2, "character": 6},
        "related place",
    )
    s.client.close(uri)


def check_hover(s):
    check("f32[64, 32]" in s.hover("tile = "), s.hover("tile = "))
    check("f32[64, 32]" in s.hover("tile)", 0), s.hover("tile)", 0))
    check("f32[256]" in s.hover("wide = "), "hover behind a broken function: " + s.hover("wide = "))
    check("Half of x." in s.hover("half(tile)"), s.hover("half(tile)"))
    check(
        "kernel add[BM" in s.hover("add[BM") and "Adds a row" in s.hover("add[BM"),
        s.hover("add[BM"),
    )
    check(
        "M in 1..=65536" in s.hover("M, N]") and "dimension" in s.hover("M, N]"), s.hover("M, N]")
    )
    check("x: in f32[M, N]" in s.hover("x: in f32[M"), s.hover("x: in f32[M"))
    check(
        "max(a, b)" in s.hover("max(sums") and "keep:" in s.hover("max(sums"), s.hover("max(sums")
    )
    check("32 bits" in s.hover("f32[M, N], row"), s.hover("f32[M, N], row"))
    check(
        "from `" in s.hover("gelu(tile") and "std/activations" in s.hover("gelu(tile"),
        s.hover("gelu(tile"),
    )
    check("0.5" in s.hover("SCALE;"), s.hover("SCALE;"))


def check_places(s):
    place = s.ask("definition", "half(tile")
    equal((place["uri"], s.text_at(s.small, place["range"])), (s.small, "half"), "definition")
    place = s.ask("definition", "thirds(tile")
    equal(
        (place["uri"], place["range"]["start"]),
        (lsp.uri_of(s.folder / "mine.tile"), {"line": 1, "character": 3}),
        "definition elsewhere",
    )
    place = s.ask("definition", "gelu(tile")
    check(place["uri"].endswith("std/activations.tile"), place)
    library = pathlib.Path(place["uri"].removeprefix("file://"))
    check(
        "gelu" in library.read_text().split("\n")[place["range"]["start"]["line"]],
        "the copy of the library",
    )
    place = s.ask("definition", "mine.tile")
    equal(place["uri"], lsp.uri_of(s.folder / "mine.tile"), "definition of an import")
    equal(
        s.ask("definition", "sums += ")["range"]["start"],
        s.client.position(s.small, s.at("sums = half", 0, 0)),
        "definition of a local",
    )
    found = s.ask("references", "tile = ", context={"includeDeclaration": True})
    equal(
        [s.text_at(s.small, each["range"]) for each in found], ["tile"] * 4, "references of a local"
    )
    found = s.ask("references", "thirds(tile", context={"includeDeclaration": True})
    equal(
        sorted(each["uri"].rsplit("/", 1)[1] for each in found),
        ["mine.tile", "small.tile"],
        "references in two files",
    )
    equal(len(s.ask("documentHighlight", "BM: int")), 3, "highlights")


def labels(answer):
    return {each["label"] for each in answer["items"]}


def check_writing(s):
    found = labels(s.ask("completion", "sums += ", 0, 8))
    for name in (
        "tile",
        "m",
        "n",
        "i",
        "half",
        "gelu",
        "thirds",
        "SCALE",
        "where",
        "sum",
        "f32",
        "for",
        "x",
    ):
        check(name in found, f"completion lacks {name}")
    check("c" not in found and "wide" not in found, "completion has locals of elsewhere")
    uri = lsp.uri_of(s.folder / "write.tile")
    text = (
        'import "std/norms.tile" as norms;\nfn f(x) {\n  let wide = x;\n  let y = norms.\n  return'
        " sum(wide, \n"
    )
    s.client.open(uri, text)
    found = labels(s.client.ask("completion", uri, text.index("norms.\n") + 6))
    check(
        "rms_norm" in found or any("norm" in each for each in found),
        f"members of an import: {found}",
    )
    found = labels(s.client.ask("completion", uri, text.index("wide, ") + 6))
    check({"axis:", "keep:", "wide"} <= found, "arguments")
    help_ = s.client.ask("signatureHelp", uri, text.index("wide, ") + 6)
    equal(
        (help_["signatures"][help_["activeSignature"]]["label"], help_["activeParameter"]),
        ("sum(x, axis:, keep:)", 1),
        "signature",
    )
    s.client.edit(uri, len(text), len(text), "} \nkernel g(x: in ) with \n")
    found = labels(s.client.ask("completion", uri, s.client.find(uri, "with ", 0, 5)))
    check("warps" in found, f"attributes of kernels: {found}")
    found = labels(s.client.ask("completion", uri, s.client.find(uri, "in ) ", 0, 3)))
    check({"f32", "bf16"} <= found, "dtypes")
    found = labels(s.client.ask("completion", uri, text.index("std/")))
    check("std/activations.tile" in found, "imports")
    s.client.close(uri)
    help_ = s.ask("signatureHelp", "half(tile", 0, 5)
    equal(
        (help_["signatures"][0]["label"], help_["signatures"][0]["documentation"]),
        ("half(x)", "Half of x."),
        "signature of a function",
    )


def check_structure(s):
    symbols = s.ask("documentSymbol")
    equal(
        [each["name"] for each in symbols],
        ["norms", "SCALE", "half", "add", "broken", "scale"],
        "symbols",
    )
    equal(
        [each["name"] for each in symbols[3]["children"]],
        ["BM", "x", "row", "y", "factor"],
        "children",
    )
    found = s.client.request("workspace/symbol", {"query": "HaLf"})
    equal(sorted(each["name"] for each in found), ["half", "half_of"], "workspace symbols")
    folds = s.ask("foldingRange")
    check({"startLine": 0, "endLine": 2, "kind": "imports"} in folds, folds)
    begin = SMALL[: SMALL.index("  for n")].count("\n")
    check({"startLine": begin, "endLine": begin + 4} in folds, folds)
    hints = {
        s.client.offset(s.small, each["position"]): each["label"]
        for each in s.ask(
            "inlayHint",
            range={"start": {"line": 0, "character": 0}, "end": {"line": 99, "character": 0}},
        )
    }
    equal(hints[s.at("tile = ", 0, 4)], ": f32[64, 32]", "hint")
    equal(hints[s.at("wide = ", 0, 4)], ": f32[256]", "hint")


def check_tokens(s):
    legend = s.client.capabilities["semanticTokensProvider"]["legend"]["tokenTypes"]
    data = s.ask("semanticTokens/full")["data"]
    line = column = 0
    kinds = {}
    for i in range(0, len(data), 5):
        line, column = line + data[i], data[i + 1] + (0 if data[i] else column)
        begin = {"line": line, "character": column}
        end = {"line": line, "character": column + data[i + 2]}
        kinds.setdefault(s.text_at(s.small, {"start": begin, "end": end}), set()).add(
            legend[data[i + 3]]
        )
    for text, kind in (
        ("gelu", "function"),
        ("BM", "typeParameter"),
        ("f32", "type"),
        ("x", "parameter"),
        ("unroll", "decorator"),
        ("norms", "namespace"),
        ("kernel", "keyword"),
        ("// größer 𝛼", "comment"),
        ("0.5", "number"),
        ("tile", "variable"),
    ):
        check(kind in kinds.get(text, ()), f"'{text}' is {kinds.get(text)}, not {kind}")


def check_edits(s):
    problem = s.client.request(
        "textDocument/rename",
        {
            "textDocument": {"uri": s.small},
            "newName": "for",
            "position": s.client.position(s.small, s.at("tile = ")),
        },
        fails=True,
    )
    equal(problem, "'for' is a word of the language", "rename to a keyword")
    problem = s.client.request(
        "textDocument/rename",
        {
            "textDocument": {"uri": s.small},
            "newName": "mygelu",
            "position": s.client.position(s.small, s.at("gelu(tile")),
        },
        fails=True,
    )
    check("library" in problem, problem)
    mine = lsp.uri_of(s.folder / "mine.tile")
    s.client.open(mine, MINE)
    before = dict(s.client.texts)
    s.client.apply(s.ask("rename", "thirds(tile", newName="third"))
    check(
        "max(sums, third(tile))" in s.client.texts[s.small]
        and "fn third(x)" in s.client.texts[mine],
        "rename in two files",
    )
    s.client.apply(s.ask("rename", "third(tile", newName="thirds"))
    equal(s.client.texts, before, "rename and back")
    s.client.apply(s.ask("rename", "tile = ", newName="part"))
    equal(s.client.texts[s.small].count("part"), 4, "rename of a local")
    s.client.apply(s.ask("rename", "part = ", newName="tile"))
    # An edit of one file is seen by the one that imports it, though it is not saved.
    s.client.edit(mine, MINE.index("thirds"), MINE.index("thirds") + 6, "other")
    found = s.client.ask("definition", s.small, s.at("thirds(tile"))
    equal(found, None, "a function that is gone")
    s.client.close(mine)
    uri = lsp.uri_of(s.folder / "format.tile")
    s.client.open(uri, "fn  f(x){\n    return x*2.0;\n}\n")
    s.client.apply(
        {
            "changes": {
                uri: s.client.ask("formatting", uri, options={"tabSize": 2, "insertSpaces": True})
            }
        }
    )
    equal(s.client.texts[uri], "fn f(x) {\n  return x * 2.0;\n}\n", "formatting")
    equal(s.client.ask("formatting", uri, options={}), [], "formatting twice")
    s.client.close(uri)


def check_large(s, examples):
    """Each request on 1,000 lines; and what one edit costs, counted."""
    text = lsp.thousand_lines(examples)
    uri = lsp.uri_of(s.folder / "large.tile")
    begin = s.client.times()
    s.client.open(uri, text)
    errors = [each for each in s.client.wait_for_diagnostics(uri) if each["severity"] == 1]
    equal(errors, [], "errors of the examples")
    first = s.client.request("tile/statistics", {"textDocument": {"uri": uri}})
    check(first["parsed"] == first["declarations"] > 40, first)
    s.client.latencies.clear()
    s.client.latencies["opening and its diagnostics"] = [
        tuple(now - then for now, then in zip(s.client.times(), begin))
    ]
    places = [i for i in range(0, len(text), len(text) // 40)]
    for place in places:
        s.client.ask("hover", uri, place)
        s.client.ask("definition", uri, place)
        s.client.ask("completion", uri, place)
        s.client.ask("signatureHelp", uri, place)
        s.client.ask("references", uri, place, context={"includeDeclaration": True})
        s.client.ask("documentHighlight", uri, place)
        s.client.ask("prepareRename", uri, place)
    whole = s.client.range(uri, 0, len(text))
    for _ in range(5):
        for method in ("documentSymbol", "semanticTokens/full", "foldingRange", "formatting"):
            s.client.ask(method, uri)
        s.client.ask("inlayHint", uri, range=whole)
        s.client.ask("codeAction", uri, range=whole, context={"diagnostics": []})
        s.client.request("workspace/symbol", {"query": "soft"})
    hints = s.client.ask("inlayHint", uri, range=whole)
    check(len(hints) > 100, f"{len(hints)} hints")
    place = text.index("let ")
    before = s.client.request("tile/statistics", {"textDocument": {"uri": uri}})
    times = []
    for _ in range(10):
        begin = s.client.times()
        s.client.edit(uri, place, place, " ")
        s.client.wait_for_diagnostics(uri)
        times.append(tuple(now - then for now, then in zip(s.client.times(), begin)))
    s.client.latencies["an edit and its diagnostics"] = times
    after = s.client.request("tile/statistics", {"textDocument": {"uri": uri}})
    equal(after["parsed"] - before["parsed"], 10, "declarations parsed after 10 edits of one")
    check(
        after["checkedKernels"] - before["checkedKernels"] <= 10,
        f"kernels checked after 10 edits: {before}, {after}",
    )
    s.client.edit(uri, 0, 0, "// a line more\n\n")
    s.client.wait_for_diagnostics(uri)
    moved = s.client.request("tile/statistics", {"textDocument": {"uri": uri}})
    check(
        moved["parsed"] - after["parsed"] <= 1,
        f"what only moves is not parsed again: {after}, {moved}",
    )


def check_rough(s):
    """What no editor sends does no harm."""
    s.client.process.stdin.write(b"Content-Length: 5\r\n\r\n{nope")
    s.client.notify(
        "textDocument/didChange",
        {"textDocument": {"uri": "file:///nowhere.tile"}, "contentChanges": [{"text": "x"}]},
    )
    s.client.notify("textDocument/didOpen", {})
    s.client.notify("nonsense", [])
    check(
        "not open"
        in s.client.request(
            "textDocument/hover", {"textDocument": {"uri": "file:///nowhere.tile"}}, fails=True
        ),
        "hover nowhere",
    )
    s.client.request("nonsense", {}, fails=True)
    for position in ({"line": 10**9, "character": 10**9}, {"line": -5, "character": -1}, {}):
        s.client.request(
            "textDocument/hover", {"textDocument": {"uri": s.small}, "position": position}
        )
    uri = "untitled:Untitled-1"
    for text in (
        "",
        "\ufeff",
        "kernel",
        "fn f(",
        "}" * 50,
        "(" * 5000,
        '"',
        "/*",
        "import",
        "const",
        "kernel k[",
        "fn f(x) { let (a, ",
        "\0\n\r\n\r",
    ):
        s.client.open(uri, text)
        s.client.wait_for_diagnostics(uri)
        for method in ("documentSymbol", "semanticTokens/full", "foldingRange"):
            s.client.ask(method, uri)
        for method in ("hover", "completion", "signatureHelp", "definition"):
            s.client.ask(method, uri, len(text))
        s.client.close(uri)


def main(tilec, examples, folder, *options):
    for encoding in ("utf-16", "utf-8"):
        s = Session(tilec, folder, encoding)
        for part in (
            check_diagnostics,
            check_hover,
            check_places,
            check_writing,
            check_structure,
            check_tokens,
            check_edits,
            check_rough,
        ):
            part(s)
        if encoding == "utf-16":
            check_large(s, examples)
            if "--times" in options:
                for method, times in sorted(s.client.latencies.items()):
                    clock, work = (
                        [1e3 * each for each in sorted(column)] for column in zip(*times)
                    )
                    print(
                        f"{method:36} {len(times):3} times, median {clock[len(clock) // 2]:7.2f}"
                        f" ms, longest {clock[-1]:7.2f} ms; of the processor"
                        f" {work[len(work) // 2]:7.2f} and {work[-1]:7.2f} ms"
                    )
        equal(s.client.end(), 0, "the exit code")
    print("every feature answers as it should")


if __name__ == "__main__":
    main(*sys.argv[1:])
