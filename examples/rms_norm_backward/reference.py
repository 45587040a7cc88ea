"""Gradients of RMS norm against NumPy in float64."""

import numpy
from case import Case, Input, Output, Scalar

BACKWARD = dict(kernel="rms_norm_backward")
CASES = [
    Case("M=1 N=1 P=1", **BACKWARD, T="f32"),
    Case("M=3 N=7 P=2", **BACKWARD, T="f16"),
    Case("M=37 N=4096 P=8", **BACKWARD, T="bf16"),
    Case("M=5 N=1021 P=7", **BACKWARD, T="f32"),
    Case("M=131 N=64 P=13", {"eps": 0.25}, **BACKWARD, T="f16", BLOCK=64),
    Case("M=64 N=257 P=64", **BACKWARD, T="bf16", BLOCK=300),
    Case("P=1 N=1", kernel="rms_norm_weight", T="f32"),
    Case("P=264 N=1021", kernel="rms_norm_weight", T="f16"),
    Case("P=33 N=64", kernel="rms_norm_weight", T="bf16", BP=10, BN=100),
]


def arguments(case):
    if case.kernel == "rms_norm_weight":
        return {
            "part": Input("f32", (case.P, case.N)),
            "dw": Output(case.T, (case.N,), rtol=1e-5, atol=1e-5),
        }
    return {
        "x": Input(case.T, (case.M, case.N)),
        "w": Input(case.T, (case.N,)),
        "dy": Input(case.T, (case.M, case.N)),
        "dx": Output(case.T, (case.M, case.N), rtol=2e-5, atol=1e-5),
        "part": Output(
            "f32", (case.P, case.N), rtol=2e-5, atol=1e-5, partial=True
        ),  # nothing else gives P a value
        "eps": Scalar("f32"),
    }


def reference(case, part=None, x=None, w=None, dy=None, eps=1e-5):
    if case.kernel == "rms_norm_weight":
        return {"dw": part.sum(axis=0)}
    r = 1.0 / numpy.sqrt((x * x).mean(axis=1, keepdims=True) + eps)
    g = dy * w
    rows = dy * x * r
    return {
        "dx": r * (g - x * r * r * (g * x).mean(axis=1, keepdims=True)),
        "part": numpy.stack([rows[p :: case.P].sum(axis=0) for p in range(case.P)]),
    }
