"""Segments against NumPy. Sums are of small integers, exact in any order."""

import numpy
from case import STORAGE, Case, InOut, Input

CASES = [
    Case("M=1 N=1 S=1", kernel="segment_sum", T="f32"),
    Case("M=7 N=5 S=3", kernel="segment_sum", T="f16"),
    Case("M=1009 N=131 S=17", kernel="segment_sum", T="bf16"),
    Case("M=257 N=64 S=1000", kernel="segment_sum", T="f64"),
    Case("M=100 N=100 S=2", kernel="segment_sum", T="f32", BM=24, BN=48),
    Case("M=1 S=1", kernel="segment_extremes", T="f32"),
    Case("M=1009 S=17", kernel="segment_extremes", T="f32"),
    Case("M=501 S=256", kernel="segment_extremes", T="f64"),
    Case("M=1009 S=5", kernel="segment_extremes", T="i32"),
    Case("M=100 S=9", kernel="segment_extremes", T="u32", BM=24),
    Case("M=77 S=3", kernel="segment_extremes", T="i64"),
    Case("M=2000 S=31", kernel="segment_extremes", T="u64"),
]


def changed(dtype, shape, values):
    tensor = InOut(dtype, shape, rtol=None, atol=0)
    tensor.values = values
    return tensor


def arguments(case):
    if case.kernel == "segment_extremes":
        whole = case.T not in ("f32", "f64")

        def values(random, shape):
            if whole:
                limits = numpy.iinfo(STORAGE[case.T])
                return random.integers(
                    limits.min, limits.max, shape, STORAGE[case.T], endpoint=True
                )
            v = random.standard_normal(shape)
            if shape[0] > 100:
                v[5], v[50], v[99] = numpy.nan, numpy.inf, -numpy.inf
            return v

        return {
            "x": Input(case.T, (case.M,), values),
            "seg": Input("u8", (case.M,), lambda random, shape: random.integers(0, case.S, shape)),
            "least": changed(case.T, (case.S,), values),
            "greatest": changed(case.T, (case.S,), values),
        }

    def whole(random, shape):
        return random.integers(-8, 9, shape)

    return {
        "x": Input(case.T, (case.M, case.N), whole),
        "seg": Input(
            "i32", (case.M,), lambda random, shape: random.integers(-1, case.S + 1, shape)
        ),
        "y": changed("f64", (case.S, case.N), whole),
        "counts": changed("i32", (case.S,), whole),
    }


def reference(case, x, seg, y=None, counts=None, least=None, greatest=None):
    if least is not None:
        least, greatest = least.copy(), greatest.copy()
        numpy.minimum.at(least, seg, x)
        numpy.maximum.at(greatest, seg, x)
        return {"least": least, "greatest": greatest}
    inside = (seg >= 0) & (seg < case.S)
    y = y.copy()
    numpy.add.at(y, seg[inside], x[inside])
    return {"y": y, "counts": counts + numpy.bincount(seg[inside], minlength=case.S)}
