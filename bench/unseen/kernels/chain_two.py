"""(A · B) · C."""

from case import Case, Input, Output, ROUNDING
from data import normal

CASES = [
    Case("M=1 K=8 N=8 D=64", T="f16"),
    Case("M=65 K=72 N=136 D=64", T="bf16"),
    Case("M=130 K=200 N=40 D=128", T="f16"),
    Case("M=50 K=96 N=104 D=128", T="f16", BM=96, BN=48),
]
TIMED = [Case("M=8192 K=2048 N=2048 D=128", T="f16")]


def arguments(case):
    return {
        "a": Input(case.T, (case.M, case.K)),
        "b": Input(case.T, (case.K, case.D), normal(case.K**-0.5)),
        "c": Input(case.T, (case.D, case.N), normal(case.D**-0.5)),
        "o": Output(case.T, (case.M, case.N), rtol=1e-3, atol=6 * ROUNDING[case.T]),
    }


def reference(case, a, b, c):
    return {"o": a @ b @ c}
