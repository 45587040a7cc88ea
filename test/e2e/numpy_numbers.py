"""Runs kernels of a file of Inputs/ by `tilec run --device cuda` and counts the numbers that are
not NumPy's."""

import os
import subprocess
import tempfile

import numpy as np

INPUTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "Inputs")


class Numbers:
    def __init__(self, tilec, source):
        self.tilec, self.source = tilec, os.path.join(INPUTS, source)
        self.checked = self.failed = 0

    def run(self, kernel, inputs, outputs, *options):
        """What the kernel leaves in `outputs`, name to array; these say what was there before."""
        with tempfile.TemporaryDirectory(prefix="tile-numbers-") as folder:
            line = [self.tilec, "run", self.source, "--kernel", kernel, "--device", "cuda"]
            line += options
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

    def expect(self, what, found, wanted, tolerance=0.0):
        """The tolerance is relative to numbers above 1, else absolute."""
        right = abs(found.astype(np.float64) - wanted) <= tolerance * np.maximum(abs(wanted), 1.0)
        self.checked += right.size
        self.failed += np.count_nonzero(~right)
        if not right.all():
            print("FAIL", what, "at", np.flatnonzero(~right)[:8])

    def finish(self):
        """Prints the counts; the exit code."""
        print(f"{self.checked} numbers, {self.failed} failed")
        return int(self.failed > 0)
