"""Softmax over edges and aggregation."""

import numpy as np

from case import Case, Input, Output
from data import integers, offsets, softmax

CASES = [
    Case("E=1 V=1 W=1 D=32", T="f32"),
    Case("E=300 V=50 W=40 D=32", T="f16"),
    Case("E=500 V=77 W=9 D=100", T="f32"),
    Case("E=200 V=20 W=13 D=100", T="f16", BE=24),
]
TIMED = [Case("E=1048576 V=65536 W=65536 D=32", T="f16")]


def arguments(case):
    return {
        "score": Input("f32", (case.E,)),
        "source": Input("i32", (case.E,), integers(0, case.V)),
        "x": Input(case.T, (case.V, case.D)),
        "starts": Input("i32", (case.W + 1,), offsets(case.E)),
        "y": Output("f32", (case.W, case.D), rtol=1e-4, atol=1e-5),
    }


def reference(case, score, source, x, starts):
    y = np.zeros((case.W, case.D))
    for v, (lo, hi) in enumerate(zip(starts, starts[1:])):
        if hi > lo:
            y[v] = softmax(score[lo:hi]) @ x[source[lo:hi]]
    return {"y": y}
