"""Depthwise 3 x 3 convolution."""

import numpy as np

from case import Case, Input, Output

CASES = [
    Case("B=1 H=1 W=1 C=1", T="f32"),
    Case("B=2 H=5 W=7 C=65", T="f16"),
    Case("B=1 H=9 W=17 C=130", T="bf16"),
    Case("B=1 H=3 W=10 C=40", T="f16", BW=6, BC=48),
]
TIMED = [Case("B=32 H=56 W=56 C=256", T="f16")]


def arguments(case):
    shape = (case.B, case.H, case.W, case.C)
    return {
        "x": Input(case.T, shape),
        "k": Input(case.T, (3, 3, case.C)),
        "bias": Input(case.T, (case.C,)),
        "y": Output(case.T, shape, atol=1e-5),
    }


def reference(case, x, k, bias):
    padded = np.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)))
    y = np.zeros(x.shape) + bias
    for u in range(3):
        for v in range(3):
            y += padded[:, u : u + case.H, v : v + case.W] * k[u, v]
    return {"y": y}
