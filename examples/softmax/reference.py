"""Softmax against NumPy in float64; also rows that hold -inf and very large numbers."""

import numpy
from case import Case, Input, Output

CASES = [
    Case("M=1 N=1", T="f32"),
    Case("M=3 N=7", T="f16"),
    Case("M=5 N=4096", T="bf16"),
    Case("M=2 N=4097", T="f32"),
    Case("M=13 N=1021", T="f32", BLOCK=1024),
    Case("M=4 N=10007", T="f16", BLOCK=1024),
    Case("M=1031 N=33", T="f32", BLOCK=64),
    Case("M=257 N=1", T="f16"),
    Case("M=1 N=1048576", T="f32"),
    Case("M=6 N=501", T="bf16", BLOCK=100),
]


def values(random, shape):
    x = random.standard_normal(shape) * 4.0
    if shape[1] > 3:
        x[0, 1:3] = -numpy.inf  # masked logits
        x[-1, 0] = 300.0  # exp of it alone would overflow
    if shape[0] > 2:
        x[1] -= 2e4  # below any start of a maximum but the lowest number
    return x


def arguments(case):
    shape = (case.M, case.N)
    return {"x": Input(case.T, shape, values), "y": Output(case.T, shape, rtol=2e-5, atol=1e-7)}


def reference(case, x):
    e = numpy.exp(x - x.max(axis=1, keepdims=True))
    return {"y": e / e.sum(axis=1, keepdims=True)}
