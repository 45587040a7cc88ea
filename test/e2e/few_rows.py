"""Products of few rows on a GPU, an emulated one too, against NumPy: `product` and `attend` of
Inputs/few_rows.tile for each number of rows, dtype and some extents. Argument: tilec."""

import os
import subprocess
import sys
import tempfile

import numpy as np

TILEC = sys.argv[1]
SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "Inputs", "few_rows.tile")
ROWS = (1, 2, 3, 4, 5, 8, 16)
random = np.random.default_rng(0)
runs = failed = 0


def run(kernel, definitions, inputs, out, shape, dtype):
    with tempfile.TemporaryDirectory(prefix="tile-few-rows-") as folder:
        line = [TILEC, "run", SOURCE, "--kernel", kernel, "--device", "cuda"]
        for key, value in definitions.items():
            line += ["-D", f"{key}={value}"]
        for key, value in {**inputs, out: np.full(shape, 9, dtype)}.items():
            path = os.path.join(folder, key + ".npy")
            np.save(path, value)
            line += ["--arg", f"{key}={path}"]
        result = os.path.join(folder, "result.npy")
        subprocess.run([*line, "--out", f"{out}={result}"], check=True, stdout=subprocess.DEVNULL)
        return np.load(result)


def expect(what, found, wanted, tolerance):
    global runs, failed
    runs += 1
    wrong = np.abs(found.astype(np.float64) - wanted).max()
    if not wrong <= tolerance * max(1.0, np.abs(wanted).max()):
        failed += 1
        print("FAIL", what, "differs by", wrong)


def bf16(x):
    """(bits, values) of x rounded toward 0 to bf16."""
    bits = x.astype(np.float32).view(np.uint32) >> 16
    return bits.astype(np.uint16), (bits << 16).view(np.float32)


def operand(dtype, shape):
    """(what is stored, its values)."""
    if dtype == "i8":
        x = random.integers(-128, 128, shape).astype(np.int8)
        return x, x
    if dtype in ("f8e4m3", "f8e5m2"):  # 0.5 … 1.75 in steps of a quarter, either sign
        step = random.integers(0, 4, shape)
        low, bits = (2, 3) if dtype == "f8e5m2" else (3, 4)
        code = (((1 << (bits if dtype == "f8e5m2" else bits - 1)) - 1) << low) + (step << (low - 2))
        sign = random.integers(0, 2, shape)
        return (code | sign << 7).astype(np.uint8), (1 - 2 * sign) * (1 + step / 4.0)
    x = random.standard_normal(shape)
    return bf16(x) if dtype == "bf16" else (x.astype(np.float16),) * 2


for rows in ROWS:
    for dtype, sums in (("f16", "f32"), ("f16", "f16"), ("bf16", "f32"), ("i8", "i32"),
                        ("f8e4m3", "f32")):  # fmt: skip
        for n, k in ((8, 64), (32, 64), (128, 32)):
            (a, x), (b, y) = operand(dtype, (rows, k)), operand(dtype, (k, n))
            defined = {"T": dtype, "S": sums, "R": rows, "N": n, "K": k}
            stored = {"f32": np.float32, "f16": np.float16, "i32": np.int32}[sums]
            found = run("product", defined, {"a": a, "b": b}, "c", (rows, n), stored)
            wanted = x.astype(np.float64) @ y.astype(np.float64)
            expect(f"product {defined}", found, wanted, 4e-3 if sums == "f16" else 1e-5)
    for dtype in ("f16", "bf16"):
        for n, d in ((16, 128), (64, 64), (128, 64)):
            (q, x), (k, y), (v, z) = (operand(dtype, s) for s in ((rows, d), (n, d), (n, d)))
            defined = {"T": dtype, "R": rows, "N": n, "D": d}
            found = run("attend", defined, {"x": q, "k": k, "v": v}, "y", (rows, d), np.float32)
            s = x.astype(np.float64) @ y.astype(np.float64).T
            p = np.exp(s - s.max(axis=1, keepdims=True))
            expect(f"attend {defined}", found, p / p.sum(axis=1, keepdims=True) @ z, 1e-2)
print(f"{runs} products, {failed} failed")
sys.exit(failed > 0)
