"""Matrix product with a transposed operand against NumPy in float64. For the tolerance see
matmul/reference.py.
"""

import math

from case import Case, Input, Output

CASES = [
    Case("M=1 N=8 K=8", T="f16"),
    Case("M=128 N=256 K=64", T="f16"),
    Case("M=127 N=264 K=72", T="bf16"),
    Case("M=257 N=136 K=520", T="f16"),
    Case("M=3 N=1000 K=2056", T="bf16"),
    Case("M=2 N=8 K=65536", T="f16"),
    Case("M=97 N=104 K=168", T="f16", BM=64, BN=64, BK=32),
    Case("M=200 N=120 K=96", T="bf16", BM=128, BN=64, BK=64),
]


def arguments(case):
    return {
        "a": Input(case.T, (case.M, case.K)),
        "b": Input(case.T, (case.N, case.K)),
        "c": Output(
            case.T, (case.M, case.N), rtol=1e-5, atol=1e-6 * math.sqrt(case.K) + 2.0**-22 * case.K
        ),
    }


def reference(case, a, b):
    return {"c": a @ b.T}
