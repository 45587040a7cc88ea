"""Max pooling against NumPy, to the bit."""

import numpy
from case import Case, Input, Output

CASES = [
    Case("N=1 H=1 W=1 C=1", T="f32"),
    Case("N=2 H=8 W=16 C=64", T="f16"),
    Case("N=1 H=13 W=17 C=31", T="bf16"),
    Case("N=2 H=7 W=9 C=5", T="f32", R=2, STRIDE=2),
    Case("N=1 H=11 W=6 C=70", T="f32", R=5, STRIDE=1),
    Case("N=3 H=10 W=10 C=3", T="f16", R=3, STRIDE=3),
    Case("N=1 H=20 W=12 C=129", T="f32", BP=3, BQ=5, BC=48),
]


def values(random, shape):
    return random.standard_normal(shape) - 5.0  # all negative in places: padding of 0 would win


def arguments(case):
    stride = int(case.definitions.get("STRIDE", 2))
    out = (case.N, -(-case.H // stride), -(-case.W // stride), case.C)
    return {
        "x": Input(case.T, (case.N, case.H, case.W, case.C), values),
        "y": Output(case.T, out, rtol=None, atol=0.0),
    }


def reference(case, x):
    r, stride = int(case.definitions.get("R", 3)), int(case.definitions.get("STRIDE", 2))
    pad = (r - 1) // 2
    padded = numpy.pad(x, ((0, 0), (pad, r), (pad, r), (0, 0)), constant_values=-numpy.inf)
    shifted = [padded[:, i : i + case.H, j : j + case.W] for i in range(r) for j in range(r)]
    return {"y": numpy.max(shifted, axis=0)[:, ::stride, ::stride]}
