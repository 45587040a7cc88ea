"""The table of operations on whole tiles: reductions, scans, shapes, products, accesses.

A form is one way to write an operation. Its operands x1, x2, x3 are tiles of one to three
dimensions of the dtype under test (y: of the same shapes with other values; m: of bool), read with
padding where their tensors end. The reference gets them as arrays.
"""

import numpy as np

from formats import FLOAT8, FLOATS, INTEGERS, NIBBLES, STORED, VALUES, isFloat, long, roundTo, wrap

NUMBERS = INTEGERS + FLOATS
COMPUTED = ["bool"] + NUMBERS
SUMMED = ["i32", "i64", "u32", "u64"] + FLOATS
INDEX = ["index"]

# Class: (programs, extents of the tensors x1, x2, x3 without that of the programs, extents of their
# tiles).
CLASSES = {
    "empty": (1, [(0,), (0, 3), (2, 0, 2)], [(4,), (2, 3), (2, 3, 2)]),
    "one": (1, [(1,), (1, 1), (1, 1, 1)], [(1,), (1, 1), (1, 1, 1)]),
    "tail": (2, [(11,), (3, 13), (2, 3, 5)], [(16,), (4, 16), (2, 4, 8)]),
    "odd": (2, [(7,), (5, 6), (3, 5, 2)], [(7,), (5, 6), (3, 5, 2)]),
    "blocks": (3, [(300,), (24, 64), (4, 8, 16)], [(300,), (24, 64), (4, 8, 16)]),
    "special": (40, [(8,), (4, 4), (2, 2, 2)], [(8,), (4, 4), (2, 2, 2)]),
}


class Form:
    """`bound(*operands)`: how far from the reference (in long double) each element may be; None:
    not at all.
    """

    def __init__(self, text, reference, result="T", bound=None, zeroSigns=True, least=1):
        self.text, self.reference, self.result, self.bound, self.zeroSigns = (
            text,
            reference,
            result,
            bound,
            zeroSigns,
        )
        self.least = least  # of the operands' extents


class TileOperation:
    """`plain`: its operands are numbers near 1 (but in the class `special`)."""

    def __init__(self, name, dtypes, forms, plain=False):
        self.name, self.dtypes, self.forms, self.plain = name, dtypes, forms, plain


def rounded(dtype):
    """Half a unit in the last place of a dtype's numbers near 1, sums of 16-bit floats being taken
    in f32.
    """
    return {"f16": 2.0**-24, "bf16": 2.0**-24, "f32": 2.0**-24, "f64": 2.0**-53}[dtype]


def summed(text, function, axis, reverse=False):
    """Sums, products, and their scans. `function` works on long double or on Python integers, along
    `axis` (None: all).
    """
    along = {} if axis is None else {"axis": axis}

    def reference(dtype, x):
        with np.errstate(all="ignore"):
            if isFloat(dtype):
                result = function(x.astype(long), **along)
                return roundTo(result, "f32").astype(long) if dtype in ("f16", "bf16") else result
            return wrap(function(x.astype(object), **along), dtype)

    def bound(dtype, x):
        count = x.size if axis is None else x.shape[axis]
        with np.errstate(all="ignore"):
            size = function(np.abs(x.astype(long)), **along)
            if function in (np.prod, np.cumprod):
                size = np.abs(size) + 0 * size
            result = np.abs(function(x.astype(long), **along))
            return (
                count * rounded(dtype) * size
                + 2.0 ** -FORMAT_DIGITS[dtype] * 1.01 * result
                + least(dtype)
            )

    return Form(text, reference, bound=bound, zeroSigns=False)


FORMAT_DIGITS = {"f16": 11, "bf16": 8, "f32": 24, "f64": 53}


def least(dtype):
    """The least positive number, and in a chain of products what a subnormal result may lose."""
    return {"f16": 2.0**-24, "bf16": 2.0**-126, "f32": 2.0**-126, "f64": 2.0**-1022}[dtype]


