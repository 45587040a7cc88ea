"""Checks what CONTRIBUTING.md asks of every file, as far as a script can see it: check.py ROOT
prints what breaks a rule. check.py ROOT --list ENDING... prints the files of these endings instead.
"""

import os
import re
import sys

FOLDERS = (
    "bench",
    "cmake",
    "codegen",
    "dialect",
    "docs",
    "driver",
    "editors",
    "examples",
    "formats",
    "frontend",
    "grammar",
    "launch",
    "library",
    "lsp",
    "manifest",
    "passes",
    "python",
    "runtime",
    "target",
    "test",
)
# Of the libraries that compiler and runtime share: the folders whose headers each may include. None
# includes LLVM.
SHARED = {
    "manifest": ("manifest", "runtime/include"),
    "formats": ("formats", "manifest", "runtime/include", "target"),
    "target": ("target",),
    "launch": ("launch", "manifest", "runtime/include"),
}
# Checks stand below the lowering: the includes that folders of the front end may have of this tree.
FRONTEND = {
    "frontend/Source": ("frontend/Source",),
    "frontend/Ast": ("frontend/Ast", "frontend/Source"),
    "frontend/Check": (
        "frontend/Ast",
        "frontend/Check",
        "frontend/Diag",
        "frontend/Sema",
        "frontend/Source",
        "manifest",
    ),
    "frontend/Sema": (
        "frontend/Ast",
        "frontend/Diag",
        "frontend/Sema",
        "frontend/Source",
        "manifest",
        "target",
        "dialect/AttributeNames.h",
        "dialect/RequestLimits.h",
        "dialect/ProgramNames.h",
    ),
}
# Rooms that count as one where folders are asked not to include each other in a circle: their
# folders sort the files of one library by subject, and all of them share its session, its tables or
# its C interface.
ROOMS = ("codegen", "driver", os.path.join("runtime", "src"))
MOST_METHODS = 40  # of a class
# Who includes the insides of the runtime.
INSIDERS = ("runtime", os.path.join("test", "unit", "runtime"))
# Where a GPU's name may stand in comments and help alone: the table of target/ knows them.
NAMELESS = (
    "cmake",
    "codegen",
    "dialect",
    "driver",
    "formats",
    "frontend",
    "launch",
    "library",
    "lsp",
    "manifest",
    "passes",
    "python",
    "runtime",
)
SOURCES = (".cpp", ".h", ".hpp", ".c", ".td", ".def", ".py", ".g4", ".cmake", "CMakeLists.txt")
SCRIPTS = (".js", ".css", ".vim")  # of pages and editors
TESTS = (".mlir", ".tile", ".test", ".ll")
STRING = r'"(?:[^"\\]|\\.)*"'
REPORTS = (
    r"\b(?:emitOpError|emitError|emitWarning|emitRemark|createStringError|notifyMatchFailure)\("
)


def files(root):
    for folder in FOLDERS:
        for path, folders, names in os.walk(os.path.join(root, folder)):
            folders[:] = sorted(
                f for f in folders if not f.startswith((".", "__")) and f != "Inputs"
            )
            for name in sorted(names):
                if name.endswith(SOURCES + TESTS + SCRIPTS + (".md",)):
                    yield os.path.relpath(os.path.join(path, name), root)


WIDTH = 100
# What a line of a test may be that cannot be broken: a directive of lit or FileCheck, a word about
# a diagnostic that is expected, data that test/language/run.py reads.
UNBROKEN = re.compile(
    r"^\W*[A-Z][A-Z0-9_-]*(\{[A-Z]+\})?:|CHECK|expected-|^// \w+(: \S+\[.*\] =| -> | ~ )"
)
QUOTED = r'"(?:[^"\\]|\\.)*"|\'[^\']*\''


def tooWide(path, text):
    """Lines of more than WIDTH columns that could be broken: their numbers."""
    if isIn(path, (os.path.join("frontend", "Diag", "Examples"),)):
        return  # sources with one mistake each, which may be a line that is too long
    isTest = path.startswith("test" + os.sep) and path.endswith(TESTS)
    fence = False
    for number, line in enumerate(text.split("\n"), 1):
        if path.endswith(".md") and line.lstrip().startswith("```"):
            fence = not fence
        if len(line) <= WIDTH:
            continue
        if path.endswith(".md") and (fence or line.lstrip().startswith(("|", "#", "<"))):
            continue
        words = line.strip().split()
        if len(words) < 2 or (words[0] in ("//", "#", "///", "-") and len(words) == 2):
            continue  # an address or a path
        if isTest and re.match(r"^\W*RUN:", line):
            # A program within quotes stands in one line.
            if len(re.sub(QUOTED, "''", line)) > WIDTH:
                yield number
        elif not (isTest and UNBROKEN.search(line)):
            yield number


