"""Running sums against NumPy; integers wrap, floats are multiples of 1/8, whose sums are exact."""

import numpy
from case import Case, Input, Output

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
        "known": exact(Output, "i64", (2, programs)),
        "ticket": exact(Output, "i32", (1,)),
    }


def reference(case, x):
    size = int(case.definitions.get("B", 8192))
    starts = numpy.arange(0, case.N, size)
    y = numpy.cumsum(x, dtype=x.dtype)
    whole = y.astype({"i": "int", "f": "float"}[case.T[0]] + case.T[1:])
    upto = whole[numpy.minimum(starts + size, case.N) - 1]
    # Running sums in words of 32 bits, each with state 2.
    known = numpy.zeros((2, len(starts)), numpy.int64)
    if upto.itemsize == 4:
        known[0] = upto.view(numpy.int32).astype(numpy.int64) << 2 | 2
    else:
        known[0] = upto.view(numpy.int64) << 2 | 2
        known[1] = upto.view(numpy.int64) >> 32 << 2 | 2
    return {"y": y, "known": known, "ticket": numpy.array([len(starts)])}
