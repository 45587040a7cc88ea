"""Bilinear interpolation."""

import numpy as np

from case import Case, Input, Output
from data import integers

CASES = [
    Case("B=1 H=1 W=1 P=1 Q=1 C=1", T="f32"),
    Case("B=2 H=7 W=9 P=13 Q=37 C=3", T="f32"),
    Case("B=1 H=20 W=30 P=11 Q=8 C=4", T="f16"),
    Case("B=1 H=8 W=8 P=20 Q=40 C=3", T="u8"),
]
TIMED = [
    Case("B=8 H=512 W=512 P=1024 Q=1024 C=3", T="u8"),
    Case("B=8 H=512 W=512 P=1024 Q=1024 C=4", T="f16"),
]


def arguments(case):
    values = integers(0, 256) if case.T == "u8" else None
    tolerance = {"rtol": 0.0, "atol": 1} if case.T == "u8" else {"rtol": 1e-4, "atol": 1e-4}
    return {
        "x": Input(case.T, (case.B, case.H, case.W, case.C), values),
        "y": Output(case.T, (case.B, case.P, case.Q, case.C), **tolerance),
    }


def axis(count, old):
    x = np.clip((np.arange(count) + 0.5) * (old / count) - 0.5, 0, old - 1)
    low = np.floor(x).astype(int)
    return low, np.minimum(low + 1, old - 1), x - low


def reference(case, x):
    x = x.astype(float)
    h, h1, u = axis(case.P, case.H)
    w, w1, v = axis(case.Q, case.W)
    u, v = u[:, None, None], v[:, None]
    rows = x[:, h] * (1 - u[None]) + x[:, h1] * u[None]
    y = rows[:, :, w] * (1 - v) + rows[:, :, w1] * v
    return {"y": np.round(y) if case.T == "u8" else y}