def checkWidth(path, text):
    """Lines keep to 100 columns; IR of tests, tables and blocks of pages are what they are."""
    if not path.endswith((".mlir", ".ll")):
        for number in tooWide(path, text):
            yield number, f"a line of more than {WIDTH} columns"


def checkBanners(path, text):
    """A section of a C++ file begins with one line of 80 columns, of a C file with
    /* ---- X ---- */.
    A formatter breaks banners that are too wide into two lines, hence the exact form.
    """
    for number, line in enumerate(text.split("\n"), 1):
        if re.match(r"\s*//\s*[-=]{3,}", line):
            if len(line) != 80 or not re.fullmatch(r"\s*//===--- \S.*? -{3,}===//", line):
                yield number, "a banner of a section is `//===--- Title ---…===//`, 80 columns wide"


def checkGuard(path, text):
    """A header has an include guard named as its path, or the end of its path, around all of it."""
    guard = re.search(r"^#ifndef (TILE\w*)\n#define \1\n.*^#endif\n\Z", text, re.M | re.S)
    if path == os.path.join("cmake", "Precompiled.h"):
        return  # the compiler includes it, nothing else does
    name = "_" + re.sub(r"\W", "_", path).upper()
    if "#pragma once" in text or not guard or not name.endswith(guard[1][len("TILE") :]):
        yield 1, f"needs the include guard TILE{name}, or its end behind TILE"


def lineOf(text, position):
    return text.count("\n", 0, position) + 1


def definitions(text):
    """Each `def` of a TableGen file: its position, its class, its class's first argument, its
    text.
    """
    starts = list(re.finditer(r'^def \w+\s*:\s*(\w+)<"([^"]*)"', text, re.MULTILINE))
    for match, after in zip(starts, starts[1:] + [None]):
        yield (
            match.start(),
            match[1],
            match[2],
            text[match.start() : after.start() if after else len(text)],
        )


def checkShape(path, text):
    """A file opens with a comment on what it is for, and has at most 800 lines."""
    if text.count("\n") > 800:
        yield 800, f"{text.count(chr(10))} lines, the limit is 800"
    if path.endswith(SOURCES) and not text.startswith(("//", "/*", "#", '"""')):
        yield 1, "needs a first line that says what the file is for"


def checkDefinitions(path, text, root):
    """Operations and passes are described; a pass has a folder of tests named as its flag."""
    for start, kind, name, body in definitions(text):
        if kind != "Pass" and not kind.endswith("_Op"):
            continue
        for field in ("summary", "description"):
            if not re.search(rf'let {field} =\s+("[^"]|\[{{\s*\S)', body):
                yield lineOf(text, start), f"'{name}' has no {field}"
        tests = os.path.join(root, "test", "passes", name)
        if kind == "Pass" and not (
            os.path.isdir(tests) and any(f.endswith(TESTS) for f in os.listdir(tests))
        ):
            yield lineOf(text, start), f"'{name}' has no tests in test/passes/{name}"


def checkMessages(path, text):
    """Messages start in lower case and have no full stop."""
    if path.endswith(".def"):
        messages = re.finditer(rf"^DIAG\(\w+, \w+, \w+,\s*((?:{STRING}\s*)+)", text, re.MULTILINE)
    else:
        messages = re.finditer(rf"{REPORTS}([^;]*);", text)
    for match in messages:
        strings = re.findall(STRING, match[1])
        if strings and re.match(r'"[A-Z][a-z]', strings[0]):
            yield lineOf(text, match.start()), f"the message starts with a capital: {strings[0]}"
        if strings and re.search(r'[^.]\."$', strings[-1]):
            yield lineOf(text, match.start()), f"the message ends in a full stop: {strings[-1]}"


def checkFolders(root):
    """A folder of the driver has at most 12 files, so that its list is read at a glance."""
    for path, folders, names in os.walk(os.path.join(root, "driver")):
        if len(names) > 12:
            yield os.path.relpath(path, root), f"{len(names)} files, the limit is 12: make a folder"


