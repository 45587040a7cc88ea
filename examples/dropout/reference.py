"""Dropout against NumPy, with the same random numbers."""

import numpy
import philox
from case import Case, Input, Output, Scalar

CASES = [
    Case("N=1", {"p": 0.5}, T="f32"),
    Case("N=1021", {"p": 0.25, "seed": 7}, T="f16"),
    Case("N=4099", {"p": 0.1, "seed": -3}, T="bf16", MASK="true"),
    Case("N=65536", {"p": 0.5, "seed": 123456789012345}, T="f32", MASK="true"),
    Case("N=12289", {"p": 0.0}, T="f32", BLOCK=100),
    Case("N=0", {"p": 0.5}, T="f32"),
]


def arguments(case):
    given = {"x": Input(case.T, (case.N,)), "y": Output(case.T, (case.N,), rtol=1e-6)}
    if case.definitions.get("MASK") == "true":
        given["mask"] = Output("bool", (case.N,), rtol=None, atol=0)
    return {**given, "p": Scalar("f32"), "seed": Scalar("i64")}


def reference(case, x, p, seed=0):
    p = float(numpy.float32(p))
    kept = philox.uniform(seed, numpy.arange(case.N)) >= p
    return (
        {"y": numpy.where(kept, x / (1.0 - p), 0.0), "mask": kept}
        if case.definitions.get("MASK") == "true"
        else {"y": numpy.where(kept, x / (1.0 - p), 0.0)}
    )
