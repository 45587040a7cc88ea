"""Parts of bench/gpu that need no GPU: ratios to bars, merging of result files, variants of
attributes.
"""

import glob
import json
import os
import sys
import tempfile

ROOT = sys.argv[1]
sys.path.insert(0, os.path.join(ROOT, "bench"))
import resultfile  # noqa: E402
from gpu import compare, families, ours, parts, records, table  # noqa: E402


def equal(got, expected):
    if got != expected:
        sys.exit(f"expected {expected!r}, found {got!r}")


def ratio(names, found):
    return records.withRatios([{"ratio": 1.0, "names": names, "against": ""}], found)[0]["ours"]


RATES = {
    "tile": 6.0,
    "tile-plain": 8.0,
    "cublas": 3.0,
    "cublaslt": 4.0,
    "triton-tma": 5.0,
    "copy": 12.0,
    "cublas-plain": 99.0,
}
MATMUL = [{"who": who, "rate": rate, "run": "a"} for who, rate in RATES.items()]
MATMUL += [{"who": "eager", "rate": 99.0, "run": "b"}, {"who": "compile", "failed": "why"}]
equal(ratio(["cublas"], MATMUL), 2.0)  # not cublaslt
equal(ratio(["cublas", "cublaslt"], MATMUL), 1.5)
equal(ratio(["triton"], MATMUL), 1.2)  # any kind of Triton
equal(ratio(["copy"], MATMUL), 0.5)
equal(ratio(["tile-plain"], MATMUL), 0.75)
equal(ratio(None, MATMUL), 1.2)  # peers that do all the work, in the same run
equal(ratio(["compile"], MATMUL), None)
equal(ratio(["cublas"], MATMUL[1:]), None)

# Two versions in turns: ours over theirs, and theirs is nobody's peer.
TURNS = [
    {"who": "tile", "rate": 6.0, "run": "a", "spill_bytes": 8},
    {"who": "against", "rate": 5.0, "run": "a"},
]
equal(ratio(["against"], TURNS), 1.2)
equal(ratio(None, TURNS), None)
equal(
    table.summary(
        [
            {"item": "x", "bars": [{"ours": 0.5}], "found": TURNS},
            {"item": "y", "bars": [{"ours": 2.0}], "found": []},
        ]
    ),
    "2 items: geometric mean 1.000, least 0.500 (x); more spills than before: x",
)

# Rows of models: enough of them, no two of one name, and parts that have each of them once.
ROWS = families.items("models")
NAMES = [item.name for item in ROWS]
if len(set(NAMES)) != len(NAMES) or len(NAMES) < 160:
    sys.exit(f"{len(NAMES)} rows of models, {len(set(NAMES))} names, expected 160 or more of each")
PARTS = [parts.of(ROWS, f"{number}/5") for number in range(1, 6)]
equal([item.name for part in PARTS for item in part], NAMES)
COSTS = [sum(item.cost for item in part) for part in PARTS]
equal(max(COSTS) - min(COSTS) < 30.0, True)


def measured(name, rate, best=None):
    """An entry with our rate and its ratio to the best peer."""
    found = [{"who": "tile", **({"rate": rate} if rate else {"failed": "why"})}]
    bars = [{"against": "best peer", "ours": best}]
    return {"item": name, "family": "f", "bars": bars, "found": found}


# What has lost more than 3 percent, and what does not run any more.
BEFORE = [measured("a", 100.0, 1.0), measured("b", 100.0, 1.0), measured("c", 100.0)]
NOW = [measured("a", 96.0, 0.9), measured("b", 98.0, 1.0), measured("c", None), measured("d", 9.0)]
equal(
    compare.against(NOW, BEFORE),
    (
        "2 rows in both records: 0.970 of their rates in the mean, 2 below 0.97\n"
        "  a: 0.960 of its rate, against the best peer 1.000 before and 0.900 now\n"
        "  c: it was measured before, and does not run now",
        2,
    ),
)
equal(table.families(NOW).splitlines()[1], "f                       4  0.949  0.900  a; 2")

