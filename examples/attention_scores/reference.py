"""Attention with score functions against NumPy in float64."""

import math

import numpy
import philox
from case import Case, Input, Output, ROUNDING, Scalar

CASES = [
    Case("B=1 H=1 G=1 S=1 L=1 D=64", T="f16"),
    Case("B=2 H=2 G=1 S=131 L=131 D=80", {"a": 3.0}, T="bf16", SCORE="capped"),
    Case("B=1 H=4 G=2 S=97 L=97 D=96", T="f16", SCORE="biased"),
    Case("B=1 H=2 G=2 S=150 L=200 D=128", T="f16", SCORE="biased", CAUSAL="false"),
    Case("B=1 H=1 G=1 S=129 L=129 D=192", {"a": 40.0}, T="bf16", SCORE="near"),
    Case("B=1 H=2 G=1 S=70 L=70 D=256", T="f16", BN=32, LSE="true"),
    Case(
        "B=1 H=2 G=1 S=100 L=77 D=64",
        {"drop": 0.25, "seed": 17},
        T="f16",
        DROPOUT="true",
        CAUSAL="false",
    ),
]


def arguments(case):
    few = (case.B, case.G, case.L, case.D)
    lse = {"lse": Output("f32", (case.B, case.H, case.S), rtol=1e-5, atol=1e-5)}
    return {
        "q": Input(case.T, (case.B, case.H, case.S, case.D)),
        "k": Input(case.T, few),
        "v": Input(case.T, few),
        "o": Output(
            case.T, (case.B, case.H, case.S, case.D), rtol=1e-3, atol=4.0 * ROUNDING[case.T]
        ),
        **(lse if case.definitions.get("LSE") == "true" else {}),
        "scale": Scalar("f32", 1.0 / math.sqrt(case.D)),
        "a": Scalar("f32", 0.0),
        "drop": Scalar("f32", 0.0),
        "seed": Scalar("i64", 0),
    }


def scores(case, q, k, scale, a):
    """What the softmax is of, and its derivative by the products times scale."""
    k = numpy.repeat(k, case.H // case.G, axis=1)
    far = numpy.arange(case.S)[:, None] - numpy.arange(case.L)
    s = q @ k.transpose(0, 1, 3, 2) * scale
    slope, score = 1.0, case.definitions.get("SCORE")
    if score == "capped":
        s, slope = a * numpy.tanh(s / a), 1.0 - numpy.tanh(s / a) ** 2
    if score == "biased":
        s = s - 2.0 ** (-8.0 * numpy.arange(1, case.H + 1) / case.H)[:, None, None] * numpy.abs(far)
    if score == "near":
        s = numpy.where(far < a, s, -numpy.inf)
    if case.definitions.get("CAUSAL") != "false":
        s = numpy.where(far >= 0, s, -numpy.inf)
    return s, slope


def dropped(p, seed, drop):
    """Probabilities of which some are left out."""
    if not drop:
        return p
    kept = philox.uniform(seed, numpy.arange(p.size).reshape(p.shape)) >= numpy.float32(drop)
    return numpy.where(kept, p / (1.0 - drop), 0.0)


def reference(case, q, k, v, scale, a, drop, seed):
    s, _ = scores(case, q, k, scale, a)
    top = s.max(axis=3, keepdims=True)
    p = numpy.exp(s - top)
    den = p.sum(axis=3, keepdims=True)
    o = dropped(p / den, seed, drop) @ numpy.repeat(v, case.H // case.G, axis=1)
    lse = {"lse": (top + numpy.log(den))[..., 0]}
    return {"o": o, **(lse if case.definitions.get("LSE") == "true" else {})}
