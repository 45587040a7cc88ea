"""Scans and take on the CPU path against NumPy: the kernel of test/gpu/agree/scans.tile."""

import os
import subprocess
import sys
import tempfile

import numpy as np

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
M, N = 37, 61


def scan(f, x, axis, reverse=False):
    """Inclusive scan of a tuple of arrays by a function of two tuples."""
    x = [np.flip(v, axis) if reverse else v for v in x]
    lines = [np.moveaxis(v.copy(), axis, 0) for v in x]
    for i in range(1, lines[0].shape[0]):
        before, here = [v[i - 1] for v in lines], [v[i] for v in lines]
        for line, value in zip(lines, f(here, before) if reverse else f(before, here)):
            line[i] = value
    lines = [np.moveaxis(v, 0, axis) for v in lines]
    return [np.flip(v, axis) if reverse else v for v in lines]


def expected(x, k, rows, columns):
    """What the kernel writes; its tiles are padded with zeros to rows x columns."""
    pad = lambda v, value=0: np.pad(v, ((0, rows - M), (0, columns - N)), constant_values=value)
    v, p = pad(x).astype(np.float64), pad(k)
    mod = lambda a, n: a - np.trunc(a / n).astype(np.int64) * n
    at = lambda t, i, axis=0: np.take(t, np.clip(i, 0, t.shape[axis] - 1), axis)
    wrap = lambda a: a.astype(np.int32)
    a, b = scan(
        lambda l, r: (l[0] * r[0], l[1] * r[0] + r[1]), [pad(x, 1.0).astype(np.float64) / 2.0, v], 0
    )
    r = np.pad(k[0], (0, columns - N))
    result = {
        "sums": [
            np.cumsum(v, 0),
            np.cumsum(v, 1),
            np.cumprod((v / 2.0 + 1.0)[:, ::-1], 1)[:, ::-1],
            np.maximum.accumulate(pad(x.astype(np.float64), -np.inf)[::-1], 0)[::-1],
        ],
        "whole": [
            wrap(np.cumsum(p[::-1], 0)[::-1]),
            wrap(np.cumsum(p, 1)),
            np.minimum.accumulate(p, 1),
            scan(lambda l, r: [np.where(r[0] != 0, r[0], l[0])], [mod(p, 3)], 0)[0],
        ],
        "pairs": [a, b],
        "line": [wrap(np.cumsum(r)), np.cumsum(r[::-1].astype(np.int64))[::-1], np.cumsum(r > 0)],
        "taken": [
            at(v, mod(p[:, 0], 80)),
            at(v, np.arange(columns) * 3 - 2, 1),
            at(v[0], mod(p, 80)),
            np.broadcast_to(at(v, mod(k[0, 0], 80)), v.shape),
        ],
    }
    result = {
        name: np.stack([part[..., :N] if part.ndim == 1 else part[:M, :N] for part in parts])
        for name, parts in result.items()
    }
    result["one"] = np.array([at(v[0], k[1, 1]), at(v, M - 1).sum()])
    return result


def check(tilec, folder, rows, columns):
    random = np.random.default_rng(rows * columns)
    inputs = {
        "x": random.standard_normal((M, N)).astype(np.float32),
        "k": random.integers(-200, 200, (M, N)).astype(np.int32),
    }
    inputs["k"][0, 0], inputs["k"][1, 1] = 77, 3  # a row past the tile's end, and one that is there
    wanted = expected(inputs["x"], inputs["k"].astype(np.int64), rows, columns)
    line = [
        tilec,
        "run",
        os.path.join(ROOT, "test/gpu/agree/scans.tile"),
        "--device",
        "cpu",
        "-D",
        "T=f32",
        "-D",
        f"BM={rows}",
        "-D",
        f"BN={columns}",
    ]
    for name, array in inputs.items():
        np.save(os.path.join(folder, name + ".npy"), array)
        line += ["--arg", f"{name}={folder}/{name}.npy"]
    for name in wanted:
        line += ["--out", f"{name}={folder}/{name}.npy"]
    subprocess.run(line, check=True)
    for name, values in wanted.items():
        found = np.load(f"{folder}/{name}.npy")
        exact = found.dtype.kind == "i"
        same = (
            np.array_equal(found, values)
            if exact
            else np.allclose(found, values, rtol=2e-5, atol=2e-5)
        )
        if not same:
            sys.exit(
                f"BM={rows} BN={columns}: {name} differs at"
                f" {np.argwhere(~np.isclose(found, values, rtol=2e-5, atol=2e-5))[:4].tolist()}"
            )


with tempfile.TemporaryDirectory() as scratch:
    for shape in [(64, 64), (37, 61), (48, 100), (64, 256)]:
        check(os.path.join(sys.argv[1], "bin", "tilec"), scratch, *shape)
print("all scans: ok")
