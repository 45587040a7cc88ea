"""Attention with odd head sizes."""

from case import Case, Input, Output, ROUNDING, Scalar
from data import softmax

CASES = [
    Case("H=1 S=1 L=1 D=80", T="f16"),
    Case("H=2 S=97 L=130 D=80", T="bf16"),
    Case("H=1 S=64 L=97 D=96", T="f16"),
    Case("H=1 S=70 L=200 D=112", T="bf16"),
    Case("H=1 S=65 L=96 D=176", T="f16"),
    Case("H=1 S=100 L=77 D=96", T="f16", BM=96, BN=48),
]
TIMED = [Case("H=64 S=2048 L=2048 D=96", T="f16"), Case("H=64 S=2048 L=2048 D=80", T="f16")]


def arguments(case):
    shape = (case.H, case.L, case.D)
    return {
        "q": Input(case.T, (case.H, case.S, case.D)),
        "k": Input(case.T, shape),
        "v": Input(case.T, shape),
        "o": Output(case.T, (case.H, case.S, case.D), rtol=1e-3, atol=4 * ROUNDING[case.T]),
        "scale": Scalar("f32", case.D**-0.5),
    }


def reference(case, q, k, v, scale):
    return {"o": softmax(q @ k.transpose(0, 2, 1) * scale) @ v}
