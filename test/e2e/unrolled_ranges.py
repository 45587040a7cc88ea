"""Loops with unroll(n) over ranges of every length, on an emulated GPU, against NumPy: the kernel
of Inputs/unrolled_ranges.tile. Argument: tilec."""

import os
import subprocess
import sys
import tempfile

import numpy as np

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "Inputs", "unrolled_ranges.tile")

# Every pair of 0..24: up to eight trips of step 3, and ranges that end before they begin.
first, end = (each.ravel().astype(np.int32) for each in np.indices((25, 25)))
x = np.random.default_rng(0).integers(1, 1000, 24).astype(np.int32)
wanted = np.array([x[i:j:3].sum() for i, j in zip(first, end)])

with tempfile.TemporaryDirectory(prefix="tile-unrolled-ranges-") as folder:
    line = [sys.argv[1], "run", SOURCE, "--kernel", "segments", "--device", "cuda"]
    arguments = {"first": first, "end": end, "x": x, "total": np.zeros_like(first)}
    for key, value in arguments.items():
        path = os.path.join(folder, key + ".npy")
        np.save(path, value)
        line += ["--arg", f"{key}={path}"]
    result = os.path.join(folder, "total.out.npy")
    subprocess.run([*line, "--out", f"total={result}"], check=True, stdout=subprocess.DEVNULL)
    found = np.load(result)

wrong = np.flatnonzero(found != wanted)
for i in wrong[:8]:
    print("FAIL", first[i], end[i], "gives", found[i], "for", wanted[i])
print(f"{found.size} numbers, {wrong.size} failed")
