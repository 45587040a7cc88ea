"""Log-softmax against NumPy in float64; also rows that hold -inf and very large numbers."""

import numpy
from case import Case, Input, Output

CASES = [
    Case("M=1 N=1", T="f32"),
    Case("M=3 N=7", T="f16"),
    Case("M=5 N=4096", T="bf16"),
    Case("M=2 N=4097", T="f32"),
    Case("M=13 N=1021", T="f32", BLOCK=1024),
    Case("M=257 N=3", T="f16", BLOCK=100),
]


def values(random, shape):
    x = random.standard_normal(shape) * 4.0
    if shape[1] > 3:
        x[0, 1:3] = -numpy.inf
        x[-1, 0] = 300.0
    return x


def arguments(case):
    shape = (case.M, case.N)
    return {"x": Input(case.T, shape, values), "y": Output(case.T, shape, rtol=1e-6, atol=4e-6)}


def reference(case, x):
    top = x.max(axis=1, keepdims=True)
    return {"y": x - top - numpy.log(numpy.exp(x - top).sum(axis=1, keepdims=True))}
