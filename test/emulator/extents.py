"""Products of tiles of many extents on the emulated device, against NumPy: padding of tiles is
neither copied nor stored, and touches no neighbour.

usage: extents.py TILEC SOURCE FOLDER; SOURCE is test/e2e/Inputs/odd_product.tile
"""

import os
import subprocess
import sys

import numpy as np

TILEC, SOURCE, FOLDER = sys.argv[1:]
os.makedirs(FOLDER, exist_ok=True)
# Rows, columns and terms of a tile, and of the matrices, which cut the last tiles.
CASES = [
    ((128, 192, 64), (300, 400, 144)),
    ((128, 160, 64), (256, 320, 128)),
    ((128, 224, 64), (200, 448, 80)),
    ((64, 192, 64), (130, 400, 144)),
    ((96, 176, 48), (300, 400, 144)),
    ((192, 128, 64), (400, 144, 144)),
    ((96, 96, 96), (200, 208, 208)),
    ((128, 48, 64), (200, 112, 208)),
    ((24, 128, 64), (50, 272, 80)),
    ((64, 320, 32), (70, 656, 48)),
]
rng = np.random.default_rng(1)
path = {name: os.path.join(FOLDER, name + ".npy") for name in "abc"}
for tile, (m, n, k) in CASES:
    a = rng.standard_normal((m, k)).astype(np.float16)
    b = rng.standard_normal((n, k)).astype(np.float16)
    np.save(path["a"], a)
    np.save(path["b"], b)
    np.save(path["c"], np.full((m, n), np.nan, np.float32))
    line = [TILEC, "run", SOURCE, "--device", "cuda", "--out", "c=" + path["c"]]
    for name, extent in zip(("BM", "BN", "BK"), tile):
        line += ["-D", f"{name}={extent}"]
    for name in "abc":
        line += ["--arg", f"{name}={path[name]}"]
    subprocess.run(line, check=True)
    wanted = a.astype(np.float64) @ b.astype(np.float64).T
    error = abs(np.load(path["c"]) - wanted).max()
    assert error < 1e-3, (tile, error)
print(len(CASES), "tiles: right")
