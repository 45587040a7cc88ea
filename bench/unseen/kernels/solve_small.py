"""Small systems of equations."""

import numpy as np

from case import Case, Input, Output

CASES = [
    Case("B=1 N=3", T="f64"),
    Case("B=33 N=8", T="f32"),
    Case("B=40 N=16", T="f32"),
    Case("B=50 N=8", T="f64", BB=12),
]
TIMED = [Case("B=65536 N=8", T="f32")]


def arguments(case):
    tolerance = {"rtol": 1e-10, "atol": 1e-12} if case.T == "f64" else {"rtol": 1e-4, "atol": 1e-5}
    matrix = lambda random, shape: random.standard_normal(shape) + 3 * case.N * np.eye(case.N)
    return {
        "a": Input(case.T, (case.B, case.N, case.N), matrix),
        "c": Input(case.T, (case.B, case.N)),
        "x": Output(case.T, (case.B, case.N), **tolerance),
    }


def reference(case, a, c):
    return {"x": np.linalg.solve(a, c[:, :, None])[:, :, 0]}