def checkStrays(root):
    """Entries of the compile cache stay out of the tree: they name files of a machine."""
    for folder in sorted(os.listdir(root)):
        path = os.path.join(root, folder)
        if os.path.isdir(path) and not folder.startswith((".", "build")):
            for name in sorted(os.listdir(path)):
                if re.fullmatch(r"[0-9a-f]{64}\.(entry|deps|last)", name):
                    yield os.path.join(folder, name), "an entry of the compile cache: remove it"


def isIn(path, folders):
    return any(path.startswith(folder + os.sep) for folder in folders)


def checkIncludes(path, text):
    """The runtime's insides stay inside; what compiler and runtime share includes nothing above
    it.
    """
    allowed = SHARED.get(path.split(os.sep)[0])
    for match in re.finditer(r'^#include ["<]([^">]*/[^">]*)[">]', text, re.MULTILINE):
        folder, name = match[1].split("/")[0], match[1]
        if name.startswith("runtime/src/") and not isIn(path, INSIDERS):
            yield (
                lineOf(text, match.start()),
                (
                    f"'{name}' is inside the runtime: include manifest/, formats/, launch/ or"
                    " runtime/include/"
                ),
            )
        elif allowed and (folder in FOLDERS + ("llvm", "mlir")) and not isIn(name, allowed):
            yield (
                lineOf(text, match.start()),
                (
                    f"'{name}' is above {path.split(os.sep)[0]}/, which may include"
                    f" {', '.join(allowed)}"
                ),
            )


def checkFrontEnd(path, text):
    """The folders of the front end that need no MLIR include none, nor what is above them."""
    allowed = FRONTEND.get(os.path.dirname(path))
    for match in re.finditer(r'^#include ["<]([^">]*/[^">]*)[">]', text, re.MULTILINE):
        name = match[1]
        isOurs = name.split("/")[0] in FOLDERS + ("mlir",)
        if allowed and isOurs and name not in allowed and not isIn(name, allowed):
            yield (
                lineOf(text, match.start()),
                (
                    f"'{name}' is above {os.path.dirname(path)}/, which may include "
                    + ", ".join(allowed)
                ),
            )


def stripped(text):
    """C++ without comments and texts, line by line as before."""
    ignored = r"//[^\n]*|/\*.*?\*/|" + STRING + r"|'(?:[^'\\\n]|\\.)'"
    return re.sub(ignored, lambda m: re.sub(r"[^\n]", " ", m[0]), text, flags=re.DOTALL)


NO_METHOD = re.compile(
    r"\s*(?:(?:public|private|protected)\s*:\s*)*"
    r"(?:using|typedef|friend|static_assert|class|struct|enum|union)\b"
)


def methodsOf(text, begin):
    """How many functions the class declares whose body begins behind `begin`."""
    depth, count, statement, position = 1, 0, "", begin
    while position < len(text) and depth:
        char = text[position]
        position += 1
        if char == "{":
            depth += 1
            if depth > 2:
                continue
            char = ";"  # a body, or the braces of a nested class
        elif char == "}":
            depth -= 1
            statement = ""
            continue
        if depth == 1 or char == ";" and depth == 2:
            statement += char
        if char == ";":
            head = statement if "operator" in statement else statement.split("=")[0]
            count += bool(not NO_METHOD.match(head) and re.search(r"[\w\]=>)]\s*\(", head))
            statement = ""
    return count


def checkClasses(path, text):
    """A class has so few methods that its declaration is read at once."""
    text = stripped(text)
    opening = r"\b(?:class|struct)\s+(\w+)(?:\s+final)?\s*(?::[^;{}()]*)?\{"
    for match in re.finditer(opening, text):
        count = methodsOf(text, match.end())
        if count > MOST_METHODS:
            yield (
                lineOf(text, match.start()),
                (
                    f"'{match[1]}' has {count} methods, the limit is {MOST_METHODS}: "
                    "make classes of its concerns"
                ),
            )


