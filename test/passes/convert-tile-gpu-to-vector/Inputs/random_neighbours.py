"""The same random words on the CPU and on a GPU, for rows of several lengths: random_neighbours.py
TILEC FILE WORK.
"""

import subprocess
import sys

import numpy

tilec, source, work = sys.argv[1:]
for kernel in ("rows", "columns"):
    for columns in (1, 37, 130, 512):
        found = []
        for device in ("cpu", "cuda"):
            path = f"{work}.{device}.npy"
            subprocess.run(
                [tilec, "run", source, "--kernel", kernel, "--device", device, "--random"]
                + [f"R=5,N={columns}", "--arg", "seed=-3", "--out", f"y={path}"],
                check=True,
                capture_output=True,
            )
            found.append(numpy.load(path))
        assert (found[0] == found[1]).all(), (kernel, columns)
        assert len(numpy.unique(found[0])) > 0.99 * found[0].size
