"""Decoding from pages."""

import numpy as np

from case import Case, Input, Output, ROUNDING, Scalar
from data import integers, softmax

CASES = [
    Case("B=1 G=1 R=4 P=1 C=1 D=64 PAGE=16", T="f16"),
    Case("B=3 G=2 R=4 P=20 C=6 D=64 PAGE=16", T="bf16"),
    Case("B=2 G=1 R=8 P=9 C=5 D=128 PAGE=32", T="f16"),
]
TIMED = [Case("B=32 G=8 R=4 P=8192 C=256 D=128 PAGE=16", T="f16")]


def arguments(case):
    pages = (case.P, case.PAGE, case.G, case.D)
    most = case.C * case.PAGE
    return {
        "q": Input(case.T, (case.B, case.G, case.R, case.D)),
        "k": Input(case.T, pages),
        "v": Input(case.T, pages),
        "table": Input("i32", (case.B, case.C), integers(0, case.P)),
        "lengths": Input("i32", (case.B,), integers(max(1, most // 2), most + 1)),
        "o": Output(case.T, (case.B, case.G, case.R, case.D), rtol=1e-3, atol=4 * ROUNDING[case.T]),
        "scale": Scalar("f32", case.D**-0.5),
    }


def reference(case, q, k, v, table, lengths, scale):
    k, v = (x[table].reshape(case.B, -1, case.G, case.D).transpose(0, 2, 1, 3) for x in (k, v))
    s = q @ k.transpose(0, 1, 3, 2) * scale
    return {
        "o": softmax(np.where(np.arange(s.shape[3]) < lengths[:, None, None, None], s, -np.inf)) @ v
    }
