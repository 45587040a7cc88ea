"""Rows sorted by NumPy's stable sort; ties, zeros of both signs, infinities and NaN."""

import numpy
from case import Case, Input, Output

CASES = [
    Case("M=1 N=1", T="f32"),
    Case("M=3 N=5", T="f16"),
    Case("M=7 N=1000", T="bf16"),
    Case("M=2 N=1024", T="f32", DESCENDING="true"),
    Case("M=5 N=333", T="f64", BLOCK=333),
    Case("M=31 N=100", T="f16", DESCENDING="true", BLOCK=100),
    Case("M=2 N=4096", T="f32", BLOCK=4096),
]


def rows(random, shape):
    x = numpy.where(
        random.random(shape) < 0.5, random.integers(-20, 20, shape), random.standard_normal(shape)
    )
    for value, share in ((numpy.nan, 0.05), (numpy.inf, 0.03), (-numpy.inf, 0.03), (-0.0, 0.05)):
        x = numpy.where(random.random(shape) < share, value, x)
    return x


def arguments(case):
    shape = (case.M, case.N)
    return {
        "x": Input(case.T, shape, rows),
        "y": Output(case.T, shape, rtol=None, atol=0.0),
        "at": Output("i32", shape, rtol=None, atol=0),
    }


def reference(case, x):
    order = numpy.argsort(
        -x if case.definitions.get("DESCENDING") == "true" else x, axis=1, kind="stable"
    )  # NaN last
    return {"y": numpy.take_along_axis(x, order, 1), "at": order}
