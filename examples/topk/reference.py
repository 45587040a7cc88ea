"""The K largest of each row by a stable sort; few different values, so that ties are many, and some
NaN and infinities.
"""

import numpy
from case import Case, Input, Output

CASES = [
    Case("M=1 N=1", T="f32"),
    Case("M=3 N=5", T="f16"),
    Case("M=7 N=1000", T="bf16"),
    Case("M=5 N=1024", T="f32"),
    Case("M=3 N=4099", T="f16", K=16, BLOCK=2048),
    Case("M=2 N=100003", T="f32", K=5),
    Case("M=33 N=127", T="bf16", K=1, BLOCK=128, ROWS=8),
    Case("M=4 N=300", T="f32", K=64, BLOCK=300),
    Case("M=5 N=9", T="f32", K=20, BLOCK=64, ROWS=4),
]


def rows(random, shape):
    x = random.integers(-100, 100, shape) / 8.0
    x[random.random(shape) < 0.02] = numpy.nan
    x[random.random(shape) < 0.02] = -numpy.inf
    x[random.random(shape) < 0.01] = numpy.inf
    return x


def arguments(case):
    k = int(case.definitions.get("K", 8))
    return {
        "x": Input(case.T, (case.M, case.N), rows),
        "values": Output(case.T, (case.M, k), rtol=None, atol=0.0),
        "at": Output("i32", (case.M, k), rtol=None, atol=0),
    }


def reference(case, x):
    k = int(case.definitions.get("K", 8))
    values, at = numpy.full((case.M, k), numpy.nan), numpy.full((case.M, k), -1)
    order = numpy.argsort(-x, axis=1, kind="stable")[:, :k]  # NaN last
    found = order.shape[1]
    values[:, :found] = numpy.take_along_axis(x, order, 1)
    at[:, :found] = order
    return {"values": values, "at": at}
