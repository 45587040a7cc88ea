"""Loops of one to five products on a GPU, an emulated one too, against NumPy: the kernels of
Inputs/schedules.tile for loops of one trip, two, and some more. Argument: tilec."""

import os
import subprocess
import sys
import tempfile

import numpy as np

TILEC = sys.argv[1]
SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "Inputs", "schedules.tile")
random = np.random.default_rng(0)


def run(kernel, inputs, outputs, tall):
    """{output: array} of one launch; `outputs` have the shapes."""
    with tempfile.TemporaryDirectory(prefix="tile-schedules-") as folder:
        line = [TILEC, "run", SOURCE, "--kernel", kernel, "--device", "cuda"]
        line += ["-D", f"BM={tall}"] if tall else []
        for key, value in inputs.items():
            np.save(os.path.join(folder, key + ".npy"), value)
            line += ["--arg", f"{key}={folder}/{key}.npy"]
        for key in outputs:
            np.save(os.path.join(folder, key + ".npy"), np.full(outputs[key].shape, 9, np.float32))
            line += ["--arg", f"{key}={folder}/{key}.npy", "--out", f"{key}={folder}/{key}_.npy"]
        subprocess.run(line, check=True, stdout=subprocess.DEVNULL)
        return {key: np.load(os.path.join(folder, key + "_.npy")) for key in outputs}


def half(x):
    return x.astype(np.float16).astype(np.float64)


def model(kernel, q, k, v, w):
    """What the kernel computes, in float64; values between two products in f16, as it has them."""
    if kernel == "one":
        return {"a": q @ w}
    if kernel == "right":
        return {"a": v.T @ half(k @ q.T)}
    if kernel in ("two", "apart"):
        return {"a": q @ v, "b": q @ w}
    found = {key: np.zeros((len(q), 64)) for key in ("abc" if kernel == "five" else "ab")}
    for n in range(0, len(k), 64):
        keys, values, weights = k[n : n + 64], v[n : n + 64], w[n : n + 64]
        s, t = q @ keys.T, q @ values.T
        if kernel == "five":
            e = half(np.exp(s) * t)
            found["a"] += half(np.exp(s)) @ values
            found["b"] += e @ keys
            found["c"] += e @ weights
        else:
            e = half(s * t if kernel == "four" else np.exp(s))
            if kernel != "after" or n + 64 <= len(k):  # the first loop leaves out a part of a block
                found["a"] = found["a"] * (1 if kernel == "four" else 0.5) + e @ values
            found["b"] += e @ weights
    return found


runs = failed = 0
CASES = {"one": [0], "two": [0], "apart": [0], "right": [0], "three": [64, 128], "four": [64, 128],
         "five": [64, 128], "after": [64, 128]}  # fmt: skip
for kernel, talls in CASES.items():
    for tall in talls:
        for rows, length in ((70, 48), (64, 128), (130, 296)):
            wide = length if kernel in ("one", "two", "apart") else 64
            shapes = {"q": (rows, wide), "k": (length, 64), "v": (length, 64), "w": (length, 64)}
            tiles = {key: (random.standard_normal(shape) / 4).astype(np.float16)
                     for key, shape in shapes.items()}  # fmt: skip
            wanted = model(kernel, *(tile.astype(np.float64) for tile in tiles.values()))
            if kernel == "apart":
                tiles["w"] = np.ascontiguousarray(tiles["w"].T)
            names = {"one": "qw", "two": "qvw", "apart": "qvw", "right": "qkv"}.get(kernel, "qkvw")
            found = run(kernel, {key: tiles[key] for key in names}, wanted, tall)
            for key, value in wanted.items():
                runs += 1
                wrong = np.abs(found[key] - value).max() / (np.abs(value).max() or 1)
                if not wrong < 2e-3:
                    failed += 1
                    print(f"FAIL {kernel} {tall} of {rows} by {length}: {key} differs by {wrong}")
print(f"{runs} results, {failed} failed")
sys.exit(failed > 0)
