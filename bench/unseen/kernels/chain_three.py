"""Q · Kᵀ · V · W."""

from case import Case, Input, Output, ROUNDING, Scalar
from data import normal

CASES = [
    Case("H=1 S=1 L=1 D=64", T="f16"),
    Case("H=2 S=65 L=97 D=64", T="bf16"),
    Case("H=1 S=64 L=130 D=128", T="f16"),
    Case("H=2 S=33 L=200 D=64", T="f16", BM=32, BN=96),
]
TIMED = [Case("H=32 S=2048 L=2048 D=64", T="f16")]


def arguments(case):
    shape = (case.H, case.L, case.D)
    return {
        "q": Input(case.T, (case.H, case.S, case.D)),
        "k": Input(case.T, shape, normal(case.D**-0.5)),
        "v": Input(case.T, shape),
        "w": Input(case.T, (case.D, case.D), normal(case.D**-0.5)),
        "o": Output(case.T, (case.H, case.S, case.D), rtol=2e-3, atol=8 * ROUNDING[case.T]),
        "scale": Scalar("f32", case.L**-0.5),
    }


def reference(case, q, k, v, w, scale):
    return {"o": (q @ k.transpose(0, 2, 1) * scale) @ v @ w}
