"""Running sums against NumPy; integers wrap."""

import numpy
from case import Case, Input, Output

CASES = [
    Case("M=1 N=1", T="i32"),
    Case("M=3 N=5", T="f32"),
    Case("M=2 N=1024", T="i64"),
    Case("M=7 N=4099", T="i32"),
    Case("M=2 N=100003", T="f32"),
    Case("M=5 N=1000", T="i64", EXCLUSIVE="true"),
    Case("M=3 N=777", T="i32", BLOCK=100, EXCLUSIVE="true"),
    Case("M=1031 N=33", T="f32", BLOCK=32),
]


def arguments(case):
    if case.T == "f32":  # multiples of 1/8, whose sums are exact
        return {
            "x": Input(
                "f32", (case.M, case.N), lambda random, shape: random.integers(-64, 64, shape) / 8.0
            ),
            "y": Output("f32", (case.M, case.N), rtol=None, atol=0.0),
        }
    big = 2**31 if case.T == "i32" else 2**62
    return {
        "x": Input(
            case.T, (case.M, case.N), lambda random, shape: random.integers(-big, big, shape)
        ),
        "y": Output(case.T, (case.M, case.N), rtol=None, atol=0),
    }


def reference(case, x):
    y = numpy.cumsum(x, axis=1, dtype=x.dtype)
    return {"y": y - x if case.definitions.get("EXCLUSIVE") == "true" else y}
