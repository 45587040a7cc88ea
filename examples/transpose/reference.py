"""Transposition: every bit arrives."""

from case import Case, Input, Output

CASES = [
    Case("M=1 N=1", T="f32"),
    Case("M=7 N=3", T="f16"),
    Case("M=64 N=64", T="f32"),
    Case("M=65 N=127", T="bf16"),
    Case("M=1 N=10007", T="f32"),
    Case("M=10007 N=1", T="f16"),
    Case("M=1024 N=512", T="f16"),
    Case("M=129 N=1000", T="f32", BM=32, BN=128),
    Case("M=1048576 N=1", T="bf16"),
]


def arguments(case):
    return {
        "x": Input(case.T, (case.M, case.N)),
        "y": Output(case.T, (case.N, case.M), rtol=None, atol=0.0),
    }


def reference(case, x):
    return {"y": x.T}
