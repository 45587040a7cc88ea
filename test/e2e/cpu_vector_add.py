"""Runs cpu-vector-add.mlir, given as the first argument, and checks that nothing past the end is
written.
"""

import sys

import numpy as np
from cpu_kernel import Kernels, check

kernels = Kernels(open(sys.argv[1]).read())
generator = np.random.default_rng(0)
for n in (1, 7, 1024, 1025, 5000):
    x, y = generator.random((2, n), dtype=np.float32)
    z = np.full(n + 64, -1, dtype=np.float32)
    kernels.run("add", [x, y, z, n], -(-n // 1024))
    check(f"sum of {n}", z, np.concatenate([x + y, np.full(64, -1)]))
