"""A matrix times a vector against NumPy in float64."""

import math

from case import Case, Input, Output

CASES = [
    Case("M=1 N=1", T="f32"),
    Case("M=7 N=513", T="f16"),
    Case("M=64 N=1024", T="bf16"),
    Case("M=1009 N=97", T="f32"),
    Case("M=3 N=100003", T="f16"),
    Case("M=30 N=1000", T="f32", ROWS=4, BLOCK=96),
]


def arguments(case):
    return {
        "a": Input(case.T, (case.M, case.N)),
        "x": Input(case.T, (case.N,)),
        "y": Output("f32", (case.M,), rtol=1e-5, atol=2e-6 * math.sqrt(case.N)),
    }


def reference(case, a, x):
    return {"y": a @ x}
