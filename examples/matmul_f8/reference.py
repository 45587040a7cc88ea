"""Product of 8-bit floats against NumPy in float64.

Products are exact in f32. With FULL precision each of K additions is off by up to 2^-24 of a partial sum of about the root
of K. Tensor cores may keep as few as 13 bits behind the point of the largest of the terms that they add at once: K * 2^-13
of what partial sums of about the root of K contain, divided by the 32 terms of an instruction, in one direction."""
import math

from case import Case, Input, Output

CASES = [
    Case("M=1 N=8 K=16", A="f8e4m3"), Case("M=128 N=128 K=128", A="f8e4m3"), Case("M=127 N=264 K=144", A="f8e5m2"),
    Case("M=257 N=136 K=528", A="f8e4m3", T="f16"), Case("M=96 N=104 K=400", A="f8e4m3", B="f8e5m2", T="f32"),
    Case("M=2 N=8 K=65536", A="f8e5m2", B="f8e5m2", T="f32"), Case("M=70 N=72 K=80", A="f8e4m3", T="f32", PRECISION="full"),
    Case("M=200 N=120 K=1040", A="f8e5m2", T="f32", PRECISION="full"), Case("M=65536 N=8 K=16", A="f8e4m3"),
    Case("M=100 N=64 K=96", A="f8e4m3", BM=64, BN=64, BK=32), Case("M=131 N=248 K=256", A="f8e4m3", BM=64, BN=256, BK=64),
    Case("M=33 N=40 K=48", {"sa": 0.125, "sb": 3.5}, A="f8e4m3", T="f32"),
]


def arguments(case):
    values = case.definitions
    step = 2.0**-24 if values.get("PRECISION") == "full" else 2.0**-18
    scale = case.scalars.get("sa", 1.0) * case.scalars.get("sb", 1.0)
    return {"a": Input(case.A, (case.M, case.K)), "b": Input(values.get("B", "f8e4m3"), (case.N, case.K)),
            "c": Output(values.get("T", "bf16"), (case.M, case.N), rtol=1e-5, atol=scale * (1e-6 * math.sqrt(case.K) + 8 * step * case.K))}


def reference(case, a, b, sa=1.0, sb=1.0):
    return {"c": sa * sb * (a @ b.T)}
