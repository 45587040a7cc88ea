"""The table of accesses: loads, stores, sub-views, by every kind of range, inside the tensor and
out.

A form sees tensors t1, t2, t3 of one to three dimensions of the dtype under test (m1 ... of bool),
or stores into {o}; its reference gets their values.
"""

import numpy as np

from formats import FLOAT8, FLOATS, INTEGERS, NIBBLES, VALUES, isFloat

LOADED = ["bool"] + INTEGERS + FLOATS + FLOAT8 + NIBBLES + ["index"]
STORABLE = ["bool"] + INTEGERS + FLOATS + FLOAT8


def padding(dtype):
    """What `pad:` is in the forms below, as text."""
    return "true" if dtype == "bool" else "2.5" if isFloat(dtype) else "3"


def padValue(dtype):
    return {"true": True, "2.5": 2.5, "3": 3}[padding(dtype)]


class Form:
    def __init__(self, text, reference, result="T", stores=False, nibbles=True, access="out"):
        self.text, self.reference, self.result, self.stores = text, reference, result, stores
        self.nibbles, self.access = nibbles, access


class Accesses:
    plain = False

    def __init__(self, name, dtypes, forms):
        self.name, self.dtypes, self.forms = name, dtypes, forms


def read(t, *positions, pad=0, mask=None):
    """t at lists of positions, one for each dimension (a number drops it); what does not exist is
    `pad`.
    """
    lists = [np.atleast_1d(p) for p in positions]
    grid = np.meshgrid(*lists, indexing="ij")
    inside = np.ones(grid[0].shape, bool)
    for where, extent in zip(grid, t.shape):
        inside &= (where >= 0) & (where < extent)
    if mask is not None:
        inside &= mask
    result = np.full(inside.shape, pad, t.dtype)
    if t.size:
        safe = tuple(np.clip(where, 0, extent - 1) for where, extent in zip(grid, t.shape))
        result = np.where(inside, t[safe], result).astype(t.dtype)
    kept = tuple(slice(None) if np.ndim(p) else 0 for p in positions)
    return result[kept]


def exists(t, *positions):
    return read(np.ones(t.shape, bool), *positions)


def padded(*positions):
    return lambda dtype, t: read(t, *positions, pad=padValue("i64" if dtype == "index" else dtype))


def span(start, size, step=1, end=None):
    """Positions of at(start, size, step:, end:): those behind the end lie outside."""
    where = start + np.arange(size) * step
    return where if end is None else np.where(where < end, where, -1)


def written(shape, dtype, values, *positions, mask=None):
    """Zeros into which values were stored at positions, those outside left out."""
    result = np.zeros(shape, VALUES["i64" if dtype == "index" else dtype])
    lists = [np.atleast_1d(p) for p in positions]
    grid = np.meshgrid(*lists, indexing="ij")
    data = np.broadcast_to(values, grid[0].shape)
    for at in np.ndindex(grid[0].shape):
        where = tuple(int(axis[at]) for axis in grid)
        if all(0 <= w < n for w, n in zip(where, shape)) and (mask is None or mask[at]):
            result[where] = data[at]
    return result


def store(text, shape, reference, **more):
    return Form(
        text, lambda dtype, *t: reference(shape, dtype, *t), stores=True, nibbles=False, **more
    )


