"""Integer product against NumPy: equal to the last bit, also where sums leave 32 bits."""

import numpy

from case import Case, Input, Output

CASES = [
    Case("M=1 N=8 K=16", T="i8"),
    Case("M=128 N=128 K=128", T="i8"),
    Case("M=127 N=264 K=144", T="u8"),
    Case("M=257 N=136 K=528", T="i8"),
    Case("M=2 N=8 K=65536", T="u8"),
    Case("M=65536 N=8 K=16", T="i8"),
    Case("M=100 N=64 K=96", T="u8", BM=64, BN=64, BK=32),
    Case("M=131 N=248 K=256", T="i8", BM=64, BN=256, BK=64),
]


def operand(dtype, shape):
    low, high = (-128, 128) if dtype == "i8" else (0, 256)
    return Input(dtype, shape, lambda random, shape: random.integers(low, high, shape))


def arguments(case):
    return {
        "a": operand(case.T, (case.M, case.K)),
        "b": operand(case.T, (case.N, case.K)),
        "c": Output("i32", (case.M, case.N), rtol=None, atol=0),
    }


def reference(case, a, b):
    return {"c": (a.astype(numpy.int64) @ b.astype(numpy.int64).T).astype(numpy.int32)}
