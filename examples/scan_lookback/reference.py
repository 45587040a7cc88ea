"""Running sums against NumPy; integers wrap, floats are multiples of 1/8, whose sums are exact."""

import numpy
from case import Case, InOut, Input, Output

CASES = [
    Case("N=1", T="i32"),
    Case("N=8192", T="f32"),
    Case("N=8193", T="i64"),
    Case("N=1000003", T="i32"),
    Case("N=70001", T="f32", B=64),
    Case("N=10007", T="f64", B=16, W=8),
    Case("N=9973", T="i32", B=32, W=1),
]


def arguments(case):
    programs = -(-case.N // int(case.definitions.get("B", 8192)))

    def exact(kind, *arguments):
        return kind(*arguments, rtol=None, atol=0)

    def left(shape):
        value = exact(InOut, case.T, shape)
        value.values = lambda random, shape: numpy.zeros(shape)
        return value

    if case.T[0] == "f":
        # As often up as down: a sum of N numbers from -8 to 8 lies some 5 sqrt(N) from 0. In f32
        # multiples of 1/8 are exact up to 2^21, which a drift of 1/16 reaches at N = 2^25.
        values = Input(
            case.T, (case.N,), lambda random, shape: random.integers(-64, 65, shape) / 8.0
        )
    else:
        big = 2 ** (int(case.T[1:]) - 1)
        values = Input(case.T, (case.N,), lambda random, shape: random.integers(-big, big, shape))
    return {
        "x": values,
        "y": exact(Output, case.T, (case.N,)),
        "part": left((programs,)),
        "upto": left((programs,)),
        "state": exact(Output, "i32", (programs,)),
        "ticket": exact(Output, "i32", (1,)),
    }


def reference(case, x, part, upto):
    size = int(case.definitions.get("B", 8192))
    starts = numpy.arange(0, case.N, size)
    y = numpy.cumsum(x, dtype=x.dtype)
    ends = numpy.minimum(starts + size, case.N) - 1
    return {
        "y": y,
        "part": numpy.add.reduceat(x, starts, dtype=x.dtype),
        "upto": y[ends],
        "state": numpy.full(len(starts), 2),
        "ticket": numpy.array([len(starts)]),
    }
