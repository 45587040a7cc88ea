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

// One operand by a map that the program writes, the other by one of the launcher's.
kernel beside(a: in f16[LA], b: in f16[K, N], c: out f32[M, N], a_at: i64, a_step: i64)
  where K in 8..=65536, N in 8..=65536, M in 1..=65536, K % 8 == 0, N % 8 == 0
  grid (i: cdiv(M, 64), j: cdiv(N, 64))
  with persistent
{
  let x = view(a, a_at, [M, K], [a_step, 1]);
  var acc = zeros(f32, [64, 64]);
  for r in blocks(K, 64) { acc = dot(x[block(i, 64), r], b[r, block(j, 64)], acc); }
  c[block(i, 64), block(j, 64)] = acc;
}

// Two products a trip, by operands of four views; the slot of the second has tiles of two fetches
// whose maps are possible or not for themselves.
kernel mixed(a: in f16[LA], b: in f16[LB], c: out f32[M, N], k: i64, a_step: i64, b_step: i64,
    b_at: i64)
  where M in 1..=65536, N in 1..=65536
  grid (i: cdiv(M, 64), j: cdiv(N, 64))
  with persistent
{
  let x = view(a, 0, [M, k], [a_step, 1]);
  let y = view(a, 8, [M, k], [a_step, 1]);
  let w = view(b, 0, [k, N], [b_step, 1]);
  let v = view(b, b_at, [k, N], [b_step, 1]);
  let rows = block(i, 64);
  let cols = block(j, 64);
  var first = zeros(f32, [64, 64]);
  var second = zeros(f32, [64, 64]);
  for r in blocks(k, 64) {
    let one = x[rows, r];
    let other = y[rows, r];
    first = dot(one, w[r, cols], first);
    second = dot(other, v[r, cols], second);
  }
  c[rows, cols] = first + 3.0 * second;
}

