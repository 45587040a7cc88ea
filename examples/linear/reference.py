"""A linear layer with bias, activation and residual against NumPy in float64."""

import math

import numpy
from case import Case, Input, Output

CASES = [
    Case("M=1 N=8 K=8", T="f16"),
    Case("M=128 N=128 K=64", T="f16"),
    Case("M=131 N=136 K=200", T="bf16"),
    Case("M=7 N=264 K=72", T="f16", ACT="identity"),
    Case("M=300 N=16 K=1000", T="f16", BM=64, BN=32, BK=32),
    Case("M=33 N=40 K=48", T="bf16", ACT="tanh"),
]


def arguments(case):
    # The error of the sum, at most doubled by the activation, before the one rounding to T.
    return {
        "x": Input(case.T, (case.M, case.K)),
        "w": Input(case.T, (case.N, case.K)),
        "bias": Input(case.T, (case.N,)),
        "residual": Input(case.T, (case.M, case.N)),
        "y": Output(case.T, (case.M, case.N), rtol=1e-4, atol=4e-5 * math.sqrt(case.K)),
    }


def reference(case, x, w, bias, residual):
    erf = numpy.vectorize(math.erf)
    act = {
        "gelu": lambda v: 0.5 * v * (1.0 + erf(v / math.sqrt(2.0))),
        "identity": lambda v: v,
        "tanh": numpy.tanh,
    }
    return {"y": act[case.definitions.get("ACT", "gelu")](x @ w.T + bias) + residual}
