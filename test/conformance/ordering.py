"""The table of operations that put tiles together, reduce by any function, order and count; further
rows of tiles.py's.
"""

import numpy as np

from formats import FLOAT8, FLOATS, INTEGERS, isFloat
from tiles import COMPUTED, INDEX, MOVED, NUMBERS, Form, TileOperation, exact, extremeOf


def sortKeys(x, descending):
    """Ranks that order x as asked for, NaN last either way, both zeros alike."""
    known, rank = np.unique(
        np.where(np.isnan(x), 0, x) + 0 if x.dtype.kind == "f" else x, return_inverse=True
    )
    rank = rank.reshape(x.shape)
    rank = known.size - rank if descending else rank
    return np.where(np.isnan(x), 2 * known.size + 2, rank) if x.dtype.kind == "f" else rank


def sorted_(axis, descending=False):
    def reference(dtype, x):
        return np.take_along_axis(
            x, np.argsort(sortKeys(x, descending), axis=axis, kind="stable"), axis
        )

    return reference


def sortedPair(dtype, x, y):
    order = np.argsort(sortKeys(x, False), kind="stable")
    return x[order], y[order]


def top(count, axis):
    def reference(dtype, x):
        order = np.take(np.argsort(sortKeys(x, True), axis=axis, kind="stable"), range(count), axis)
        return np.take_along_axis(x, order, axis), order

    return reference


def counted(x, mask=None):
    inside = (x >= 0) & (x < 8) & (True if mask is None else mask)
    return np.bincount(x[inside].astype(np.int64), minlength=8)


def pair(dtype, x, y):
    return extremeOf(True, None)(dtype, x), y.ravel()[-1]


def batched(dtype, x, y):
    with np.errstate(all="ignore"):
        wide = np.longdouble if isFloat(dtype) else np.int64
        return x.astype(wide) @ y.astype(wide).swapaxes(1, 2)


def batchedBound(dtype, x, y):
    size = np.nan_to_num(np.abs(x.astype(np.longdouble)), posinf=0) @ np.nan_to_num(
        np.abs(y.astype(np.longdouble)), posinf=0
    ).swapaxes(1, 2)
    return (
        (x.shape[2] + 1)
        * (2.0**-52 if dtype == "f64" else 2.0**-12 if dtype in FLOAT8 else 2.0**-23)
        * size
    )


def accumulator(dtype):
    return "f64" if dtype == "f64" else "f32" if isFloat(dtype) else "i32"


ORDERED = COMPUTED + INDEX

TABLE = [
    TileOperation(
        "reduce",
        ORDERED,
        [
            Form("reduce(keepFirst, x1)", lambda dtype, x: x[0]),
            Form("reduce(keepLast, x2, axis: 0)", lambda dtype, x: x[-1]),
            Form("reduce(keepLast, x2, axis: 1, keep: true)", lambda dtype, x: x[:, -1:]),
            Form("reduce(keepFirst, x3, axis: 1)", lambda dtype, x: x[:, 0]),
        ],
    ),
    TileOperation(
        "reduce (of tuples)",
        NUMBERS + INDEX,
        [Form("reduce(largerAndLast, (x1, y1))", pair, ("T", "T"))],
    ),
    TileOperation(
        "concat",
        MOVED,
        [
            exact("concat([x1, y1], axis: 0)", lambda x, y: np.concatenate([x, y])),
            exact("concat([x2, y2, x2], axis: 0)", lambda x, y: np.concatenate([x, y, x])),
            exact("concat([y2, x2], axis: -1)", lambda x, y: np.concatenate([y, x], 1)),
        ],
    ),
    TileOperation(
        "stack",
        MOVED,
        [
            exact("stack([x1, y1], axis: 0)", lambda x, y: np.stack([x, y])),
            exact("stack([x1, y1], axis: 1)", lambda x, y: np.stack([x, y], 1)),
            exact("stack([x2, y2, y2], axis: 2)", lambda x, y: np.stack([x, y, y], 2)),
        ],
    ),
    TileOperation(
        "repeat",
        MOVED,
        [
            exact("repeat(x1, 3)", lambda x: np.repeat(x, 3)),
            exact("repeat(x2, 2, axis: 0)", lambda x: np.repeat(x, 2, 0)),
            exact("repeat(x2, 3, axis: 1)", lambda x: np.repeat(x, 3, 1)),
        ],
    ),
    TileOperation(
        "flip",
        MOVED,
        [
            exact("flip(x1)", lambda x: x[::-1]),
            exact("flip(x2, axis: 0)", lambda x: x[::-1]),
            exact("flip(x2, axis: 1)", lambda x: x[:, ::-1]),
            exact("flip(x3, axis: 1)", lambda x: x[:, ::-1]),
        ],
    ),
    TileOperation(
        "sort",
        ORDERED,
        [
            Form("sort(x1)", sorted_(0)),
            Form("sort(x2, axis: 0)", sorted_(0)),
            Form("sort(x2, axis: 1, descending: true)", sorted_(1, True)),
            Form("sort(x3, axis: 1)", sorted_(1)),
            Form("sort((x1, y1))", sortedPair, ("T", "T")),
        ],
    ),
    TileOperation(
        "topk",
        ORDERED,
        [
            Form("topk(x1, 1)", top(1, 0), ("T", "index")),
            Form("topk(x1, 4)", top(4, 0), ("T", "index"), least=4),
            Form("topk(x2, 3, axis: 1)", top(3, 1), ("T", "index"), least=3),
        ],
    ),
    TileOperation(
        "histogram",
        INTEGERS + INDEX,
        [
            Form("histogram(x1, 8)", lambda dtype, x: counted(x), "i32"),
            Form("histogram(x2, 8)", lambda dtype, x: counted(x), "i32"),
            Form("histogram(x1, 8, mask: m1)", lambda dtype, m, x: counted(x, m), "i32"),
        ],
    ),
]
TABLE.append(
    TileOperation(
        "dot (batched)",
        FLOATS + FLOAT8 + ["i8", "u8"],
        [Form("dot(x3, y3.T)", batched, accumulator, batchedBound, zeroSigns=False)],
        plain=True,
    )
)
FUNCTIONS = "fn largerAndLast(a1, b1, a2, b2) { return (max(a1, a2), b2); }\n"
