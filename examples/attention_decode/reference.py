"""Attention of one query for each sequence against NumPy in float64."""

import math

import numpy
from case import Case, Input, Output, ROUNDING, Scalar

CASES = [
    Case("B=1 G=1 L=1 D=64", T="f16"),
    Case("B=3 G=2 L=130 D=64", T="f16"),
    Case("B=2 G=3 L=257 D=128", T="bf16"),
    Case("B=5 G=1 L=64 D=64", T="f16", R=8),
    Case("B=2 G=2 L=1000 D=64", T="f16", R=1),
    Case("B=17 G=1 L=31 D=128", T="bf16", BN=32),
]


def lengths(random, shape, most):
    return numpy.maximum(random.integers(1, most + 1, shape), numpy.arange(shape[0]) == 0)


def arguments(case):
    heads = case.G * case.definitions.get("R", 4)
    keys, queries = (case.B, case.G, case.L, case.D), (case.B, heads, case.D)
    return {
        "q": Input(case.T, queries),
        "k": Input(case.T, keys),
        "v": Input(case.T, keys),
        "length": Input("i32", (case.B,), lambda random, shape: lengths(random, shape, case.L)),
        "o": Output(case.T, queries, rtol=1e-4, atol=4.0 * ROUNDING[case.T]),
        "scale": Scalar("f32", 1.0 / math.sqrt(case.D)),
    }


def reference(case, q, k, v, length, scale):
    o, shared = numpy.empty(q.shape), case.definitions.get("R", 4)
    for b in range(case.B):
        for h in range(q.shape[1]):
            s = k[b, h // shared, : length[b]] @ q[b, h] * scale
            p = numpy.exp(s - s.max())
            o[b, h] = p / p.sum() @ v[b, h // shared, : length[b]]
    return {"o": o}
