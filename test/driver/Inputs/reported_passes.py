"""reported_passes.py REPORT PIPELINE: the passes that the first kernel's remark and its notes name
are those of the pipeline that decide something, each once: fired ones in order, then the others in
order.
"""

import re
import sys

# What every kernel goes through for correctness, and what tidies up.
SILENT = {"canonicalize", "cse"}

with open(sys.argv[1], encoding="utf-8") as file:
    report = file.read().split("remark: ")[1]
with open(sys.argv[2], encoding="utf-8") as file:
    pipeline = re.findall(r"[a-z][a-z0-9-]+", file.read())

start, end = pipeline.index("tile-gpu-widen-tiles"), pipeline.index("tile-gpu-store-in-parts")
wanted = [name for name in pipeline[start : end + 1] if name.startswith("tile-")]
fired = re.search(r"was changed by (.*) \[R0602\]", report)[1].split(", ")
others = re.findall(r"note: (tile-\S+) did not: \S", report)
for name, passes in (("fired", fired), ("others", others)):
    order = [wanted.index(each) for each in passes]
    assert order == sorted(order), f"{name} are not in order: {passes}"
assert sorted(fired + others) == sorted(set(wanted) - SILENT), (
    set(wanted) ^ set(fired + others),
    len(fired + others),
)
