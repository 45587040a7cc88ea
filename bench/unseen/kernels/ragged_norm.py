"""Instance norm of ragged parts."""

import numpy as np

from case import Case, Input, Output, ROUNDING, Scalar
from data import offsets

CASES = [
    Case("N=1 P=1 D=1", T="f32"),
    Case("N=500 P=5 D=65", T="f16"),
    Case("N=333 P=9 D=130", T="bf16"),
    Case("N=200 P=3 D=96", T="f16", BN=48, BD=48),
]
TIMED = [Case("N=65536 P=256 D=256", T="f16")]


def arguments(case):
    return {
        "x": Input(case.T, (case.N, case.D)),
        "starts": Input("i32", (case.P + 1,), offsets(case.N)),
        "weight": Input("f32", (case.D,)),
        "y": Output(
            case.T, (case.N, case.D), rtol=1e-4, atol=1e-4 + ROUNDING[case.T] * (case.T == "bf16")
        ),
        "eps": Scalar("f32", 1e-5),
    }


def reference(case, x, starts, weight, eps):
    y = np.zeros(x.shape)
    for lo, hi in zip(starts, starts[1:]):
        if hi > lo:
            y[lo:hi] = (
                (x[lo:hi] - x[lo:hi].mean(axis=0)) / np.sqrt(x[lo:hi].var(axis=0) + eps) * weight
            )
    return {"y": y}
