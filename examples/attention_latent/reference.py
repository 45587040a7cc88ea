"""Latent attention against NumPy in float64. Sequences have any length, also 0; pages are shared
and in any order.
"""

import math

import numpy
from case import Case, Input, Output, ROUNDING, Scalar

CASES = [
    Case("B=1 H=1 L=1", kernel="attention_latent", T="f16", BH=16, BN=16),
    Case("B=3 H=16 L=131", kernel="attention_latent", T="bf16", BH=16, BN=32),
    Case("B=1 H=128 L=97", kernel="attention_latent", T="f16", BH=32, BN=32),
    Case("B=4 H=17 L=67", kernel="attention_latent", T="f16", C=128, R=32),
    Case("B=2 H=3 L=300", kernel="attention_latent", T="bf16", C=64, R=8, BH=16, BN=128),
    Case("B=1 H=1 P=1 TP=1", kernel="attention_latent_paged", T="f16", BH=16),
    Case("B=3 H=23 P=7 TP=5", kernel="attention_latent_paged", T="bf16", PAGE=16, BH=16),
    Case("B=4 H=64 P=11 TP=3", kernel="attention_latent_paged", T="f16", C=128, R=32),
]


def arguments(case):
    c, r = int(case.definitions.get("C", 512)), int(case.definitions.get("R", 64))
    paged = case.kernel == "attention_latent_paged"
    page = int(case.definitions.get("PAGE", 64))
    most = case.TP * page if paged else case.L

    def lengths(random, shape):
        length = random.integers(0, most + 1, shape)
        length[0] = most
        if case.B > 2:
            length[1], length[2] = 0, 1
        return length

    cache, table = (case.P, page, c + r) if paged else (case.B, case.L, c + r), {}
    if paged:
        pages = lambda random, shape: random.integers(0, case.P, shape)
        table = {"table": Input("i32", (case.B, case.TP), pages)}
    return {
        "q": Input(case.T, (case.B, case.H, c + r)),
        "cache": Input(case.T, cache),
        **table,
        "length": Input("i32", (case.B,), lengths),
        "o": Output(case.T, (case.B, case.H, c), rtol=1e-4, atol=4.0 * ROUNDING[case.T]),
        "scale": Scalar("f32", 1.0 / math.sqrt(c + r)),
    }


def reference(case, q, cache, length, scale, table=None):
    c = int(case.definitions.get("C", 512))
    o = numpy.zeros((*q.shape[:2], c))
    for b in range(case.B):
        rows = cache[b] if table is None else cache[table[b]].reshape(-1, cache.shape[2])
        rows = rows[: length[b]]
        if len(rows):
            s = q[b] @ rows.T * scale
            p = numpy.exp(s - s.max(axis=1, keepdims=True))
            o[b] = p @ rows[:, :c] / p.sum(axis=1, keepdims=True)
    return {"o": o}
