"""sin, cos and tan of small and large angles side by side: the GPU's code, which branches around
the reduction of large ones, gives the bits of the CPU's, which does not.

usage: angles.py TILEC FOLDER
"""

import os
import subprocess
import sys

import numpy as np

TILEC, FOLDER = sys.argv[1:]
os.makedirs(FOLDER, exist_ok=True)
SOURCE = """
kernel angles[T: dtype in {f16, f32, f64}](
    x: in T[N], s: out T[N], c: out T[N], t: out T[N]) grid (i: cdiv(N, 256))
{
  let n = block(i, 256);
  let v = x[n];
  s[n] = sin(v);
  c[n] = cos(v);
  t[n] = tan(v);
}
"""
with open(os.path.join(FOLDER, "angles.tile"), "w", encoding="utf-8") as stream:
    stream.write(SOURCE)


def run(device, dtype, x):
    np.save(os.path.join(FOLDER, "x.npy"), x)
    outputs = [os.path.join(FOLDER, f"{name}.npy") for name in "sct"]
    line = [TILEC, "run", os.path.join(FOLDER, "angles.tile"), "-D", f"T={dtype}"]
    line += ["--device", device, "--arg", f"x={os.path.join(FOLDER, 'x.npy')}"]
    for name, path in zip("sct", outputs):
        line += ["--out", f"{name}={path}"]
    subprocess.run(line, check=True)
    return [np.load(path) for path in outputs]


rng = np.random.default_rng(1)
with np.errstate(all="ignore"):
    for dtype, numpy in (("f16", np.float16), ("f32", np.float32), ("f64", np.float64)):
        scale = np.finfo(numpy).maxexp - 1
        small = rng.uniform(-100, 100, 1024)
        large = np.ldexp(rng.uniform(-1, 1, 1024), rng.integers(8, scale + 1, 1024))
        mixed = np.where(rng.random(1024) < 0.1, large, small)  # few large ones among a thread's
        limits = [65535, 65536, 65537, 2.0**30, 2.0**30 + 1, np.inf, -np.inf, np.nan, 0.0, -0.0]
        x = np.concatenate([small, large, mixed, limits]).astype(numpy)
        emulated, here = run("cuda", dtype, x), run("cpu", dtype, x)
        for name, one, other, exact in zip(
            ("sin", "cos", "tan"), emulated, here, (np.sin, np.cos, np.tan)
        ):
            nan = np.isnan(one) & np.isnan(other)
            same = (one.view(f"u{one.itemsize}") == other.view(f"u{one.itemsize}")) | nan
            assert same.all(), (dtype, name, x[~same], one[~same], other[~same])
            wanted = exact(x.astype(np.float64)).astype(numpy)
            near = np.isclose(one, wanted, rtol=8 * np.finfo(numpy).eps, equal_nan=True)
            assert near.all(), (dtype, name, x[~near], one[~near], wanted[~near])
print("the same bits")
