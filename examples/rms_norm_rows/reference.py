"""RMS norm against NumPy in float64."""
import numpy
from case import Case, Input, Output, Scalar

CASES = [
    Case("M=1 N=8", T="f32"), Case("M=5 N=4096", T="f16"), Case("M=13 N=1024", {"eps": 0.25}, T="bf16", ROWS=4, BLOCK=1024),
    Case("M=7 N=1000", T="f32", ROWS=2, BLOCK=1024), Case("M=1031 N=40", T="f16", ROWS=8, BLOCK=64),
]


def arguments(case):
    return {"x": Input(case.T, (case.M, case.N)), "w": Input(case.T, (case.N,)),
            "y": Output(case.T, (case.M, case.N), rtol=2e-5), "eps": Scalar("f32")}


def reference(case, x, w, eps=1e-5):
    return {"y": x / numpy.sqrt((x * x).mean(axis=1, keepdims=True) + eps) * w}
