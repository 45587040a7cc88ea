"""Convolution against NumPy in float64: a sum over the places of the filter of products with the
shifted image.
"""

import numpy
from case import Case, Input, Output

CASES = [
    Case("N=1 H=1 W=1 C=8 F=8", T="f16"),
    Case("N=2 H=4 W=16 C=32 F=64", T="f16"),
    Case("N=1 H=7 W=19 C=40 F=72", T="bf16"),
    Case("N=2 H=9 W=33 C=16 F=24", T="f16", R=1),
    Case("N=1 H=11 W=13 C=8 F=16", T="f16", R=5),
    Case("N=2 H=13 W=17 C=24 F=8", T="f16", STRIDE=2),
    Case("N=1 H=8 W=32 C=64 F=128", T="bf16", STRIDE=2),
    Case("N=3 H=5 W=6 C=8 F=8", T="f16", BM=16, BP=2, BQ=8, BC=16, BF=16),
    Case("N=20 H=9 W=7 C=72 F=64", T="f16", BM=128, BP=2, BQ=4, BF=64),
    Case("N=3 H=9 W=17 C=16 F=136", T="f16", BM=128, BP=8, BQ=16, BF=128),
    Case("N=2 H=5 W=9 C=24 F=200", T="bf16", BM=64, BP=4, BQ=8, BF=160),
    Case("N=1 H=7 W=9 C=72 F=64", T="f16", BM=64, BP=8, BQ=8, BF=64, SPLIT=9),
    Case("N=2 H=5 W=9 C=136 F=72", T="bf16", STRIDE=2, BM=64, BP=4, BQ=8, BF=64, SPLIT=3),
    Case("N=70 H=3 W=3 C=64 F=160", T="bf16", STRIDE=2, BM=128, BP=1, BQ=2, BF=160),
    Case("N=3 H=7 W=9 C=96 F=96", T="f16", BM=128, BP=4, BQ=4, BC=32, BF=128),
]


def arguments(case):
    r, stride = int(case.definitions.get("R", 3)), int(case.definitions.get("STRIDE", 1))
    out = (case.N, -(-case.H // stride), -(-case.W // stride), case.F)
    return {
        "x": Input(case.T, (case.N, case.H, case.W, case.C)),
        "w": Input(case.T, (r, r, case.C, case.F)),
        "y": Output(case.T, out, rtol=1e-5, atol=1e-4),
    }


def reference(case, x, w):
    r, stride = w.shape[0], int(case.definitions.get("STRIDE", 1))
    pad = (r - 1) // 2
    padded = numpy.pad(x, ((0, 0), (pad, pad), (pad, pad), (0, 0)))
    y = sum(padded[:, i : i + case.H, j : j + case.W] @ w[i, j] for i in range(r) for j in range(r))
    return {"y": y[:, ::stride, ::stride]}
