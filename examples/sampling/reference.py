"""Sampling against NumPy in float64. Logits of a row differ by 1/16 at least, so that their order
is that of any dtype."""

import numpy
import philox
from case import Case, Input, Output, Scalar

CASES = [
    Case("B=1 V=1", T="f32"),
    Case("B=37 V=131", {"seed": 5}, T="f16", BLOCK=2048),
    Case("B=50 V=3000", {"p": 0.5, "temperature": 4.0, "seed": -1}, T="f32", BLOCK=4096),
    Case("B=9 V=100", {"p": 1.0, "temperature": 2.0}, T="bf16", K=7, BLOCK=1024),
    Case("B=20 V=1024", {"p": 0.01}, T="f16", K=16, BLOCK=512),
]


def logits(random, shape):
    """A permutation of n / 16, n < 128, and lower ones behind them, all multiples of 1/16 that
    every dtype holds."""
    rows = numpy.minimum(numpy.arange(shape[1]), 127) / 16.0
    return numpy.stack([random.permutation(-rows) for _ in range(shape[0])])


def arguments(case):
    return {
        "logits": Input(case.T, (case.B, case.V), logits),
        "token": Output("i32", (case.B,), rtol=None, atol=0),
        "temperature": Scalar("f32", 1.0),
        "p": Scalar("f32", 0.9),
        "seed": Scalar("i64", 0),
    }


def reference(case, logits, temperature, p, seed):
    k = min(int(case.definitions.get("K", 64)), case.V)
    ids = numpy.argsort(-logits, axis=1, kind="stable")[:, :k]
    q = numpy.exp(numpy.take_along_axis(logits, ids, axis=1) / temperature)
    q /= q.sum(axis=1, keepdims=True)
    kept = numpy.where(numpy.cumsum(q, axis=1) - q < p, q, 0.0)
    sums = numpy.cumsum(kept, axis=1)
    chosen = (sums <= philox.uniform(seed, numpy.arange(case.B))[:, None] * sums[:, -1:]).sum(
        axis=1
    )
    return {
        "token": numpy.take_along_axis(
            ids, numpy.minimum(chosen, (kept > 0).sum(axis=1) - 1)[:, None], axis=1
        )[:, 0]
    }
