"""Distances by absolute differences."""

import numpy as np

from case import Case, Input, Output

CASES = [
    Case("M=1 N=1 K=1", T="f32"),
    Case("M=33 N=70 K=19", T="f16"),
    Case("M=40 N=50 K=64", T="f32"),
    Case("M=30 N=20 K=11", T="f32", BM=24, BN=12, BK=5),
]
TIMED = [Case("M=2048 N=2048 K=128", T="f32")]


def arguments(case):
    return {
        "a": Input(case.T, (case.M, case.K)),
        "b": Input(case.T, (case.N, case.K)),
        "c": Output("f32", (case.M, case.N), rtol=1e-4, atol=1e-4),
    }


def reference(case, a, b):
    return {"c": np.abs(a[:, None] - b).sum(axis=2)}
