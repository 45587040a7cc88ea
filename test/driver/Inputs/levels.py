"""Runs the softmax example at every level of optimisation against NumPy: levels.py EXAMPLES."""

import os
import subprocess
import sys
import tempfile

import numpy as np

source = os.path.join(sys.argv[1], "softmax", "softmax.tile")
with tempfile.TemporaryDirectory() as folder:
    x = np.random.default_rng(3).standard_normal((5, 333)).astype(np.float32)
    np.save(os.path.join(folder, "x.npy"), x)
    e = np.exp(x.astype(np.float64) - x.max(axis=1, keepdims=True))
    want = e / e.sum(axis=1, keepdims=True)
    for level in range(4):
        subprocess.run(
            [
                "tilec",
                "run",
                source,
                "-D",
                "BLOCK=128",
                f"-O{level}",
                "--arg",
                "x=x.npy",
                "--out",
                "y=y.npy",
            ],
            cwd=folder,
            check=True,
        )
        error = np.abs(np.load(os.path.join(folder, "y.npy")) - want).max()
        assert error < 1e-6, (level, error)