def extremeOf(isMax, axis, keep=False):
    """NaN wins; -0 is less than +0."""

    def reference(dtype, x):
        if not isFloat(dtype):
            return (np.max if isMax else np.min)(x, axis=axis, keepdims=keep)
        key = np.where(np.isnan(x), np.inf if isMax else -np.inf, x).astype(np.float64)
        function = np.max if isMax else np.min
        with np.errstate(invalid="ignore"):
            result = function(key, axis=axis, keepdims=keep)
            zero = function(
                np.where(x == 0, np.where(np.signbit(x), -1, 1), -2 if isMax else 2),
                axis=axis,
                keepdims=keep,
            )
        result = np.where((result == 0), np.where(zero < 0, -0.0, 0.0), result)
        return np.where(np.isnan(x).any(axis=axis, keepdims=keep), np.nan, result).astype(x.dtype)

    return reference


def positionOf(isMax, axis):
    """The first of the most extreme; a NaN is more extreme than an infinity."""

    def reference(dtype, x):
        if not isFloat(dtype):
            return (np.argmax if isMax else np.argmin)(x, axis=axis)
        ordered = x.astype(np.float64) * (1 if isMax else -1)
        known, rank = np.unique(np.where(np.isnan(x), np.inf, ordered), return_inverse=True)
        return np.argmax(np.where(np.isnan(x), known.size, rank.reshape(x.shape)), axis=axis)

    return reference


def exact(text, function, result="T"):
    """An operation that moves values, or whose reference needs no dtype."""
    return Form(text, lambda dtype, *x: function(*x), result)


def both(name, function):
    return [
        summed(f"{name}(x1)", function, None),
        summed(f"{name}(x2)", function, None),
        summed(f"{name}(x2, axis: 0)", function, 0),
        summed(f"{name}(x2, axis: 1)", function, 1),
        summed(f"{name}(x3, axis: 1)", function, 1),
        summed(f"{name}(x3, axis: -1)", function, 2),
        summed(f"{name}(x2, axis: 0, keep: true)[0, :]", function, 0),
    ]


def scans(name, function):
    def reversed_(axis):
        return lambda x, axis=axis: np.flip(function(np.flip(x, axis), axis=axis), axis)

    return [
        summed(f"{name}(x1)", function, 0),
        summed(f"{name}(x2, axis: 0)", function, 0),
        summed(f"{name}(x2, axis: 1)", function, 1),
        summed(f"{name}(x3, axis: 1)", function, 1),
        summed(f"{name}(x2, axis: 1, reverse: true)", reversed_(1), 1),
        summed(f"{name}(x1, axis: 0, reverse: true)", reversed_(0), 0),
    ]


def scanOf(isMax, axis, reverse=False):
    def reference(dtype, x):
        x = np.flip(x, axis) if reverse else x
        parts = [
            extremeOf(isMax, axis, True)(dtype, np.take(x, range(i + 1), axis))
            for i in range(x.shape[axis])
        ]
        result = np.concatenate(parts, axis)
        return np.flip(result, axis) if reverse else result

    return reference


def boolean(name, function, result):
    return [
        exact(f"{name}(m1)", function, result),
        exact(f"{name}(m2, axis: 0)", lambda m: function(m, axis=0), result),
        exact(f"{name}(m2, axis: 1)", lambda m: function(m, axis=1), result),
        exact(f"{name}(m3, axis: 1)", lambda m: function(m, axis=1), result),
    ]


def taken(x, axis):
    """Positions before, in and behind the axis."""
    where = np.clip(np.arange(5) * 3 - 2, 0, x.shape[axis] - 1)
    return np.take(x, where, axis)


MOVED = COMPUTED + FLOAT8 + NIBBLES + INDEX

