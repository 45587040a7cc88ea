"""Tiles that wait in shared memory for a later loop, on the emulated device: rows of fewer and of
more blocks than there is room for, that end anywhere; several tiles and loops; padding.

usage: kept.py TILEC FOLDER
"""

import os
import subprocess
import sys

import numpy as np

TILEC, FOLDER = sys.argv[1:]
os.makedirs(FOLDER, exist_ok=True)
SOURCE = """
// Another padding in the loop that loads first, which nobody sees in the second.
kernel shifted[T: dtype in {f16, f32, u8}](x: in T[M, N], z: in T[M, N], y: out T[M, N])
  where M in 1..=65536, N in 1..=65536 with warps(2) grid (row: M)
{
  var low: i32 = 1000;
  for n in blocks(N, 1024) { low = min(low, min(load(x[row, n], pad: 99) as i32)); }
  for n in blocks(N, 1024) { y[row, n] = x[row, n] + low as T; }
}
// Two tiles, the second of which only the second and third loop load.
kernel three_loops[T: dtype in {f16, f32, u8}](x: in T[M, N], z: in T[M, N], y: out T[M, N])
  where M in 1..=65536, N in 1..=65536 with warps(2) grid (row: M)
{
  var total: i32 = 0;
  for n in blocks(N, 1024) { total += sum(x[row, n] as i32); }
  for n in blocks(N, 1024) { total += sum(z[row, n] as i32 - x[row, n] as i32); }
  for n in blocks(N, 1024) { y[row, n] = (x[row, n] as i32 + z[row, n] as i32 + total % 7) as T; }
}
// Bytes beside f32: 8 of a thread.
kernel masked[T: dtype in {f32}](x: in T[M, N], z: in u8[M, N], y: out T[M, N])
  where M in 1..=65536, N in 1..=65536 with warps(4) grid (row: M)
{
  var total: f32 = 0.0;
  for n in blocks(N, 1024) { total += sum(where(z[row, n] > 20, x[row, n], 0.0)); }
  for n in blocks(N, 1024) { y[row, n] = where(z[row, n] > 20, x[row, n] + total, 0.0); }
}
"""
source = os.path.join(FOLDER, "kept.tile")
with open(source, "w", encoding="utf-8") as stream:
    stream.write(SOURCE)
rng = np.random.default_rng(1)
path = {name: os.path.join(FOLDER, name + ".npy") for name in ("x", "z", "y")}
least = {"shifted": 1, "three_loops": 3, "masked": 2}  # tiles that are read again
checks = 0
for dtype, numpy in {"f16": np.float16, "f32": np.float32, "u8": np.uint8}.items():
    for kernel in ("shifted", "three_loops") + (("masked",) if dtype == "f32" else ()):
        line = [TILEC, source, "--kernel", kernel, "-D", "T=" + dtype, "--target", "sm_80"]
        ptx = subprocess.run(
            [*line, "--emit", "gpu", "-o", "-"], check=True, capture_output=True, text=True
        ).stdout
        assert ptx.count("tile_gpu.private_load") >= least[kernel], ptx
        for length in (1, 1024, 1025, 5000, 16 * 1024 + 8, 40000):
            x, z = (rng.integers(1, 50, (2, length)).astype(numpy) for _ in range(2))
            if kernel == "masked":
                z = z.astype(np.uint8)
            np.save(path["x"], x)
            np.save(path["z"], z)
            run = [TILEC, "run", source, "--kernel", kernel, "-D", "T=" + dtype]
            run += ["--device", "cuda", "--arg", "x=" + path["x"], "--arg", "z=" + path["z"]]
            subprocess.run([*run, "--out", "y=" + path["y"]], check=True)
            exact, other = x.astype(np.int64), z.astype(np.int64)
            if kernel == "masked":
                wanted = np.where(other > 20, exact + (exact * (other > 20)).sum(1)[:, None], 0)
            elif kernel == "shifted":
                wanted = exact + exact.min(1)[:, None]
            else:
                wanted = exact + other + (other.sum(1) % 7)[:, None]
            y = np.load(path["y"])
            assert (y == wanted).all(), (dtype, kernel, length, np.argwhere(y != wanted)[:4])
            checks += 1
print(checks, "rows: right")
