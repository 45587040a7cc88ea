"""Group norm against NumPy in float64."""

import numpy
from case import Case, Input, Output, Scalar

CASES = [
    Case("B=1 G=1 S=1", T="f32"),
    Case("B=2 G=3 S=49", T="f16"),
    Case("B=1 G=2 S=1024", T="bf16"),
    Case("B=3 G=2 S=1021", T="f32"),
    Case("B=2 G=4 S=300", T="f32", C=8, BLOCK=64),
    Case("B=1 G=5 S=1000", {"eps": 1e-3}, T="f16", C=3, BLOCK=96),
]


def arguments(case):
    channels = case.G * case.definitions.get("C", 4)
    shape = (case.B, channels, case.S)
    return {
        "x": Input(case.T, shape, lambda random, shape: random.standard_normal(shape) + 1.0),
        "w": Input(case.T, (channels,)),
        "b": Input(case.T, (channels,)),
        "y": Output(case.T, shape, rtol=5e-5, atol=2e-5),
        "eps": Scalar("f32"),
    }


def reference(case, x, w, b, eps=1e-5):
    groups = x.reshape(case.B, case.G, -1)
    mean, var = groups.mean(axis=2, keepdims=True), groups.var(axis=2, keepdims=True)
    y = ((groups - mean) / numpy.sqrt(var + eps)).reshape(x.shape)
    return {"y": y * w[:, None] + b[:, None]}
