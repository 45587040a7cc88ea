"""Attention over a window and sinks against NumPy in float64."""

import math

import numpy
from case import Case, Input, Output, ROUNDING, Scalar

CASES = [
    Case("B=1 H=1 G=1 S=1 D=64", {"window": 1, "sinks": 0}, T="f16"),
    Case("B=2 H=2 G=1 S=257 D=64", {"window": 31, "sinks": 4}, T="bf16"),
    Case("B=1 H=4 G=2 S=300 D=128", {"window": 70, "sinks": 100}, T="f16"),
    Case("B=1 H=1 G=1 S=97 D=64", {"window": 1000, "sinks": 5}, T="f16"),
    Case("B=1 H=2 G=2 S=200 D=64", {"window": 64, "sinks": 64}, T="f16", BM=32, BN=16),
]


def arguments(case):
    few = (case.B, case.G, case.S, case.D)
    return {
        "q": Input(case.T, (case.B, case.H, case.S, case.D)),
        "k": Input(case.T, few),
        "v": Input(case.T, few),
        "sink": Input("f32", (case.H,)),
        "o": Output(
            case.T, (case.B, case.H, case.S, case.D), rtol=1e-3, atol=4.0 * ROUNDING[case.T]
        ),
        "window": Scalar("i32"),
        "sinks": Scalar("i32"),
        "scale": Scalar("f32", 1.0 / math.sqrt(case.D)),
    }


def reference(case, q, k, v, sink, window, sinks, scale):
    k, v = (numpy.repeat(x, case.H // case.G, axis=1) for x in (k, v))
    far = numpy.arange(case.S)[:, None] - numpy.arange(case.S)
    seen = (far >= 0) & ((far < window) | (numpy.arange(case.S) < sinks))
    s = numpy.where(seen, q @ k.transpose(0, 1, 3, 2) * scale, -numpy.inf)
    top = numpy.maximum(s.max(axis=3), sink[:, None])[..., None]
    e = numpy.exp(s - top)
    return {"o": e @ v / (e.sum(axis=3, keepdims=True) + numpy.exp(sink[:, None, None] - top))}
