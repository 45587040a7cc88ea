"""A · Bᵀ."""

from case import Case, Input, Output
from data import normal

CASES = [
    Case("M=1 N=8 K=8", T="f16"),
    Case("M=97 N=184 K=104", T="bf16"),
    Case("M=200 N=352 K=48", T="f16"),
    Case("M=112 N=160 K=160", T="f16", BM=112, BN=80, BK=80),
    Case("M=50 N=40 K=72", T="f16", BM=48, BN=24, BK=24),
]
TIMED = [Case("M=4128 N=4224 K=4128", T="f16")]


def arguments(case):
    return {
        "a": Input(case.T, (case.M, case.K)),
        "b": Input(case.T, (case.N, case.K), normal(case.K**-0.5)),
        "c": Output(case.T, (case.M, case.N), rtol=1e-3, atol=1e-3),
    }


def reference(case, a, b):
    return {"c": a @ b.T}
