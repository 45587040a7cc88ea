"""silu(group norm)."""

from case import Case, Input, Output, Scalar
from data import silu

CASES = [
    Case("B=1 L=1 G=1 C=10", T="f32"),
    Case("B=2 L=131 G=3 C=16", T="f16"),
    Case("B=1 L=300 G=2 C=32", T="bf16"),
    Case("B=2 L=77 G=5 C=10", T="f16", BL=48),
]
TIMED = [Case("B=8 L=4096 G=32 C=10", T="f16"), Case("B=8 L=4096 G=32 C=16", T="f16")]


def arguments(case):
    shape = (case.B, case.L, case.G, case.C)
    return {
        "x": Input(case.T, shape),
        "weight": Input("f32", shape[2:]),
        "bias": Input("f32", shape[2:]),
        "y": Output(case.T, shape, rtol=1e-4, atol=1e-4),
        "eps": Scalar("f32", 1e-5),
    }


def reference(case, x, weight, bias, eps):
    d = x - x.mean(axis=(1, 3), keepdims=True)
    return {"y": silu(d / ((d * d).mean(axis=(1, 3), keepdims=True) + eps) ** 0.5 * weight + bias)}
