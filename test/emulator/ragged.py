"""Rows of every length modulo 16 bytes on the emulated device, which refuses accesses outside of a
tensor: what is loaded and stored by way of aligned windows, at the ends of rows and tensors.

usage: ragged.py TILEC FOLDER
"""

import os
import subprocess
import sys

import numpy as np

TILEC, FOLDER = sys.argv[1:]
os.makedirs(FOLDER, exist_ok=True)
SOURCE = """
// Rows in blocks: lanes beside each other, padding that is not 0.
kernel blocks_of_rows[T: dtype in {f16, f32, u8}, BLOCK: int](x: in T[M, N], y: out T[M, N])
  where M in 1..=65536, N in 1..=65536 with warps(2) grid (row: M)
{
  for n in blocks(N, BLOCK) { y[row, n] = load(x[row, n], pad: 7) + 1; }
}
// Several short rows in a program, each by a few lanes, and what padding adds to a sum.
kernel short_rows[T: dtype in {f16, f32, u8}](x: in T[M, N], y: out T[M, N], total: out f32[M])
  where M in 1..=65536, N in 1..=65536 with warps(2) grid (i: cdiv(M, 16))
{
  let m = block(i, 16);
  let n = block(0, 64);
  let v = load(x[m, n], pad: 2);
  y[m, n] = v;
  total[m] = sum(v as f32, axis: 1);
}
// Tiles of rows, several pieces of each in a thread, that no row's end cuts but in the last ones;
// of the tensor's last rows windows would reach behind its end.
kernel turned[T: dtype in {f16, f32, u8}](x: in T[M, N], y: out T[N, M])
  where M in 1..=65536, N in 1..=65536 with warps(1) grid (i: cdiv(M, 32), j: cdiv(N, 64))
{
  let m = block(i, 32);
  let n = block(j, 64);
  y[n, m] = (load(x[m, n], pad: 3) + 1).T;
}
// The same, of several lanes a row and with rows between that stay: what a row's ends leave of a
// window goes out in pieces of 8, 4, 2 bytes and one.
kernel apart[T: dtype in {f16, f32, u8}, BM: int](x: in T[M, N], y: inout T[N, 2, M])
  where M in 1..=65536, N in 1..=65536 with warps(2) grid (i: cdiv(M, BM), j: cdiv(N, 16))
{
  let m = block(i, BM);
  let n = block(j, 16);
  y[n, 0, m] = x[m, n].T;
}
// A part of each row, which begins and ends anywhere.
kernel part_of_rows[T: dtype in {f16, f32, u8}](x: in T[M, N], y: inout T[M, N], first: i64,
    last: i64) where M in 1..=65536, N in 1..=65536 with warps(1) grid (row: M)
{
  let xs = x[row, first..last];
  let ys = y[row, first..last];
  for n in blocks(last - first, 256) { ys[n] = xs[n] + 1; }
}
"""
DTYPES = {"f16": np.float16, "f32": np.float32, "u8": np.uint8}
source = os.path.join(FOLDER, "ragged.tile")
with open(source, "w", encoding="utf-8") as stream:
    stream.write(SOURCE)
rng = np.random.default_rng(1)
path = {name: os.path.join(FOLDER, name + ".npy") for name in ("x", "y", "total")}


def run(kernel, dtype, x, y, arguments=(), outputs=("y",)):
    np.save(path["x"], x)
    np.save(path["y"], y)
    np.save(path["total"], np.zeros(x.shape[0], np.float32))
    line = [TILEC, "run", source, "--kernel", kernel, "-D", "T=" + dtype, "--device", "cuda"]
    if kernel == "blocks_of_rows":
        line += ["-D", block[dtype]]
    if kernel == "apart":
        line += ["-D", lanes[dtype]]
    for name in ("x", "y") + (("total",) if "total" in outputs else ()):
        line += ["--arg", f"{name}={path[name]}"]
    for name in outputs:
        line += ["--out", f"{name}={path[name]}"]
    for argument in arguments:
        line += ["--arg", argument]
    subprocess.run(line, check=True)
    return [np.load(path[name]) for name in outputs]


def ptx_of(kernel, *constants):
    """The PTX of a kernel of the source for sm_80."""
    line = [TILEC, source, "--kernel", kernel, "--target", "sm_80", "--emit", "ptx", "-o", "-"]
    line += [word for constant in constants for word in ("-D", constant)]
    return subprocess.run(line, check=True, capture_output=True, text=True).stdout


checks = 0
# A piece of 16 bytes for each thread, of u8 one of 8: loads have windows, too.
block = {"f16": "BLOCK=512", "f32": "BLOCK=256", "u8": "BLOCK=512"}
lanes = {"f16": "BM=128", "f32": "BM=32", "u8": "BM=64"}
for dtype, numpy in DTYPES.items():
    many = 16 // np.dtype(numpy).itemsize
    ptx = ptx_of("blocks_of_rows", "T=" + dtype, block[dtype])
    assert "shfl.sync.idx" in ptx and "SLOW" in ptx, ptx
    for length in [1, 3, 1021, 2 * 1024 + 5] + [1030 + i for i in range(many)]:
        x = rng.integers(0, 100, (3, length)).astype(numpy)
        (y,) = run("blocks_of_rows", dtype, x, np.full_like(x, 55))
        assert (y == x + 1).all(), (dtype, length, np.argwhere(y != x + 1))
        checks += 1
    for length in [1, 2, 7, 63, 64] + [33 + i for i in range(many)]:
        x = rng.integers(0, 100, (19, length)).astype(numpy)
        y, total = run("short_rows", dtype, x, np.full_like(x, 55), outputs=("y", "total"))
        assert (y == x).all(), (dtype, length, np.argwhere(y != x))
        assert (total == x.astype(np.float32).sum(1) + 2 * (64 - length)).all(), (dtype, length)
        checks += 1
    ptx = ptx_of("turned", "T=" + dtype)
    assert ("[w+16]" in ptx) == (dtype != "f32"), ptx
    for rows, length in [(1, 1), (33, 64), (32, 65), (67, 71)] + [
        (35, 130 + i) for i in range(many)
    ]:
        x = rng.integers(0, 100, (rows, length)).astype(numpy)
        (y,) = run("turned", dtype, x, np.full((length, rows), 55, numpy))
        assert (y == x.T + 1).all(), (dtype, rows, length, np.argwhere(y != x.T + 1))
        checks += 1
    ptx = ptx_of("apart", "T=" + dtype, lanes[dtype])
    assert "shfl.sync.idx" in ptx, ptx
    for rows in [1, 2, many - 1, many + 1] + [256 + i for i in range(many)]:
        x = rng.integers(0, 100, (rows, 17)).astype(numpy)
        (y,) = run("apart", dtype, x, np.full((17, 2, rows), 55, numpy))
        assert (y[:, 0] == x.T).all(), (dtype, rows, np.argwhere(y[:, 0] != x.T))
        assert (y[:, 1] == 55).all(), (dtype, rows, np.argwhere(y[:, 1] != 55))
        checks += 1
    for first, last in [(0, 1), (1, 2), (3, 130), (5, 300), (17, 257), (600, 601)]:
        x = rng.integers(0, 100, (3, 601)).astype(numpy)
        y = rng.integers(0, 100, x.shape).astype(numpy)
        wanted = y.copy()
        wanted[:, first:last] = x[:, first:last] + 1
        (y,) = run("part_of_rows", dtype, x, y, (f"first={first}", f"last={last}"))
        assert (y == wanted).all(), (dtype, first, last, np.argwhere(y != wanted))
        checks += 1
print(checks, "shapes: right")
