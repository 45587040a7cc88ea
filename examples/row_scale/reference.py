"""Rows times a number each, against NumPy: the cases take each of the kernel's variants, and the
generic one.
"""

from case import ROUNDING, Case, Input, Output, Scalar

CASES = [
    Case("M=1 N=1", {"k": 0}, T="f32"),
    Case("M=1 N=1", {"k": 3}, T="f16"),
    Case("M=5 N=1024", {"k": -2}, T="f32"),
    Case("M=3 N=4096", {"k": 0}, T="bf16"),
    Case("M=7 N=1040", {"k": 1}, T="f16"),
    Case("M=4 N=131", {"k": 0}, T="f32", BLOCK=64),
    Case("M=5 N=131", {"k": 0}, T="f32"),
    Case("M=33 N=4097", {"k": 7}, T="f16"),
]


def arguments(case):
    return {
        "x": Input(case.T, (case.M, case.N)),
        "s": Input("f32", (case.M,)),
        "y": Output(case.T, (case.M, case.N), rtol=1.01 * ROUNDING[case.T], atol=2e-6),
        "k": Scalar("i32"),
    }


def reference(case, x, s, k):
    return {"y": x * s[:, None] + k}
