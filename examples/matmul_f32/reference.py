"""f32 matrix product against NumPy in float64. Nothing in it may be rounded to less than f32.

Each of K additions is off by up to 2^-24 of a partial sum of about the root of K, in random
directions: together about K * 2^-24. The tolerance is six times that; a product in tf32 would be
off by a hundred times more.
"""

from case import Case, Input, Output

CASES = [
    Case("M=1 N=1 K=1"),
    Case("M=128 N=128 K=64"),
    Case("M=7 N=13 K=5"),
    Case("M=131 N=257 K=67"),
    Case("M=512 N=384 K=256"),
    Case("M=1 N=1009 K=503"),
    Case("M=3 N=2 K=65536"),
    Case("M=65536 N=1 K=1"),
    Case("M=100 N=90 K=110", BM=32, BN=64, BK=16),
    Case("M=300 N=200 K=100", BM=64, BN=64, BK=32),
]


def arguments(case):
    return {
        "a": Input("f32", (case.M, case.K)),
        "b": Input("f32", (case.K, case.N)),
        "c": Output("f32", (case.M, case.N), rtol=1e-6, atol=1e-6 + 6 * 2.0**-24 * case.K),
    }


def reference(case, a, b):
    return {"c": a @ b}
