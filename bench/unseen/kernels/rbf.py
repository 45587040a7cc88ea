"""Kernel regression."""

import numpy as np

from case import Case, Input, Output, ROUNDING, Scalar

CASES = [
    Case("N=1 M=1 D=16 R=16", T="f16"),
    Case("N=97 M=130 D=64 R=32", T="bf16"),
    Case("N=200 M=77 D=16 R=32", T="f16"),
    Case("N=50 M=100 D=16 R=16", T="f16", BM=48, BN=96),
]
TIMED = [Case("N=16384 M=16384 D=64 R=32", T="f16")]


def arguments(case):
    return {
        "x": Input(case.T, (case.N, case.D)),
        "z": Input(case.T, (case.M, case.D)),
        "a": Input(case.T, (case.M, case.R)),
        "y": Output("f32", (case.N, case.R), rtol=1e-3, atol=4 * case.M**0.5 * ROUNDING[case.T]),
        "gamma": Scalar("f32", 0.5 / case.D),
    }


def reference(case, x, z, a, gamma):
    far = ((x[:, None] - z) ** 2).sum(axis=2)
    return {"y": np.exp(-gamma * far) @ a}
