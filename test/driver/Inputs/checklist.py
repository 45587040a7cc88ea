"""Checks docs/Checklist.md against the tests that there are: checklist.py ROOT."""

import glob
import os
import re
import sys

root = sys.argv[1]
text = open(os.path.join(root, "docs", "Checklist.md")).read()
cases = set()
for path in glob.glob(os.path.join(root, "test", "unit", "**", "*.cpp"), recursive=True):
    cases |= {
        f"{a}.{b}"
        for a, b in re.findall(r"^TEST(?:_F)?\((\w+), (\w+)\)", open(path).read(), re.MULTILINE)
    }
wrong = []
for line in text.splitlines():
    if not line.startswith("| ") or line.startswith("| # |") or line.startswith("| its defect"):
        continue
    cells = [cell.strip() for cell in line.strip("|").split("|")]
    names = re.findall(r"`([^`]+)`", cells[-1])
    paths = [name for name in names if name.startswith(("test/", "bench/"))]
    tests = [name for name in names if re.fullmatch(r"\w+\.\w+", name)]
    examples = re.findall(r"example `(\w+)`", cells[-1])
    for path in paths:
        if not os.path.exists(os.path.join(root, path)):
            wrong.append(f"{cells[0]}: there is no {path}")
    wrong += [f"{cells[0]}: there is no test {name}" for name in tests if name not in cases]
    wrong += [
        f"{cells[0]}: there is no example {name}"
        for name in examples
        if not os.path.isdir(os.path.join(root, "examples", name))
    ]
    if not paths and not tests and not examples and "**missing**" not in cells[-1]:
        wrong.append(f"{cells[0]}: neither a test nor 'missing'")
numbered = re.findall(r"^\| (\d+) \|.*\|(.*)\|$", text, re.MULTILINE)
if [int(n) for n, _ in numbered] != list(range(1, 101)):
    wrong.append(f"rows are {[int(n) for n, _ in numbered]}, expected 1 to 100")
# A second list, so that a test is not exchanged for one of another row by a slip.
with open(os.path.join(root, "test", "checklist", "tests.txt")) as file:
    listed = dict(line.rstrip("\n").split(":", 1) for line in file)
for number, cell in numbered:
    names = re.findall(r"`([^`]+)`", cell)
    named = {
        name
        for name in names
        if name.startswith(("test/", "bench/")) or re.fullmatch(r"\w+\.\w+", name)
    }
    named |= {f"example:{name}" for name in re.findall(r"example `(\w+)`", cell)}
    if named != set(listed.get(number, "").split()):
        wrong.append(
            f"{number}: names {sorted(named)}, test/checklist/tests.txt"
            f" {listed.get(number, '').split()}"
        )
print("\n".join(wrong))
sys.exit(bool(wrong))