// Operands that are read between two fetches of a trip, and ends that cut them.
kernel attention(q: in f16[LQ], k: in f16[LK], v: in f16[LV], at: in i64[B], lengths: in i32[B],
    o: inout f16[LO], longest: i64)
  where B in 1..=65536
  grid (b: B, i: cdiv(longest, 64))
  with persistent
{
  let m = block(i, 64);
  let n = lengths[b];
  if m.start >= n { return; }
  let d = block(0, 64);
  let qs = view(q, at[b] * 64, [n, 64]);
  let ks = view(k, at[b] * 64, [n, 64]);
  let vs = view(v, at[b] * 64, [n, 64]);
  let os = view(o, at[b] * 64, [n, 64]);
  let x = qs[m, d];
  var top = full(f32, [64], lowest(f32));
  var den = zeros(f32, [64]);
  var acc = zeros(f32, [64, 64]);
  for j in blocks(0, min(n as index, m.end), 64) {
    let s = where(iota(m)[:, None] >= iota(j), dot(x, ks[j, d].T) * 0.125, -inf);
    let t = max(top, max(s, axis: 1));
    let p = exp(s - t[:, None]);
    let r = exp(top - t);
    den = den * r + sum(p, axis: 1);
    acc = dot(p as f16, vs[j, d], acc * r[:, None]);
    top = t;
  }
  os[m, d] = (acc / den[:, None]) as f16;
}
"""
source = os.path.join(FOLDER, "views.tile")
with open(source, "w", encoding="utf-8") as stream:
    stream.write(SOURCE)
rng = np.random.default_rng(5)


def run(kernel, arguments, out):
    line = [TILEC, "run", source, "--kernel", kernel, "--device", "cuda"]
    for key, value in arguments.items():
        if isinstance(value, np.ndarray):
            path = os.path.join(FOLDER, key + ".npy")
            np.save(path, value)
            value = path
        line += ["--arg", f"{key}={value}"]
    result = os.path.join(FOLDER, "result.npy")
    subprocess.run(line + ["--out", f"{out}={result}"], check=True, stdout=subprocess.DEVNULL)
    return np.load(result).astype(np.float32)


def compare(name, found, wanted):
    # Of what is no number, too, the comparison does not hold.
    wrong = np.argwhere(~(abs(found - wanted) <= 2e-3 * abs(wanted) + 1e-2))
    assert not len(wrong), f"{name}: {len(wrong)} wrong, first {wrong[0]}"


def checkBeside(m, n, k, start, step):
    a = rng.integers(-8, 9, start + m * step).astype(np.float16) / 4
    b = rng.integers(-8, 9, (k, n)).astype(np.float16) / 4
    rows = start + np.arange(m)[:, None] * step + np.arange(k)
    numbers = {"a": a, "b": b, "a_at": start, "a_step": step, "c": np.zeros((m, n), np.float32)}
    wanted = a[rows].astype(np.float32) @ b.astype(np.float32)
    compare(f"beside, {start} and {step}", run("beside", numbers, "c"), wanted)


def checkMixed(m, n, k, a_step, b_step, b_at):
    a = rng.integers(-8, 9, 8 + m * a_step).astype(np.float16) / 4
    b = rng.integers(-8, 9, b_at + k * b_step).astype(np.float16) / 4
    left, right = np.arange(m)[:, None] * a_step, np.arange(k)[:, None] * b_step
    x, y = (a[start + left + np.arange(k)].astype(np.float32) for start in (0, 8))
    w, v = (b[start + right + np.arange(n)].astype(np.float32) for start in (0, b_at))
    numbers = {"a": a, "b": b, "k": k, "a_step": a_step, "b_step": b_step, "b_at": b_at}
    numbers["c"] = np.zeros((m, n), np.float32)
    compare(f"mixed, {a_step}, {b_step}, {b_at}", run("mixed", numbers, "c"), x @ w + 3 * (y @ v))


def checkAttention(lengths, gap):
    at = np.cumsum([0] + [length + gap for length in lengths]).astype(np.int64)
    q, k, v = (rng.normal(size=(at[-1], 64)).astype(np.float16) for _ in range(3))
    wanted = np.full(q.shape, 7, np.float32)
    for start, length in zip(at, lengths):
        part = slice(start, start + length)
        x, y, z = (each[part].astype(np.float32) for each in (q, k, v))
        scores = np.where(np.tri(length, dtype=bool), x @ y.T / 8, -np.inf)
        weights = np.exp(scores - scores.max(1, keepdims=True))
        wanted[part] = weights @ z / weights.sum(1, keepdims=True)
    numbers = {"q": q.ravel(), "k": k.ravel(), "v": v.ravel(), "at": at[:-1]}
    numbers |= {"lengths": np.array(lengths, np.int32), "longest": max(lengths)}
    numbers["o"] = np.full(q.size, 7, np.float16)
    compare(f"attention, {lengths}", run("attention", numbers, "o"), wanted.ravel())


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
    compare(name, run("products", arrays, "c"), wanted)


check("rows of 16 bytes", [(64, 64, 128), (72, 96, 200), (8, 8, 8), (128, 128, 320)])
check("both kinds", [(64, 64, 64), (65, 70, 33), (80, 72, 136), (3, 5, 7), (64, 64, 65)])
check("places", [(64, 64, 64), (64, 64, 72), (40, 40, 40)], gap=1)
check("places of 16 bytes", [(64, 64, 64), (64, 64, 72), (40, 40, 40)], gap=8)
check("rows apart", [(64, 64, 70), (50, 64, 60)], step=lambda k: k + -k % 8 + 8)
check("rows apart by odd numbers", [(64, 64, 70), (50, 64, 60)], step=lambda k: k + 3)
check("nothing", [(64, 64, 0), (0, 64, 64), (64, 0, 64), (64, 64, 64), (64, 64, 0)])
check("not in memory", [(64, 64, 64), (64, 64, 64), (72, 64, 64)], lost=(1,))
check("one trip each", [(8 + 8 * (g % 5), 16, 8 + 8 * (g % 7)) for g in range(48)])
checkBeside(100, 72, 136, 0, 136)
checkBeside(100, 72, 136, 8, 144)
checkBeside(100, 72, 136, 3, 137)
checkMixed(100, 72, 200, 208, 72, 8)
checkMixed(100, 72, 200, 208, 72, 3)
checkMixed(100, 72, 200, 205, 72, 8)
checkMixed(100, 72, 200, 203, 77, 5)
checkAttention([64, 130, 1, 200, 77], 0)
checkAttention([128, 64, 192], 3)
print("right")
