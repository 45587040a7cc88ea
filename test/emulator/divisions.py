"""Divisions by what a row shares and reciprocals, which the GPU's code writes out: the bits of
NumPy's division, for ordinary operands and for those that take the branch.

usage: divisions.py TILEC FOLDER
"""

import os
import subprocess
import sys

import numpy as np

TILEC, FOLDER = sys.argv[1:]
os.makedirs(FOLDER, exist_ok=True)
SOURCE = """
kernel divisions(x: in f32[M, 512], d: in f32[M], q: out f32[M, 512], r: out f32[M, 512],
    total: out f32[M]) with warps(2) grid (m: M)
{
  let v = x[m, :];
  q[m, :] = v / d[m];
  r[m, :] = 1.0 / v;
  total[m] = max(v);   // threads exchange values: else divisions are left as they are
}
"""
path = {name: os.path.join(FOLDER, name) for name in ("x", "d", "q", "r", "total")}
source = os.path.join(FOLDER, "divisions.tile")
with open(source, "w", encoding="utf-8") as stream:
    stream.write(SOURCE)

ptx = subprocess.run(
    [TILEC, source, "--target", "sm_90a", "--emit", "ptx", "-o", "-"],
    check=True,
    capture_output=True,
    text=True,
).stdout
assert ptx.count("rcp.approx.ftz.f32") == 9, ptx  # one for the row, one for each of 8 elements

rng = np.random.default_rng(1)
finfo = np.finfo(np.float32)
special = [0.0, 1.0, 3.0, np.inf, np.nan, finfo.max, finfo.tiny, finfo.tiny / 2, 2.0**-149]
special += [2.0**e for e in (-126, -90, -91, -64, -65, 31, 32, 126, 127)]
special = np.array(special, np.float32)
special = np.concatenate([special, np.nextafter(special, np.float32(0)), special * 1.5])
special = np.concatenate([special, -special])


def some(shape):
    """Operands of all sizes, most of them moderate, some special."""
    with np.errstate(all="ignore"):
        exponents = np.where(rng.random(shape) < 0.9, rng.integers(-8, 8, shape), 0)
        wide = rng.integers(-149, 128, shape)
        exponents = np.where(rng.random(shape) < 0.05, wide, exponents)
        values = np.ldexp(rng.uniform(-2, 2, shape), exponents).astype(np.float32)
        return np.where(rng.random(shape) < 0.02, rng.choice(special, shape), values)


rows = len(special) + 64
x = some((rows, 512))
x[rows - 32 :, : len(special)] = special  # special ones side by side
x[: rows - 32] = np.where(rng.random((rows - 32, 1)) < 0.5, np.abs(x[: rows - 32]) + 1, x[:-32])
d = np.concatenate([special, some(64)])
np.save(path["x"] + ".npy", x)
np.save(path["d"] + ".npy", d)
line = [TILEC, "run", source, "--device", "cuda"]
for name in "x", "d":
    line += ["--arg", f"{name}={path[name]}.npy"]
for name in "q", "r", "total":
    line += ["--out", f"{name}={path[name]}.npy"]
subprocess.run(line, check=True)
with np.errstate(all="ignore"):
    for name, wanted in (("q", x / d[:, None]), ("r", np.float32(1) / x)):
        found = np.load(path[name] + ".npy")
        same = found.view(np.uint32) == wanted.view(np.uint32)
        same |= np.isnan(found) & np.isnan(wanted)
        at = np.argwhere(~same)[:4]
        assert same.all(), (name, [(x[i, j], d[i], found[i, j], wanted[i, j]) for i, j in at])
print("the same bits")
