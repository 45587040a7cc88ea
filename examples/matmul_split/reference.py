"""A product split along K against NumPy in float64."""

import math

from case import Case, Input, Output

CASES = [
    Case("M=1 N=8 K=8", T="f16"),
    Case("M=16 N=64 K=4096", T="f16"),
    Case("M=3 N=40 K=10008", T="bf16"),
    Case("M=65 N=72 K=1000", T="f16", SPLIT=8),
    Case("M=64 N=64 K=64", T="f16", SPLIT=1),
    Case("M=5 N=16 K=136", T="bf16", SPLIT=16),
    Case("M=70 N=72 K=3000", T="bf16", SPLIT=32),
]


def arguments(case):
    # Sums of K products of normal numbers, each addition rounded once.
    return {
        "a": Input(case.T, (case.M, case.K)),
        "b": Input(case.T, (case.K, case.N)),
        "c": Output("f32", (case.M, case.N), rtol=1e-5, atol=1e-5 * math.sqrt(case.K)),
    }


def reference(case, a, b):
    return {"c": a @ b}
