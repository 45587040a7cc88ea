"""Linear layer with cross entropy against NumPy in float64."""

import numpy
from case import Case, Input, Output, Scalar

CASES = [
    Case("M=1 V=1 K=8", kernel="linear_cross_entropy", T="f16"),
    Case("M=131 V=300 K=72", kernel="linear_cross_entropy", T="bf16"),
    Case("M=65 V=257 K=136", {"ignore": 7}, kernel="linear_cross_entropy", T="f16"),
    # As a number of 32 bits it would be 0, which is a word.
    Case("M=70 V=20 K=40", {"ignore": 1 << 32}, kernel="linear_cross_entropy", T="f16"),
    Case("M=40 V=1000 K=40", kernel="linear_cross_entropy", T="f16", BM=32, BV=96, BK=32),
    Case("M=1 C=1 K=8", kernel="linear_cross_entropy_backward", T="f16"),
    Case("M=131 C=300 K=72", {"first": 5}, kernel="linear_cross_entropy_backward", T="bf16"),
    Case(
        "M=70 C=257 K=64",
        {"first": 3, "ignore": 7},
        kernel="linear_cross_entropy_backward",
        T="f16",
        BM=48,
        BV=48,
        BK=16,
    ),
]


def arguments(case):
    words = case.V if case.kernel == "linear_cross_entropy" else case.C
    values = {
        "x": Input(case.T, (case.M, case.K)),
        "w": Input(
            case.T,
            (words, case.K),
            lambda random, shape: 2 * random.standard_normal(shape) * case.K**-0.5,
        ),
        "label": Input(
            "i64", (case.M,), lambda random, shape: random.integers(0, min(words, 20), shape)
        ),
    }
    if case.kernel == "linear_cross_entropy":
        return {
            **values,
            "loss": Output("f32", (case.M,), rtol=1e-4, atol=1e-4),
            "lse": Output("f32", (case.M,), rtol=1e-4, atol=1e-4),
            "ignore": Scalar("i64", -100),
        }
    # Of softmax(x · Wᵀ) with this lse the sum is not 1, which the kernel does not need.
    return {
        **values,
        "lse": Input("f32", (case.M,), lambda random, shape: random.uniform(4.0, 6.0, shape)),
        "g": Input("f32", (case.M,)),
        "d": Output(case.T, (case.M, case.C), rtol=1e-3, atol=1e-5),
        "first": Scalar("i64", 0),
        "ignore": Scalar("i64", -100),
    }


def reference(case, x, w, label, ignore, lse=None, g=None, first=0):
    s = x @ w.T
    kept = label != ignore
    if g is None:
        top = s.max(axis=1)
        total = top + numpy.log(numpy.exp(s - top[:, None]).sum(axis=1))
        return {
            "loss": numpy.where(kept, total - s[numpy.arange(case.M), label], 0.0),
            "lse": total,
        }
    d = numpy.exp(s - lse[:, None]) - (label[:, None] == first + numpy.arange(case.C))
    return {"d": d * (kept * g)[:, None]}
