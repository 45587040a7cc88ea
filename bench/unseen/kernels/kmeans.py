"""The nearest centre."""

import numpy as np

from case import Case, Input, Output

CASES = [
    Case("N=1 C=1 D=32", T="f16"),
    Case("N=97 C=130 D=64", T="bf16"),
    Case("N=200 C=77 D=100", T="f16"),
    Case("N=100 C=64 D=32", T="f16", BM=48, BC=24),
]
TIMED = [Case("N=262144 C=1024 D=64", T="f16")]


def arguments(case):
    return {
        "x": Input(case.T, (case.N, case.D)),
        "centre": Input(case.T, (case.C, case.D)),
        "best": Output("i32", (case.N,), rtol=None, atol=0),
        "distance": Output("f32", (case.N,), rtol=1e-4, atol=1e-3),
    }


def reference(case, x, centre):
    d = (x * x).sum(axis=1)[:, None] + (centre * centre).sum(axis=1) - 2 * x @ centre.T
    return {"best": d.argmin(axis=1), "distance": d.min(axis=1)}
