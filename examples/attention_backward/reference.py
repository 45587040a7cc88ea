"""Gradients of attention with grouped queries against NumPy in float64.

The kernels are tested one by one: each gets the log-sum-exp and delta as inputs, near to what a
forward pass would give, in rows of a multiple of 4 elements.
"""

import math

import numpy
from case import Case, Input, Output, ROUNDING, Scalar

DELTA, ALL, CAST = "attention_backward_delta", "attention_backward", "attention_backward_cast"
CASES = [
    Case("B=1 H=1 G=1 S=1 L=1 D=64", kernel=ALL, T="f16"),
    Case("B=1 H=2 G=1 S=128 L=128 D=64", kernel=ALL, T="f16"),
    Case("B=2 H=4 G=2 S=131 L=131 D=64", kernel=ALL, T="bf16"),
    Case("B=1 H=2 G=2 S=37 L=301 D=128", kernel=ALL, T="f16"),
    Case("B=2 H=3 G=1 S=129 L=257 D=64", kernel=ALL, T="f16", CAUSAL="false"),
    Case("B=1 H=2 G=2 S=100 L=200 D=64", kernel=ALL, T="f16", BM=64, BN=64),
    Case("B=1 H=2 G=2 S=100 L=200 D=128", kernel=ALL, T="bf16", CAUSAL="false", BM=32, BN=64),
    Case("B=1 H=2 G=1 S=260 L=388 D=64", kernel=ALL, T="f16", BM=128, BN=128, D=64),
    Case(
        "B=1 H=1 G=1 S=516 L=516 D=64", kernel=ALL, T="bf16", CAUSAL="false", BM=128, BN=128, D=64
    ),
    Case("B=1 H=2 G=1 S=388 L=388 D=128", kernel=ALL, T="f16", BM=64, BN=128),
    Case("B=2 H=3 S=67 D=64", kernel=DELTA, T="bf16"),
    Case("B=1 H=1 S=256 D=128", kernel=DELTA, T="f16"),
    Case("B=2 H=3 S=67 D=64", kernel=CAST, T="bf16"),
    Case("B=1 H=2 S=256 D=128", kernel=CAST, T="f16"),
]


def arguments(case):
    queries = (case.B, case.H, case.S, case.D)
    wide = Input(case.T, queries)
    rows = (case.B, case.H, (case.S + 3) // 4 * 4)
    if case.kernel == DELTA:
        # Nothing else gives P a value.
        row = Output("f32", rows, rtol=1e-5, atol=1e-5, partial=True)
        return {"o": wide, "do": wide, "lse": Input("f32", queries[:3]), "rows": row, "delta": row}
    scale = Scalar("f32", 1.0 / math.sqrt(case.D))
    if case.kernel == CAST:
        return {
            "sums": Input("f32", queries),
            "dq": Output(case.T, queries, rtol=ROUNDING[case.T]),
            "scale": scale,
        }
    keys = (case.B, case.G, case.L, case.D)
    narrow = Input(case.T, keys)
    lse = Input(
        "f32",
        rows,
        lambda random, shape: math.log(case.L) + 0.5 + 0.1 * random.standard_normal(shape),
    )
    given = {
        "q": wide,
        "k": narrow,
        "v": narrow,
        "do": wide,
        "lse": lse,
        "delta": Input("f32", rows),
    }
    # p and ds are rounded to T before their products, each term of a gradient by itself.

    def gradient(dtype, shape):
        return Output(dtype, shape, rtol=1e-3, atol=24.0 * ROUNDING[case.T])

    return {
        **given,
        "dq": gradient("f32", queries),
        "dk": gradient(case.T, keys),
        "dv": gradient(case.T, keys),
        "scale": scale,
    }


def reference(
    case, q=None, k=None, v=None, do=None, lse=None, delta=None, scale=None, o=None, sums=None
):
    if case.kernel == DELTA:
        behind = ((0, 0), (0, 0), (0, -case.S % 4))
        return {"rows": numpy.pad(lse, behind), "delta": numpy.pad((o * do).sum(axis=3), behind)}
    if case.kernel == CAST:
        return {"dq": sums * scale}
    group = case.H // case.G
    lse, delta = lse[:, :, : case.S], delta[:, :, : case.S]
    dq, dk, dv = numpy.empty(q.shape), numpy.zeros(k.shape), numpy.zeros(v.shape)
    causal = case.definitions.get("CAUSAL", "true") == "true"
    seen = numpy.arange(case.S)[:, None] + (case.L - case.S) >= numpy.arange(case.L)
    for h in range(case.H):
        g = h // group
        p = numpy.exp(numpy.einsum("bsd,bld->bsl", q[:, h], k[:, g]) * scale - lse[:, h, :, None])
        if causal:
            p = numpy.where(seen, p, 0.0)
        ds = p * (numpy.einsum("bsd,bld->bsl", do[:, h], v[:, g]) - delta[:, h, :, None])
        dq[:, h] = numpy.einsum("bsl,bld->bsd", ds, k[:, g])
        dk[:, g] += numpy.einsum("bsl,bsd->bld", ds, q[:, h]) * scale
        dv[:, g] += numpy.einsum("bsl,bsd->bld", p, do[:, h])
    return {"dq": dq, "dk": dk, "dv": dv}
