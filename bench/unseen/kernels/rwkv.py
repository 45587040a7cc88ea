"""The recurrence of RWKV-6."""

import numpy as np

from case import Case, Input, Output, ROUNDING
from data import normal, uniform

CASES = [
    Case("B=1 L=1 H=1 D=32", T="f32"),
    Case("B=2 L=17 H=2 D=64", T="f16"),
    Case("B=1 L=65 H=3 D=32", T="bf16"),
]
TIMED = [Case("B=8 L=1024 H=32 D=64", T="f16")]


def arguments(case):
    shape = (case.B, case.L, case.H, case.D)
    small = normal(0.3)
    return {
        "r": Input(case.T, shape, small),
        "k": Input(case.T, shape, small),
        "v": Input(case.T, shape),
        "w": Input("f32", shape, uniform(0.8, 1.0)),
        "u": Input("f32", shape[2:]),
        "y": Output(case.T, shape, rtol=1e-4, atol=1e-4),
    }


def reference(case, r, k, v, w, u):
    s, y = np.zeros((case.B, case.H, case.D, case.D)), np.zeros(r.shape)
    for t in range(case.L):
        kv = k[:, t, :, :, None] * v[:, t, :, None, :]
        y[:, t] = (r[:, t, :, :, None] * (s + u[:, :, None] * kv)).sum(axis=2)
        s = w[:, t, :, :, None] * s + kv
    return {"y": y}
