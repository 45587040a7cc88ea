"""Grouped matrix product against NumPy in float64, with uneven and empty experts and rows that no
expert has.

Sums are in f32. Tensor cores truncate each addition, so the error grows with K times the size of
the partial sums' last place, which are about the root of K.
"""

import math

import numpy
from case import Case, Input, Output

CASES = [
    Case("M=1 N=8 K=8 E=1", T="f16"),
    Case("M=300 N=136 K=72 E=4", T="f16"),
    Case("M=777 N=264 K=200 E=9", T="bf16"),
    Case("M=256 N=128 K=64 E=2", T="f16"),
    Case("M=130 N=72 K=40 E=256", T="f16"),
    Case("M=64 N=8 K=8 E=64", T="bf16"),
    Case("M=500 N=120 K=96 E=7", T="f16", BM=64, BN=64, BK=32),
    Case("M=200 N=48 K=64 E=5", T="bf16", BM=32, BN=32, BK=16),
    Case("M=333 N=64 K=128 E=3", T="f16", BM=64, BN=64, BK=32, EMAX=100),
]


def arguments(case):
    def offsets(random, shape):
        """Bounds of the experts' rows, some of them empty; from the third expert on, rows at either
        end belong to none.
        """
        spare = case.M // 10 if case.E > 2 else 0
        inner = random.integers(spare, case.M - spare + 1, case.E - 1)
        inner[1::3] = inner[0::3][: len(inner[1::3])]
        return numpy.concatenate([[spare], numpy.sort(inner), [case.M - spare]])

    return {
        "a": Input(case.T, (case.M, case.K)),
        "b": Input(case.T, (case.E, case.K, case.N)),
        "offset": Input("i32", (case.E + 1,), offsets),
        "c": Output(
            case.T,
            (case.M, case.N),
            rtol=1e-5,
            atol=1e-6 * math.sqrt(case.K) + 2.0**-22 * case.K,
            partial=True,
        ),
    }


def reference(case, a, b, offset):
    c = numpy.full((case.M, case.N), numpy.nan)
    for e in range(case.E):
        rows = slice(offset[e], offset[e + 1])
        c[rows] = a[rows] @ b[e]
    return {"c": c}
