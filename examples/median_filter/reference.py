"""Medians of 3x3 neighbourhoods against NumPy, zeros around."""

import numpy
from case import Case, Input, Output

CASES = [
    Case("H=1 W=1", T="f32"),
    Case("H=3 W=5", T="u8"),
    Case("H=8 W=32", T="i32"),
    Case("H=97 W=61", T="f32"),
    Case("H=33 W=100", T="u8", BH=5, BW=12),
    Case("H=64 W=1", T="i32"),
    Case("H=1 W=129", T="u8"),
]


def arguments(case):
    values = None if case.T == "f32" else lambda random, shape: random.integers(0, 256, shape)
    return {
        "x": Input(case.T, (case.H, case.W), values),
        "y": Output(case.T, (case.H, case.W), rtol=None, atol=0),
    }


def reference(case, x):
    wide = numpy.pad(x, 1)
    return {
        "y": (
            numpy.median(
                [wide[i : i + case.H, j : j + case.W] for i in range(3) for j in range(3)], axis=0
            ).astype(x.dtype)
        )
    }
