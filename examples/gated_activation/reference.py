"""Gated activations against NumPy in float64."""

import math

import numpy
from case import Case, Input, Output

CASES = [
    Case("M=1 N=1", T="f32"),
    Case("M=3 N=7", T="f16", ACT="gelu"),
    Case("M=5 N=4096", T="bf16"),
    Case("M=2 N=4097", T="f32", ACT="gelu_tanh"),
    Case("M=17 N=1021", T="f32", ACT="relu"),
    Case("M=2 N=12289", T="f16", ACT="sigmoid"),
    Case("M=131 N=64", T="bf16", ACT="gelu", BLOCK=100),
]


def arguments(case):
    return {
        "x": Input(case.T, (case.M, 2 * case.N)),
        "y": Output(case.T, (case.M, case.N), rtol=1e-5, atol=2e-6),
    }


def sigmoid(x):
    return 1.0 / (1.0 + numpy.exp(-x))


ACTIVATIONS = {
    "silu": lambda x: x * sigmoid(x),
    "sigmoid": sigmoid,
    "relu": lambda x: numpy.maximum(x, 0.0),
    "gelu": lambda x: 0.5 * x * (1.0 + numpy.vectorize(math.erf)(x / math.sqrt(2.0))),
    "gelu_tanh": lambda x: (
        0.5 * x * (1.0 + numpy.tanh(math.sqrt(2.0 / math.pi) * (x + 0.044715 * x**3)))
    ),
}


def reference(case, x):
    return {"y": ACTIVATIONS[case.definitions.get("ACT", "silu")](x[:, : case.N]) * x[:, case.N :]}
