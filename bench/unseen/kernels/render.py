"""Volume rendering."""

import numpy as np

from case import Case, Input, Output
from data import uniform

CASES = [Case("R=1 S=64"), Case("R=7 S=48"), Case("R=33 S=128"), Case("R=10 S=64", BR=6)]
TIMED = [Case("R=65536 S=128")]


def arguments(case):
    shape = (case.R, case.S)
    return {
        "sigma": Input("f32", shape, uniform(0.0, 3.0)),
        "delta": Input("f32", shape, uniform(0.0, 0.1)),
        "rgb": Input("f32", shape + (3,), uniform(0.0, 1.0)),
        "out_": Output("f32", (case.R, 3), rtol=1e-4, atol=1e-5),
    }


def reference(case, sigma, delta, rgb):
    alpha = 1.0 - np.exp(-sigma * delta)
    left = np.cumprod(1.0 - alpha, axis=1)
    before = np.concatenate([np.ones((case.R, 1)), left[:, :-1]], axis=1)
    return {"out_": (rgb * (alpha * before)[:, :, None]).sum(axis=1)}
