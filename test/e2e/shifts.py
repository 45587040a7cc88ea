"""Tiles that lie one position beside each other (Inputs/shifts.tile), on a GPU or its emulation:
shifts.py TILEC [FOLDER]. Extents that fill tiles, cut them, and leave rows unaligned."""

import os
import subprocess
import sys
import tempfile

import numpy as np

TILEC = sys.argv[1]
SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "Inputs", "shifts.tile")
DTYPES = {"f16": np.float16, "f32": np.float32, "f64": np.float64, "i32": np.int32}
DTYPES |= {"u8": np.uint8, "i64": np.int64}
random = np.random.default_rng(7)


def draw(dtype, shape):
    """Whole numbers, so that every order of additions gives the same."""
    return random.integers(0, 9, shape).astype(DTYPES[dtype])


def moved(x, offsets, pad):
    """x at positions moved by `offsets`; `pad` where there is none."""
    wide = np.pad(x, [(abs(o), abs(o)) for o in offsets], constant_values=pad)
    return wide[tuple(slice(abs(o) + o, abs(o) + o + n) for o, n in zip(offsets, x.shape))]


def run(kernel, x, output, definitions=(), arguments=()):
    with tempfile.TemporaryDirectory() as folder:
        np.save(os.path.join(folder, "x.npy"), x)
        np.save(os.path.join(folder, "y.npy"), np.zeros_like(output))
        line = [TILEC, "run", SOURCE, "--kernel", kernel, "--device", "cuda"]
        line += [f"-D{each}" for each in definitions]
        line += ["--arg", f"x={folder}/x.npy", "--arg", f"y={folder}/y.npy"]
        line += [f"--arg={each}" for each in arguments] + ["--out", f"y={folder}/out.npy"]
        done = subprocess.run(line, capture_output=True, text=True, check=False)
        if done.returncode:
            return done.stderr
        found = np.load(f"{folder}/out.npy")
    wrong = np.argwhere(found != output)
    return f"{len(wrong)} wrong, the first at {tuple(wrong[0])}" if len(wrong) else None


def taps():
    for dtype in DTYPES:
        for length, block in [(1, 512), (511, 512), (1024, 512), (1300, 256), (1203, 128)]:
            x = draw(dtype, length)
            part = lambda o: moved(x, [o], 3)
            y = part(-2) - 2 * part(-1) + 3 * part(0) - 4 * part(1) + 5 * part(3)
            yield run("taps", x, y.astype(x.dtype), [f"T={dtype}", f"B={block}"])


def box():
    for dtype in ("f32", "i32", "u8"):
        for shape in [(1, 1, 1), (3, 9, 64), (4, 8, 128), (5, 6, 67), (2, 5, 130)]:
            for definitions in ([], ["BZ=4", "BY=2", "BX=128"]):
                x, y = draw(dtype, shape), 0
                for a in range(3):
                    for b in range(3):
                        for d in range(3):
                            y = y + moved(x, [a - 1, b - 1, d - 1], 0) * (9 * a + 3 * b + d + 1)
                yield run("box", x, y.astype(x.dtype), [f"T={dtype}", *definitions])


def columns():
    for shape in [(1, 1), (64, 4), (200, 6), (131, 9)]:
        for end in (0, 63, shape[0] - 1, shape[0], 4096):
            x = draw("f32", shape)
            cut = np.where(np.arange(shape[0])[:, None] < end, x, 0)
            y = cut + 10 * moved(x, [-1, 0], 0) + 100 * moved(cut, [0, 1], 0)
            if end < shape[0]:  # what lies before the end is position - 1 of the row
                before = np.where(
                    np.arange(-1, shape[0] - 1)[:, None] < end, moved(x, [-1, 0], 0), 0
                )
                y = cut + 10 * before + 100 * moved(cut, [0, 1], 0)
            yield run("columns", x, y.T.astype(x.dtype).copy(), [], [f"end={end}"])


def along():
    for shape in [(3, 1), (2, 256), (2, 700), (1, 1024)]:
        x = draw("f32", shape)
        yield run("along", x, (x - moved(x, [0, -1], 0)).max(1))


results = [each for family in (taps, box, columns, along) for each in family()]
failures = [each for each in results if each]
for each in failures:
    print(each)
print(f"{len(results)} runs, {len(failures)} failed")
