"""RMS norm against NumPy in float64."""

import numpy
from case import Case, Input, Output, Scalar

CASES = [
    Case("M=1 N=1", T="f32"),
    Case("M=3 N=7", T="f16"),
    Case("M=5 N=4096", T="bf16"),
    Case("M=2 N=4097", T="f32"),
    Case("M=17 N=1021", {"eps": 0.25}, T="f32"),
    Case("M=2 N=12289", T="f16", BLOCK=1024),
    Case("M=1031 N=64", T="f32"),
    Case("M=9 N=257", T="bf16", BLOCK=100),
    Case("M=1 N=1048576", T="f32"),
]


def arguments(case):
    return {
        "x": Input(case.T, (case.M, case.N)),
        "w": Input(case.T, (case.N,)),
        "y": Output(case.T, (case.M, case.N), rtol=2e-5),
        "eps": Scalar("f32"),
    }


def reference(case, x, w, eps=1e-5):
    return {"y": x / numpy.sqrt((x * x).mean(axis=1, keepdims=True) + eps) * w}
