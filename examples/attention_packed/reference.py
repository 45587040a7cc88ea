"""Attention over packed sequences against NumPy in float64."""

import math

import numpy
from case import Case, Input, Output, ROUNDING, Scalar

CASES = [
    Case("N=1 H=1 B=1 D=64", {"longest": 1}, T="f16"),
    Case("N=300 H=2 B=5 D=64", {"longest": 300}, T="f16"),
    Case("N=129 H=3 B=7 D=128", {"longest": 129}, T="bf16"),
    Case("N=64 H=1 B=1 D=64", {"longest": 64}, T="f16"),
    Case("N=500 H=2 B=3 D=64", {"longest": 512}, T="bf16", BM=32, BN=32),
]


def offsets(random, shape, total):
    return numpy.concatenate(
        [[0], numpy.sort(random.integers(0, total + 1, shape[0] - 2)), [total]]
    )[: shape[0]]


def arguments(case):
    shape = (case.N, case.H, case.D)
    return {
        "q": Input(case.T, shape),
        "k": Input(case.T, shape),
        "v": Input(case.T, shape),
        "offset": Input("i32", (case.B + 1,), lambda random, shape: offsets(random, shape, case.N)),
        "o": Output(case.T, shape, rtol=1e-4, atol=4.0 * ROUNDING[case.T]),
        "longest": Scalar("i32"),
        "scale": Scalar("f32", 1.0 / math.sqrt(case.D)),
    }


def reference(case, q, k, v, offset, longest, scale):
    o = numpy.empty(q.shape)
    for first, last in zip(offset[:-1], offset[1:]):
        for h in range(case.H):
            s = q[first:last, h] @ k[first:last, h].T * scale
            s = numpy.where(numpy.tri(last - first, dtype=bool), s, -numpy.inf)
            p = numpy.exp(s - s.max(axis=1, keepdims=True)) if last > first else s
            o[first:last, h] = p / p.sum(axis=1, keepdims=True) @ v[first:last, h]
    return {"o": o}
