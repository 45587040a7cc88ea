"""Attention with linear biases and lengths."""

import numpy as np

from case import Case, Input, Output, ROUNDING, Scalar
from data import integers, softmax

CASES = [
    Case("B=1 H=1 S=1 D=64", T="f16"),
    Case("B=3 H=2 S=97 D=64", T="bf16"),
    Case("B=2 H=1 S=200 D=128", T="f16"),
    Case("B=2 H=2 S=131 D=64", T="f16", BM=32, BN=80),
]
TIMED = [Case("B=4 H=16 S=2048 D=64", T="f16")]


def arguments(case):
    shape = (case.B, case.H, case.S, case.D)
    return {
        "q": Input(case.T, shape),
        "k": Input(case.T, shape),
        "v": Input(case.T, shape),
        "slopes": Input("f32", (case.H,), lambda random, shape: 2.0 ** -np.arange(1, shape[0] + 1)),
        "lengths": Input("i32", (case.B,), integers((case.S + 1) // 2, case.S + 1)),
        "o": Output(case.T, shape, rtol=1e-3, atol=4 * ROUNDING[case.T]),
        "scale": Scalar("f32", case.D**-0.5),
    }


def reference(case, q, k, v, slopes, lengths, scale):
    at = np.arange(case.S)
    s = q @ k.transpose(0, 1, 3, 2) * scale - slopes[:, None, None] * np.abs(at[:, None] - at)
    return {"o": softmax(np.where(at < lengths[:, None, None, None], s, -np.inf)) @ v}