TABLE = [
    Accesses(
        "load",
        LOADED,
        [
            Form("t1[at(0, 8)]", lambda dtype, t: read(t, span(0, 8))),
            Form("t1[at(-3, 10)]", lambda dtype, t: read(t, span(-3, 10))),
            Form("t1[at(1, 6, step: 2)]", lambda dtype, t: read(t, span(1, 6, 2))),
            Form("t1[at(2, 16, end: 5)]", lambda dtype, t: read(t, span(2, 16, 1, 5))),
            Form("t1[at(1, 5, step: 3, end: 8)]", lambda dtype, t: read(t, span(1, 5, 3, 8))),
            Form("t2[at(-1, 4), at(2, 8)]", lambda dtype, t: read(t, span(-1, 4), span(2, 8))),
            Form("t2[1, at(0, 8)]", lambda dtype, t: read(t, 1, span(0, 8))),
            Form("t2[at(0, 3), 2]", lambda dtype, t: read(t, span(0, 3), 2)),
            Form("t2[-1, at(0, 4)]", lambda dtype, t: read(t, -1, span(0, 4))),
            Form("t2[0, 1]", lambda dtype, t: read(t, 0, 1)),
            Form("t2[0, 1000000]", lambda dtype, t: read(t, 0, 1000000)),
            Form("t3[at(0, 2), 1, at(1, 4)]", lambda dtype, t: read(t, span(0, 2), 1, span(1, 4))),
            Form(
                "t3[at(1, 3), at(-1, 5), at(0, 6)]",
                lambda dtype, t: read(t, span(1, 3), span(-1, 5), span(0, 6)),
            ),
            Form(
                "t1[at(1, 6, end: -9223372036854775807 - 1)]",
                lambda dtype, t: read(t, np.full(6, -1)),
            ),
            Form("t1[at(9223372036854775804, 5)]", lambda dtype, t: read(t, np.full(5, -1))),
            Form(
                "t1[at(-9223372036854775807, 6, step: 2)]", lambda dtype, t: read(t, np.full(6, -1))
            ),
            Form("t1[at(0, 4) + 3]", lambda dtype, t: read(t, span(3, 4))),
            Form("t1[at(5, 4, end: 8) - 2]", lambda dtype, t: read(t, span(3, 4, 1, 6))),
        ],
    ),
    Accesses(
        "load, pad:",
        LOADED,
        [
            Form("load(t1[at(-3, 10)], pad: {pad})", padded(span(-3, 10))),
            Form("load(t2[at(1, 4), at(-1, 20)], pad: {pad})", padded(span(1, 4), span(-1, 20))),
            Form("load(t2[99, at(0, 4)], pad: {pad})", padded(99, span(0, 4))),
            Form("load(t2[0, -1], pad: {pad})", padded(0, -1)),
        ],
    ),
    Accesses(
        "load, mask:",
        LOADED,
        [
            Form(
                "load(t1[at(0, 8)], mask: iota(8) % 3 == 0)",
                lambda dtype, t: read(t, span(0, 8), mask=np.arange(8) % 3 == 0),
            ),
            Form(
                "load(t2[at(0, 4), at(-2, 8)], mask: iota(4)[:, None] < iota(8), pad: {pad}, cache:"
                ' "stream")',
                lambda dtype, t: read(
                    t,
                    span(0, 4),
                    span(-2, 8),
                    mask=np.arange(4)[:, None] < np.arange(8),
                    pad=padValue("i64" if dtype == "index" else dtype),
                ),
            ),
        ],
    ),
    Accesses(
        "inside",
        LOADED,
        [
            Form("inside(t1[at(-3, 10)])", lambda dtype, t: exists(t, span(-3, 10)), "bool"),
            Form(
                "inside(t2[at(1, 4), at(0, 8, step: 2, end: 9)])",
                lambda dtype, t: exists(t, span(1, 4), span(0, 8, 2, 9)),
                "bool",
            ),
            Form(
                "inside(t1[at(9223372036854775804, 5)])",
                lambda dtype, t: exists(t, np.full(5, -1)),
                "bool",
            ),
            Form("inside(t2[1, at(0, 3)])", lambda dtype, t: exists(t, 1, span(0, 3)), "bool"),
        ],
    ),
    Accesses(
        "sub-view",
        LOADED,
        [
            Form("t2[1][at(0, 8)]", lambda dtype, t: read(t, 1, span(0, 8))),
            Form(
                "t2[1..3, :][at(0, 4), at(0, 8)]",
                lambda dtype, t: read(t[1:3], span(0, 4), span(0, 8)),
                nibbles=False,
            ),
            Form("t1[2..5][at(-1, 6)]", lambda dtype, t: read(t[2:5], span(-1, 6)), nibbles=False),
            Form("t1[5..2][at(0, 4)]", lambda dtype, t: read(t[0:0], span(0, 4)), nibbles=False),
            Form("t1[-4..1000000][at(0, 9)]", lambda dtype, t: read(t, span(0, 9)), nibbles=False),
            Form(
                "t2.T[at(0, 5), at(-1, 4)]",
                lambda dtype, t: read(t.T, span(0, 5), span(-1, 4)),
                nibbles=False,
            ),
            Form(
                "permute(t3, [2, 0, 1])[at(0, 4), at(0, 2), 1]",
                lambda dtype, t: read(t.transpose(2, 0, 1), span(0, 4), span(0, 2), 1),
                nibbles=False,
            ),
            Form(
                "t3[1, 0..2][at(0, 3), at(1, 4)]",
                lambda dtype, t: read(
                    (
                        t[1:2, 0:2].reshape(-1, t.shape[2])
                        if t.shape[0] > 1
                        else np.zeros((0, 0), t.dtype)
                    ),
                    span(0, 3),
                    span(1, 4),
                ),
                nibbles=False,
            ),
            Form(
                "t3[7][at(0, 3), at(1, 4)]",
                lambda dtype, t: (
                    read(np.zeros((0, 0), t.dtype), span(0, 3), span(1, 4))
                    if t.shape[0] <= 7
                    else None
                ),
            ),
        ],
    ),
    Accesses(
        "store",
        STORABLE,
        [
            store(
                "{o}[at(-2, 8)] = t1[at(0, 8)];",
                (9,),
                lambda shape, dtype, t: written(shape, dtype, read(t, span(0, 8)), span(-2, 8)),
            ),
            store(
                "{o}[at(1, 8, step: 3)] = t1[at(0, 8)];",
                (20,),
                lambda shape, dtype, t: written(shape, dtype, read(t, span(0, 8)), span(1, 8, 3)),
            ),
            store(
                "{o}[at(3, 8, end: 7)] = t1[at(0, 8)];",
                (20,),
                lambda shape, dtype, t: written(
                    shape, dtype, read(t, span(0, 8)), span(3, 8, 1, 7)
                ),
            ),
            store(
                "{o}[at(1, 4), at(-1, 8)] = t2[at(0, 4), at(0, 8)];",
                (3, 6),
                lambda shape, dtype, t: written(
                    shape, dtype, read(t, span(0, 4), span(0, 8)), span(1, 4), span(-1, 8)
                ),
            ),
            store(
                "{o}[1, at(0, 8)] = t1[at(0, 8)];",
                (3, 6),
                lambda shape, dtype, t: written(shape, dtype, read(t, span(0, 8)), 1, span(0, 8)),
            ),
            store(
                "{o}[at(0, 4), 2] = t1[at(0, 4)];",
                (3, 6),
                lambda shape, dtype, t: written(
                    shape, dtype, read(t, span(0, 4))[:, None], span(0, 4), 2
                ),
            ),
            store(
                "{o}[at(0, 4), at(1, 3)] = t1[0];",
                (3, 6),
                lambda shape, dtype, t: written(shape, dtype, read(t, 0), span(0, 4), span(1, 3)),
            ),
            store(
                "{o}[2] = t1[1];",
                (5,),
                lambda shape, dtype, t: written(shape, dtype, read(t, 1), 2),
            ),
            store(
                "{o}[99] = t1[1];",
                (5,),
                lambda shape, dtype, t: written(shape, dtype, read(t, 1), 99),
            ),
            store(
                "{o}.T[at(0, 4), at(0, 3)] = t2[at(0, 4), at(0, 3)];",
                (3, 6),
                lambda shape, dtype, t: written(
                    shape, dtype, read(t, span(0, 4), span(0, 3)).T, span(0, 3), span(0, 4)
                ),
            ),
            store(
                "{o}[1..3, 2..5][at(0, 4), at(-1, 4)] = t2[at(0, 4), at(0, 4)];",
                (4, 6),
                lambda shape, dtype, t: windowed(shape, dtype, t),
            ),
        ],
    ),
    Accesses(
        "store, mask:",
        STORABLE,
        [
            store(
                "store({o}[at(0, 8)], t1[at(0, 8)], mask: iota(8) % 3 == 1);",
                (7,),
                lambda shape, dtype, t: written(
                    shape, dtype, read(t, span(0, 8)), span(0, 8), mask=np.arange(8) % 3 == 1
                ),
            ),
            store(
                "store({o}[at(0, 4), at(1, 8)], t1[at(0, 8)], mask: iota(4)[:, None] > iota(8),"
                ' cache: "stream");',
                (3, 6),
                lambda shape, dtype, t: written(
                    shape,
                    dtype,
                    read(t, span(0, 8)),
                    span(0, 4),
                    span(1, 8),
                    mask=np.arange(4)[:, None] > np.arange(8),
                ),
            ),
        ],
    ),
]


def windowed(shape, dtype, t):
    result = np.zeros(shape, VALUES[dtype])
    result[1:3, 2:5] = written(
        (2, 3), dtype, read(t, span(0, 4), span(0, 4)), span(0, 4), span(-1, 4)
    )
    return result
