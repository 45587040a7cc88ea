"""The recurrence step by step in float64. Some steps forget all, most a little."""

import numpy
from case import Case, Input, Output, ROUNDING, Scalar

CASES = [
    Case("B=1 L=1 H=1 V=1", T="f16", D=64),
    Case("B=2 L=131 H=3 V=64", T="bf16", D=64, BONUS="true", BT=64),
    Case("B=1 L=97 H=2 V=67", T="f16", D=64),
    Case("B=1 L=70 H=1 V=128", T="bf16", D=128),
    Case("B=1 L=157 H=2 V=32", {"scale": 0.125}, T="f16", D=64, BT=16, BV=32),
    Case("B=1 L=64 H=2 V=64", T="f16", D=64, BONUS="true"),
]


def decays(random, shape):
    some = random.random(shape)
    return -numpy.where(some < 0.02, 200.0, some * random.random(shape) * 0.2)


def arguments(case):
    rows, state = (case.B, case.L, case.H, case.D), (case.B, case.H, case.D, case.V)
    bonus = {"bonus": Input("f32", (case.H, case.D))}
    near = 16.0 * ROUNDING[case.T]
    small = lambda random, shape: random.standard_normal(shape) / 8.0
    return {
        "q": Input(case.T, rows, small),
        "k": Input(case.T, rows),
        "v": Input(case.T, (*rows[:3], case.V)),
        "w": Input("f32", rows, decays),
        **(bonus if case.definitions.get("BONUS") == "true" else {}),
        "start": Input("f32", state),
        "y": Output(case.T, (*rows[:3], case.V), rtol=near, atol=near),
        "last": Output("f32", state, rtol=near, atol=near),
        "scale": Scalar("f32", 1.0),
    }


def reference(case, q, k, v, w, start, scale, bonus=None):
    s, y = start, numpy.empty(v.shape)
    for t in range(case.L):
        new = k[:, t, :, :, None] * v[:, t, :, None]
        seen = s + bonus[:, :, None] * new if bonus is not None else None
        s = s * numpy.exp(w[:, t])[..., None] + new
        y[:, t] = numpy.einsum("bhd,bhdc->bhc", q[:, t], s if seen is None else seen) * scale
    return {"y": y, "last": s}
