"""Attention with a soft cap."""

import numpy as np

from case import Case, Input, Output, ROUNDING, Scalar
from data import softmax

CASES = [
    Case("B=1 H=1 G=1 S=1 D=64", T="f16"),
    Case("B=2 H=2 G=1 S=97 D=64", T="bf16"),
    Case("B=1 H=2 G=2 S=200 D=128", T="f16"),
    Case("B=1 H=1 G=1 S=130 D=256", T="f16"),
    Case("B=1 H=2 G=1 S=111 D=64", T="f16", BM=96, BN=48),
]
TIMED = [Case("B=1 H=16 G=8 S=4096 D=128", T="f16"), Case("B=1 H=16 G=8 S=4096 D=256", T="bf16")]


def arguments(case):
    few = (case.B, case.G, case.S, case.D)
    return {
        "q": Input(case.T, (case.B, case.H, case.S, case.D)),
        "k": Input(case.T, few),
        "v": Input(case.T, few),
        "o": Output(case.T, (case.B, case.H, case.S, case.D), rtol=1e-3, atol=4 * ROUNDING[case.T]),
        "cap": Scalar("f32", 5.0),
        "scale": Scalar("f32", case.D**-0.5),
    }


def reference(case, q, k, v, cap, scale):
    k, v = (np.repeat(x, case.H // case.G, axis=1) for x in (k, v))
    s = cap * np.tanh(q @ k.transpose(0, 1, 3, 2) * scale / cap)
    return {"o": softmax(np.where(np.tri(case.S, dtype=bool), s, -np.inf)) @ v}
