"""silu(X · G) * (X · U)."""

from case import Case, Input, Output, ROUNDING
from data import normal, silu

CASES = [
    Case("M=1 K=8 N=8", T="f16"),
    Case("M=130 K=136 N=72", T="bf16"),
    Case("M=64 K=192 N=200", T="f16"),
    Case("M=100 K=40 N=96", T="f16", BM=96, BN=48, BK=32),
]
TIMED = [Case("M=2048 K=4096 N=4096", T="f16"), Case("M=4096 K=4096 N=11008", T="bf16")]


def arguments(case):
    weight = normal(case.K**-0.5)
    return {
        "x": Input(case.T, (case.M, case.K)),
        "g": Input(case.T, (case.K, case.N), weight),
        "u": Input(case.T, (case.K, case.N), weight),
        "h": Output(case.T, (case.M, case.N), rtol=1e-3, atol=2 * ROUNDING[case.T]),
    }


def reference(case, x, g, u):
    return {"h": silu(x @ g) * (x @ u)}
