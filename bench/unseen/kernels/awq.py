"""A product with AWQ weights."""

import numpy as np

from case import Case, Input, Output
from data import integers, uniform

CASES = [
    Case("M=1 K=32 N=8 GROUP=32"),
    Case("M=33 K=96 N=72 GROUP=32"),
    Case("M=20 K=256 N=136 GROUP=128"),
    Case("M=50 K=128 N=48 GROUP=128", BM=48, BN=48, BK=16),
]
TIMED = [Case("M=16 K=4096 N=4096 GROUP=128"), Case("M=1024 K=4096 N=4096 GROUP=128")]
ORDER = [0, 2, 4, 6, 1, 3, 5, 7]


def arguments(case):
    words, groups = case.N // 8, case.K // case.GROUP
    return {
        "a": Input("f16", (case.M, case.K)),
        "q": Input("u32", (case.K, words), integers(0, 2**32)),
        "zeros_": Input("u32", (groups, words), integers(0, 2**32)),
        "scales": Input("f16", (groups, case.N), uniform(0.1 * case.K**-0.5, 0.2 * case.K**-0.5)),
        "c": Output("f16", (case.M, case.N), rtol=2e-3, atol=4e-3),
    }


def unpack(words):
    codes = np.zeros(words.shape + (8,))
    for place, column in enumerate(ORDER):
        codes[..., column] = words >> np.uint32(4 * place) & np.uint32(15)
    return codes.reshape(words.shape[0], -1)


def reference(case, a, q, zeros_, scales):
    w = (unpack(q) - np.repeat(unpack(zeros_), case.GROUP, axis=0)) * np.repeat(
        scales, case.GROUP, axis=0
    )
    return {"c": a @ w}
