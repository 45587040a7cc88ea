"""Suppression of overlapping boxes."""

import numpy as np

from case import Case, Input, Output, Scalar

CASES = [Case("B=1 N=40"), Case("B=3 N=64"), Case("B=2 N=256"), Case("B=2 N=64", {"limit": 0.1})]
TIMED = [Case("B=512 N=256")]


def boxes(random, shape):
    corner = random.uniform(0, 10, (shape[0], 2, shape[2]))
    return np.concatenate([corner, corner + random.uniform(1, 5, corner.shape)], axis=1)


def arguments(case):
    return {
        "boxes": Input("f32", (case.B, 4, case.N), boxes),
        "keep": Output("bool", (case.B, case.N), rtol=None, atol=0),
        "limit": Scalar("f32", 0.5),
    }


def reference(case, boxes, limit):
    x0, y0, x1, y1 = boxes.transpose(1, 0, 2)
    area = (x1 - x0) * (y1 - y0)
    keep = np.ones((case.B, case.N), bool)
    for i in range(case.N):
        one = slice(i, i + 1)
        shared = np.maximum(
            np.minimum(x1, x1[:, one]) - np.maximum(x0, x0[:, one]), 0
        ) * np.maximum(np.minimum(y1, y1[:, one]) - np.maximum(y0, y0[:, one]), 0)
        keep &= ~(
            keep[:, one]
            & (shared > limit * (area + area[:, one] - shared))
            & (np.arange(case.N) > i)
        )
    return {"keep": keep}
