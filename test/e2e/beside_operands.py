"""Attention whose scores meet a bias, a mask or a table of distances, against NumPy: launches of
the version that fetches these tiles by TMA, and of the one for all other rows.

usage: beside_operands.py TILEC SOURCE FOLDER
"""

import os
import subprocess
import sys

import numpy as np

TILEC, SOURCE, FOLDER = sys.argv[1:]
os.makedirs(FOLDER, exist_ok=True)
rng = np.random.default_rng(7)


def run(kernel, **tensors):
    line = [TILEC, "run", SOURCE, "--kernel", kernel, "--device", "cuda"]
    for name, value in tensors.items():
        path = os.path.join(FOLDER, f"{name}.npy")
        np.save(path, value)
        line += ["--arg", f"{name}={path}"]
    path = os.path.join(FOLDER, "o.npy")
    subprocess.run([*line, "--out", f"o={path}"], check=True, stdout=subprocess.DEVNULL)
    return np.load(path)


def beside(kernel, H, S, L):
    """(the tensor, what it adds to the scores)."""
    if kernel == "bias":
        x = rng.normal(size=(H, S, L)).astype(np.float16)
        return x, x.astype(float)
    if kernel == "mask":
        # Any byte that is not 0 is true; of one row none is.
        x = rng.choice(np.array([0, 1, 2, 128, 255], np.uint8), size=(H, S, L))
        x[0, 0] = 0
        return x.view(bool), np.where(x != 0, 0.0, -np.inf)
    x = rng.normal(size=(H, S + L - 1)).astype(np.float32)
    return x, x[:, np.arange(S)[:, None] - np.arange(L) + L - 1].astype(float)


passed = 0
for kernel in ("bias", "mask", "relative"):
    for H, S, L in ((2, 70, 144), (1, 65, 201), (2, 1, 16), (1, 130, 7)):
        q, k, v = (rng.normal(size=(H, n, 64)).astype(np.float16) for n in (S, L, L))
        x, added = beside(kernel, H, S, L)
        scores = q.astype(float) @ k.astype(float).transpose(0, 2, 1) * 0.125 + added
        top = scores.max(axis=2, keepdims=True)
        weights = np.exp(scores - np.where(np.isfinite(top), top, 0.0))
        sums = weights.sum(axis=2, keepdims=True)
        wanted = weights / np.where(sums > 0, sums, 1.0) @ v.astype(float)
        error = np.abs(run(kernel, q=q, k=k, v=v, x=x) - wanted).max()
        assert error < 4e-3, (kernel, H, S, L, error)
        passed += 1
print(f"{passed} launches, 0 failed")
