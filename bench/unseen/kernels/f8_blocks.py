"""8-bit floats with scales of blocks."""

import numpy as np

from case import Case, Input, Output
from data import normal, uniform

CASES = [
    Case("M=1 N=16 K=16"),
    Case("M=65 N=144 K=272"),
    Case("M=130 N=128 K=384"),
    Case("M=50 N=96 K=144", BM=32, BN=64),
]
TIMED = [Case("M=4096 N=4096 K=7168")]


def arguments(case):
    blocks = -(-case.K // 128)
    return {
        "a": Input("f8e4m3", (case.M, case.K)),
        "sa": Input("f32", (case.M, blocks), uniform(0.5, 2.0)),
        "b": Input("f8e4m3", (case.N, case.K), normal(1.0)),
        "sb": Input("f32", (-(-case.N // 128), blocks), uniform(0.5, 2.0)),
        "c": Output("bf16", (case.M, case.N), rtol=1e-3, atol=2e-3 * case.K**0.5),
    }


def reference(case, a, sa, b, sb):
    c = np.zeros((case.M, case.N))
    for g in range(sa.shape[1]):
        k = slice(128 * g, 128 * g + 128)
        c += (a[:, k] @ b[:, k].T) * sa[:, g, None] * np.repeat(sb[:, g], 128)[: case.N]
    return {"c": c}
