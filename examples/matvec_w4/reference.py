"""Product of few rows with weights of 4 bits against NumPy in float64; what is rounded is said in ../matmul_w4."""
import math

import numpy
from case import Case, Input, Output, load, store

CASES = [
    Case("M=1 N=8 K=128", T="f16"), Case("M=1 N=1000 K=4096", T="bf16"), Case("M=3 N=136 K=1536", T="f16", BN=16),
    Case("M=2 N=72 K=640", T="bf16", BN=4, BK=256), Case("M=1 N=264 K=192", T="f16", G=64, BK=512),
    Case("M=1 N=37 K=8192", T="f16", BN=2, BK=4096),
]


def arguments(case):
    groups = case.K // int(case.definitions.get("G", 128))
    return {"x": Input(case.T, (case.M, case.K)),
            "w": Input("u4", (case.N, case.K), lambda random, shape: random.integers(0, 16, shape)),
            "scale": Input(case.T, (case.N, groups), lambda random, shape: random.uniform(0.01, 0.1, shape)),
            "zero": Input(case.T, (case.N, groups), lambda random, shape: random.integers(0, 16, shape)),
            "y": Output(case.T, (case.M, case.N), rtol=1e-5, atol=1e-6 * math.sqrt(case.K) + 2.0**-22 * case.K)}


def reference(case, x, w, scale, zero):
    group = int(case.definitions.get("G", 128))
    spread = lambda values: numpy.repeat(values, group, axis=1)
    weights = load(store((w - spread(zero)) * spread(scale), case.T), case.T)
    return {"y": x @ weights.T}
