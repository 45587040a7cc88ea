"""The Walsh-Hadamard transform against NumPy in float64."""

import numpy
from case import Case, Input, Output

CASES = [
    Case("M=1 N=64", kernel="hadamard_rows", T="f32"),
    Case("M=7 N=128", kernel="hadamard_rows", T="f16"),
    Case("M=5 N=256", kernel="hadamard_rows", T="bf16"),
    Case("M=13 N=512", kernel="hadamard_rows", T="bf16", BM=8),
    Case("M=3 N=1024", kernel="hadamard_rows", T="f16", BM=1),
    Case("M=2 N=4096", kernel="hadamard_rows", T="f32"),
]


def arguments(case):
    return {
        "x": Input(case.T, (case.M, case.N)),
        "y": Output(case.T, (case.M, case.N), rtol=1e-4, atol=1e-5),
    }


def reference(case, x):
    h = numpy.ones((1, 1))
    while len(h) < case.N:
        h = numpy.block([[h, h], [h, -h]])
    return {"y": x @ h / case.N**0.5}
