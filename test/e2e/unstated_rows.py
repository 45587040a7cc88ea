"""Products whose contracts say nothing of their rows: launches of both versions, the one for
rows of whole 16 bytes and the one for all others, against NumPy.

usage: unstated_rows.py TILEC SOURCE FOLDER
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
    path = os.path.join(FOLDER, "y.npy")
    subprocess.run([*line, "--out", f"y={path}"], check=True, stdout=subprocess.DEVNULL)
    return np.load(path)


def draw(*shape):
    return rng.uniform(-1, 1, shape).astype(np.float16)


def layer(m, n, k):
    a, b, bias, r = draw(m, k), draw(k, n), draw(n), draw(m, n)
    x = a.astype(float) @ b.astype(float) + bias
    wanted = 0.5 * x * (1 + np.tanh(0.7978845608 * (x + 0.044715 * x**3))) + r
    return run("layer", a=a, b=b, bias=bias, r=r), wanted


def transposed(m, n, k):
    a, b = draw(m, k), draw(n, k)
    return run("transposed", a=a, b=b), a.astype(float) @ b.astype(float).T


def batched(m, n, k):
    a, b = draw(3, m, k), draw(3, k, n)
    return run("batched", a=a, b=b), a.astype(float) @ b.astype(float)


passed = 0
for case, shapes in (
    (layer, [(130, 136, 72), (130, 135, 72), (129, 136, 67), (1, 8, 8), (3, 1, 1), (130, 132, 70)]),
    (transposed, [(70, 65, 136), (70, 65, 100), (70, 65, 70)]),
    (batched, [(65, 72, 40), (65, 70, 40), (65, 68, 37)]),
):
    for shape in shapes:
        found, wanted = case(*shape)
        error = np.abs(found - wanted).max() / max(1, np.abs(wanted).max())
        assert error < 2e-3, (case.__name__, shape, error)
        passed += 1
print(f"{passed} products, 0 failed")
