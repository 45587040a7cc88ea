"""Gradient of cross-entropy against NumPy in float64."""

import numpy
from case import Case, Input, Output

CASES = [
    Case("M=1 V=1", T="f32"),
    Case("M=3 V=2048", T="f16"),
    Case("M=7 V=2051", T="bf16"),
    Case("M=101 V=97", T="f32", BLOCK=64),
    Case("M=4 V=10007", T="f32", SMOOTH=0.1),
    Case("M=9 V=1000", T="f16", SMOOTH=0.05),
]


def labels(random, shape, classes):
    found = random.integers(0, classes, shape)
    found[shape[0] // 2] = -100
    return found


def arguments(case):
    shape = (case.M, case.V)
    return {
        "x": Input(case.T, shape),
        "label": Input("i64", (case.M,), lambda random, shape: labels(random, shape, case.V)),
        "lse": Input(
            "f32", (case.M,), lambda random, shape: numpy.log(1.65 * case.V) + random.random(shape)
        ),
        "g": Input("f32", (case.M,)),
        "dx": Output(case.T, shape, rtol=2e-5, atol=1e-6),
    }


def reference(case, x, label, lse, g):
    smooth = float(case.definitions.get("SMOOTH", 0.0))
    target = (numpy.arange(case.V) == label[:, None]) * (1.0 - smooth) + smooth / case.V
    return {
        "dx": (numpy.exp(x - lse[:, None]) - target) * numpy.where(label == -100, 0.0, g)[:, None]
    }
