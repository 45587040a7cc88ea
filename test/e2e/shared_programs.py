"""Programs that the blocks of a cluster share, on an emulated GPU, against NumPy: the kernels of
Inputs/shared_programs.tile. Argument: tilec."""

import sys

import numpy as np
from numpy_numbers import Numbers

random = np.random.default_rng(0)
numbers = Numbers(sys.argv[1], "shared_programs.tile")
run, expect = numbers.run, numbers.expect


def normal(*shape):
    return random.standard_normal(shape).astype(np.float32)


# Whole blocks and a rest, rows that begin anywhere, fewer blocks of a row than of a cluster: the
# contract's `opt` decides that they are shared, whatever the launch's extents are.
for rows, length, block in (
    (2, 262144, 8192),
    (3, 100001, 4096),
    (1, 120007, 16384),
    (5, 77, 1024),
    (64, 1, 1024),
    (2, 9001, 1024),
):
    x, w = 4 * normal(rows, length), np.abs(normal(length))
    x[:, : length // 3] -= 60.0  # the maximum is not in the first blocks
    outputs = {
        "y": np.zeros((rows, length), np.float32),
        "top": np.zeros(rows, np.float32),
        "total": np.zeros(rows, np.float32),
    }
    found = run("weighted", {"x": x, "w": w}, outputs, "-D", f"BLOCK={block}")
    top = x.max(axis=1).astype(np.float64)
    powers = np.exp(x - top[:, None]) * w
    sums = 3.0 * np.exp(-100.0 - top) + powers.sum(axis=1)
    # Shares of a row: times its length, so that the tolerance is relative.
    expect(f"weighted y {length}", length * found["y"], length * powers / sums[:, None], 2e-5)
    expect(f"weighted top {length}", found["top"], x.max(axis=1))
    expect(f"weighted total {length}", found["total"], (powers / sums[:, None]).sum(axis=1), 1e-5)

# An infinity and a NaN of one block's share reach every block.
for special, place in ((np.inf, 150000), (np.nan, 3)):
    x = normal(1, 200000)
    x[0, place] = special
    outputs = {
        "y": np.zeros((1, 200000), np.float32),
        "top": np.zeros(1, np.float32),
        "total": np.zeros(1, np.float32),
    }
    found = run("weighted", {"x": x, "w": np.ones(200000, np.float32)}, outputs)
    expect(f"weighted total of {special}", np.isnan(found["total"]), np.ones(1, bool))
    expect(f"weighted y of {special}", np.isnan(found["y"][0, [place]]), np.ones(1, bool))

for rows, length, block in ((2, 200000, 8192), (3, 131077, 2048), (1, 99999, 16384), (3, 5, 64)):
    x = normal(rows, length)
    outputs = {key: np.zeros(rows, np.float32) for key in ("mean", "spread", "hi", "lo")}
    outputs["above"] = np.zeros(rows, np.int32)
    found = run("statistics", {"x": x}, outputs, "-D", f"BLOCK={block}")
    mean = x.astype(np.float64).mean(axis=1)
    expect(f"mean {length}", found["mean"], mean, 1e-5)
    expect(f"spread {length}", found["spread"], x.astype(np.float64).var(axis=1), 1e-5)
    expect(f"hi {length}", found["hi"], x.max(axis=1))
    expect(f"lo {length}", found["lo"], x.min(axis=1))
    above = 5 + (x > found["mean"][:, None]).sum(axis=1)
    expect(f"above {length}", found["above"], above)

for rows, length in ((4, 65536), (7, 50001), (5, 1100), (2, 3)):
    x = normal(rows, length)
    found = run("several", {"x": x}, {"y": np.zeros((rows, length), np.float32)})
    powers = np.exp(x.astype(np.float64) - x.max(axis=1, keepdims=True))
    shares = powers / powers.sum(axis=1, keepdims=True)
    expect(f"several {length}", length * found["y"], length * shares, 2e-5)

for rows, columns in ((5000, 300), (1, 1), (63, 129), (130, 1024)):
    x = normal(rows, columns)
    outputs = {"y": np.zeros(columns, np.float32), "hi": np.zeros(columns, np.float32)}
    found = run("columns", {"x": x}, outputs)
    expect(f"columns y {rows}", found["y"], 2.0 + x.astype(np.float64).sum(axis=0), 1e-4)
    expect(f"columns hi {rows}", found["hi"], x.max(axis=0))

for length in (1000003, 8192, 1, 700000):
    x = normal(length)
    found = run("total", {"x": x}, {"y": np.zeros(1, np.float32)})
    expect(f"total {length}", found["y"], x.astype(np.float64).sum(), 1e-4)

sys.exit(numbers.finish())
