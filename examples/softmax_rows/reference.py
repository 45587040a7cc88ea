"""Softmax against NumPy in float64; also rows that hold -inf and very large numbers."""
import numpy
from case import Case, Input, Output

CASES = [
    Case("M=1 N=8", T="f32"), Case("M=5 N=4096", T="f16"), Case("M=13 N=1024", T="bf16", ROWS=4, BLOCK=1024),
    Case("M=7 N=1000", T="f32", ROWS=2, BLOCK=1024), Case("M=1031 N=40", T="f16", ROWS=8, BLOCK=64),
    Case("M=3 N=2048", T="f32", BLOCK=2048),
]


def values(random, shape):
    x = random.standard_normal(shape) * 4.0
    x[0, 1:3] = -numpy.inf                      # masked logits
    x[-1, 0] = 300.0                            # exp of it alone would overflow
    return x


def arguments(case):
    shape = (case.M, case.N)
    return {"x": Input(case.T, shape, values), "y": Output(case.T, shape, rtol=2e-5, atol=1e-7)}


def reference(case, x):
    e = numpy.exp(x - x.max(axis=1, keepdims=True))
    return {"y": e / e.sum(axis=1, keepdims=True)}
