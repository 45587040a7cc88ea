"""Dilated causal convolution."""

import numpy as np

from case import Case, Input, Output, ROUNDING, Scalar
from data import normal

CASES = [
    Case("B=1 L=1 C=8 O=8 TAPS=2", {"dilation": 1}, T="f16"),
    Case("B=2 L=99 C=40 O=72 TAPS=3", {"dilation": 7}, T="bf16"),
    Case("B=1 L=200 C=64 O=64 TAPS=5", {"dilation": 64}, T="f16"),
    Case("B=1 L=100 C=48 O=96 TAPS=3", {"dilation": 2}, T="f16", BM=48, BN=96),
]
TIMED = [Case("B=8 L=4096 C=256 O=256 TAPS=3", {"dilation": 8}, T="f16")]


def arguments(case):
    return {
        "x": Input(case.T, (case.B, case.L, case.C)),
        "w": Input(case.T, (case.TAPS, case.C, case.O), normal(case.C**-0.5)),
        "bias": Input("f32", (case.O,)),
        "y": Output(case.T, (case.B, case.L, case.O), rtol=1e-3, atol=1e-4),
        "dilation": Scalar("i32"),
    }


def reference(case, x, w, bias, dilation):
    y = np.zeros((case.B, case.L, case.O)) + bias
    for t in range(case.TAPS):
        gap = min(t * dilation, case.L)
        y[:, gap:] += x[:, : case.L - gap] @ w[t]
    return {"y": y}
