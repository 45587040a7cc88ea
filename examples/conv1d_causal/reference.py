"""Causal convolution along time against NumPy in float64."""

import numpy
from case import Case, Input, Output

CASES = [
    Case("B=1 L=1 C=1", T="f32"),
    Case("B=2 L=37 C=130", T="f16"),
    Case("B=1 L=64 C=128", T="bf16"),
    Case("B=3 L=17 C=5", T="f32", W=2),
    Case("B=1 L=100 C=40", T="f32", W=7, BT=8, BC=32),
    Case("B=2 L=3 C=256", T="f16"),
]


def arguments(case):
    shape, width = (case.B, case.L, case.C), case.definitions.get("W", 4)
    return {
        "x": Input(case.T, shape),
        "w": Input("f32", (width, case.C)),
        "bias": Input("f32", (case.C,)),
        "y": Output(case.T, shape, rtol=1e-5, atol=2e-6),
    }


def reference(case, x, w, bias):
    width = w.shape[0]
    padded = numpy.concatenate([numpy.zeros((case.B, width - 1, case.C)), x], axis=1)
    total = bias + sum(padded[:, s : s + case.L] * w[s] for s in range(width))
    return {"y": total / (1.0 + numpy.exp(-total))}
