"""A gated recurrence."""

import numpy as np

from case import Case, Input, Output

CASES = [
    Case("B=1 L=1 C=1", T="f32"),
    Case("B=2 L=131 C=65", T="f16"),
    Case("B=1 L=200 C=130", T="bf16"),
    Case("B=1 L=100 C=70", T="f32", BT=24, BC=40),
]
TIMED = [Case("B=16 L=2048 C=1024", T="f16")]


def arguments(case):
    shape = (case.B, case.L, case.C)
    return {
        "gate": Input(case.T, shape),
        "x": Input(case.T, shape),
        "h": Output(case.T, shape, rtol=1e-4, atol=1e-5),
    }


def reference(case, gate, x):
    g, h, out = 1 / (1 + np.exp(-gate)), np.zeros((case.B, case.C)), np.zeros(x.shape)
    for t in range(case.L):
        h = (1 - g[:, t]) * h + g[:, t] * x[:, t]
        out[:, t] = h
    return {"h": out}
