"""Product with weights of 4 bits against NumPy in float64.

Differences from the zero point are exact: both are integers below 16. Their products with the scale
are rounded to T, as the kernel does. Sums are in f32 as in matmul.
"""

import math

import numpy
from case import Case, Input, Output, load, store

CASES = [
    Case("M=1 N=8 K=128", T="f16"),
    Case("M=16 N=128 K=256", T="bf16"),
    Case("M=64 N=136 K=512", T="f16"),
    Case("M=100 N=264 K=384", T="bf16"),
    Case("M=3 N=1000 K=4096", T="f16"),
    Case("M=17 N=72 K=192", T="f16", G=64),
    Case("M=130 N=200 K=256", T="bf16", BM=128, BN=64),
    Case("M=5 N=64 K=96", T="f16", G=32, BM=16, BN=64, BK=32),
    Case("M=16 N=1000 K=2048", T="f16", BM=16, BN=32, BK=128),
    Case("M=16 N=136 K=1536", T="f16", SPLIT=4),
    Case("M=3 N=72 K=640", T="bf16", BM=16, BN=64, SPLIT=8),
    Case("M=150 N=304 K=384", T="bf16", BM=128, BN=256, BK=128),
    Case("M=264 N=136 K=512", T="f16", BM=256, BN=128, BK=128),
]


def arguments(case):
    groups = case.K // int(case.definitions.get("G", 128))
    return {
        "x": Input(case.T, (case.M, case.K)),
        "w": Input("u4", (case.N, case.K), lambda random, shape: random.integers(0, 16, shape)),
        "scale": Input(
            case.T, (case.N, groups), lambda random, shape: random.uniform(0.01, 0.1, shape)
        ),
        "zero": Input(
            case.T, (case.N, groups), lambda random, shape: random.integers(0, 16, shape)
        ),
        "y": Output(
            case.T, (case.M, case.N), rtol=1e-5, atol=1e-6 * math.sqrt(case.K) + 2.0**-22 * case.K
        ),
    }


def reference(case, x, w, scale, zero):
    group = int(case.definitions.get("G", 128))
    spread = lambda values: numpy.repeat(values, group, axis=1)
    weights = load(store((w - spread(zero)) * spread(scale), case.T), case.T)
    return {"y": x @ weights.T}
