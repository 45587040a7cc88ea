"""Layer norm against NumPy in float64, with the statistics that it returns."""

import numpy
from case import Case, Input, Output, Scalar

CASES = [
    Case("M=1 N=1", T="f32"),
    Case("M=3 N=7", T="f16"),
    Case("M=4 N=4096", T="bf16"),
    Case("M=2 N=4097", T="f32"),
    Case("M=17 N=1021", {"eps": 0.5}, T="f32"),
    Case("M=3 N=9001", T="f16", BLOCK=1024),
    Case("M=1031 N=64", T="f32"),
    Case("M=6 N=313", T="bf16", BLOCK=96),
]


def arguments(case):
    data = lambda random, shape: (
        random.standard_normal(shape) * 2.0 + 1.5
    )  # a mean that must be taken away
    rows = (case.M,)
    return {
        "x": Input(case.T, (case.M, case.N), data),
        "w": Input(case.T, (case.N,)),
        "b": Input(case.T, (case.N,)),
        "y": Output(case.T, (case.M, case.N), rtol=2e-5, atol=1e-5),
        "mean": Output("f32", rows, atol=2e-6),
        "rstd": Output("f32", rows, rtol=2e-5),
        "eps": Scalar("f32"),
    }


def reference(case, x, w, b, eps=1e-5):
    mean = x.mean(axis=1)
    rstd = 1.0 / numpy.sqrt(((x - mean[:, None]) ** 2).mean(axis=1) + eps)
    return {"y": (x - mean[:, None]) * rstd[:, None] * w + b, "mean": mean, "rstd": rstd}
