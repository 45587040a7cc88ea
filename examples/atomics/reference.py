"""Atomics against NumPy. Where old values are looked at, positions are all different, so that they
are known.
"""

import numpy
from case import STORAGE, Case, InOut, Input, Output, load, store

WHOLE = ["i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64"]
CASES = (
    [Case("N=1 S=1", kernel="exchange", T="i32")]
    + [Case("N=101 S=150", kernel="exchange", T=t) for t in WHOLE]
    + [Case("N=77 S=100", kernel="exchange", T=t, B=8) for t in ("i8", "i64")]
    + [Case("N=101 S=150", kernel="compare_exchange", T=t) for t in WHOLE]
    + [Case("N=77 S=100", kernel="compare_exchange", T="u8", B=12)]
    + [Case("N=101 S=150", kernel="add", T=t) for t in WHOLE[2:] + ["f16", "bf16", "f32", "f64"]]
    + [Case("N=77 S=100", kernel="add", T=t, B=4) for t in ("i16", "bf16", "f64")]
    + [Case("N=1009 S=5", kernel="bits", T=t) for t in WHOLE]
    + [Case("N=1009 S=5", kernel="bits", T="u8", B=24)]
    + [
        Case("M=1 K=1 N=1 S=1", kernel="ranges"),
        Case("M=9 K=17 N=33 S=5", kernel="ranges"),
        Case("M=13 K=19 N=21 S=40", kernel="ranges", BM=3, BK=6, BN=12),
        Case("N=1 H=1 W=1", kernel="points"),
        Case("N=333 H=31 W=37", kernel="points"),
        Case("N=100 H=31 W=37", kernel="points", B=7),
    ]
)


def anything(dtype):
    def values(random, shape):
        if dtype in WHOLE:
            limits = numpy.iinfo(STORAGE[dtype])
            return random.integers(limits.min, limits.max, shape, STORAGE[dtype], endpoint=True)
        return random.standard_normal(shape)

    return values


def changed(dtype, shape, values=None):
    tensor = InOut(dtype, shape, rtol=None, atol=0)
    tensor.values = values or anything(dtype)
    return tensor


def exact(dtype, shape):
    return Output(dtype, shape, rtol=None, atol=0)


def arguments(case):
    if case.kernel == "ranges":

        def whole(random, shape):
            return random.integers(-9, 10, shape)

        return {
            "x": Input("f32", (case.M, case.K, case.N), whole),
            "at": Input(
                "i32", (case.K,), lambda random, shape: random.integers(-1, case.S + 1, shape)
            ),
            "y": changed("f32", (case.M, case.S, case.N), whole),
            "z": exact("f32", (case.M, case.N)),
        }
    if case.kernel == "points":

        def part(axis):
            def values(random, shape):
                chosen = case.random("points").permutation(case.H * case.W)[: case.N]
                point = numpy.stack(numpy.divmod(chosen, case.W))
                if case.N > 5:
                    point[0, 4], point[1, 5] = -1, 2**32 - 1
                return point[axis]

            return values

        return {
            "x": Input("f32", (case.N,)),
            "rows": Input("i32", (case.N,), part(0)),
            "columns": Input("u32", (case.N,), part(1)),
            "y": changed("f32", (case.H, case.W)),
            "back": exact("f32", (case.N,)),
        }
    T, x = case.T, Input(case.T, (case.N,), anything(case.T))
    if case.kernel == "bits":
        at = Input("i64", (case.N,), lambda random, shape: random.integers(-1, case.S + 1, shape))
        return {
            "x": x,
            "at": at,
            **{name: changed(T, (case.S,)) for name in ("conjunction", "disjunction", "parity")},
        }

    def places(random, shape):
        at = random.permutation(case.S)[: case.N]
        if case.N > 3:
            at[2], at[3] = -1, case.S
        return at

    at, y, old = Input("i32", (case.N,), places), changed(T, (case.S,)), exact(T, (case.N,))
    if case.kernel != "compare_exchange":
        return {"x": x, "at": at, "y": y, "old": old}

    def guesses(random, shape):
        before = y.values(case.random("y"), (case.S,))[
            numpy.clip(places(case.random("at"), shape), 0, case.S - 1)
        ]
        return numpy.where(random.integers(0, 2, shape) == 1, before, anything(T)(random, shape))

    return {"x": x, "expected": Input(T, (case.N,), guesses), "at": at, "y": y, "old": old}


def reference(case, x, at=None, y=None, expected=None, rows=None, columns=None, **tensors):
    if case.kernel == "ranges":
        inside = (at >= 0) & (at < case.S)
        y = y.copy()
        for k in numpy.flatnonzero(inside):
            y[:, at[k], :] += x[:, k, :]
        return {"y": y, "z": x.sum(axis=1)}
    if case.kernel == "points":
        inside = (rows >= 0) & (rows < case.H) & (columns < case.W)
        y, writes = y.copy(), inside & (numpy.arange(case.N) % 3 != 0)
        y[rows[writes], columns[writes]] = x[writes]
        back = numpy.full(case.N, -1.0)
        back[inside] = y[rows[inside], columns[inside]]
        return {"y": y, "back": back}
    inside = (at >= 0) & (at < case.S)
    if case.kernel == "bits":
        result = {}
        for name, function in (
            ("conjunction", numpy.bitwise_and),
            ("disjunction", numpy.bitwise_or),
            ("parity", numpy.bitwise_xor),
        ):
            result[name] = tensors[name].copy()
            function.at(result[name], at[inside], x[inside])
        return result
    y, old = y.copy(), numpy.zeros_like(y, shape=x.shape)
    old[inside] = y[at[inside]]
    with numpy.errstate(over="ignore"):
        new = {
            "exchange": x,
            "compare_exchange": numpy.where(old == expected, x, old),
            "add": old + x,
        }[case.kernel]
    y[at[inside]] = load(store(new, case.T), case.T)[inside]
    return {"y": y, "old": old}
