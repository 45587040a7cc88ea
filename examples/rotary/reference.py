"""Rotary embedding against NumPy in float64, by complex numbers."""

import numpy
from case import Case, Input, Output

CASES = [
    Case("B=1 S=1 H=1", T="f32"),
    Case("B=2 S=7 H=3", T="f16"),
    Case("B=1 S=129 H=5", T="bf16", D=128),
    Case("B=2 S=33 H=2", T="f32", PAIRS="false"),
    Case("B=1 S=100 H=4", T="f16", D=128, PAIRS="false"),
    Case("B=3 S=31 H=2", T="f16", D=80),
    Case("B=1 S=64 H=1", T="f32", D=32, BT=24),
    Case("B=1 S=50 H=2", T="bf16", D=80, PAIRS="false"),
]


def arguments(case):
    d = int(case.definitions.get("D", 64))
    angles = numpy.arange(case.S)[:, None] * 10000.0 ** (-numpy.arange(d // 2) * 2.0 / d)
    return {
        "x": Input(case.T, (case.B, case.S, case.H, d)),
        "cosine": Input("f32", (case.S, d // 2), lambda random, shape: numpy.cos(angles)),
        "sine": Input("f32", (case.S, d // 2), lambda random, shape: numpy.sin(angles)),
        "y": Output(case.T, (case.B, case.S, case.H, d), rtol=1e-6, atol=2e-6),
    }


def reference(case, x, cosine, sine):
    turn = (cosine + 1j * sine)[None, :, None, :]
    half = x.shape[3] // 2
    if case.definitions.get("PAIRS", "true") == "true":
        z = (x[..., ::2] + 1j * x[..., 1::2]) * turn
        return {"y": numpy.stack([z.real, z.imag], axis=-1).reshape(x.shape)}
    z = (x[..., :half] + 1j * x[..., half:]) * turn
    return {"y": numpy.concatenate([z.real, z.imag], axis=-1)}
