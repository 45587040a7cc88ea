"""Quantisation against NumPy in float32, which rounds as the kernel does: codes must be equal."""

import numpy
from case import Case, Input, Output

CASES = [
    Case("M=1 N=1", kernel="quantize_int8", T="f32"),
    Case("M=3 N=7", kernel="quantize_int8", T="f16"),
    Case("M=5 N=4096", kernel="quantize_int8", T="bf16"),
    Case("M=2 N=12289", kernel="quantize_int8", T="f32", BLOCK=1024),
    Case("M=131 N=64", kernel="quantize_int8", T="f16"),
    Case("M=9 N=257", kernel="quantize_int8", T="bf16", BLOCK=100),
    Case("M=1 N=1", kernel="dequantize_int8", T="f32"),
    Case("M=33 N=1021", kernel="dequantize_int8", T="f16"),
    Case("M=7 N=4096", kernel="dequantize_int8", T="bf16", BM=3, BN=100),
]


def isQuantize(case):
    return case.kernel == "quantize_int8"


def arguments(case):
    if isQuantize(case):

        def values(random, shape):
            x = random.standard_normal(shape) * 10.0 ** random.integers(-4, 5, (shape[0], 1))
            return numpy.where(numpy.arange(shape[0])[:, None] == 1, 0.0, x)  # one row of zeros

        return {
            "x": Input(case.T, (case.M, case.N), values),
            "q": Output("i8", (case.M, case.N), rtol=None, atol=0),
            "scale": Output("f32", (case.M,), rtol=None, atol=0),
        }
    return {
        "q": Input("i8", (case.M, case.N), lambda random, shape: random.integers(-127, 128, shape)),
        "scale": Input("f32", (case.M,), lambda random, shape: random.uniform(0.01, 2.0, shape)),
        "y": Output(case.T, (case.M, case.N), rtol=1e-6),
    }


def reference(case, scale=None, x=None, q=None):
    if not isQuantize(case):
        return {"y": q * scale[:, None]}
    x = x.astype(numpy.float32)
    top = numpy.abs(x).max(axis=1)
    exists, limit = top > numpy.float32(1e-36), numpy.float32(127)
    inverse = numpy.where(exists, limit / numpy.where(exists, top, 1), numpy.float32(0))
    return {
        "q": numpy.rint(x * inverse[:, None]).astype(numpy.int64),
        "scale": numpy.where(exists, top / limit, numpy.float32(1)),
    }
