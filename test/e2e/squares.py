"""Programs that are clusters of four and two, on an emulated GPU, against NumPy: the kernels of
Inputs/squares.tile. Argument: tilec."""

import sys

import numpy as np
from numpy_numbers import Numbers

random = np.random.default_rng(0)
numbers = Numbers(sys.argv[1], "squares.tile")
run, expect = numbers.run, numbers.expect


def normal(*shape):
    return random.standard_normal(shape).astype(np.float16)


def product(a, b):
    return a.astype(np.float64) @ b.astype(np.float64)


# One program, odd numbers of rows, of columns, of both, and whole squares.
for m, n, k in ((5, 8, 200), (130, 96, 64), (64, 200, 136), (150, 280, 72), (512, 384, 64)):
    a, b = normal(m, k), normal(k, n)
    for options in ((), ("-D", "BM=128", "-D", "BN=160", "--with", "warps=8")):
        found = run("bands", {"a": a, "b": b}, {"c": np.zeros((m, n), np.float32)}, *options)
        expect(f"bands {m}x{n}x{k} {options}", found["c"], product(a, b), 1e-3)

for batch, m, n, k in ((1, 3, 8, 64), (3, 130, 136, 72), (2, 300, 64, 128)):
    a, b = normal(batch, m, k), normal(batch, n, k)
    found = run("batches", {"a": a, "b": b}, {"c": np.zeros((batch, m, n), np.float16)})
    expect(f"batches {m}x{n}x{k}", found["c"], product(a, b.transpose(0, 2, 1)), 2e-3)

for m, n, k in ((3, 8, 64), (70, 136, 72), (64, 300, 128)):
    n = n // 8 * 8
    a, b = normal(m, k), normal(k, n)
    found = run("pairs", {"a": a, "b": b}, {"c": np.zeros((m, n), np.float16)})
    expect(f"pairs {m}x{n}x{k}", found["c"], product(a, b), 2e-3)

sys.exit(numbers.finish())
