"""Mamba-2's recurrence step by step in float64."""

import numpy
from case import Case, Input, Output, ROUNDING

CASES = [
    Case("B=1 L=1 H=1 G=1", T="f16"),
    Case("B=2 L=131 H=4 G=2", T="bf16"),
    Case("B=1 L=64 H=3 G=1", T="f16", P=32, N=64),
    Case("B=1 L=157 H=2 G=2", T="f16", P=128, N=64, BT=32, BP=32),
    Case("B=1 L=263 H=1 G=1", T="bf16", N=64, BT=128),
]


def arguments(case):
    p, n = int(case.definitions.get("P", 64)), int(case.definitions.get("N", 128))
    steps, group = (case.B, case.L, case.H), (case.B, case.L, case.G, n)
    near = 16.0 * ROUNDING[case.T]
    small = lambda random, shape: 0.3 * random.standard_normal(shape)
    return {
        "x": Input(case.T, (*steps, p)),
        "dt": Input("f32", steps, lambda random, shape: 0.5 * random.random(shape) ** 2),
        "a": Input("f32", (case.H,), lambda random, shape: -3.0 * random.random(shape)),
        "b": Input(case.T, group, small),
        "c": Input(case.T, group, small),
        "skip": Input("f32", (case.H,)),
        "start": Input("f32", (case.B, case.H, p, n)),
        "y": Output(case.T, (*steps, p), rtol=near, atol=near),
        "last": Output("f32", (case.B, case.H, p, n), rtol=near, atol=near),
    }


def reference(case, x, dt, a, b, c, skip, start):
    b, c = (numpy.repeat(v, case.H // case.G, 2) for v in (b, c))
    s, y = start, numpy.empty(x.shape)
    for t in range(case.L):
        taken = (dt[:, t, :, None] * x[:, t])[..., None] * b[:, t, :, None]
        s = s * numpy.exp(dt[:, t] * a)[..., None, None] + taken
        y[:, t] = (s @ c[:, t, :, :, None])[..., 0] + skip[:, None] * x[:, t]
    return {"y": y, "last": s}
