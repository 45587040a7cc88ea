"""Operands that the producer's threads copy beside those that TMA fetches, on the emulated device:
gathered rows, positions outside of the tensor among them, and rows of 8 bytes.

usage: fills.py TILEC FOLDER
"""

import os
import subprocess
import sys

import numpy as np

TILEC, FOLDER = sys.argv[1:]
os.makedirs(FOLDER, exist_ok=True)
SOURCE = """
kernel rows(x: in f16[T, K], ids: in i32[M], w: in f16[K, N], y: out f32[M, N])
  where M in 1..=65536, T in 1..=65536, N in 8..=65536, K in 8..=65536, K % 8 == 0, N % 8 == 0
  grid (i: cdiv(M, 128), j: cdiv(N, 64))
  with persistent, warps(8)
{
  let m = block(i, 128);
  let n = block(j, 64);
  let id = load(ids[m], pad: -1);
  var acc = zeros(f32, [128, 64]);
  for k in blocks(K, 64) { acc = dot(gather(x[id, k]), w[k, n], acc); }
  y[m, n] = acc;
}

// Two products of one gathered tile; the rows' numbers follow from a scalar of a tile, which the
// consumers send.
kernel shifted(x: in f16[T, K], ids: in i32[M], by: in i32[S], w: in f16[K, N], v: in f16[K, N],
    y: out f32[M, N])
  where M in 1..=65536, T in 1..=65536, S in 1..=32, N in 8..=65536, K in 8..=65536, K % 8 == 0,
        N % 8 == 0
  grid (i: cdiv(M, 64), j: cdiv(N, 64))
  with persistent, warps(4)
{
  let m = block(i, 64);
  let n = block(j, 64);
  let id = load(ids[m], pad: -1) + max(by[block(0, 32)]);
  var acc = zeros(f32, [64, 64]);
  var sum = zeros(f32, [64, 64]);
  for k in blocks(K, 64) {
    let rows = gather(x[id, k]);
    acc = dot(rows, w[k, n], acc);
    sum = dot(rows, v[k, n], sum);
  }
  y[m, n] = acc - sum;
}

kernel loaded(x: in f16[M, K], w: in f16[K, N], y: out f32[M, N])
  where M in 1..=65536, N in 8..=65536, K in 4..=65536, K % 4 == 0, N % 8 == 0
  grid (i: cdiv(M, 128), j: cdiv(N, 128))
  with persistent, warps(8)
{
  let m = block(i, 128);
  let n = block(j, 128);
  var acc = zeros(f32, [128, 128]);
  for k in blocks(K, 64) { acc = dot(x[m, k], w[k, n], acc); }
  y[m, n] = acc;
}
"""


def path(name):
    return os.path.join(FOLDER, name)


def check(kernel, given, expected):
    line = [TILEC, "run", path("fills.tile"), "--kernel", kernel, "--device", "cuda"]
    for name, value in given.items():
        np.save(path(name + ".npy"), value)
        line += ["--arg", f"{name}={path(name + '.npy')}"]
    np.save(path("y.npy"), np.full(expected.shape, np.nan, np.float32))
    line += ["--arg", f"y={path('y.npy')}", "--out", f"y={path('out.npy')}"]
    subprocess.run(line, check=True)
    found = np.load(path("out.npy"))
    if not np.allclose(found, expected, atol=1e-3):
        sys.exit(f"{kernel} {expected.shape}: {np.nanmax(abs(found - expected))} apart")


with open(path("fills.tile"), "w", encoding="utf-8") as file:
    file.write(SOURCE)
for kernel in ("rows", "shifted", "loaded"):
    split = subprocess.run(
        [TILEC, path("fills.tile"), "--kernel", kernel, "--target", "sm_90a", "--emit", "gpu"]
        + ["-o", "-"],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    if "wide_producer" not in split:
        sys.exit(f"{kernel}: the producer's threads copy nothing")
random = np.random.default_rng(7)
normal = lambda *shape: random.standard_normal(shape).astype(np.float16)
for m, t, k, n in ((200, 77, 136, 264), (129, 50, 72, 136), (1, 3, 8, 8), (300, 9, 520, 72)):
    x, w, v = normal(t, k), normal(k, n), normal(k, n)
    ids = random.integers(-2, t + 2, m).astype(np.int32)
    padded = lambda numbers: np.where(
        ((numbers >= 0) & (numbers < t))[:, None], x[np.clip(numbers, 0, t - 1)], 0
    ).astype(np.float32)
    check("rows", {"x": x, "ids": ids, "w": w}, padded(ids) @ w.astype(np.float32))
    by = np.array([-5, 2, 1], np.int32)
    given = {"x": x, "ids": ids - 2, "by": by, "w": w, "v": v}
    check("shifted", given, padded(ids) @ (w.astype(np.float32) - v.astype(np.float32)))
for m, k, n in ((200, 132, 264), (129, 68, 136), (300, 4, 8)):
    x, w = normal(m, k), normal(k, n)
    check("loaded", {"x": x, "w": w}, x.astype(np.float32) @ w.astype(np.float32))
print("right")
