"""Paged attention against NumPy in float64. Sequences have any length, also 0; pages are shared and
in any order.
"""

import math

import numpy
from case import Case, Input, Output, Scalar

CASES = [
    Case("B=1 G=1 P=1 TP=1", T="f32", D=64, PAGE=8),
    Case("B=3 G=2 P=17 TP=5", T="f16", D=64, PAGE=16),
    Case("B=2 G=1 P=40 TP=13", T="bf16", D=128, PAGE=16),
    Case("B=5 G=3 P=9 TP=7", T="f32", D=64, PAGE=32, NP=2),
    Case("B=2 G=2 P=100 TP=31", T="f16", D=128, PAGE=8, NP=8),
    Case("B=4 G=1 P=6 TP=3", T="f32", D=64, PAGE=64, NP=1, R=16),
]


def arguments(case):
    def lengths(random, shape):
        length = random.integers(0, case.TP * case.PAGE + 1, shape)
        length[0] = case.TP * case.PAGE - 3
        if case.B > 2:
            length[1], length[2] = 0, 1
        return length

    rows = (case.B, case.G, int(case.definitions.get("R", 8)), case.D)
    pages = (case.P, case.PAGE, case.G, case.D)
    return {
        "q": Input(case.T, rows),
        "kc": Input(case.T, pages),
        "vc": Input(case.T, pages),
        "table": Input(
            "i32", (case.B, case.TP), lambda random, shape: random.integers(0, case.P, shape)
        ),
        "len": Input("i32", (case.B,), lengths),
        "o": Output(
            case.T, rows, rtol=1e-5, atol={"f16": 2e-3, "bf16": 1.5e-2, "f32": 1e-5}[case.T]
        ),
        "scale": Scalar("f32", 1 / math.sqrt(case.D)),
    }


def reference(case, q, kc, vc, table, len, scale):
    o = numpy.zeros(q.shape)
    for b in range(case.B):
        count = int(len[b])
        if not count:
            continue
        k, v = (cache[table[b]].reshape(-1, case.G, case.D)[:count] for cache in (kc, vc))
        for g in range(case.G):
            s = q[b, g] @ k[:, g].T * numpy.float32(scale)
            p = numpy.exp(s - s.max(axis=1, keepdims=True))
            o[b, g] = p @ v[:, g] / p.sum(axis=1, keepdims=True)
    return {"o": o}