TABLE = [
    TileOperation("sum", SUMMED + INDEX, both("sum", np.sum), plain=True),
    TileOperation("prod", SUMMED + INDEX, both("prod", np.prod), plain=True),
    TileOperation(
        "max",
        NUMBERS + INDEX,
        [
            Form("max(x1)", extremeOf(True, None)),
            Form("max(x2, axis: 0)", extremeOf(True, 0)),
            Form("max(x2, axis: 1, keep: true)", extremeOf(True, 1, True)),
            Form("max(x3, axis: 1)", extremeOf(True, 1)),
        ],
    ),
    TileOperation(
        "min",
        NUMBERS + INDEX,
        [
            Form("min(x1)", extremeOf(False, None)),
            Form("min(x2, axis: 0)", extremeOf(False, 0)),
            Form("min(x2, axis: 1, keep: true)", extremeOf(False, 1, True)),
            Form("min(x3, axis: 1)", extremeOf(False, 1)),
        ],
    ),
    TileOperation(
        "argmax",
        NUMBERS + INDEX,
        [
            Form("argmax(x1)", positionOf(True, None), "index"),
            Form("argmax(x2, axis: 0)", positionOf(True, 0), "index"),
            Form("argmax(x3, axis: 2)", positionOf(True, 2), "index"),
        ],
    ),
    TileOperation(
        "argmin",
        NUMBERS + INDEX,
        [
            Form("argmin(x1)", positionOf(False, None), "index"),
            Form("argmin(x2, axis: 1)", positionOf(False, 1), "index"),
            Form("argmin(x3, axis: 0)", positionOf(False, 0), "index"),
        ],
    ),
    TileOperation("any", ["bool"], boolean("any", np.any, "bool")),
    TileOperation("all", ["bool"], boolean("all", np.all, "bool")),
    TileOperation("count", ["bool"], boolean("count", np.sum, "index")),
    TileOperation("cumsum", SUMMED + INDEX, scans("cumsum", np.cumsum), plain=True),
    TileOperation("cumprod", SUMMED + INDEX, scans("cumprod", np.cumprod), plain=True),
    TileOperation(
        "scan",
        NUMBERS + INDEX,
        [
            Form("scan(max, x1, axis: 0)", scanOf(True, 0)),
            Form("scan(min, x2, axis: 1, reverse: true)", scanOf(False, 1, True)),
            Form("scan(keepFirst, x2, axis: 0)", lambda dtype, x: np.broadcast_to(x[:1], x.shape)),
            Form("scan(keepLast, x3, axis: 1)", lambda dtype, x: x),
        ],
    ),
    TileOperation(
        "reshape",
        MOVED,
        [
            exact("reshape(x2, [{n2}])", lambda x: x.ravel()),
            exact("reshape(x3, [{n3}])", lambda x: x.ravel()),
            exact("reshape(x1, [1, {n1}, 1])", lambda x: x.reshape(1, -1, 1)),
        ],
    ),
    TileOperation(
        "permute",
        MOVED,
        [
            exact("permute(x3, [2, 0, 1])", lambda x: x.transpose(2, 0, 1)),
            exact("permute(x3, [1, 2, 0])", lambda x: x.transpose(1, 2, 0)),
        ],
    ),
    TileOperation(
        ".T", MOVED, [exact("x2.T", lambda x: x.T), exact("x3.T", lambda x: x.transpose(0, 2, 1))]
    ),
    TileOperation(
        "broadcast",
        MOVED,
        [
            exact("broadcast(x1, [3, {n1}])", lambda x: np.broadcast_to(x, (3, x.size))),
            exact(
                "broadcast(x1[:, None], [{n1}, 2])",
                lambda x: np.broadcast_to(x[:, None], (x.size, 2)),
            ),
        ],
    ),
    TileOperation(
        "slice of a tile",
        MOVED,
        [
            exact("x2[0, :]", lambda x: x[0]),
            exact("x2[:, 0]", lambda x: x[:, 0]),
            exact("x3[:, 0..1, None, 0]", lambda x: x[:, 0:1, None, 0]),
            exact("x1[0]", lambda x: x[0]),
        ],
    ),
    TileOperation(
        "take",
        MOVED,
        [
            exact("take(x1, iota(5) * 3 - 2)", lambda x: taken(x, 0)),
            exact("take(x2, iota(5) * 3 - 2, axis: 1)", lambda x: taken(x, 1)),
            exact("take(x2, 1, axis: 0)", lambda x: x[min(1, x.shape[0] - 1)]),
        ],
    ),
    TileOperation("zeros", MOVED, [exact("zeros({T}, [3, 5])", lambda: np.zeros((3, 5)))]),
    TileOperation(
        "full", MOVED, [exact("full({T}, [3, 5], x1[0])", lambda x: np.full((3, 5), x[0]))]
    ),
]


def userFunctions():
    """Functions that forms name."""
    return "fn keepFirst(a, b) { return a; }\nfn keepLast(a, b) { return b; }\n"
