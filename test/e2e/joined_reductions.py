"""Reductions that exchange between warps together, on an emulated GPU, against NumPy: the kernels
of Inputs/joined_reductions.tile. Argument: tilec."""

import os
import subprocess
import sys
import tempfile

import numpy as np

TILEC = sys.argv[1]
SOURCE = os.path.join(
    os.path.dirname(os.path.abspath(__file__)), "Inputs", "joined_reductions.tile"
)
random = np.random.default_rng(0)
checked = failed = 0


def run(kernel, inputs, outputs, *options):
    with tempfile.TemporaryDirectory(prefix="tile-joined-reductions-") as folder:
        line = [TILEC, "run", SOURCE, "--kernel", kernel, "--device", "cuda", *options]
        results = {}
        for key, value in {**inputs, **outputs}.items():
            path = os.path.join(folder, key + ".npy")
            np.save(path, value)
            line += ["--arg", f"{key}={path}"]
            if key in outputs:
                results[key] = os.path.join(folder, key + ".out.npy")
                line += ["--out", f"{key}={results[key]}"]
        subprocess.run(line, check=True, stdout=subprocess.DEVNULL)
        return {key: np.load(path) for key, path in results.items()}


def expect(what, found, wanted, tolerance=0.0):
    global checked, failed
    right = abs(found.astype(np.float64) - wanted) <= tolerance * np.maximum(abs(wanted), 1.0)
    checked += right.size
    failed += np.count_nonzero(~right)
    if not right.all():
        print("FAIL", what, "at", np.flatnonzero(~right)[:8])


for dtype, name in ((np.float16, "f16"), (np.float32, "f32")):
    for m, n in ((3, 1024), (2, 4096), (5, 777), (4, 2051)):
        x, z = (random.standard_normal((m, n)).astype(dtype) for _ in range(2))
        outputs = {key: np.zeros(m, np.float32) for key in ("top", "low", "den", "both")}
        outputs["seen"] = np.zeros(m, np.int64)
        found = run("rows", {"x": x, "z": z}, outputs, "-D", f"T={name}")
        v, w = x.astype(np.float64), z.astype(np.float64)
        what = f"rows {name} {m}x{n}: "
        expect(what + "top", found["top"], v.max(axis=1))
        expect(what + "low", found["low"], w.min(axis=1))
        den = np.exp(v - v.max(axis=1, keepdims=True)).sum(axis=1)
        expect(what + "den", found["den"], den, 1e-5)
        expect(what + "both", found["both"], (v * w).sum(axis=1), 1e-3)
        expect(what + "seen", found["seen"], (v > 0).sum(axis=1))

x = random.standard_normal((64, 32)).astype(np.float32)
z = random.standard_normal((64, 32)).astype(np.float16)
outputs = {
    "down": np.zeros(32, np.float32),
    "across": np.zeros(64, np.float32),
    "most": np.zeros(32, np.float16),
    "whole": np.zeros(2, np.float32),
    "both": np.zeros(32, bool),
}
found = run("axes", {"x": x, "z": z}, outputs)
v = x.astype(np.float64)
expect("down", found["down"], v.sum(axis=0), 1e-4)
expect("across", found["across"], v.max(axis=1))
expect("most", found["most"], z.max(axis=0))
expect("whole", found["whole"], np.array([v.sum(), v.min()]), 1e-4)
expect("both", found["both"], (v > -2).all(axis=0))
print(f"{checked} numbers, {failed} failed")
sys.exit(failed > 0)
