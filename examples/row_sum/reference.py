"""Row sums against NumPy in float64. Numbers of either sign cancel, so the error is measured
against the root of N.
"""

import math

from case import Case, Input, Output

CASES = [
    Case("M=1 N=1", T="f32"),
    Case("M=3 N=5", T="f16"),
    Case("M=2 N=4096", T="f32"),
    Case("M=7 N=4097", T="bf16"),
    Case("M=3 N=1000003", T="f32"),
    Case("M=1 N=16777216", T="f16"),
    Case("M=1031 N=100", T="f32", BLOCK=32),
]


def arguments(case):
    return {
        "x": Input(case.T, (case.M, case.N)),
        "y": Output("f32", (case.M,), rtol=1e-6, atol=2e-6 * math.sqrt(case.N)),
    }


def reference(case, x):
    return {"y": x.sum(axis=1)}
