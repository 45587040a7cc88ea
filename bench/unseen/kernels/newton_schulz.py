"""Newton and Schulz."""

import numpy as np

from case import Case, Input, Output

CASES = [
    Case("B=1 R=16 C=48", T="f32"),
    Case("B=3 R=64 C=64", T="f32"),
    Case("B=2 R=64 C=128", T="bf16"),
    Case("B=5 R=16 C=128", T="bf16"),
]
TIMED = [Case("B=256 R=64 C=128", T="bf16")]


def arguments(case):
    shape = (case.B, case.R, case.C)
    return {
        "x": Input(case.T, shape),
        "y": Output(case.T, shape, rtol=1e-3, atol=2e-4 if case.T == "f32" else 0.15),
    }


def reference(case, x):
    t = x / (np.sqrt((x * x).sum(axis=(1, 2), keepdims=True)) + 1e-7)
    for _ in range(5):
        a = t @ t.transpose(0, 2, 1)
        t = 3.4445 * t + (-4.775 * a + 2.0315 * a @ a) @ t
    return {"y": t}
