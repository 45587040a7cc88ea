"""Values that are replaced by results of instructions of several steps: registers.py TILEC FOLDER.
Inputs that die there must not lie in the registers of results, which are written first."""

import os
import subprocess
import sys

import numpy as np

TILEC, FOLDER = sys.argv[1:]
SOURCE = """
kernel product(x: in f16[M, 64], u: in f16[64, 64], y: out f16[M, 64], trips: i32)
  where M in 1..=1024, trips in 0..=1000
  grid (i: cdiv(M, 64))
{
  let m = block(i, 64);
  let c = block(0, 64);
  var v = x[m, c];
  let w = u[c, c];
  for t in 0..trips { v = dot(v, w, zeros(f16, [64, 64])); }
  y[m, c] = v;
}

kernel chain(x: in i32[N], y: inout i32[N], old: out i32[N], trips: i32)
  where N in 1..=1048576, trips in 0..=1000
  grid (i: cdiv(N, 128))
{
  let n = block(i, 128);
  var v = x[n];
  for t in 0..trips { v = atomic_add(y[n], v); }
  old[n] = v;
}

kernel text(x: in i32[N], y: out i32[N], trips: i32)
  where N in 1..=1048576, trips in 0..=1000
  grid (i: cdiv(N, 128))
{
  let n = block(i, 128);
  var v = x[n];
  for t in 0..trips { v = ptx(i32, "mov.b32 $0, 5; add.s32 $0, $0, $1;", v); }
  y[n] = v;
}
"""
os.makedirs(FOLDER, exist_ok=True)
os.chdir(FOLDER)
with open("k.tile", "w", encoding="utf-8") as file:
    file.write(SOURCE)
random = np.random.default_rng(1)


def run(kernel, inputs, outputs):
    command = [TILEC, "run", "k.tile", "--kernel", kernel, "--device", "cuda", "--arg", "trips=3"]
    for name, array in inputs.items():
        np.save(name + ".npy", array)
        command.append(f"--arg={name}={name}.npy")
    command += [f"--out={name}={kernel}-{name}.npy" for name in outputs]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return [np.load(f"{kernel}-{name}.npy") for name in outputs]


# Permutations of the columns: f16 holds every product.
x, u = (
    random.integers(-8, 9, (100, 64)).astype("f2"),
    np.eye(64, dtype="f2")[random.permutation(64)],
)
(y,) = run("product", {"x": x, "u": u}, ["y"])
assert np.array_equal(y, x @ u @ u @ u), "product"

v, y = (random.integers(0, 1000, 300).astype("i4") for _ in range(2))
old, after = run("chain", {"x": v, "y": y}, ["old", "y"])
for _ in range(3):
    v, y = y, y + v
assert np.array_equal(old, v) and np.array_equal(after, y), "chain"

x = random.integers(0, 1000, 300).astype("i4")
(y,) = run("text", {"x": x}, ["y"])
assert np.array_equal(y, x + 15), "text"
print("right")
