"""Checks the numbers of the language's rules: check_rules.py ROOT.

Rules are defined in docs/language/*.md as `- **T4.1** …`. Tests name them in their first four
lines, examples of diagnostics in `Rules:`. Every number that is named is a rule, every rule is
named by at least one test (but for those marked *(not yet)*), and pages use each number once.
"""

import collections
import os
import re
import sys

RULE = r"\b([SDTAOFNMLG]\d+\.\d+)\b"
TESTS = (".tile", ".test", ".mlir", ".py", ".cpp")


def main(root):
    problems, defined, used = [], {}, collections.defaultdict(list)
    pages = os.path.join(root, "docs", "language")
    for page in sorted(os.listdir(pages)):
        with open(os.path.join(pages, page), encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                where = f"docs/language/{page}:{number}"
                if match := re.match(rf"- \*\*{RULE}\*\*", line):
                    if match[1] in defined:
                        problems.append(
                            f"{where}: {match[1]} is also defined at {defined[match[1]]}"
                        )
                    defined[match[1]] = where
                for name in re.findall(RULE, line):
                    used[name].append(where)
    pending = set()
    for page in os.listdir(pages):
        with open(os.path.join(pages, page), encoding="utf-8") as file:
            pending |= set(re.findall(rf"^- \*\*{RULE}\*\* \*\(not yet\)\*", file.read(), re.M))
    named = set()
    for folder, suffixes in (
        ("test", TESTS),
        (os.path.join("frontend", "Diag", "Examples"), (".txt",)),
    ):
        for path, folders, files in os.walk(os.path.join(root, folder)):
            for name in files:
                if name.endswith(suffixes):
                    with open(os.path.join(path, name), encoding="utf-8", errors="replace") as file:
                        head = "".join(file.readline() for _ in range(4))
                    for rule in re.findall(RULE, head):
                        used[rule].append(os.path.relpath(os.path.join(path, name), root))
                        named.add(rule)
    for rule, places in sorted(used.items()):
        if rule not in defined:
            problems.append(f"{places[0]}: there is no rule {rule} in docs/language")
    problems += [
        f"{where}: no test names {rule}"
        for rule, where in defined.items()
        if rule not in named | pending
    ]
    print("\n".join(problems + [f"{len(defined)} rules, {len(problems)} problems"]))
    return 1 if problems or not defined else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
