"""RMS norm of a sum and its gradients against NumPy in float64."""

import numpy
from case import Case, InOut, Input, Output, Scalar

CASES = [
    Case("M=1 N=1", kernel="rms_norm_residual", T="f32"),
    Case("M=7 N=131", kernel="rms_norm_residual", T="f16"),
    Case("M=3 N=4096", kernel="rms_norm_residual", T="bf16"),
    Case("M=5 N=300", {"eps": 0.1}, kernel="rms_norm_residual", T="f32", BLOCK=320),
    Case("M=1 N=1 P=1", kernel="rms_norm_residual_backward", T="f32"),
    Case("M=37 N=131 P=8", kernel="rms_norm_residual_backward", T="f16"),
    Case("M=3 N=1000 P=5", kernel="rms_norm_residual_backward", T="bf16"),
    Case("M=64 N=96 P=64", kernel="rms_norm_residual_backward", T="f32", BLOCK=96),
]


def arguments(case):
    shape, eps = (case.M, case.N), Scalar("f32", 1e-5)
    if case.kernel == "rms_norm_residual":
        return {
            "x": Input(case.T, shape),
            "residual": Input(case.T, shape),
            "w": Input(case.T, (case.N,)),
            "h": Output(case.T, shape),
            "y": Output(case.T, shape, rtol=1e-4),
            "eps": eps,
        }
    return {
        "h": Input(case.T, shape),
        "w": Input(case.T, (case.N,)),
        "dy": Input(case.T, shape),
        "dh": Input(case.T, shape),
        "dx": Output(case.T, shape, rtol=1e-4, atol=1e-5),
        "dw": Output(case.T, (case.N,), rtol=1e-4, atol=1e-4),
        "part": InOut("f32", (case.P, case.N)),
        "ticket": Output("i32", (1,), rtol=None, atol=0),
        "eps": eps,
    }


def reference(case, w, eps, x=None, residual=None, h=None, dy=None, dh=None, part=None):
    if x is not None:
        h = x + residual
        return {"h": h, "y": h / numpy.sqrt((h * h).mean(axis=1, keepdims=True) + eps) * w}
    r = 1.0 / numpy.sqrt((h * h).mean(axis=1, keepdims=True) + eps)
    g = dy * w
    return {
        "dx": r * (g - h * r * r * (g * h).mean(axis=1, keepdims=True)) + dh,
        "dw": (dy * h * r).sum(axis=0),
        "ticket": numpy.array([case.P]),
    }
