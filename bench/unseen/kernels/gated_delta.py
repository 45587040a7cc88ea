"""The gated delta rule."""

import numpy as np

from case import Case, Input, Output
from data import normal, uniform

CASES = [
    Case("B=1 L=1 H=1 D=32", T="f32"),
    Case("B=2 L=19 H=2 D=64", T="f16"),
    Case("B=1 L=40 H=1 D=128", T="bf16"),
    Case("B=1 L=12 H=1 D=64", T="f16", BV=24),
]
TIMED = [Case("B=4 L=2048 H=16 D=64", T="f16")]


def arguments(case):
    shape = (case.B, case.L, case.H, case.D)
    small = normal(case.D**-0.5)
    return {
        "q": Input(case.T, shape, small),
        "k": Input(case.T, shape, small),
        "v": Input(case.T, shape),
        "a": Input("f32", shape[:3], uniform(0.8, 1.0)),
        "b": Input("f32", shape[:3], uniform(0.0, 1.0)),
        "y": Output(case.T, shape, rtol=1e-4, atol=1e-4),
    }


def reference(case, q, k, v, a, b):
    s, y = np.zeros((case.B, case.H, case.D, case.D)), np.zeros(q.shape)
    for t in range(case.L):
        s = s * a[:, t, :, None, None]
        change = (v[:, t] - np.einsum("bhk,bhkv->bhv", k[:, t], s)) * b[:, t, :, None]
        s = s + k[:, t, :, :, None] * change[:, :, None, :]
        y[:, t] = np.einsum("bhk,bhkv->bhv", q[:, t], s)
    return {"y": y}
