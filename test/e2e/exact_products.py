"""Sums with products that are exact, on an emulated GPU, against NumPy, whose two operations give
the same bits: the kernels of Inputs/exact_products.tile. Argument: tilec."""

import os
import subprocess
import sys
import tempfile

import numpy as np

TILEC = sys.argv[1]
SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "Inputs", "exact_products.tile")
random = np.random.default_rng(0)
checked = failed = 0


def run(kernel, inputs, shape, dtype):
    with tempfile.TemporaryDirectory(prefix="tile-exact-products-") as folder:
        line = [TILEC, "run", SOURCE, "--kernel", kernel, "--device", "cuda"]
        for key, value in {**inputs, "y": np.full(shape, 9, dtype)}.items():
            path = os.path.join(folder, key + ".npy")
            np.save(path, value)
            line += ["--arg", f"{key}={path}"]
        result = os.path.join(folder, "result.npy")
        subprocess.run([*line, "--out", f"y={result}"], check=True, stdout=subprocess.DEVNULL)
        return np.load(result)


def expect(what, right):
    global checked, failed
    checked += right.size
    failed += np.count_nonzero(~right)
    if not right.all():
        print("FAIL", what, "at", np.flatnonzero(~right)[:8])


def anything(dtype, count):
    """Numbers of all magnitudes, zeros, infinities and NaN."""
    bits = {np.float16: np.uint16, np.float32: np.uint32, np.float64: np.uint64}[dtype]
    x = random.integers(0, np.iinfo(bits).max, count, dtype=bits, endpoint=True).view(dtype)
    x[::7] = np.resize(np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1.0], dtype), len(x[::7]))
    return x


def same(x, y):
    return (x == y) & (np.signbit(x) == np.signbit(y)) | (np.isnan(x) & np.isnan(y))


count = 4096
with np.errstate(all="ignore"):
    for kernel, narrow, wide in (
        ("sums", np.float16, np.float32),
        ("wide", np.float32, np.float64),
    ):
        for near in (False, True):
            a, b, c = anything(narrow, count), anything(narrow, count), anything(wide, count)
            p = a.astype(wide) * b.astype(wide)
            if near:  # sums that cancel
                c = np.nextafter(p, random.choice(np.array([-np.inf, 0, np.inf], wide), count))
            found = run(kernel, {"a": a, "b": b, "c": c}, (3, count), wide)
            for name, one, wanted in zip(("c + p", "c - p", "p - c"), found, (c + p, c - p, p - c)):
                expect(f"{kernel}: {name}", same(one, wanted))
x, z = (random.standard_normal((64, 64)).astype(np.float16) for _ in range(2))
found = run("distances", {"x": x, "z": z}, (64, 64), np.float32)
wanted = ((x[:, None].astype(np.float64) - z[None].astype(np.float64)) ** 2).sum(axis=2)
expect("distances", abs(found - wanted) <= 1e-4)
print(f"{checked} numbers, {failed} failed")
sys.exit(failed > 0)
