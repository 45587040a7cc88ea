"""Split loops whose parts are a cluster, or as many as the launch makes, on an emulated GPU,
against NumPy: the kernels of Inputs/split_clusters.tile. Argument: tilec."""

import sys

import numpy as np
from numpy_numbers import Numbers

random = np.random.default_rng(0)
numbers = Numbers(sys.argv[1], "split_clusters.tile")
run, expect = numbers.run, numbers.expect


def normal(*shape):
    return random.standard_normal(shape).astype(np.float32)


# Three parts go through scratch memory, without what is padding of 96 columns.
for parts, m, n, k, bm, bn in (
    (4, 65, 72, 1000, 64, 64),
    (2, 3, 136, 64, 16, 64),
    (8, 130, 64, 520, 64, 64),
    (3, 70, 200, 520, 64, 96),
    (9, 20, 96, 1000, 16, 96),
):
    a, b = normal(m, k).astype(np.float16), normal(k, n).astype(np.float16)
    bias, y = normal(n), normal(m, n)
    options = [each for name in (f"PARTS={parts}", f"BM={bm}", f"BN={bn}") for each in ("-D", name)]
    found = run("rows", {"a": a, "b": b, "bias": bias}, {"y": y}, *options)["y"]
    product = a.astype(np.float64) @ b.astype(np.float64)
    wanted = y + np.where(np.arange(m)[:, None] >= np.arange(n), product, 0.0) + bias
    # Each block of columns adds its own rows' sums.
    for at in range(0, n, bn):
        wanted[:, at : at + bn] += product[:, at : at + bn].sum(axis=1, keepdims=True)
    expect(f"rows {parts} {m}x{n}x{k}", found, wanted, 1e-3)

for parts, length, columns in ((8, 37, 64), (2, 5, 33), (4, 3, 1)):
    x = normal(length, 32, columns)
    outputs = {"y": np.zeros((32, columns), np.float32), "top": np.zeros(columns, np.float32)}
    found = run("columns", {"x": x}, outputs, "-D", f"PARTS={parts}")
    total = x.astype(np.float64).sum(axis=0)
    expect("columns top", found["top"], total.max(axis=0), 1e-5)
    expect("columns y", found["y"], total - total.max(axis=0), 1e-5)

x = normal(19, 64)
total = x.astype(np.float64).sum(axis=0)
found = run("whole", {"x": x}, {"y": np.zeros(64, np.float32), "total": np.zeros(1, np.float32)})
expect("whole y", found["y"], total - total.sum(), 1e-4)
expect("whole total", found["total"], total.sum(), 1e-4)

for parts, length in ((2, 21), (8, 3)):
    x = normal(length, 128)
    outputs = {key: np.zeros(128, np.float32) for key in ("s", "hi", "lo")}
    found = run("kinds", {"x": x}, outputs, "-D", f"PARTS={parts}")
    total = x.astype(np.float64).sum(axis=0)
    expect("kinds s", found["s"], 3.0 + total + 7.0 + total.sum(), 1e-4)
    expect("kinds hi", found["hi"], np.maximum(0.5, x.max(axis=0)))
    expect("kinds lo", found["lo"], np.minimum(1.0, x.min(axis=0)))

for parts, length, columns in ((8, 50, 256), (8, 5, 17), (4, 1, 3), (2, 9, 100)):
    x = normal(length, columns)
    outputs = {
        "value": np.zeros(columns, np.float32),
        "place": np.zeros(columns, np.int32),
        "count": np.zeros(columns, np.int32),
    }
    found = run("best", {"x": x}, outputs, "-D", f"PARTS={parts}")
    expect("best value", found["value"], x.max(axis=0))
    expect("best place", found["place"], x.argmax(axis=0))
    expect("best count", found["count"], np.full(columns, length))

# 33, 2, 3, 2 and 1 parts for 132 multiprocessors.
for programs in (4, 66, 70, 99, 100):
    x = normal(programs, 16, 520).astype(np.float16)
    found = run("counted", {"x": x}, {"y": np.zeros((programs, 16, 16), np.float32)})
    wanted = np.einsum("bik,bjk->bij", x.astype(np.float64), x.astype(np.float64))
    expect(f"counted {programs}", found["y"], wanted, 1e-4)

sys.exit(numbers.finish())
