"""Gradients of attention with score functions against NumPy in float64, from the log-sum-exp and
delta that a forward pass gives.
"""

import math

import case as cases
import numpy
from case import Case, Input, Output, ROUNDING, Scalar

DELTA, ALL = "attention_scores_backward_delta", "attention_scores_backward"
forward = cases.module("attention_scores")
CAPPED = {"SCORE": "capped", "SLOPE": "capped_slope"}
CASES = [
    Case("B=1 H=1 G=1 S=1 L=1 D=64", kernel=ALL, T="f16"),
    Case("B=2 H=2 G=1 S=131 L=131 D=80", {"a": 3.0}, kernel=ALL, T="bf16", **CAPPED),
    Case("B=1 H=2 G=2 S=97 L=97 D=96", kernel=ALL, T="f16", SCORE="biased"),
    Case("B=1 H=4 G=2 S=70 L=100 D=64", kernel=ALL, T="f16", SCORE="biased", CAUSAL="false"),
    Case("B=1 H=1 G=1 S=129 L=129 D=128", {"a": 40.0}, kernel=ALL, T="bf16", SCORE="near"),
    Case("B=1 H=1 G=1 S=70 L=70 D=256", kernel=ALL, T="f16", BM=32, BN=32),
    Case(
        "B=1 H=2 G=1 S=100 L=77 D=64",
        {"drop": 0.25, "seed": 17},
        kernel=ALL,
        T="f16",
        DROPOUT="true",
        CAUSAL="false",
    ),
    Case("B=2 H=3 S=67 D=80", kernel=DELTA, T="bf16"),
]


def arguments(case):
    queries = (case.B, case.H, case.S, case.D)
    wide = Input(case.T, queries)
    if case.kernel == DELTA:
        return {"o": wide, "do": wide, "delta": Output("f32", queries[:3], rtol=1e-5, atol=1e-5)}
    keys = (case.B, case.G, case.L, case.D)
    given = {"q": wide, "k": Input(case.T, keys), "v": Input(case.T, keys), "do": wide}
    numbers = {
        "scale": Scalar("f32", 1.0 / math.sqrt(case.D)),
        "a": Scalar("f32", 0.0),
        "drop": Scalar("f32", 0.0),
        "seed": Scalar("i64", 0),
    }

    def statistics(name):
        stored = {key: cases.load(x.data(case, key), x.dtype) for key, x in given.items()}
        q, k, v, do = stored.values()
        values = [case.scalars.get(key, number.value) for key, number in numbers.items()]
        p, _, lse = probabilities(case, q, k, *values[:2])
        o = forward.dropped(p, values[3], values[2]) @ numpy.repeat(v, case.H // case.G, axis=1)
        return lse[..., 0] if name == "lse" else (o * do).sum(axis=3)

    # p and ds are rounded to T before their products, each term of a gradient by itself.
    def gradient(dtype, shape):
        return Output(dtype, shape, rtol=1e-3, atol=24.0 * ROUNDING[case.T])

    return {
        **given,
        "lse": Input("f32", queries[:3], lambda random, shape: statistics("lse")),
        "delta": Input("f32", queries[:3], lambda random, shape: statistics("delta")),
        "dq": gradient("f32", queries),
        "dk": gradient(case.T, keys),
        "dv": gradient(case.T, keys),
        **numbers,
    }


def probabilities(case, q, k, scale, a):
    """Softmax of the scores, the scores' derivative, and the log-sum-exp."""
    s, slope = forward.scores(case, q, k, scale, a)
    lse = numpy.log(numpy.exp(s).sum(axis=3, keepdims=True))
    return numpy.exp(s - lse), slope, lse


def reference(case, do, o=None, q=None, k=None, v=None, lse=None, delta=None, **numbers):
    if case.kernel == DELTA:
        return {"delta": (o * do).sum(axis=3)}
    scale, a, drop, seed = numbers.values()
    p, slope, _ = probabilities(case, q, k, scale, a)
    given = do @ numpy.repeat(v, case.H // case.G, axis=1).swapaxes(2, 3)
    # The same are left out of what comes back.
    kept = forward.dropped(numpy.ones(p.shape), seed, drop)
    ds = p * (given * kept - delta[..., None]) * slope * scale
    shared = lambda x: x.reshape(case.B, case.G, -1, case.L, case.D).sum(axis=2)
    return {
        "dq": ds @ numpy.repeat(k, case.H // case.G, axis=1),
        "dk": shared(ds.swapaxes(2, 3) @ q),
        "dv": shared((p * kept).swapaxes(2, 3) @ do),
    }
