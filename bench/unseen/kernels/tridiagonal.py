"""Tridiagonal systems."""

import numpy as np

from case import Case, InOut, Input

CASES = [
    Case("N=1 B=1", T="f64"),
    Case("N=17 B=130", T="f32"),
    Case("N=40 B=65", T="f64"),
    Case("N=9 B=100", T="f32", BLOCK=48),
]
TIMED = [Case("N=256 B=65536", T="f32")]


def arguments(case):
    shape = (case.N, case.B)
    wide = lambda random, shape: random.standard_normal(shape) + 10.0
    tolerance = {"rtol": 1e-5, "atol": 1e-6} if case.T == "f32" else {"rtol": 1e-12, "atol": 1e-13}
    return {
        "low": Input(case.T, shape),
        "mid": Input(case.T, shape, wide),
        "up": Input(case.T, shape),
        "r": Input(case.T, shape),
        "x": InOut(case.T, shape, **tolerance),
        "work": InOut(case.T, shape),
    }


def reference(case, low, mid, up, r, x, work):
    m = np.zeros((case.B, case.N, case.N))
    i = np.arange(case.N)
    m[:, i, i] = mid.T
    m[:, i[1:], i[:-1]] = low.T[:, 1:]
    m[:, i[:-1], i[1:]] = up.T[:, :-1]
    return {"x": np.linalg.solve(m, r.T[:, :, None])[:, :, 0].T}
