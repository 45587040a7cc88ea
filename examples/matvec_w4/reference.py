"""Product of few rows with weights of 4 bits: what matmul_w4 computes, but that no weight is
rounded to T.
"""

import numpy
from case import Case, module

CASES = [
    Case("M=1 N=8 K=128", T="f16"),
    Case("M=1 N=1000 K=4096", T="bf16"),
    Case("M=3 N=136 K=1536", T="f16", BN=16),
    Case("M=2 N=72 K=640", T="bf16", BN=4, BK=256),
    Case("M=1 N=264 K=192", T="f16", G=64, BK=512),
    Case("M=1 N=37 K=8192", T="f16", BN=2, BK=4096),
]

product = module("matmul_w4")
arguments = product.arguments


def reference(case, x, w, scale, zero):
    group = int(case.definitions.get("G", 128))
    spread = lambda values: numpy.repeat(values, group, axis=1)
    return {"y": x @ ((w - spread(zero)) * spread(scale)).T}
