"""Masks of positions that wrap around, as with the largest integer for "no limit": each element is
that of 64-bit arithmetic, in tiles large enough for a guard that leaves masks out.

usage: wrapped.py TILEC FOLDER
"""

import os
import subprocess
import sys

import numpy as np

TILEC, FOLDER = sys.argv[1:]
os.makedirs(FOLDER, exist_ok=True)
MASKS = {
    "(iota(m) + off)[:, None] >= iota(n)[None, :]": lambda m, n, off: m + off >= n,
    "(iota(n) + off > 5)[None, :]": lambda m, n, off: (n + off > 5) & (m == m),
    "(iota(n) - off > 5)[None, :]": lambda m, n, off: (n - off > 5) & (m == m),
    "(iota(at(off + j * 64, 64)) > 5)[None, :]": lambda m, n, off: (off + n > 5) & (m == m),
    # 128 times a position: none of the summands is large, their sum is.
    "(h > 5)[None, :]": lambda m, n, off: ((n + off) * 128 > 5) & (m == m),
}
DOUBLES = "let a = iota(n) + off;\n" + "".join(
    f"  let {chr(c + 1)} = {chr(c)} + {chr(c)};\n" for c in range(ord("a"), ord("h"))
)
OFFSETS = [
    0,
    7,
    -200,
    2**63 - 1,
    2**63 - 20,
    2**63 - 129,
    2**56,
    2**56 - 1,
    -(2**63),
    -(2**63) + 30,
]
M, N = 130, 150

x = np.random.default_rng(3).uniform(1, 2, (M, N)).astype(np.float32)
path = {name: os.path.join(FOLDER, name) for name in ("x.npy", "y.npy")}
np.save(path["x.npy"], x)
m, n = np.arange(M)[:, None], np.arange(N)[None, :]
for index, (mask, compute) in enumerate(MASKS.items()):
    source = os.path.join(FOLDER, f"mask{index}.tile")
    with open(source, "w", encoding="utf-8") as stream:
        stream.write(f"""
kernel masked(x: in f32[M, N], y: out f32[M, N], off: i64)
  where M in 1..=65536, N in 1..=65536
  grid (i: cdiv(M, 64), j: cdiv(N, 64)) with warps(4)
{{
  let m = block(i, 64);
  let n = block(j, 64);
  {DOUBLES if "h >" in mask else ""}
  y[m, n] = where({mask}, x[m, n], 100.0);
}}
""")
    for off in OFFSETS:
        line = [TILEC, "run", source, "--device", "cuda", "--arg", f"x={path['x.npy']}"]
        line += ["--arg", f"off={off}", "--out", f"y={path['y.npy']}"]
        subprocess.run(line, check=True, capture_output=True)
        with np.errstate(over="ignore"):
            wanted = np.where(compute(m, n, np.int64(off)), x, np.float32(100))
        wrong = np.argwhere(np.load(path["y.npy"]) != wanted)
        assert not len(wrong), f"{mask}, off = {off}: {len(wrong)} wrong, first {wrong[0]}"
print("right")
