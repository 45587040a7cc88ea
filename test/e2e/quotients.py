"""Divisions by a number in common, the sigmoid and numbers as bytes, on an emulated GPU against
NumPy, for numbers of all magnitudes: the kernels of Inputs/quotients.tile. Argument: tilec."""

import os
import subprocess
import sys
import tempfile

import numpy as np

TILEC = sys.argv[1]
SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "Inputs", "quotients.tile")
random = np.random.default_rng(0)
checked = failed = 0


def run(kernel, inputs, outputs):
    with tempfile.TemporaryDirectory(prefix="tile-quotients-") as folder:
        line = [TILEC, "run", SOURCE, "--kernel", kernel, "--device", "cuda"]
        for key, value in inputs.items():
            path = os.path.join(folder, key + ".npy")
            np.save(path, value)
            line += ["--arg", f"{key}={path}"]
        for key in outputs:
            line += ["--out", f"{key}={os.path.join(folder, key + '.out.npy')}"]
        subprocess.run(line, check=True, stdout=subprocess.DEVNULL)
        return [np.load(os.path.join(folder, key + ".out.npy")) for key in outputs]


def expect(name, found, wanted):
    """The same bits; any NaN for a NaN."""
    global checked, failed
    bits = f"u{wanted.dtype.itemsize}"
    both = np.isnan(found) & np.isnan(wanted)
    wrong = (found.view(bits) != wanted.view(bits)) & ~both
    checked += 1
    if wrong.any():
        failed += 1
        i = tuple(index[0] for index in np.nonzero(wrong))
        print("FAIL", name, wrong.sum(), "numbers, as at", i, found[i], "for", wanted[i])


SPECIAL = np.array(
    [0.0, -0.0, np.inf, -np.inf, np.nan, 2**-149, -(2**-149), 3.4e38, -3.4e38, 2**-126, 1, -1],
    np.float32,
)


def draw(rows, low, high):
    """Numbers of both signs whose exponents are of low … high - 1."""
    bits = random.integers((low + 127) << 23, (high + 127) << 23, (rows, 256)).astype(np.uint32)
    return (bits | random.integers(0, 2, bits.shape).astype(np.uint32) << 31).view(np.float32)


np.seterr(all="ignore")
# Ordinary rows; some with one number out of the ordinary; all magnitudes; subnormal numbers.
ordinary, mixed = draw(24, -20, 20), draw(24, -4, 4)
mixed[np.arange(24), random.integers(0, 256, 24)] = np.tile(SPECIAL, 2)
x = np.concatenate([ordinary, mixed, draw(24, -126, 128), draw(8, -127, -125)])
d = np.abs(draw(1, -8, 8)[0, : len(x)])
d[::5] = np.abs(draw(1, -126, 128)[0, : len(d[::5])])
d[3::16] = np.resize(SPECIAL, len(d[3::16]))
own, half, whole, fixed, top = run(
    "quotients", {"x": x, "d": d}, ["own", "half", "whole", "fixed", "top"]
)
wanted = x / d[:, None]
expect("x / d", own, wanted)
expect("x / d as f16", half, wanted.astype(np.float16))
expect("round(x / d)", whole, np.round(wanted))
expect("x / 448", fixed, x / np.float32(448))

# Close to the number, and right where there is none.
x = np.concatenate([np.linspace(-104, 104, 64 * 256, dtype=np.float32).reshape(64, 256), mixed])
y, top = run("logistic", {"x": x}, ["y", "top"])
exact = 1 / (1 + np.exp(-x.astype(np.float64)))
ulp = np.ldexp(1.0, np.frexp(np.maximum(exact, 2.0**-126))[1] - 24)
checked += 1
if not (np.nan_to_num(np.abs(y - exact) / ulp) <= 4).all() or (np.isnan(y) != np.isnan(x)).any():
    failed += 1
    print("FAIL sigmoid", np.nanmax(np.abs(y - exact) / ulp))
expect("sigmoid", *(np.where(np.abs(x) > 110, v, 0).astype(np.float32) for v in (y, exact)))
# Bytes: halves and the ends of what they hold, numbers out of the ordinary.
x = np.concatenate([np.arange(-600, 680).reshape(5, 256) / 2, mixed, draw(8, -126, 128)])
x = x.astype(np.float32)
found = run("bytes", {"x": x}, ["nearest", "above", "cut", "cut_above"])
for name, y, step in zip(
    ("nearest", "above", "cut", "cut_above"), found, [np.round] * 2 + [np.trunc] * 2
):
    low, high = np.iinfo(y.dtype).min, np.iinfo(y.dtype).max
    expect(
        name, y, np.clip(step(np.nan_to_num(x, posinf=1e9, neginf=-1e9)), low, high).astype(y.dtype)
    )
print(f"{checked - failed} passed, {failed} failed")
sys.exit(failed > 0)
