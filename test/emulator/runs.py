"""Runs of a kernel on the emulated device, for tests that compare many shapes with NumPy."""

import os
import subprocess


def run(tilec, source, target, arguments, outputs):
    """Runs the one kernel of the file `source` on an emulated GPU of `target`. `arguments` and
    `outputs` give the .npy file of each parameter by its name. Raises CalledProcessError where
    tilec fails.
    """
    line = [tilec, "run", source, "--device", "cuda", "--target", target]
    for name, path in arguments.items():
        line += ["--arg", f"{name}={path}"]
    for name, path in outputs.items():
        line += ["--out", f"{name}={path}"]
    subprocess.run(
        line,
        check=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "TILE_EMULATE": target},
    )
