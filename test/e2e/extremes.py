"""Where the extremes of rows lie on an emulated GPU, against NumPy: both kernels of
Inputs/extremes.tile on rows of few numbers, NaN, infinities, zeros of both signs and the numbers
beside them among these. Argument: tilec."""

import os
import subprocess
import sys
import tempfile

import numpy as np

TILEC = sys.argv[1]
SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "Inputs", "extremes.tile")
WIDTH = 1024
random = np.random.default_rng(0)

# Sign, exponent and fraction of each dtype in bits.
FORMATS = {"f16": (5, 10), "bf16": (8, 7), "f32": (8, 23), "f64": (11, 52)}


def values(dtype):
    """Bits of the numbers that rows are made of: those at ends of ranges, and NaN."""
    exponent, fraction = FORMATS[dtype]
    width = 1 + exponent + fraction
    infinity = ((1 << exponent) - 1) << fraction
    one = ((1 << (exponent - 1)) - 1) << fraction
    positive = [0, 1, 2, (1 << fraction) - 1, 1 << fraction, one, one + 1, infinity - 1, infinity]
    return positive + [p | 1 << (width - 1) for p in positive], infinity | 1 << (fraction - 1)


def decode(bits, dtype):
    if dtype == "bf16":
        return (bits.astype(np.uint32) << 16).view(np.float32)
    return bits.view({"f16": np.float16, "f32": np.float32, "f64": np.float64}[dtype])


def rows(dtype):
    """Rows of a few of the numbers each, with and without NaN."""
    numbers, nan = values(dtype)
    width = sum(FORMATS[dtype]) + 1
    made = []
    for count in (1, 1, 2, 2, 3, 3, 5, 8):
        for some in range(4):
            row = random.choice(np.array(random.choice(numbers, count)), WIDTH)
            if some % 2:
                row[random.integers(0, WIDTH, 1 + some)] = nan
            made.append(row)
    return np.array(made).astype({16: np.uint16, 32: np.uint32, 64: np.uint64}[width])


def run(kernel, dtype, stored):
    with tempfile.TemporaryDirectory(prefix="tile-extremes-") as folder:
        line = [TILEC, "run", SOURCE, "--kernel", kernel, "--device", "cuda", "-D", f"T={dtype}"]
        none = np.full(len(stored), -9, np.int32)
        for key, value in {"x": stored, "largest": none, "smallest": none}.items():
            path = os.path.join(folder, key + ".npy")
            np.save(path, value)
            line += ["--arg", f"{key}={path}"]
        out = [os.path.join(folder, key + ".out.npy") for key in ("largest", "smallest")]
        line += ["--out", f"largest={out[0]}", "--out", f"smallest={out[1]}"]
        subprocess.run(line, check=True, stdout=subprocess.DEVNULL)
        return [np.load(path) for path in out]


checked = failed = 0
for dtype in FORMATS:
    stored = rows(dtype)
    number = decode(stored, dtype).astype(np.float64)
    if dtype != "bf16":
        stored = decode(stored, dtype)
    for kernel in ("strict", "fast"):
        seen = [number]
        if kernel == "fast":  # subnormal numbers may count as 0
            exponent, _ = FORMATS[dtype]
            least = 2.0 ** (2 - 2 ** (exponent - 1))
            seen.append(np.where(abs(number) < least, 0.0, number))
        wanted = [[f(s, axis=1) for s in seen] for f in (np.argmax, np.argmin)]
        for name, found, right in zip(("argmax", "argmin"), run(kernel, dtype, stored), wanted):
            checked += len(found)
            for row in np.flatnonzero(np.all([found != r for r in right], axis=0)):
                failed += 1
                print(f"FAIL {kernel} {dtype} row {row}: {name} {found[row]}, not {right[0][row]}")
print(f"{checked} positions, {failed} failed")
sys.exit(failed > 0)
