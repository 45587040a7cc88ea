"""The recurrence step by step in float64. Gates lie between 0 and 1, as a layer's do."""

import numpy
from case import Case, Input, Output

CASES = [
    Case("B=1 L=1 D=1", T="f32"),
    Case("B=2 L=7 D=3", T="f16"),
    Case("B=3 L=64 D=32", T="f32"),
    Case("B=1 L=1021 D=67", T="bf16"),
    Case("B=2 L=129 D=40", T="f32", BT=48, BD=20),
    Case("B=1 L=4096 D=16", T="f16", BT=128, BD=16),
    Case("B=2 L=50 D=1", T="f32", BT=1, BD=1),
]


def arguments(case):
    shape, state = (case.B, case.L, case.D), (case.B, case.D)
    return {
        "a": Input(case.T, shape, lambda random, shape: random.random(shape)),
        "b": Input(case.T, shape),
        "start": Input("f32", state),
        "y": Output(case.T, shape, rtol=2e-6, atol=5e-6),
        "last": Output("f32", state, rtol=2e-6, atol=5e-6),
    }


def reference(case, a, b, start):
    y, h = numpy.empty_like(a), start
    for t in range(case.L):
        h = a[:, t] * h + b[:, t]
        y[:, t] = h
    return {"y": y, "last": h}
