"""Top-k routing."""

import numpy as np

from case import Case, Input, Output
from data import softmax

CASES = [
    Case("M=1 E=8 K=2", T="f32"),
    Case("M=37 E=60 K=4", T="f16"),
    Case("M=130 E=128 K=6", T="f32"),
    Case("M=50 E=60 K=6", T="f32", BM=12),
]
TIMED = [Case("M=8192 E=128 K=4", T="f32")]


def arguments(case):
    return {
        "logits": Input(case.T, (case.M, case.E)),
        "ids": Output("i32", (case.M, case.K), rtol=None, atol=0),
        "weights": Output("f32", (case.M, case.K)),
        "counts": Output("i32", (case.E,), rtol=None, atol=0),
    }


def reference(case, logits):
    ids = np.argsort(-logits, axis=1, kind="stable")[:, : case.K]
    return {
        "ids": ids,
        "weights": softmax(np.take_along_axis(logits, ids, axis=1)),
        "counts": np.bincount(ids.ravel(), minlength=case.E),
    }
