"""Rows of every length modulo 16 bytes on the emulated device, which refuses accesses outside of a
tensor: tiles that go round in their registers (tile-gpu-rotate-rows), and neighbours that must not.

usage: rotated.py TILEC FOLDER
"""

import os
import subprocess
import sys

import numpy as np

TILEC, FOLDER = sys.argv[1:]
os.makedirs(FOLDER, exist_ok=True)
SOURCE = """
// All that says which positions it touches: padding that is not 0, positions, what exists; in loops
// of which the second finds what the first one has copied ahead, and in a row of one block.
kernel lines[T: dtype in {f16, f32, u8}](x: in T[M, N], y: out T[M, N], total: out f32[M],
    low: out f32[M])
  where M in 1..=65536, N in 1..=65536 opt 2048
  specialize N % 8 == 0
  with warps(1)
  grid (row: M)
{
  var sums: f32 = 0.0;
  var least: f32 = 1000.0;
  for n in blocks(N, 512) {
    let v = load(x[row, n], pad: 7);
    sums += sum(v as f32);
    least = min(least, min(where(inside(x[row, n]), v as f32, 1000.0)));
  }
  total[row] = sums;
  low[row] = least;
  for n in blocks(N, 512) {
    y[row, n] = load(x[row, n], pad: 7) + (iota(n) % 50) as T;
  }
}
// Rows that begin elsewhere than those that are stored, of another dtype, are shifted to them; in
// loops and in a row of one block, padded by what is not 0.
kernel weighted[T: dtype in {f16, u8}, W: dtype in {f16, f32, u8}](x: in T[M, N], w: in W[N],
    y: out T[M, N], total: out f32[M])
  where M in 1..=65536, N in 1..=65536 opt 2048
  specialize N % 8 == 0
  with warps(1)
  grid (row: M)
{
  var sums: f32 = 0.0;
  for n in blocks(N, 512) {
    sums += sum(x[row, n] as f32 * w[n] as f32) + sum(load(w[n], pad: 3) as f32);
  }
  total[row] = sums;
  for n in blocks(N, 512) {
    y[row, n] = x[row, n] + w[n] as T;
  }
}
// Two halves of rows of which each begins elsewhere, in the last of which the tensor ends.
kernel halves[T: dtype in {f16, u8}](x: in T[M, 2 * N], y: out T[M, N])
  where M in 1..=65536, N in 1..=65536
  specialize N % 8 == 0
  with warps(1)
  grid (row: M, j: cdiv(N, 512))
{
  let n = block(j, 512);
  y[row, n] = x[row, n] + x[row, n + N];
}
// A tile one position beside another comes from its registers, which then keep the order.
kernel beside[T: dtype in {f16, f32, u8}](x: in T[M, N], y: out T[M, N])
  where M in 1..=65536, N in 1..=65536
  specialize N % 8 == 0
  with warps(1)
  grid (row: M, j: cdiv(N, 512))
{
  let n = block(j, 512);
  y[row, n] = x[row, n] + x[row, n + 1];
}
"""
DTYPES = {"f16": np.float16, "f32": np.float32, "u8": np.uint8}
source = os.path.join(FOLDER, "rotated.tile")
with open(source, "w", encoding="utf-8") as stream:
    stream.write(SOURCE)
rng = np.random.default_rng(1)


def run(kernel, dtype, inputs, outputs, **more):
    line = [TILEC, "run", source, "--kernel", kernel, "-D", "T=" + dtype, "--device", "cuda"]
    for name, value in more.items():
        line += ["-D", f"{name}={value}"]
    for name, value in {**inputs, **outputs}.items():
        path = os.path.join(FOLDER, name + ".npy")
        np.save(path, value)
        line += ["--arg", f"{name}={path}"]
    for name in outputs:
        line += ["--out", f"{name}={os.path.join(FOLDER, name + '.npy')}"]
    subprocess.run(line, check=True)
    return [np.load(os.path.join(FOLDER, name + ".npy")) for name in outputs]


