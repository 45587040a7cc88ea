"""Batched product against NumPy in float64."""

from case import Case, Input, Output

CASES = [
    Case("B=1 M=1 N=1 K=1", T="f16"),
    Case("B=4 M=32 N=32 K=32", T="f16"),
    Case("B=7 M=33 N=29 K=65", T="bf16"),
    Case("B=13 M=5 N=97 K=128", T="f32"),
    Case("B=65535 M=1 N=2 K=3", T="f16", BM=16, BN=16, BK=16),
    Case("B=5 M=128 N=64 K=80", T="f16", BZ=1, BM=64, BN=64),
    Case("B=3 M=200 N=136 K=72", T="bf16", BZ=1, BM=128, BN=128, BK=64),
    Case("B=6 M=16 N=8 K=200", T="bf16", BZ=8, BM=16, BN=8, BK=64),
    Case("B=10 M=20 N=50 K=30", T="f16", BZ=3, BM=20, BN=24, BK=10),
]


def arguments(case):
    return {
        "a": Input(case.T, (case.B, case.M, case.K)),
        "b": Input(case.T, (case.B, case.K, case.N)),
        "c": Output(case.T, (case.B, case.M, case.N), rtol=1e-5, atol=2e-5),
    }


def reference(case, a, b):
    return {"c": a @ b}
