"""NF4 against NumPy."""

import numpy
from case import Case, Input, Output

NF4 = numpy.array(
    [
        -1.0,
        -0.6961928009986877,
        -0.5250730514526367,
        -0.39491748809814453,
        -0.28444138169288635,
        -0.18477343022823334,
        -0.09105003625154495,
        0.0,
        0.07958029955625534,
        0.16093020141124725,
        0.24611230194568634,
        0.33791524171829224,
        0.44070982933044434,
        0.5626170039176941,
        0.7229568362236023,
        1.0,
    ]
)

CASES = [
    Case("M=1 N=64", T="f32"),
    Case("M=3 N=128", T="f16"),
    Case("M=33 N=1024", T="bf16"),
    Case("M=17 N=4160", T="f32"),
    Case("M=131 N=96", T="f16", G=32),
    Case("M=5 N=2", T="f32", G=2),
    Case("M=16 N=512", T="bf16", G=128, BM=5),
]


def arguments(case):
    groups = case.N // int(case.definitions.get("G", 64))
    return {
        "q": Input("u4", (case.M, case.N), lambda random, shape: random.integers(0, 16, shape)),
        "scale": Input(
            "f32", (case.M, groups), lambda random, shape: random.uniform(0.01, 2.0, shape)
        ),
        "y": Output(case.T, (case.M, case.N), rtol=1e-6),
    }


def reference(case, q, scale):
    return {"y": NF4[q] * numpy.repeat(scale, int(case.definitions.get("G", 64)), axis=1)}
