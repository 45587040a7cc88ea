"""Linear layer and cross entropy."""

import numpy as np

from case import Case, Input, Output
from data import integers, normal

CASES = [
    Case("M=1 V=1 K=8", T="f16"),
    Case("M=65 V=300 K=72", T="bf16"),
    Case("M=40 V=257 K=136", T="f16"),
    Case("M=50 V=100 K=40", T="f16", BM=48, BV=48, BK=32),
]
TIMED = [Case("M=4096 V=32768 K=1024", T="f16")]


def arguments(case):
    return {
        "x": Input(case.T, (case.M, case.K)),
        "w": Input(case.T, (case.V, case.K), normal(2 * case.K**-0.5)),
        "label": Input("i32", (case.M,), integers(0, case.V)),
        "loss": Output("f32", (case.M,), rtol=1e-4, atol=1e-4),
    }


def reference(case, x, w, label):
    s = x @ w.T
    top = s.max(axis=1)
    return {
        "loss": top + np.log(np.exp(s - top[:, None]).sum(axis=1)) - s[np.arange(case.M), label]
    }
