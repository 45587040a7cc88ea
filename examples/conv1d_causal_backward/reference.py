"""Gradients of a causal convolution against NumPy in float64."""

import numpy
from case import Case, Input, Output

CASES = [
    Case("B=1 L=1 C=1", T="f32"),
    Case("B=2 L=37 C=131", T="f16"),
    Case("B=1 L=100 C=64", T="bf16", W=2),
    Case("B=3 L=17 C=48", T="f32", W=3, BT=8, BC=32),
    Case("B=1 L=64 C=300", T="f16"),
]


def arguments(case):
    shape, width = (case.B, case.L, case.C), int(case.definitions.get("W", 4))
    return {
        "x": Input(case.T, shape),
        "w": Input("f32", (width, case.C)),
        "bias": Input("f32", (case.C,)),
        "dy": Input(case.T, shape),
        "dx": Output(case.T, shape, rtol=1e-4, atol=1e-4),
        "dw": Output("f32", (width, case.C), rtol=1e-4, atol=1e-3),
        "dbias": Output("f32", (case.C,), rtol=1e-4, atol=1e-3),
    }


def reference(case, x, w, bias, dy):
    width = w.shape[0]
    padded = numpy.pad(x, ((0, 0), (width - 1, 0), (0, 0)))
    sums = bias + sum(padded[:, s : s + case.L] * w[s] for s in range(width))
    gate = 1.0 / (1.0 + numpy.exp(-sums))
    own = dy * gate * (1.0 + sums * (1.0 - gate))
    later = numpy.pad(own, ((0, 0), (0, width - 1), (0, 0)))
    return {
        "dx": sum(later[:, width - 1 - s : width - 1 - s + case.L] * w[s] for s in range(width)),
        "dw": numpy.stack(
            [(own * padded[:, s : s + case.L]).sum(axis=(0, 1)) for s in range(width)]
        ),
        "dbias": own.sum(axis=(0, 1)),
    }
