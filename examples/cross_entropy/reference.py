"""Cross-entropy against NumPy in float64; a row of -100, whose loss is the difference of two such
numbers; labels may be ignored, or out of range (then the logit reads as 0).
"""

import numpy
from case import Case, Input, Output, Scalar

CASES = [
    Case("M=1 V=1", T="f32"),
    Case("M=5 V=7", T="f16"),
    Case("M=3 V=8192", T="bf16"),
    Case("M=2 V=8193", T="f32"),
    Case("M=31 V=1009", {"ignore": 3}, T="f32"),
    Case("M=4 V=50257", T="f16"),
    Case("M=1031 V=17", T="f32", BLOCK=16),
    Case("M=2 V=128256", T="bf16", BLOCK=4096),
    Case("M=1 V=1048576", T="f32"),
]


def arguments(case):
    def labels(random, shape):
        label = random.integers(0, case.V, shape)
        if case.M >= 4:
            label[1] = case.scalars.get("ignore", -100)
            label[2], label[3] = case.V, -7
        return label

    def logits(random, shape):
        x = random.standard_normal(shape)
        if case.M >= 4:
            x[0] -= 100.0  # exp of them alone would be 0
        return x

    rows = (case.M,)
    far = (numpy.arange(case.M) == 0) & (
        case.M >= 4
    )  # of that row alone the loss is a difference of numbers near 100
    return {
        "x": Input(case.T, (case.M, case.V), logits),
        "label": Input("i64", rows, labels),
        "loss": Output("f32", rows, atol=numpy.where(far, 1e-5, 2e-6)),
        "lse": Output("f32", rows, atol=2e-6),
        "ignore": Scalar("i64"),
    }


def reference(case, x, label, ignore=-100):
    top = x.max(axis=1)
    lse = top + numpy.log(numpy.exp(x - top[:, None]).sum(axis=1))
    inside = (label >= 0) & (label < case.V)
    logit = numpy.where(inside, x[numpy.arange(case.M), numpy.where(inside, label, 0)], 0.0)
    return {"loss": numpy.where(label == ignore, 0.0, lse - logit), "lse": lse}
