"""Formats every .tile file below a folder into text: formatting that again must not change it, and
files that parse are formatted already, but for those of UNFORMATTED. format_all.py ROOT
"""

import os
import subprocess
import sys

# Files that show a mistake or its message at a column, programs as beginners write them, and the
# one that the formatter's own test begins with.
UNFORMATTED = ("frontend/Diag/Examples/", "test/beginners/", "test/driver/Inputs/unformatted.tile")


def fmt(text):
    return subprocess.run(["tilec", "fmt", "-"], input=text, capture_output=True, timeout=60)


count = wrong = 0
for folder in (
    "examples",
    "library",
    "bench",
    "test",
    os.path.join("frontend", "Diag", "Examples"),
):
    for path, folders, names in os.walk(os.path.join(sys.argv[1], folder)):
        folders.sort()
        for name in sorted(names):
            if not name.endswith(".tile"):
                continue
            with open(os.path.join(path, name), "rb") as file:
                text = file.read()
            first = fmt(text)
            if first.returncode == 1:  # it does not parse: it is there to be refused
                continue
            count += 1
            second = fmt(first.stdout)
            if first.returncode or second.returncode or first.stdout != second.stdout:
                wrong += 1
                print(os.path.join(path, name), first.stderr.decode(), second.stderr.decode())
            below = os.path.relpath(os.path.join(path, name), sys.argv[1]).replace(os.sep, "/")
            if first.stdout != text and not below.startswith(UNFORMATTED):
                wrong += 1
                print(f"{below} is not formatted: tilec fmt {below}")
print(f"{count} files, {wrong} wrong")
