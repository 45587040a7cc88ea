"""softmax(X) · W."""

from case import Case, Input, Output, ROUNDING
from data import softmax

CASES = [
    Case("M=1 N=8 D=64", T="f16"),
    Case("M=65 N=136 D=64", T="bf16"),
    Case("M=130 N=200 D=128", T="f16"),
    Case("M=96 N=104 D=64", T="f16", BM=96, BN=112),
]
TIMED = [Case("M=8192 N=4096 D=128", T="f16")]


def arguments(case):
    return {
        "x": Input(case.T, (case.M, case.N)),
        "w": Input(case.T, (case.N, case.D)),
        "y": Output("f32", (case.M, case.D), rtol=1e-3, atol=4 * ROUNDING[case.T]),
    }


def reference(case, x, w):
    return {"y": softmax(x) @ w}
