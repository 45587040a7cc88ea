"""Stream compaction."""

import numpy as np

from case import Case, Input, Output, Scalar
from data import integers

CASES = [
    Case("M=1 N=1", T="f32"),
    Case("M=5 N=257", T="f16"),
    Case("M=3 N=1000", {"above": 1.0}, T="i32"),
    Case("M=4 N=300", T="f32", BLOCK=96),
]
TIMED = [Case("M=4096 N=4096", T="f32")]


def arguments(case):
    values = integers(-5, 6) if case.T == "i32" else None
    return {
        "x": Input(case.T, (case.M, case.N), values),
        "y": Output(case.T, (case.M, case.N), rtol=None, atol=0),
        "length": Output("i32", (case.M,), rtol=None, atol=0),
        "above": Scalar("f32", 0.0),
    }


def reference(case, x, above):
    y = np.zeros(x.shape, x.dtype)
    for row, values in zip(y, x):
        good = values[values > above]
        row[: len(good)] = good
    return {"y": y, "length": (x > above).sum(axis=1)}
