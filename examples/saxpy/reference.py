"""SAXPY against NumPy; y is read and written."""

import numpy
from case import Case, Input, InOut, Scalar

CASES = [
    Case("N=1", {"a": 2.5}),
    Case("N=13", {"a": -1.0}),
    Case("N=2048", {"a": 0.0}),
    Case("N=2051", {"a": 0.1}),
    Case("N=1000003", {"a": -3.75}),
    Case("N=997", {"a": 1e-3}, BLOCK=64),
]


def arguments(case):
    shape = (case.N,)
    return {"a": Scalar("f32"), "x": Input("f32", shape), "y": InOut("f32", shape, rtol=1e-6)}


def reference(case, a, x, y):
    return {"y": numpy.float64(numpy.float32(a)) * x + y}
