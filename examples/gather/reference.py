"""Gather and scatter against NumPy: positions in any order, some below 0 or past the end, all
different where they are stored to.
"""

import numpy
from case import Case, InOut, Input, Output

CASES = [
    Case("A=7 B=9 C=8 D=5", kernel="gather_blocks", T="f32"),
    Case("A=1 B=1 C=1 D=1", kernel="gather_blocks", T="f32"),
    Case("A=3 B=31 C=17 D=2", kernel="gather_blocks", T="f16"),
    Case("A=8 B=6 C=100 D=64", kernel="gather_blocks", T="bf16"),
    Case("B=9 C=8", kernel="gather_rows"),
    Case("B=1 C=1", kernel="gather_rows"),
    Case("B=1009 C=3", kernel="gather_rows"),
    Case("B=64 C=64", kernel="gather_rows"),
]


def positions(extent, count):
    def values(random, shape):
        chosen = numpy.resize(
            random.permutation(max(extent, count)), count
        )  # as many as there are, then some past the end
        chosen[1] = 200
        return chosen

    return values


def signed(extent, count):
    def values(random, shape):
        chosen = positions(extent, count)(random, shape)
        chosen[3] = -1
        return chosen

    return values


def arguments(case):
    def exact(dtype, shape):
        return Output(dtype, shape, rtol=None, atol=0)

    if case.kernel == "gather_blocks":
        shape = (case.A, case.B, case.C, case.D)
        return {
            "x": Input(case.T, shape),
            "s": Input("i32", (6,), signed(case.B, 6)),
            "t": Input("u8", (5,), positions(case.C, 5)),
            "y": exact(case.T, (4, 6, 5, 3)),
            "z": InOut(case.T, shape, rtol=None, atol=0),
        }
    return {
        "x": Input("f32", (case.B, case.C)),
        "s": Input("i64", (6,), signed(case.B, 6)),
        "off": Input("i32", (2,), lambda random, shape: numpy.array([case.B // 4, case.B - 1])),
        "p": Input("bool", (case.B, case.C), lambda random, shape: random.integers(0, 2, shape)),
        "q": Input("u4", (case.B, 8), lambda random, shape: random.integers(0, 16, shape)),
        "w": exact("f32", (6, 4)),
        "b": exact("bool", (6, 7)),
        "n": exact("i32", (6, 8)),
        "o": exact("f32", (6,)),
    }


def pick(x, *index):
    """x at the positions, which broadcast, and which of them exist."""
    index = numpy.broadcast_arrays(*(numpy.asarray(i, dtype=numpy.int64) for i in index))
    inside = numpy.ones(index[0].shape, bool)
    for i, extent in zip(index, x.shape):
        inside &= (i >= 0) & (i < extent)
    return x[tuple(numpy.where(inside, i, 0) for i in index)], inside, index


def reference(case, x, s, t=None, z=None, off=None, p=None, q=None):
    if case.kernel == "gather_blocks":
        rows, columns = (
            s[None, :, None, None].astype(numpy.int64),
            t[None, None, :, None].astype(numpy.int64),
        )
        first = numpy.arange(4) * 2 - 1
        found, inside, _ = pick(
            x,
            numpy.where(first < 6, first, -1)[:, None, None, None],
            rows,
            columns,
            1 + numpy.arange(3),
        )
        doubled, exists, index = pick(
            x, 1 + numpy.arange(4)[:, None, None, None], rows, columns, numpy.arange(2)
        )
        exists &= index[1] != 3
        z = z.copy()
        z[tuple(i[exists] for i in index)] = doubled[exists] * 2
        return {"y": numpy.where(inside, found, 9.0), "z": z}
    window = x[off[0] : off[1]]
    w, inside, _ = (
        pick(window, s[:, None], numpy.arange(4))
        if window.size
        else (numpy.zeros((6, 4)), numpy.zeros((6, 4), bool), None)
    )
    b, has, _ = pick(p, s[:, None], numpy.arange(7))
    n, holds, _ = pick(q, s[:, None], numpy.arange(8))
    o, there, _ = pick(x, s, off[0])
    return {
        "w": numpy.where(inside, w, 0),
        "b": numpy.where(has, b, False),
        "n": numpy.where(holds, n, 0),
        "o": numpy.where(there, o, 0),
    }
