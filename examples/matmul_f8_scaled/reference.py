"""Scaled product of 8-bit floats against NumPy in float64.

Tensor cores may keep as few as 13 bits of a sum of at most 128 terms, of about the root of 128;
then f32 adds K / 128 of them.
"""

import math

import numpy
from case import Case, Input, Output

CASES = [
    Case("M=1 N=8 K=16"),
    Case("M=128 N=128 K=128"),
    Case("M=127 N=264 K=144", A="f8e5m2"),
    Case("M=200 N=136 K=528", T="f16"),
    Case("M=96 N=104 K=400", B="f8e5m2", T="f32"),
    Case("M=130 N=392 K=400", BM=128, BN=256),
    Case("M=70 N=264 K=272", T="f16", BM=64, BN=256),
    Case("M=33 N=248 K=1040", T="f32", BM=64, BN=64),
    Case("M=70 N=72 K=256", T="f32", BM=16, BN=32),
]


def scales(random, shape):
    return random.uniform(0.25, 2.0, shape)


def arguments(case):
    values, groups = case.definitions, -(-case.K // 128)
    return {
        "a": Input(values.get("A", "f8e4m3"), (case.M, case.K)),
        "b": Input(values.get("B", "f8e4m3"), (case.N, case.K)),
        "sa": Input("f32", (case.M, groups), scales),
        "sb": Input("f32", (-(-case.N // 128), groups), scales),
        "c": Output(
            values.get("T", "bf16"),
            (case.M, case.N),
            rtol=1e-5,
            atol=4.0 * (groups * math.sqrt(128) * 2.0**-10 + 48 * 2.0**-13),
        ),
    }


def reference(case, a, b, sa, sb):
    rows = numpy.repeat(sa, 128, axis=1)[:, : case.K]
    columns = numpy.repeat(numpy.repeat(sb, 128, axis=0), 128, axis=1)[: case.N, : case.K]
    return {"c": (a * rows) @ (b * columns).T}
