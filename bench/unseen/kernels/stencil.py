"""One step of the heat equation."""

import numpy as np

from case import Case, Input, Output, Scalar

CASES = [
    Case("Z=1 Y=1 X=1"),
    Case("Z=3 Y=5 X=131"),
    Case("Z=4 Y=9 X=64"),
    Case("Z=2 Y=7 X=100", BY=3, BX=48),
]
TIMED = [Case("Z=256 Y=256 X=256")]


def arguments(case):
    shape = (case.Z, case.Y, case.X)
    return {"u": Input("f32", shape), "v": Output("f32", shape), "rate": Scalar("f32", 0.1)}


def reference(case, u, rate):
    p = np.pad(u, 1)
    around = (
        p[:-2, 1:-1, 1:-1]
        + p[2:, 1:-1, 1:-1]
        + p[1:-1, :-2, 1:-1]
        + p[1:-1, 2:, 1:-1]
        + p[1:-1, 1:-1, :-2]
        + p[1:-1, 1:-1, 2:]
    )
    return {"v": u + rate * (around - 6 * u)}
