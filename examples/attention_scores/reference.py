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
    Case("B=1 H=2 G=1 S=70 L=70 D=256", T="f16", BN=32),
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
    return {
        "q": Input(case.T, (case.B, case.H, case.S, case.D)),
        "k": Input(case.T, few),
        "v": Input(case.T, few),
        "o": Output(
            case.T, (case.B, case.H, case.S, case.D), rtol=1e-3, atol=4.0 * ROUNDING[case.T]
        ),
        "scale": Scalar("f32", 1.0 / math.sqrt(case.D)),
        "a": Scalar("f32", 0.0),
        "drop": Scalar("f32", 0.0),
        "seed": Scalar("i64", 0),
    }


def reference(case, q, k, v, scale, a, drop, seed):
    k, v = (numpy.repeat(x, case.H // case.G, axis=1) for x in (k, v))
    far = numpy.arange(case.S)[:, None] - numpy.arange(case.L)
    s = q @ k.transpose(0, 1, 3, 2) * scale
    score = case.definitions.get("SCORE")
    if score == "capped":
        s = a * numpy.tanh(s / a)
    if score == "biased":
        s = s - 2.0 ** (-8.0 * numpy.arange(1, case.H + 1) / case.H)[:, None, None] * numpy.abs(far)
    if score == "near":
        s = numpy.where(far < a, s, -numpy.inf)
    if case.definitions.get("CAUSAL") != "false":
        s = numpy.where(far >= 0, s, -numpy.inf)
    p = numpy.exp(s - s.max(axis=3, keepdims=True))
    p /= p.sum(axis=3, keepdims=True)
    if drop:
        p = numpy.where(
            philox.uniform(seed, numpy.arange(p.size).reshape(p.shape)) >= numpy.float32(drop),
            p / (1.0 - drop),
            0.0,
        )
    return {"o": p @ v}
