"""A product with GPTQ weights."""

import numpy as np

from case import Case, Input, Output, ROUNDING
from data import integers, uniform

CASES = [
    Case("M=1 K=32 N=8 GROUP=32", T="f16"),
    Case("M=33 K=96 N=72 GROUP=32", T="bf16"),
    Case("M=20 K=256 N=136 GROUP=128", T="f16"),
    Case("M=50 K=128 N=48 GROUP=128", T="f16", BM=48, BN=48, BK=16),
]
TIMED = [
    Case("M=16 K=4096 N=4096 GROUP=128", T="f16"),
    Case("M=1024 K=4096 N=4096 GROUP=128", T="bf16"),
]


def arguments(case):
    groups = case.K // case.GROUP
    return {
        "a": Input(case.T, (case.M, case.K)),
        "q": Input("u32", (case.K // 8, case.N), integers(0, 2**32)),
        "zeros_": Input("u32", (groups, case.N // 8), integers(0, 2**32)),
        "scales": Input(case.T, (groups, case.N), uniform(0.1 * case.K**-0.5, 0.2 * case.K**-0.5)),
        "c": Output(case.T, (case.M, case.N), rtol=2e-3, atol=8 * ROUNDING[case.T]),
    }


def reference(case, a, q, zeros_, scales):
    places = np.arange(8, dtype=np.uint32) * np.uint32(4)
    codes = (q[:, None, :] >> places[:, None] & np.uint32(15)).reshape(case.K, case.N).astype(float)
    zero = (zeros_[:, :, None] >> places & np.uint32(15)).reshape(-1, case.N).astype(float) + 1
    return {
        "c": (
            a
            @ (
                (codes - np.repeat(zero, case.GROUP, axis=0))
                * np.repeat(scales, case.GROUP, axis=0)
            )
        )
    }
