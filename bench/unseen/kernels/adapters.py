"""Grouped low-rank adapters."""

from case import Case, InOut, Input, ROUNDING
from data import normal, offsets

CASES = [
    Case("S=1 E=1 K=8 N=8 R=16", T="f16"),
    Case("S=200 E=4 K=72 N=136 R=16", T="bf16"),
    Case("S=150 E=7 K=128 N=64 R=64", T="f16"),
]
TIMED = [Case("S=4096 E=16 K=4096 N=4096 R=16", T="f16")]


def arguments(case):
    return {
        "x": Input(case.T, (case.S, case.K)),
        "a": Input(case.T, (case.E, case.K, case.R), normal(case.K**-0.5)),
        "b": Input(case.T, (case.E, case.R, case.N), normal(case.R**-0.5)),
        "starts": Input("i32", (case.E + 1,), offsets(case.S)),
        "y": InOut(case.T, (case.S, case.N), rtol=1e-3, atol=6 * ROUNDING[case.T]),
    }


def reference(case, x, a, b, starts, y):
    y = y.copy()
    for e in range(case.E):
        rows = slice(starts[e], starts[e + 1])
        y[rows] += x[rows] @ a[e] @ b[e]
    return {"y": y}
