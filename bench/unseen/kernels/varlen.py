"""Attention over packed sequences."""

import numpy as np

from case import Case, Input, Output, ROUNDING, Scalar
from data import offsets, softmax

CASES = [
    Case("N=1 B=1 H=1 D=64", {"longest": 1}, T="f16"),
    Case("N=300 B=4 H=2 D=64", {"longest": 300}, T="bf16"),
    Case("N=333 B=7 H=1 D=128", {"longest": 333}, T="f16"),
    Case("N=150 B=3 H=2 D=64", {"longest": 150}, T="f16", BM=32, BN=96),
]
TIMED = [Case("N=8192 B=8 H=16 D=64", {"longest": 8192}, T="f16")]


def arguments(case):
    shape = (case.N, case.H, case.D)
    return {
        "q": Input(case.T, shape),
        "k": Input(case.T, shape),
        "v": Input(case.T, shape),
        "starts": Input("i32", (case.B + 1,), offsets(case.N)),
        "o": Output(case.T, shape, rtol=1e-3, atol=4 * ROUNDING[case.T]),
        "longest": Scalar("i32"),
        "scale": Scalar("f32", case.D**-0.5),
    }


def reference(case, q, k, v, starts, longest, scale):
    o = np.zeros(q.shape)
    for lo, hi in zip(starts, starts[1:]):
        a, b, c = (x[lo:hi].transpose(1, 0, 2) for x in (q, k, v))
        s = np.where(np.tri(hi - lo, dtype=bool), a @ b.transpose(0, 2, 1) * scale, -np.inf)
        if hi > lo:
            o[lo:hi] = (softmax(s) @ c).transpose(1, 0, 2)
    return {"o": o}
