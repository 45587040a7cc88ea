"""Chosen rows by chosen columns."""

from case import Case, Input, Output
from data import integers, normal

CASES = [
    Case("P=3 Q=2 M=1 N=1 K=8", T="f16"),
    Case("P=100 Q=90 M=65 N=130 K=72", T="bf16"),
    Case("P=10 Q=500 M=200 N=31 K=136", T="f16"),
    Case("P=64 Q=64 M=97 N=96 K=64", T="f16", BM=96, BN=48, BK=32),
]
TIMED = [Case("P=20000 Q=20000 M=4096 N=4096 K=1024", T="f16")]


def arguments(case):
    return {
        "a": Input(case.T, (case.P, case.K)),
        "b": Input(case.T, (case.Q, case.K), normal(case.K**-0.5)),
        "rows": Input("i32", (case.M,), integers(0, case.P)),
        "cols": Input("i32", (case.N,), integers(0, case.Q)),
        "c": Output("f32", (case.M, case.N), rtol=1e-4, atol=1e-4),
    }


def reference(case, a, b, rows, cols):
    return {"c": a[rows] @ b[cols].T}
