"""Files, passes and options that comments and pages name exist: references.py ROOT.

A file is named by its path from the root, or by its name alone where that ends in .cpp, .h, .td,
.c, .py, .md or .tile; a pass by its flag, `tile-…`, in passes/Passes*.td; an option of tilec, in
comments of the driver, in driver/options/Options.td. Names in capitals stand for others: NAME.c,
FILE.h.
"""

import glob
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import check  # noqa: E402

CODE = (".cpp", ".h", ".hpp", ".c", ".td", ".def")
SCRIPTS = (".py", ".cmake", "CMakeLists.txt", ".sh")
PATH = rf"(?<![\w./*%-])((?:{'|'.join(check.FOLDERS)})/[\w./-]*\w)"
NAME = r"(?<![\w./*-])([A-Z]\w+\.(?:cpp|h|td|c|py|md))\b"
PASS = r"(?<![\w./-])(tile-(?:gpu|cpu)-[a-z0-9-]*[a-z0-9])\b"
# Files that are made, not kept: by a build, by a user, by another project.
MADE = re.compile(
    r"^(driver|codegen|frontend|passes|dialect)/.*\.inc$|^test/gpu/results/|^bench/results/"
    r"|^library/Library\.cpp|\.tune$|/(NAME|CODE)"
)
# Ends that a name may leave out.
ENDS = (".h", ".cpp", ".md", ".tile")


def comments(path, text):
    """(line, text) of each comment."""
    if path.endswith(".md"):
        yield from enumerate(text.split("\n"), 1)
        return
    pattern = r"//[^\n]*|/\*.*?\*/" if path.endswith(CODE) else r"(?m)#[^\n]*|\"\"\".*?\"\"\""
    strings = r'"(?:[^"\\\n]|\\.)*"|' if path.endswith(CODE) else ""
    for match in re.finditer(strings + pattern, text, re.DOTALL):
        if match[0][0] == '"' and not match[0].startswith('"""'):
            continue
        first = text.count("\n", 0, match.start()) + 1
        for offset, line in enumerate(match[0].split("\n")):
            yield first + offset, line


def main(root):
    known, paths = set(), set()
    for folder, folders, names in os.walk(root):
        folders[:] = [f for f in folders if not f.startswith((".", "__", "build"))]
        known.update(names)
        paths.update(os.path.relpath(os.path.join(folder, name), root) for name in names + folders)
    passes = set()
    for path in glob.glob(os.path.join(root, "passes", "Passes*.td")):
        with open(path, encoding="utf-8") as file:
            passes |= set(re.findall(r'Pass<"([^"]+)"', file.read()))
    with open(os.path.join(root, "passes", "Pipelines.cpp"), encoding="utf-8") as file:
        passes |= set(re.findall(r'"(tile-[a-z-]*pipeline)"', file.read()))
    with open(os.path.join(root, "driver", "options", "Options.td"), encoding="utf-8") as file:
        options = set(re.findall(r'"([a-z][a-z0-9-]+)=?"', file.read()))
    with open(os.path.join(root, "driver", "options", "Help.cpp"), encoding="utf-8") as file:
        options |= set(re.findall(r"--([a-z][a-z0-9-]+)", file.read()))
    problems, count = [], 0
    for path in check.files(root):
        if "results" in path or path == os.path.join("test", "house-rules", "references.py"):
            continue
        if not path.endswith(CODE + SCRIPTS + (".md",)):
            continue
        with open(os.path.join(root, path), encoding="utf-8") as file:
            text = file.read()
        for line, said in comments(path, text):
            for name in re.findall(PATH, said):
                count += 1
                beside = os.path.normpath(os.path.join(os.path.dirname(path), name))
                named = {name, beside} | {p + end for p in (name, beside) for end in ENDS}
                if not named & paths and not MADE.search(name):
                    problems.append(f"{path}:{line}: there is no file {name}")
            for name in re.findall(NAME, said):
                count += 1
                if name not in known and not re.match(r"[A-Z]+\.", name):
                    problems.append(f"{path}:{line}: there is no file {name}")
            for name in re.findall(PASS, said):
                count += 1
                if name not in passes:
                    problems.append(f"{path}:{line}: there is no pass {name}")
            if path.startswith("driver" + os.sep) and path.endswith(CODE):
                for name in re.findall(r"(?<![\w-])--([a-z][a-z0-9-]+)", said):
                    count += 1
                    if name not in options:
                        problems.append(f"{path}:{line}: tilec has no option --{name}")
    print("\n".join(problems + [f"{count} names, {len(problems)} problems"]))
    return 1 if problems or not count else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
