"""Products of unlike shapes against NumPy in float64."""

import numpy
from case import Case, InOut, Input, Scalar

SHAPES = [
    [(1, 1, 1)],
    [(64, 64, 32)],
    [(3, 5, 7), (0, 4, 4), (65, 70, 33), (2, 129, 0), (31, 1, 100)],
    [(17, 16, 40)] * 3 + [(200, 8, 8)],
    [(128, 64, 64), (64, 128, 96), (1, 256, 31)],
]
CASES = [
    Case("S=0", T="f32"),
    Case("S=1", T="f16"),
    Case("S=2", T="f16"),
    Case("S=2", T="f32"),
    Case("S=3", T="f16"),
    Case("S=4", T="f16"),
    Case("S=4", T="f32", BM=32, BN=32, BK=16),
]


def layout(case):
    sizes = numpy.array(SHAPES[case.S], dtype=numpy.int64)
    m, n, k = sizes.T
    starts = [numpy.concatenate([[0], numpy.cumsum(area)[:-1]]) for area in (m * k, k * n, m * n)]
    return m, n, k, starts


def fixed(dtype, values):
    return Input(dtype, (len(values),), lambda random, shape: numpy.array(values))


def arguments(case):
    m, n, k, (a_at, b_at, c_at) = layout(case)
    rows, columns = (int(case.definitions.get(name, 64)) for name in ("BM", "BN"))
    tiles = sum(-(-int(p) // rows) * -(-int(q) // columns) for p, q in zip(m, n))
    tolerance = 2e-3 if case.T == "f16" else 1e-5
    c = InOut(case.T, (int((m * n).sum()) + 3,), rtol=tolerance, atol=tolerance * 20)
    a, b = (Input(case.T, (max(1, int(area.sum())),)) for area in (m * k, k * n))
    return {
        "a": a,
        "b": b,
        "c": c,
        "m": fixed("i32", m),
        "n": fixed("i32", n),
        "k": fixed("i32", k),
        "a_at": fixed("i64", a_at),
        "b_at": fixed("i64", b_at),
        "c_at": fixed("i64", c_at),
        "tiles": Scalar("i32", tiles + 2),
    }


def reference(case, a, b, c, **_):
    m, n, k, (a_at, b_at, c_at) = layout(case)
    for p, q, r, i, j, o in zip(m, n, k, a_at, b_at, c_at):
        left, right = a[i : i + p * r].reshape(p, r), b[j : j + r * q].reshape(r, q)
        c[o : o + p * q] = (left.astype(float) @ right.astype(float)).ravel()
    return {"c": c}
