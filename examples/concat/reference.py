"""Concatenation against NumPy: equal, as nothing is computed."""

import numpy
from case import Case, Input, Output

CASES = [
    Case("M=1 N=1", T="f32"),
    Case("M=3 N=7", T="f16", COUNT=2),
    Case("M=33 N=1021", T="bf16"),
    Case("M=17 N=512", T="f32", COUNT=5),
    Case("M=1031 N=64", T="f16", COUNT=1),
    Case("M=9 N=257", T="i32", BM=3, BN=100),
    Case("M=0 N=5", T="f32"),
]


def count(case):
    return int(case.definitions.get("COUNT", 3))


def arguments(case):
    values = (
        (lambda random, shape: random.integers(-(2**31), 2**31, shape)) if case.T == "i32" else None
    )
    inputs = {f"xs[{t}]": Input(case.T, (case.M, case.N), values) for t in range(count(case))}
    return {**inputs, "y": Output(case.T, (case.M, count(case) * case.N), rtol=None, atol=0)}


def reference(case, **inputs):
    return {"y": numpy.concatenate([inputs[f"xs[{t}]"] for t in range(count(case))], axis=1)}