# A result file names no folder of the machine that wrote it.
FOLDERS = (("/srv/a", "THIS"), ("/srv/a/out", "OUT"), (None, "RELEASE"))
for text, expected in (
    ("--against /srv/b/c --json /srv/a/out/x.json", "--against .../c --json OUT/x.json"),
    ("(/srv/a/k.tile:8), /srv/ab/k", "(THIS/k.tile:8), .../k"),
    (
        "60 TFLOP/s, 1/2, out/x.json, https://a.b/c/d",
        "60 TFLOP/s, 1/2, out/x.json, https://a.b/c/d",
    ),
):
    equal(resultfile.portable([{"command": text}], FOLDERS), [{"command": expected}])

for path in glob.glob(os.path.join(ROOT, "bench", "results", "*.json")):
    with open(path, encoding="utf-8") as stream:
        kept = json.load(stream)
    if resultfile.portable(kept, ()) != kept:
        sys.exit(f"{path} names a folder of the machine that wrote it")

with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "gpu.json")
    sys.argv = ["gpu.py", "--against", os.path.join(folder, "release"), "--json", path]
    item = {
        "family": "f",
        "op": "o",
        "shape": "s",
        "dtype": "d",
        "unit": "u",
        "cold": True,
        "reads": True,
        "bars": [],
    }
    records.merge(
        path,
        {"gpu": "x"},
        [{**item, "found": [{"who": "tile", "rate": 1.0}, {"who": "cublas", "rate": 2.0}]}],
        "run 1",
    )
    records.merge(
        path,
        {},
        [
            {**item, "found": [{"who": "tile", "rate": 3.0}]},
            {**item, "op": "p", "found": [{"who": "tile", "rate": 4.0}]},
        ],
        "run 2",
        against=os.path.join(folder, "release"),
    )
    with open(path, encoding="utf-8") as stream:
        result = json.load(stream)
    equal(result["machine"], {"gpu": "x"})
    equal(
        sorted((r["op"], r["who"], r["rate"]) for r in result["records"]),
        [("o", "cublas", 2.0), ("o", "tile", 3.0), ("p", "tile", 4.0)],
    )
    equal([(i["cold"], i["reads"]) for i in result["items"]], [(True, True)] * 2)
    command = "python3 gpu.py --against RELEASE --json OUT/gpu.json"
    equal(result["command"], command)
    equal(list(result["runs"]), ["run 1", "run 2"])  # each has a record: cublas is of the first
    equal(result["runs"]["run 2"], {"machine": {"gpu": "x"}, "command": command})
    other = os.path.join(folder, "other.json")
    records.merge(other, {"gpu": "y"}, [{**item, "found": [{"who": "tile", "rate": 9.0}]}], "run 3")
    joined = records.joined([path, other])
    equal(
        sorted((r["op"], r["who"], r["rate"]) for r in joined["records"]),
        [("o", "tile", 9.0), ("p", "tile", 4.0)],
    )
    equal((len(joined["items"]), joined["machine"]), (2, {"gpu": "y"}))
    equal(list(joined["runs"]), ["run 2", "run 3"])  # run 1 has no record any more
    equal(joined["runs"]["run 3"]["machine"], {"gpu": "y"})

SOURCE = """kernel first[A: int = 1](x: out f32[N])
  with warps(W), fp("fast")
{
}
kernel second(x: out f32[N])
  tune {
    A in {1}; config sm_90 { A = 1; }
  }
{
}
"""
first = ours.withAttributes(SOURCE, "first", {"warps": 8, "fp": "strict", "persistent": True})
equal(first.splitlines()[1], '  with warps(8), fp("strict"), persistent')
equal(first.splitlines()[2:], SOURCE.splitlines()[2:])
second = ours.withAttributes(SOURCE, "second", {"stages": 3})
equal(
    [line for line in second.splitlines()[4:] if line.strip()],
    ["kernel second(x: out f32[N])", "  with stages(3)", "{", "}"],
)
equal(second.splitlines()[:4], SOURCE.splitlines()[:4])
equal(ours.withAttributes(SOURCE, "first", {"fp": None}).splitlines()[1], "  with warps(W)")
equal(
    ours.parseVariants("BM=64,stages=4;persistent=no,flag"),
    [{"BM": 64, "stages": 4}, {"persistent": None, "flag": True}],
)
