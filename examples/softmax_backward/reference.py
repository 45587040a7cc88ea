"""Gradient of softmax against NumPy in float64."""

import numpy
from case import Case, Input, Output

CASES = [
    Case("M=1 N=1", T="f32"),
    Case("M=3 N=7", T="f16"),
    Case("M=5 N=4096", T="bf16"),
    Case("M=2 N=4099", T="f32"),
    Case("M=1031 N=33", T="f32", BLOCK=64),
    Case("M=4 N=1000", T="f16", BLOCK=96),
]


def values(random, shape):
    e = numpy.exp(random.standard_normal(shape))
    return e / e.sum(axis=1, keepdims=True)


def arguments(case):
    shape = (case.M, case.N)
    return {
        "y": Input(case.T, shape, values),
        "dy": Input(case.T, shape),
        "dx": Output(case.T, shape, rtol=1e-5, atol=1e-6),
    }


def reference(case, y, dy):
    return {"dx": y * (dy - (y * dy).sum(axis=1, keepdims=True))}
