"""Gate and quantisation."""

import numpy as np

from case import Case, Input, Output
from data import silu

CASES = [Case("M=1 G=1", T="f16"), Case("M=9 G=3", T="bf16"), Case("M=30 G=2", T="f16", BM=6)]
TIMED = [Case("M=8192 G=64", T="bf16")]


def arguments(case):
    return {
        "x": Input(case.T, (case.M, 2, case.G, 128)),
        "q": Output("f8e4m3", (case.M, case.G, 128), rtol=0.066, atol=0.01),
        "scale": Output("f32", (case.M, case.G), rtol=1e-5),
    }


def reference(case, x):
    h = silu(x[:, 0]) * x[:, 1]
    scale = np.abs(h).max(axis=2) / 448.0
    return {"q": h / scale[..., None], "scale": scale}
