"""core_text.py FOLDER FILE.c PART...: FILE.c holds each part of the launcher's core, but for its
includes of the core, in this order; a part of another folder is named from the root. Every part of
the folder is in one of the lists of c-core.test.
"""

import os
import re
import sys

folder, generated, parts = sys.argv[1], open(sys.argv[2], encoding="utf-8").read(), sys.argv[3:]
at = 0
for part in parts:
    path = os.path.join(folder, "..", "..", part) if "/" in part else os.path.join(folder, part)
    with open(path, encoding="utf-8") as stream:
        text = re.sub(
            r'#include "(launch/core|manifest|runtime/include)/[^\n]*\n', "", stream.read()
        )
    found = generated.find(text, at)
    assert found >= 0, f"{sys.argv[2]} does not hold {part} as it is"
    at = found + len(text)
known = {part for part in parts if "/" not in part} | {
    "Launch.h",
    "Scratch.h",
    "Scratch.c",
    "Map.c",
    "Start.c",
    "Pool.h",
    "Pool.c",
}
assert set(os.listdir(folder)) == known, set(os.listdir(folder)) ^ known
