"""Numbers that passes of the GPU compare with: comparisons.py ROOT.

Every comparison in passes/TileGPU with a number other than 0 and 1 stands in the table of
docs/Comparisons.md, with its file and the reason for the number, and nothing else does.
Numbers that have a name have their reason where they get it.
"""

import os
import re
import sys

COMPARED = re.compile(r"(\w+(?:\([\w. ]*\)|\[\w*\])*|[)\]])\s*(<=|>=|==|!=|<|>)\s*(\d+)\b(?![>.])")


def comparisons(root):
    """{(file, "n >= 64")}"""
    top = os.path.join(root, "passes", "TileGPU")
    found = set()
    for folder, _, names in os.walk(top):
        for name in names:
            if not name.endswith((".cpp", ".h")):
                continue
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                text = re.sub(r"//.*|\"(?:[^\"\\]|\\.)*\"|#include.*", "", file.read())
            text = re.sub(r"(?:Vector|Set|Array|Ptr)<[^<>;]*>|int64_t\(1\) <<", "", text)
            for left, sign, number in COMPARED.findall(text):
                if int(number) > 1:
                    path = os.path.relpath(os.path.join(folder, name), top)
                    found.add((path, f"{left} {sign} {number}"))
    return found


def listed(root):
    """Those that the page has."""
    with open(os.path.join(root, "docs", "Comparisons.md"), encoding="utf-8") as file:
        rows = re.findall(r"^\| `([\w/.]+)` \| (.*?) \| (.*) \|$", file.read(), re.M)
    return {(name, each) for name, cell, reason in rows for each in re.findall(r"`([^`]+)`", cell)
            if reason.strip()}  # fmt: skip


def main():
    there, known = comparisons(sys.argv[1]), listed(sys.argv[1])
    for name, each in sorted(there - known):
        print(f"passes/TileGPU/{name}: `{each}` has no reason in docs/Comparisons.md")
    for name, each in sorted(known - there):
        print(f"docs/Comparisons.md: `{each}` is not in passes/TileGPU/{name}")
    print(f"{len(there)} comparisons")
    return 1 if there != known else 0


sys.exit(main())
