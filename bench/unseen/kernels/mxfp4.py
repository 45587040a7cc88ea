"""A product with MXFP4 weights."""

import numpy as np

from case import Case, Input, Output, ROUNDING
from data import integers, normal

CASES = [
    Case("M=1 K=32 N=1", T="f16"),
    Case("M=33 K=96 N=70", T="bf16"),
    Case("M=20 K=256 N=136", T="f16"),
    Case("M=50 K=160 N=41", T="f16", BM=48, BN=48, BK=96),
]
TIMED = [Case("M=16 K=4096 N=4096", T="bf16"), Case("M=1024 K=4096 N=4096", T="f16")]
VALUES = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6, 0, -0.5, -1, -1.5, -2, -3, -4, -6])


def arguments(case):
    return {
        "a": Input(case.T, (case.M, case.K), normal(case.K**-0.5)),
        "q": Input("u4", (case.N, case.K), integers(0, 16)),
        "e": Input("u8", (case.N, case.K // 32), integers(122, 129)),
        "c": Output(case.T, (case.M, case.N), rtol=2e-3, atol=8 * ROUNDING[case.T]),
    }


def reference(case, a, q, e):
    return {"c": a @ (VALUES[q] * np.repeat(2.0 ** (e.astype(float) - 127), 32, axis=1)).T}
