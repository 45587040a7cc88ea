"""Sums by the last to arrive against NumPy in float64; the parts and the tickets as they are
left.
"""

import math

import numpy
from case import Case, InOut, Input, Output

CASES = [
    Case("N=1", kernel="last_arriver", T="f32"),
    Case("N=1024", kernel="last_arriver", T="f16"),
    Case("N=1025", kernel="last_arriver", T="f32"),
    Case("N=1000003", kernel="last_arriver", T="f32"),
    Case("N=70001", kernel="last_arriver", T="f16", B=64),
    Case("M=1 N=1", kernel="column_sums"),
    Case("M=64 N=64", kernel="column_sums"),
    Case("M=1009 N=131", kernel="column_sums"),
    Case("M=5000 N=40", kernel="column_sums", BM=16, BN=32),
    Case("M=100 N=1000", kernel="column_sums", BM=24, BN=48),
]


def partOf(shape):
    part = InOut("f32", shape, rtol=1e-5, atol=1e-4)
    part.values = lambda random, shape: numpy.full(shape, numpy.nan)
    return part


def arguments(case):
    if case.kernel == "column_sums":
        rows, columns = int(case.definitions.get("BM", 64)), int(case.definitions.get("BN", 64))
        return {
            "x": Input("f32", (case.M, case.N)),
            "y": Output("f32", (case.N,), rtol=1e-6, atol=8e-6 * math.sqrt(case.M)),
            "part": partOf((-(-case.M // rows), case.N)),
            "ticket": Output("u32", (-(-case.N // columns),), rtol=None, atol=0),
        }
    size = int(case.definitions.get("B", 1024))
    return {
        "x": Input(case.T, (case.N,)),
        "y": Output("f32", (1,), rtol=1e-6, atol=4e-6 * math.sqrt(case.N)),
        "part": partOf((-(-case.N // size),)),
        "ticket": Output("i32", (1,), rtol=None, atol=0),
    }


def reference(case, x, part):
    if case.kernel == "column_sums":
        rows, columns = int(case.definitions.get("BM", 64)), int(case.definitions.get("BN", 64))
        starts = numpy.arange(0, case.M, rows)
        return {
            "y": x.sum(axis=0),
            "part": numpy.add.reduceat(x, starts, axis=0),
            "ticket": numpy.full(-(-case.N // columns), len(starts)),
        }
    size = int(case.definitions.get("B", 1024))
    starts = numpy.arange(0, case.N, size)
    return {
        "y": x.sum(keepdims=True),
        "part": numpy.add.reduceat(x, starts),
        "ticket": numpy.array([len(starts)]),
    }
