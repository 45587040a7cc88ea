"""Matrix product with its epilogue against NumPy in float64.

Sums are in f32. Tensor cores truncate each addition, so the error grows with K times the size of
the partial sums' last place, which are about the root of K.
"""

import math

import numpy
from case import Case, Input, Output

CASES = [
    Case("M=1 N=8 K=8", T="f16"),
    Case("M=128 N=256 K=64", T="f16"),
    Case("M=127 N=264 K=72", T="bf16"),
    Case("M=257 N=136 K=520", T="f16"),
    Case("M=1000 N=776 K=512", T="f16"),
    Case("M=3 N=1000 K=2056", T="bf16"),
    Case("M=65536 N=8 K=8", T="f16"),
    Case("M=1 N=65536 K=8", T="f16"),
    Case("M=2 N=8 K=65536", T="f16"),
    Case("M=97 N=104 K=168", T="f16", BM=64, BN=64, BK=32),
    Case("M=200 N=120 K=96", T="bf16", BM=128, BN=64, BK=64),
    Case("M=131 N=248 K=88", T="f16", BIAS="true"),
    Case("M=77 N=128 K=40", T="f16", ACT="relu"),
    Case("M=130 N=272 K=136", T="bf16", BIAS="true", ACT="gelu"),
    Case("M=65 N=72 K=64", T="f16", BIAS="true", ACT="silu"),
    Case("M=50 N=56 K=48", T="f16", BM=32, BN=32, BK=16),
    Case("M=130 N=264 K=1000", T="f16", SPLIT=4),
    Case("M=5 N=136 K=72", T="bf16", BM=16, BN=64, SPLIT=8, BIAS="true", ACT="relu"),
    # Computed transposed, for less padding; by three warpgroups.
    Case("M=211 N=264 K=136", T="f16", BM=104, BN=128),
    Case("M=190 N=208 K=72", T="bf16", BM=176, BN=192, BIAS="true", ACT="relu"),
    Case("M=200 N=392 K=200", T="f16", BM=192, BN=192),
]

ACTIVATIONS = {
    "identity": lambda x: x,
    "relu": lambda x: numpy.maximum(x, 0.0),
    "gelu": lambda x: 0.5 * x * (1.0 + numpy.vectorize(math.erf)(x / math.sqrt(2.0))),
    "silu": lambda x: x / (1.0 + numpy.exp(-x)),
}


def arguments(case):
    result = {"a": Input(case.T, (case.M, case.K)), "b": Input(case.T, (case.K, case.N))}
    if case.definitions.get("BIAS") == "true":
        result["bias"] = Input("f32", (case.N,))
    result["c"] = Output(
        case.T, (case.M, case.N), rtol=1e-5, atol=1e-6 * math.sqrt(case.K) + 2.0**-22 * case.K
    )
    return result


def reference(case, a, b, bias=0.0):
    return {"c": ACTIVATIONS[case.definitions.get("ACT", "identity")](a @ b + bias)}
