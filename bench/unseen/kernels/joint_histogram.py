"""Joint histogram of two images."""

import numpy as np

from case import Case, Input, Output
from data import integers

CASES = [Case("N=1"), Case("N=1025"), Case("N=5000", BLOCK=96), Case("N=4096")]
TIMED = [Case("N=16777216")]


def arguments(case):
    return {
        "a": Input("u8", (case.N,), integers(0, 256)),
        "b": Input("u8", (case.N,), integers(0, 256)),
        "counts": Output("i32", (16, 16), rtol=None, atol=0),
    }


def reference(case, a, b):
    return {
        "counts": (
            np.bincount((a.astype(int) >> 4) * 16 + (b.astype(int) >> 4), minlength=256).reshape(
                16, 16
            )
        )
    }
