"""gelu by tanh against NumPy in float64. tanh.approx has a relative error of 2^-11."""

import math

import numpy
from case import Case, Input, Output

CASES = [
    Case("N=1", T="f32"),
    Case("N=1024", T="f16"),
    Case("N=1021", T="bf16"),
    Case("N=10007", T="f32"),
    Case("N=300", T="f32", BLOCK=100),
    Case("N=65537", T="f16", BLOCK=4096),
]


def arguments(case):
    return {
        "x": Input(case.T, (case.N,), lambda random, shape: 2.0 * random.standard_normal(shape)),
        "y": Output(case.T, (case.N,), rtol=1e-3, atol=2e-3),
    }


def reference(case, x):
    return {"y": 0.5 * x * (1.0 + numpy.tanh(math.sqrt(2.0 / math.pi) * (x + 0.044715 * x**3)))}
