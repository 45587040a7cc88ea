"""Walsh-Hadamard transform."""

import numpy as np

from case import Case, Input, Output

CASES = [
    Case("M=1 N=64", T="f32"),
    Case("M=7 N=128", T="f16"),
    Case("M=13 N=512", T="bf16"),
    Case("M=10 N=64", T="f16", BM=3),
]
TIMED = [Case("M=16384 N=512", T="f16"), Case("M=65536 N=128", T="bf16")]


def arguments(case):
    return {
        "x": Input(case.T, (case.M, case.N)),
        "y": Output(case.T, (case.M, case.N), rtol=1e-4, atol=1e-5),
    }


def reference(case, x):
    h = np.ones((1, 1))
    while len(h) < case.N:
        h = np.block([[h, h], [h, -h]])
    return {"y": x @ h / case.N**0.5}
