"""Reductions that exchange between warps together, on an emulated GPU, against NumPy: the kernels
of Inputs/joined_reductions.tile. Argument: tilec."""

import sys

import numpy as np
from numpy_numbers import Numbers

random = np.random.default_rng(0)
numbers = Numbers(sys.argv[1], "joined_reductions.tile")
run, expect = numbers.run, numbers.expect


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
sys.exit(numbers.finish())
