"""Products through views of flat memory whose place and shape the run reads, on the emulated
device: matrices whose rows TMA can copy, by maps that programs write, next to others in the same
launch; many programs of one trip, so that maps follow each other while copies by earlier ones are
under way.

usage: views.py TILEC FOLDER
"""

import os
import subprocess
import sys

import numpy as np

TILEC, FOLDER = sys.argv[1:]
os.makedirs(FOLDER, exist_ok=True)
SOURCE = """
kernel products(a: in f16[LA], b: in f16[LB], c: inout f16[LC], m: in i32[G], n: in i32[G],
    k: in i32[G], a_at: in i64[G], a_step: in i64[G], b_at: in i64[G], c_at: in i64[G])
  where G in 1..=65536
  grid (g: G, i: 2, j: 2)
  with persistent
{
  let rows = block(i, 64);
  let cols = block(j, 64);
  let x = view(a, a_at[g], [m[g], k[g]], [a_step[g], 1]);
  let w = view(b, b_at[g], [k[g], n[g]], [n[g], 1]);
  let y = view(c, c_at[g], [m[g], n[g]], [n[g], 1]);
  var acc = zeros(f32, [64, 64]);
  for r in blocks(k[g], 64) { acc = dot(x[rows, r], w[r, cols], acc); }
  y[rows, cols] = acc as f16;
}
"""
source = os.path.join(FOLDER, "views.tile")
with open(source, "w", encoding="utf-8") as stream:
    stream.write(SOURCE)
rng = np.random.default_rng(5)


def check(name, shapes, step=lambda k: k, gap=0, lost=()):
    """`step` is how far rows of a are apart, `gap` what lies between matrices; the matrices `lost`
    begin where they do not fit into memory: their products are 0."""
    m, n, k = (np.array(each, np.int32) for each in zip(*shapes))
    steps = np.array([step(int(each)) for each in k], np.int64)
    begin = lambda areas: np.concatenate([[0], np.cumsum(areas + gap)]).astype(np.int64)
    a_at, b_at, c_at = begin(m * steps), begin(k * n), begin(m * n)
    a, b = (rng.integers(-8, 9, at[-1] + 1).astype(np.float16) / 4 for at in (a_at, b_at))
    c = np.full(c_at[-1] + 1, 7, np.float16)
    wanted = c.copy()
    for g in range(len(shapes)):
        rows = np.arange(m[g])[:, None] * steps[g] + np.arange(k[g]) + a_at[g]
        right = b[b_at[g] : b_at[g] + k[g] * n[g]].reshape(k[g], n[g]).astype(np.float32)
        product = a[rows].astype(np.float32) @ right
        wanted[c_at[g] : c_at[g] + m[g] * n[g]] = (0 * product if g in lost else product).ravel()
    for g in lost:
        a_at[g] = len(a) - 1
    arrays = {"a": a, "b": b, "c": c, "m": m, "n": n, "k": k, "a_at": a_at[:-1], "a_step": steps}
    arrays |= {"b_at": b_at[:-1], "c_at": c_at[:-1]}
    line = [TILEC, "run", source, "--device", "cuda"]
    for key, value in arrays.items():
        np.save(os.path.join(FOLDER, key + ".npy"), value)
        line += ["--arg", f"{key}={os.path.join(FOLDER, key)}.npy"]
    result = os.path.join(FOLDER, "result.npy")
    subprocess.run(line + ["--out", f"c={result}"], check=True)
    apart = abs(np.load(result).astype(np.float32) - wanted)
    wrong = np.argwhere(apart > 2e-3 * abs(wanted) + 1e-2)
    assert not len(wrong), f"{name}: {len(wrong)} wrong, first {wrong[0]}"


check("rows of 16 bytes", [(64, 64, 128), (72, 96, 200), (8, 8, 8), (128, 128, 320)])
check("both kinds", [(64, 64, 64), (65, 70, 33), (80, 72, 136), (3, 5, 7), (64, 64, 65)])
check("places", [(64, 64, 64), (64, 64, 72), (40, 40, 40)], gap=1)
check("places of 16 bytes", [(64, 64, 64), (64, 64, 72), (40, 40, 40)], gap=8)
check("rows apart", [(64, 64, 70), (50, 64, 60)], step=lambda k: k + -k % 8 + 8)
check("rows apart by odd numbers", [(64, 64, 70), (50, 64, 60)], step=lambda k: k + 3)
check("nothing", [(64, 64, 0), (0, 64, 64), (64, 0, 64), (64, 64, 64), (64, 64, 0)])
check("not in memory", [(64, 64, 64), (64, 64, 64), (72, 64, 64)], lost=(1,))
check("one trip each", [(8 + 8 * (g % 5), 16, 8 + 8 * (g % 7)) for g in range(48)])
print("right")
