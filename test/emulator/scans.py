"""Scans in every way in which a tile lies over registers, lanes and warps: along rows and columns
of many extents, with 1 to 16 warps, forward and reversed, of numbers, pairs and truth values, by
functions that commute and by some that do not. Integers, beside NumPy to the bit.

usage: scans.py TILEC FOLDER
"""

import os
import sys

import numpy as np
import runs

TILEC, FOLDER = sys.argv[1:]
os.makedirs(FOLDER, exist_ok=True)
LINES = [(n,) for n in (2, 8, 33, 64, 100, 256, 500, 1024, 4096, 16384)]
AREAS = [(2, 64), (16, 16), (64, 32), (5, 300), (128, 64), (1, 2048), (200, 12), (1024, 4)]
FUNCTIONS = """
fn last(a, b) { return where(b != 0, b, a); }
fn linear(a1, b1, a2, b2) { return (a1 * a2, b1 * a2 + b2); }
"""


def expressions(rank):
    """The text of a scan of x, and what it finds, along which axis."""
    for axis in range(rank):
        for reverse in ("", ", reverse: true"):
            end = f"axis: {axis}{reverse})"
            yield f"cumsum(x, {end}", sums, axis, reverse
            yield f"cumsum(x as i64, {end} as i32", sums, axis, reverse
            yield f"scan(min, x as i8, {end} as i32", lowBytes, axis, reverse
            yield f"scan(max, x, {end}", np.maximum.accumulate, axis, reverse
            yield f"scan(last, x % 3, {end}", lasts, axis, reverse
            yield f"linear_{axis}{'r' if reverse else ''}", pairs, axis, reverse


def sums(x, axis):
    return np.cumsum(x, axis, dtype=np.int64).astype(np.int32)


def lowBytes(x, axis):
    return np.minimum.accumulate(x.astype(np.int8), axis).astype(np.int32)


def lasts(x, axis):
    x, found = np.fmod(x, 3), []
    for line in np.moveaxis(x, axis, 0):
        found.append(line if not found else np.where(line != 0, line, found[-1]))
    return np.moveaxis(np.array(found), 0, axis)


def pairs(x, axis):
    """Of x | 1 and x: both numbers of each pair, joined by an exclusive or."""
    found = []
    for b in np.moveaxis(x, axis, 0):
        a = b | np.int32(1)
        if found:
            before = found[-1]
            # The later pair is on the right: (a1 * a2, b1 * a2 + b2).
            found.append((before[0] * a, before[1] * a + b))
        else:
            found.append((a, b))
    return np.moveaxis(np.array([a ^ b for a, b in found]), 0, axis)


def reversedPairs(x, axis):
    """What comes later along the axis still is the function's second argument."""
    found = []
    for b in np.moveaxis(x, axis, 0)[::-1]:
        a = b | np.int32(1)
        if found:
            after = found[-1]
            found.append((a * after[0], b * after[0] + after[1]))
        else:
            found.append((a, b))
    return np.moveaxis(np.array([a ^ b for a, b in found])[::-1], 0, axis)


def expected(compute, x, axis, reverse):
    if not reverse:
        return compute(x, axis)
    if compute is pairs:
        return reversedPairs(x, axis)
    if compute is lasts:  # the first that is not zero
        values, found = np.fmod(x, 3), []
        for line in np.moveaxis(values, axis, 0)[::-1]:
            found.append(line if not found else np.where(found[-1] != 0, found[-1], line))
        return np.moveaxis(np.array(found)[::-1], 0, axis)
    return np.flip(compute(np.flip(x, axis), axis), axis)


def write(shape, warps):
    cases = list(expressions(len(shape)))
    extents = ", ".join(map(str, shape))
    every = ", ".join(":" for _ in shape)
    path = os.path.join(FOLDER, f"scans_{'x'.join(map(str, shape))}_{warps}.tile")
    results = "".join(f",\n    y{i}: out i32[{extents}]" for i in range(len(cases)))
    stores = ""
    for i, (text, compute, axis, reverse) in enumerate(cases):
        if compute is pairs:
            stores += f"  let (a{i}, b{i}) = scan(linear, (x | 1, x), axis: {axis}{reverse});\n"
            text = f"a{i} ^ b{i}"
        stores += f"  y{i}[{every}] = {text};\n"
    with open(path, "w", encoding="utf-8") as stream:
        stream.write(
            f"{FUNCTIONS}kernel scans(t: in i32[{extents}]{results})\n"
            f"  with warps({warps})\n{{\n  let x = t[{every}];\n{stores}}}\n"
        )
    return path, cases


rng, checked = np.random.default_rng(7), 0
np.seterr(over="ignore")
for number, shape in enumerate(LINES + AREAS):
    for warps in (1, 4, 16) if number % 2 else (2, 8):
        path, cases = write(shape, warps)
        x = rng.integers(-(2**31), 2**31, shape).astype(np.int32)
        np.save(path + ".npy", x)
        target = ("sm_80", "sm_90a")[checked % 2]
        outputs = {f"y{i}": f"{path}.{i}.npy" for i in range(len(cases))}
        runs.run(TILEC, path, target, {"t": f"{path}.npy"}, outputs)
        for i, (text, compute, axis, reverse) in enumerate(cases):
            wanted = expected(compute, x, axis, reverse)
            found = np.load(f"{path}.{i}.npy")
            at = np.argwhere(found != wanted)[:4]
            assert not len(at), (
                f"{text} along {axis} of {shape}, {warps} warps, {target}",
                [(tuple(j), found[tuple(j)], wanted[tuple(j)]) for j in at],
            )
            checked += 1
print(f"{checked} scans right")