def check(wanted, found, *what):
    for number, (a, b) in enumerate(zip(wanted, found)):
        assert (a == b).all(), (*what, number, np.argwhere(a != b)[:4], b[a != b][:4])


checks = 0
for dtype, numpy in DTYPES.items():
    for length in [1, 17, 511, 513, 2063, 5001] + [1027 + 2 * i for i in range(4)]:
        x = rng.integers(0, 100, (3, length)).astype(numpy)
        padding = 7 * (-length % 512)
        wanted = [(x + np.arange(length) % 50).astype(numpy), x.astype("f4").sum(1) + padding]
        wanted += [x.astype("f4").min(1)]
        outputs = {"y": np.full_like(x, 55), "total": np.zeros(3, "f4"), "low": np.zeros(3, "f4")}
        check(wanted, run("lines", dtype, {"x": x}, outputs), "lines", dtype, length)
        checks += 1
        if dtype == "f16":  # a row sees nothing of its neighbours
            x[0], x[2] = np.nan, np.inf
            found = run("lines", dtype, {"x": x}, outputs)
            check([each[1] for each in wanted], [each[1] for each in found], dtype, length)
            checks += 1
    for length in [3, 513, 1030, 1032]:
        x = rng.integers(0, 100, (3, length)).astype(numpy)
        shifted = np.pad(x[:, 1:], ((0, 0), (0, 1)))
        found = run("beside", dtype, {"x": x}, {"y": np.full_like(x, 55)})
        check([x + shifted], found, "beside", dtype, length)
        checks += 1
for dtype, weights in [("f16", "f16"), ("f16", "f32"), ("f16", "u8"), ("u8", "u8")]:
    numpy = DTYPES[dtype]
    for length in [1, 3, 17, 511, 513, 2063, 5001] + [1027 + 2 * i for i in range(8)]:
        x = rng.integers(0, 10, (3, length)).astype(numpy)
        w = rng.integers(0, 10, (length,)).astype(DTYPES[weights])
        total = x.astype("f4") @ w.astype("f4") + w.astype("f4").sum() + 3 * (-length % 512)
        outputs = {"y": np.full_like(x, 55), "total": np.zeros(3, "f4")}
        found = run("weighted", dtype, {"x": x, "w": w}, outputs, W=weights)
        check([x + w.astype(numpy), total], found, "weighted", dtype, weights, length)
        checks += 1
        if dtype == "f16":
            x[0], x[2] = np.inf, np.nan
            found = run("weighted", dtype, {"x": x, "w": w}, outputs, W=weights)
            wanted = [x[1] + w.astype(numpy), total[1]]
            check(wanted, [each[1] for each in found], dtype, weights, length)
            checks += 1
for dtype in ("f16", "u8"):
    numpy = DTYPES[dtype]
    for length in [1, 7, 257, 511, 513, 1029, 1031, 2050, 2060]:
        x = rng.integers(0, 10, (3, 2 * length)).astype(numpy)
        if dtype == "f16":  # a row sees nothing of its neighbours
            x[1] = np.where(np.arange(2 * length) % 2, np.nan, np.inf)
        found = run("halves", dtype, {"x": x}, {"y": np.full((3, length), 55, numpy)})
        wanted = x[:, :length] + x[:, length:]
        check([wanted[[0, 2]]], [found[0][[0, 2]]], "halves", dtype, length)
        checks += 1
ptx = subprocess.run(
    [TILEC, source, "--kernel", "lines", "-D", "T=f16", "--target", "sm_80", "--emit", "gpu"]
    + ["-o", "-"],
    check=True,
    capture_output=True,
    text=True,
).stdout
assert "tile_gpu.rotated" in ptx and "tile_gpu.async_copy" in ptx, ptx
print(checks, "shapes: right")
