"""Top-p sampling."""

import numpy as np

from case import Case, Input, Output, Scalar
from data import softmax, uniform

CASES = [
    Case("B=1 V=1", T="f32"),
    Case("B=9 V=77", T="f32"),
    Case("B=5 V=1000", {"p": 0.5}, T="f32"),
    Case("B=6 V=200", {"p": 1.0}, T="f16", BLOCK=256),
]
TIMED = [Case("B=256 V=1024", T="f32")]


def arguments(case):
    return {
        "logits": Input(
            case.T,
            (case.B, case.V),
            lambda random, shape: (
                np.stack([random.permutation(shape[1]) for _ in range(shape[0])]) * 8.0 / shape[1]
            ),
        ),
        "u": Input("f32", (case.B,), uniform(0.0, 1.0)),
        "token": Output("i32", (case.B,), rtol=None, atol=0),
        "kept": Output("i32", (case.B,), rtol=None, atol=0),
        "p": Scalar("f32", 0.9),
    }


def reference(case, logits, u, p):
    ids = np.argsort(-logits, axis=1, kind="stable")
    q = np.take_along_axis(softmax(logits), ids, axis=1)
    stays = np.cumsum(q, axis=1) - q < p
    total = np.cumsum(np.where(stays, q, 0), axis=1)
    chosen = (stays & (total <= (u * total[:, -1])[:, None])).sum(axis=1)
    return {
        "token": np.take_along_axis(
            ids, np.minimum(chosen, stays.sum(axis=1) - 1)[:, None], axis=1
        )[:, 0],
        "kept": stays.sum(axis=1),
    }
