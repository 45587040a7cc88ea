"""Attention over a window against NumPy in float64."""

import math

import numpy
from case import Case, Input, Output, ROUNDING, Scalar

CASES = [
    Case("B=1 H=1 S=1 D=64", {"window": 1}, T="f16"),
    Case("B=1 H=2 S=128 D=64", {"window": 64}, T="f16"),
    Case("B=2 H=1 S=257 D=64", {"window": 31}, T="bf16"),
    Case("B=1 H=1 S=300 D=128", {"window": 1000}, T="f16"),
    Case("B=1 H=3 S=97 D=64", {"window": 1}, T="f16"),
    Case("B=1 H=1 S=200 D=64", {"window": 65}, T="f16", BM=32, BN=16),
    Case("B=1 H=2 S=181 D=128", {"window": 128}, T="bf16", BM=128, BN=128),
]


def arguments(case):
    shape = (case.B, case.H, case.S, case.D)
    return {
        "q": Input(case.T, shape),
        "k": Input(case.T, shape),
        "v": Input(case.T, shape),
        "o": Output(case.T, shape, rtol=1e-4, atol=4.0 * ROUNDING[case.T]),
        "window": Scalar("i32"),
        "scale": Scalar("f32", 1.0 / math.sqrt(case.D)),
    }


def reference(case, q, k, v, window, scale):
    distance = numpy.arange(case.S)[:, None] - numpy.arange(case.S)
    s = numpy.einsum("bhsd,bhld->bhsl", q, k) * scale
    s = numpy.where((distance >= 0) & (distance < window), s, -numpy.inf)
    p = numpy.exp(s - s.max(axis=3, keepdims=True))
    return {"o": numpy.einsum("bhsl,bhld->bhsd", p / p.sum(axis=3, keepdims=True), v)}
