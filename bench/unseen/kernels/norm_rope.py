"""Norm of heads and rotary positions."""

import numpy as np

from case import Case, Input, Output, Scalar
from data import uniform

CASES = [
    Case("S=1 H=1 D=64", T="f16"),
    Case("S=5 H=9 D=80", T="bf16"),
    Case("S=3 H=17 D=128", T="f16"),
    Case("S=4 H=10 D=64", T="f16", BM=6),
]
TIMED = [Case("S=8192 H=32 D=128", T="bf16")]


def arguments(case):
    shape = (case.S, case.H, case.D)
    return {
        "x": Input(case.T, shape),
        "weight": Input(case.T, (case.D,)),
        "angle": Input("f32", (case.S, case.D // 2), uniform(0.0, 100.0)),
        "y": Output(case.T, shape, rtol=1e-4, atol=1e-5),
        "eps": Scalar("f32", 1e-6),
    }


def reference(case, x, weight, angle, eps):
    v = x / np.sqrt((x * x).mean(axis=2, keepdims=True) + eps) * weight
    a, b = v[..., : case.D // 2], v[..., case.D // 2 :]
    c, d = np.cos(angle)[:, None], np.sin(angle)[:, None]
    return {"y": np.concatenate([a * c - b * d, b * c + a * d], axis=2)}