def checkCircles(root, texts):
    """Folders include each other in one direction. `texts` has the C++ of the tree by path."""

    def roomOf(path):
        return next((room for room in ROOMS if isIn(path, (room,))), os.path.dirname(path))

    below = {}
    for path, text in texts.items():
        folder = roomOf(path)
        for name in re.findall(r'^#include "([^"]+/[^"]+)"', text, re.MULTILINE):
            if name in texts and roomOf(name) != folder:
                below.setdefault(folder, {}).setdefault(roomOf(name), path)

    def reach(folder):
        seen, todo = set(), [folder]
        while todo:
            for each in below.get(todo.pop(), ()):
                if each not in seen:
                    seen.add(each)
                    todo.append(each)
        return seen

    reached = {folder: reach(folder) for folder in sorted(below)}
    for folder in sorted(below):
        for other, path in sorted(below[folder].items()):
            if folder < other and folder in reached.get(other, ()):
                yield (
                    path,
                    (
                        f"{folder}/ includes {other}/, which includes it in turn: "
                        "move what both need to a folder below"
                    ),
                )


def checkNames(path, text):
    """No code compares, parses or defaults a GPU's name: target/ does. Help shows calls of tilec
    with names.
    """
    name = r"sm_\d"
    if path.endswith((".cpp", ".h", ".hpp", ".c")):
        code = re.sub(
            r"//[^\n]*|/\*.*?\*/|" + STRING,
            lambda m: m[0] if m[0][0] == '"' else re.sub(r"[^\n]", " ", m[0]),
            text,
            flags=re.DOTALL,
        )
        for match in re.finditer(STRING, code):
            if (
                (re.search(name, match[0]) or match[0] == '"sm_"')
                and "tilec " not in match[0]
                and "--target " not in match[0]
            ):
                yield (
                    lineOf(text, match.start()),
                    f"a GPU's name in code: {match[0]}; ask target/Target.h",
                )
    elif path.endswith(".td"):  # the default of an option
        for match in re.finditer(r'\\"sm_[^"]*"', text):
            yield lineOf(text, match.start()), f"a GPU's name as a default: {match[0]}"
    elif path.endswith((".py", ".cmake", "CMakeLists.txt")):
        code = re.sub(
            r'""".*?"""|#[^\n]*', lambda m: re.sub(r"[^\n]", " ", m[0]), text, flags=re.DOTALL
        )
        for match in re.finditer(name, code):
            yield lineOf(text, match.start()), "a GPU's name in code; ask tilec or target/Target.h"


def checkModule(path, text):
    """Imports of `tile`, which is another project's module."""
    for match in re.finditer(r"^\s*(?:import (?:\w+, )*|from )tile\b", text, re.MULTILINE):
        yield lineOf(text, match.end()), "imports 'tile'; our module is 'tile_compiler'"


def checkDirectives(path, text):
    """lit and FileCheck pass over a directive without its colon."""
    for match in re.finditer(
        r"^\s*(?://|#|;)\s*((?:RUN|CHECK(?:-[A-Z]+)*)\b(?![-:]|\{LITERAL).*)$", text, re.MULTILINE
    ):
        yield lineOf(text, match.start(1)), f"a directive without its colon: {match[1]}"


def main(root):
    broken, code = 0, {}
    for path in files(root):
        with open(os.path.join(root, path), encoding="utf-8") as file:
            text = file.read()
        found = list(checkShape(path, text)) + list(checkWidth(path, text))
        if path.endswith(".td"):
            found += checkDefinitions(path, text, root)
        if path.endswith((".cpp", ".h", ".def")):
            found += checkMessages(path, text)
        if path.endswith((".cpp", ".h", ".hpp", ".c")):
            found += checkIncludes(path, text)
            found += checkBanners(path, text)
            found += checkGuard(path, text) if path.endswith((".h", ".hpp")) else []
            found += checkFrontEnd(path, text)
            found += checkClasses(path, text)
            if isIn(path, NAMELESS):
                code[path] = text
        if isIn(path, NAMELESS):
            found += checkNames(path, text)
        if path.endswith((".py", ".md")):
            found += checkModule(path, text)
        if path.startswith("test" + os.sep) and path.endswith(TESTS):
            found += checkDirectives(path, text)
        for line, message in found:
            print(f"{path}:{line}: {message}")
        broken += len(found)
    for path, message in [*checkFolders(root), *checkStrays(root)]:
        print(f"{path}: {message}")
        broken += 1
    for path, message in checkCircles(root, code):
        print(f"{path}: {message}")
        broken += 1
    return 1 if broken else 0


if __name__ == "__main__":
    if sys.argv[2:3] == ["--list"]:
        print("\n".join(path for path in files(sys.argv[1]) if path.endswith(tuple(sys.argv[3:]))))
    else:
        sys.exit(main(sys.argv[1]))
