"""Attention with grouped queries against NumPy in float64."""

import math

import numpy
from case import Case, Input, Output, ROUNDING, Scalar

CASES = [
    Case("B=1 H=1 G=1 S=1 L=1 D=64", T="f16"),
    Case("B=1 H=2 G=1 S=128 L=128 D=64", T="f16"),
    Case("B=2 H=4 G=2 S=131 L=131 D=64", T="bf16"),
    Case("B=1 H=2 G=2 S=37 L=301 D=128", T="f16"),
    Case("B=1 H=1 G=1 S=1 L=1009 D=64", T="f16"),
    Case("B=2 H=3 G=1 S=129 L=257 D=64", T="f16", CAUSAL="false"),
    Case("B=1 H=2 G=1 S=7 L=11 D=128", T="bf16", CAUSAL="false"),
    Case("B=1 H=2 G=2 S=100 L=200 D=64", T="f16", BM=64, BN=64),
    Case("B=1 H=2 G=1 S=500 L=700 D=64", T="f16", BM=192, BN=128, D=64),
    Case("B=1 H=2 G=2 S=576 L=577 D=64", T="bf16", BM=192, BN=64, D=64, CAUSAL="false"),
    Case("B=2 H=2 G=2 S=300 L=77 D=64", T="f16", CAUSAL="false"),
    Case("B=1 H=2 G=1 S=131 L=300 D=96", T="f16"),
    Case("B=1 H=1 G=1 S=129 L=257 D=192", T="bf16", BN=64),
    Case("B=1 H=2 G=2 S=70 L=131 D=256", T="f16", BN=64, CAUSAL="false"),
    # Blocks of keys that are no power of two; heads that are none.
    Case("B=1 H=2 G=1 S=200 L=700 D=128", T="bf16", BN=176, D=128, CAUSAL="false"),
    Case("B=1 H=1 G=1 S=300 L=533 D=128", T="f16", BN=144, D=128),
    Case("B=1 H=2 G=2 S=150 L=400 D=80", T="bf16", BN=160, D=80),
    Case("B=1 H=1 G=1 S=131 L=350 D=192", T="f16", BN=112),
    Case("B=1 H=1 G=1 S=131 L=350 D=256", T="bf16", BN=80, CAUSAL="false"),
    Case("B=3 H=1024 G=8 S=1 L=2 D=64", T="f16", BM=16, BN=32),
    Case("B=65535 H=1 G=1 S=1 L=1 D=64", T="f16", BM=16, BN=16),
    # Scores that differ a lot: the maximum moves in some blocks of keys and in some rows.
    Case("B=1 H=2 G=1 S=129 L=1500 D=128", T="f16", scalars={"scale": 0.7}),
    Case("B=1 H=1 G=1 S=200 L=777 D=128", T="bf16", scalars={"scale": 0.5}),
]


def arguments(case):
    queries, keys = (case.B, case.H, case.S, case.D), (case.B, case.G, case.L, case.D)
    # p is rounded to T before its product with v: each of its terms carries one rounding of T.
    return {
        "q": Input(case.T, queries),
        "k": Input(case.T, keys),
        "v": Input(case.T, keys),
        "o": Output(case.T, queries, rtol=1e-4, atol=4.0 * ROUNDING[case.T]),
        "lse": Output("f32", queries[:3], rtol=1e-5, atol=2e-5),
        "scale": Scalar("f32", case.scalars.get("scale", 1.0 / math.sqrt(case.D))),
    }


def reference(case, q, k, v, scale):
    group = case.H // case.G
    o, lse = numpy.empty(q.shape), numpy.empty(q.shape[:3])
    causal = case.definitions.get("CAUSAL", "true") == "true"
    seen = numpy.arange(case.S)[:, None] + (case.L - case.S) >= numpy.arange(case.L)
    for h in range(case.H):
        s = numpy.einsum("bsd,bld->bsl", q[:, h], k[:, h // group]) * scale
        if causal:
            s = numpy.where(seen, s, -numpy.inf)
        top = s.max(axis=2, keepdims=True)
        p = numpy.exp(s - top)
        den = p.sum(axis=2, keepdims=True)
        o[:, h] = numpy.einsum("bsl,bld->bsd", p / den, v[:, h // group])
        lse[:, h] = (top + numpy.log(den))[:, :, 0]
    return {"o": o, "lse": lse}
