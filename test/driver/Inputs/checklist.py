"""Checks docs/Checklist.md against the tests that there are: checklist.py ROOT."""
import glob
import os
import re
import sys

root = sys.argv[1]
text = open(os.path.join(root, "docs", "Checklist.md")).read()
cases = set()
for path in glob.glob(os.path.join(root, "test", "unit", "**", "*.cpp"), recursive=True):
    cases |= {f"{a}.{b}" for a, b in re.findall(r"^TEST(?:_F)?\((\w+), (\w+)\)", open(path).read(), re.MULTILINE)}
wrong = []
rows = 0
for line in text.splitlines():
    if not line.startswith("| ") or line.startswith("| # |") or line.startswith("| its defect"):
        continue
    rows += 1
    cells = [cell.strip() for cell in line.strip("|").split("|")]
    names = re.findall(r"`([^`]+)`", cells[-1])
    paths = [name for name in names if name.startswith(("test/", "bench/"))]
    tests = [name for name in names if re.fullmatch(r"\w+\.\w+", name)]
    examples = re.findall(r"example `(\w+)`", cells[-1])
    for path in paths:
        if not os.path.exists(os.path.join(root, path)):
            wrong.append(f"{cells[0]}: there is no {path}")
    wrong += [f"{cells[0]}: there is no test {name}" for name in tests if name not in cases]
    wrong += [f"{cells[0]}: there is no example {name}" for name in examples if not os.path.isdir(os.path.join(root, "examples", name))]
    if not paths and not tests and not examples and "**missing**" not in cells[-1]:
        wrong.append(f"{cells[0]}: neither a test nor 'missing'")
expected = 66 + 16 + 3
numbered = re.findall(r"^\| (\d+) \|", text, re.MULTILINE)
if [int(n) for n in numbered] != list(range(1, 67)) + list(range(79, 95)) + [97, 99, 100]:
    wrong.append(f"rows are {len(numbered)}, expected {expected}")
print("\n".join(wrong))
sys.exit(bool(wrong))
