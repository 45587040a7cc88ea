"""Product of 8-bit floats against NumPy in float64.

Products are exact in f32. Tensor cores may keep as few as 13 bits behind the leading one of what
they add at once, 32 terms and the accumulator: K / 32 times 2^-13 of partial sums that grow to
about the root of K, always towards zero. With full precision only sums of up to 128 terms, of about
the root of 128, lose that. A single addition loses as much of the largest term or sum in it, which
is below 48 here.
"""

import math

from case import Case, Input, Output

CASES = [
    Case("M=1 N=8 K=16", A="f8e4m3"),
    Case("M=128 N=128 K=128", A="f8e4m3"),
    Case("M=127 N=264 K=144", A="f8e5m2"),
    Case("M=257 N=136 K=528", A="f8e4m3", T="f16"),
    Case("M=96 N=104 K=400", A="f8e4m3", B="f8e5m2", T="f32"),
    Case("M=2 N=8 K=65536", A="f8e5m2", B="f8e5m2", T="f32"),
    Case("M=70 N=72 K=80", A="f8e4m3", T="f32", PRECISION="full"),
    Case("M=200 N=120 K=1040", A="f8e5m2", T="f32", PRECISION="full"),
    Case("M=65536 N=8 K=16", A="f8e4m3"),
    Case("M=100 N=64 K=96", A="f8e4m3", BM=64, BN=64, BK=32),
    Case("M=131 N=248 K=256", A="f8e4m3", BM=64, BN=256, BK=64),
    Case("M=33 N=40 K=48", {"sa": 0.125, "sb": 3.5}, A="f8e4m3", T="f32"),
]


def arguments(case):
    values = case.definitions
    longest = min(case.K, 128) if values.get("PRECISION") == "full" else case.K
    scale = case.scalars.get("sa", 1.0) * case.scalars.get("sb", 1.0)
    return {
        "a": Input(case.A, (case.M, case.K)),
        "b": Input(values.get("B", "f8e4m3"), (case.N, case.K)),
        "c": Output(
            values.get("T", "bf16"),
            (case.M, case.N),
            rtol=1e-5,
            atol=scale * (2.0**-17 * case.K * math.sqrt(longest) + 48 * 2.0**-13),
        ),
    }


def reference(case, a, b, sa=1.0, sb=1.0):
    return {"c": sa * sb * (a @ b.T)}
