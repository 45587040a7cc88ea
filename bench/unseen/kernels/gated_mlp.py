"""(silu(X · G) * (X · U)) · W."""

from case import Case, Input, Output, ROUNDING
from data import normal, silu

CASES = [
    Case("M=1 F=8 D=64", T="f16"),
    Case("M=65 F=136 D=64", T="bf16"),
    Case("M=100 F=200 D=128", T="f16"),
    Case("M=97 F=104 D=128", T="f16", BM=96, BF=48),
]
TIMED = [Case("M=16384 F=512 D=128", T="f16")]


def arguments(case):
    weight = normal(case.D**-0.5)
    return {
        "x": Input(case.T, (case.M, case.D)),
        "g": Input(case.T, (case.D, case.F), weight),
        "u": Input(case.T, (case.D, case.F), weight),
        "w": Input(case.T, (case.F, case.D), normal(case.F**-0.5)),
        "y": Output(case.T, (case.M, case.D), rtol=1e-3, atol=4 * ROUNDING[case.T]),
    }


def reference(case, x, g, u, w):
    return {"y": (silu(x @ g) * (x @ u)) @ w}
