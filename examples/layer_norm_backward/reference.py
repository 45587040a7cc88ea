"""Gradients of layer norm against NumPy in float64."""

import numpy
from case import Case, Input, Output, Scalar

BACKWARD = dict(kernel="layer_norm_backward")
CASES = [
    Case("M=1 N=2 P=1", {"eps": 0.5}, **BACKWARD, T="f32"),
    Case("M=3 N=7 P=2", **BACKWARD, T="f16"),
    Case("M=37 N=4096 P=8", **BACKWARD, T="bf16"),
    Case("M=5 N=1021 P=7", **BACKWARD, T="f32"),
    Case("M=131 N=64 P=13", {"eps": 0.25}, **BACKWARD, T="f16", BLOCK=64),
    Case("M=64 N=257 P=64", **BACKWARD, T="bf16", BLOCK=300),
    Case("P=1 N=1", kernel="layer_norm_weight", T="f32"),
    Case("P=264 N=1021", kernel="layer_norm_weight", T="f16"),
    Case("P=33 N=64", kernel="layer_norm_weight", T="bf16", BP=10, BN=100),
]


def arguments(case):
    parts = (case.P, case.N)
    if case.kernel == "layer_norm_weight":
        output = Output(case.T, (case.N,), rtol=1e-5, atol=1e-5)
        return {
            "dw_part": Input("f32", parts),
            "db_part": Input("f32", parts),
            "dw": output,
            "db": output,
        }
    part = Output("f32", parts, rtol=2e-5, atol=2e-5, partial=True)  # nothing else gives P a value
    return {
        "x": Input(case.T, (case.M, case.N)),
        "w": Input(case.T, (case.N,)),
        "dy": Input(case.T, (case.M, case.N)),
        "dx": Output(case.T, (case.M, case.N), rtol=2e-5, atol=2e-5),
        "dw_part": part,
        "db_part": part,
        "eps": Scalar("f32"),
    }


def reference(case, dw_part=None, db_part=None, x=None, w=None, dy=None, eps=1e-5):
    if case.kernel == "layer_norm_weight":
        return {"dw": dw_part.sum(axis=0), "db": db_part.sum(axis=0)}
    d = x - x.mean(axis=1, keepdims=True)
    r = 1.0 / numpy.sqrt((d * d).mean(axis=1, keepdims=True) + eps)
    h, g = d * r, dy * w
    deal = lambda rows: numpy.stack([rows[p :: case.P].sum(axis=0) for p in range(case.P)])
    return {
        "dx": r * (g - g.mean(axis=1, keepdims=True) - h * (g * h).mean(axis=1, keepdims=True)),
        "dw_part": deal(dy * h),
        "db_part": deal(dy),
    }
