"""Counts against NumPy; some values lie in no bin."""

import numpy
from case import Case, Input, Output

CASES = [
    Case("M=1 N=0", T="i32"),
    Case("M=1 N=1", T="u8"),
    Case("M=3 N=5", T="i32"),
    Case("M=7 N=2048", T="i64"),
    Case("M=2 N=100003", T="u8"),
    Case("M=5 N=4099", T="i32", BINS=100, BLOCK=1000),
    Case("M=3 N=999", T="i64", BINS=1),
    Case("M=33 N=70", T="u8", FLOOR=17, BLOCK=64),
]


def arguments(case):
    bins = int(case.definitions.get("BINS", 256))

    def values(random, shape):
        x = random.integers(0, 256 if case.T == "u8" else bins + 3, shape)
        if case.T == "u8":
            return x
        x = numpy.where(random.random(shape) < 0.05, -1 - x, x)
        return numpy.where(
            random.random(shape) < 0.05, x + (2**30 if case.T == "i32" else 2**32), x
        )

    return {
        "x": Input(case.T, (case.M, case.N), values),
        "counts": Output("i32", (case.M, bins), rtol=None, atol=0),
    }


def reference(case, x):
    bins, low = int(case.definitions.get("BINS", 256)), int(case.definitions.get("FLOOR", 0))
    counted = [row[(row >= low) & (row < bins)].astype(numpy.int64) for row in x]
    return {"counts": numpy.stack([numpy.bincount(row, minlength=bins) for row in counted])}
