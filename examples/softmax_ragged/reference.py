"""Softmax of ragged rows against NumPy in float64."""

import numpy
from case import Case, Input, Output

CASES = [
    Case("N=1 B=1", T="f32"),
    Case("N=1000 B=7", T="f16"),
    Case("N=4099 B=2", T="bf16"),
    Case("N=5000 B=300", T="f32"),
    Case("N=0 B=3", T="f32"),
    Case("N=2048 B=1", T="f32", BLOCK=100),
    Case("N=31 B=64", T="f16", BLOCK=16),
]


def offsets(case):
    def values(random, shape):
        inner = numpy.sort(random.integers(0, case.N + 1, shape[0] - 2))  # some rows are empty
        return numpy.concatenate([[0], inner, [case.N]])

    return values


def arguments(case):
    return {
        "x": Input(case.T, (case.N,), lambda random, shape: 3.0 * random.standard_normal(shape)),
        "offset": Input("i32", (case.B + 1,), offsets(case)),
        "y": Output(case.T, (case.N,), rtol=2e-5, atol=1e-7),
    }


def reference(case, x, offset):
    y = numpy.empty(case.N)
    for begin, end in zip(offset[:-1], offset[1:]):
        if end > begin:
            e = numpy.exp(x[begin:end] - x[begin:end].max())
            y[begin:end] = e / e.sum()
    return {"y": y}
