"""The pages of a release against its files: check_release.py TREE SOURCE.

A path in backticks or in a link must exist in the release, unless it is of the compiler's sources:
then there. An option in code must be one of tilec's or of a program of ours that the page names,
unless its line is of a program of others.
"""

import os
import re
import subprocess
import sys

# What only the sources hold; pages for those who work on the compiler name these.
SOURCES = (
    "grammar/",
    "frontend/",
    "dialect/",
    "passes/",
    "codegen/",
    "driver/",
    "runtime/",
    "manifest/",
    "formats/",
    "launch/",
    "test/",
    "cmake/",
    "python/",
    "library/",
    "build/",
)
COMMANDS = ("run", "debug", "tune", "explain", "inspect", "link", "check", "fix", "fmt")
# Whose options are on a line: programs of others, and those of ours, which have them in their text.
OTHERS = (
    r"\b(cmake|pkg-config|sbatch|srun|SBATCH|nvcc|pip|ncu|nsys|compute-sanitizer|gcc|git|llvm-\w+"
    r"|code --install-extension)\b"
)
OURS = r"(?:\./dev\b|(?:bench|test|docs|editors|examples)/[\w/.*-]+\.(?:py|sh))"
OPTION = r"(?<![\w-])--[a-z][a-z-]*"


def optionsOf(source, name):
    """The options that a program of ours has in its text; none where the name is a pattern."""
    path = os.path.join(source, name)
    if not os.path.exists(path):
        return set()
    with open(path, encoding="utf-8") as file:
        return set(re.findall(OPTION, file.read()))


def pages(tree):
    for path, folders, names in os.walk(tree):
        folders.sort()
        for name in sorted(names):
            if name.endswith(".md"):
                yield os.path.relpath(os.path.join(path, name), tree)


def code(text):
    """The code of a page: (number, line) of blocks, (number, text) of spans."""
    fenced = False
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("```"):
            fenced = not fenced
        elif fenced:
            yield number, line
        else:
            for span in re.findall(r"`([^`]+)`", line):
                yield number, span


def paths(line):
    """What in a line of code is a path of this project: it begins with a folder of the root, or is
    a page.
    """
    for word in re.findall(r"[\w./*-]+", line):
        if re.match(
            r"(docs|editors|examples|bench|test|python|library|grammar|frontend|dialect|passes"
            r"|codegen|driver|runtime|cmake|manifest|formats|launch)/",
            word,
        ) or re.fullmatch(r"[A-Z]\w+\.md", word):
            if not re.search(
                r"\b(NAME|CODE)\b|\.tune$", word
            ):  # stands for a name; is made by a command
                yield word.rstrip(".")


def exists(root, page, word):
    word = word[: word.index("*")].rpartition("/")[0] if "*" in word else word
    at = [
        word,
        word + ".cpp",
        os.path.join(os.path.dirname(page), word),
        os.path.join("docs", word),
    ]
    if word.startswith("runtime/include/"):
        at.append(word[len("runtime/") :])
    return any(os.path.exists(os.path.join(root, one)) for one in at)


def check(tree, source, page, options):
    with open(os.path.join(tree, page), encoding="utf-8") as file:
        text = file.read()
    lines = list(code(text))
    known = options.union(*(optionsOf(source, name) for name in re.findall(OURS, text)))
    for number, line in lines:
        for word in paths(line):
            if not exists(tree, page, word) and not (
                word.startswith(SOURCES) and exists(source, page, word)
            ):
                yield f"{page}:{number}: no '{word}' in the release"
        if not re.search(OTHERS, text.splitlines()[number - 1]):
            for option in re.findall(OPTION, line):
                if option not in known:
                    yield f"{page}:{number}: neither tilec nor what the page runs has '{option}'"
    for number, line in enumerate(text.splitlines(), 1):
        for target in re.findall(r"\]\(([^)#: ]+\.\w+)\)", line):
            if not exists(tree, page, target):
                yield f"{page}:{number}: the link to '{target}' leads nowhere"


def main(tree, source):
    tilec = os.path.join(tree, "bin", "tilec")
    options = set()
    for command in (
        [],
        ["run"],
        ["tune"],
        ["explain"],
        ["debug"],
        ["check"],
        ["fmt"],
        ["fix"],
        ["inspect"],
        ["link"],
    ):
        words = [tilec] + command + ["--help-hidden"]
        options |= set(
            re.findall(
                r"--[a-z][a-z-]*", subprocess.run(words, capture_output=True, text=True).stdout
            )
        )
    # A page about another program of ours names that one's options.
    playground = subprocess.run(
        [sys.executable, "-m", "tile_compiler.playground", "--help"],
        capture_output=True,
        text=True,
        env=dict(os.environ, PYTHONPATH=os.path.join(tree, "python")),
    )
    programs = {"docs/guides/playground.md": set(re.findall(r"--[a-z][a-z-]*", playground.stdout))}
    found = list(pages(tree))
    assert len(found) > 20 and len(options) > 40, "a release without its pages or options"
    problems = [
        problem
        for page in found
        for problem in check(tree, source, page, options | programs.get(page, set()))
    ]
    print("\n".join(problems + [f"{len(found)} pages, {len(problems)} problems"]))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
