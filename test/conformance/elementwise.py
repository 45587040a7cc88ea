"""The table of element-wise operations: what is written, which dtypes have it, what NumPy or exact
arithmetic says it gives.

A reference takes the operands' values and the dtype and returns either values of the result's
dtype, which must be met bit for bit (a NaN by any NaN), or, where the operation has an error bound,
numbers in long double.
"""

import math

import numpy as np

import functions
from formats import (
    ALL,
    BITS,
    FLOAT8,
    FLOATS,
    INTEGERS,
    NIBBLES,
    SIGNED,
    STORED,
    UNSIGNED,
    VALUES,
    bounds,
    isFloat,
    roundTo,
    wrap,
)

NUMBERS = INTEGERS + FLOATS
COMPUTED = ["bool"] + NUMBERS
INDEX = ["index"]


class Operation:
    """`text` uses operands a, b, c of the dtype under test, named T. `result` is a dtype, or "T".
    `ulp` is the error that the language allows for f32 and f64 (None: exact); f16 and bf16 are that
    rounded once more. `atol` is in multiples of the least normal number.
    """

    def __init__(
        self, name, text, dtypes, reference, result="T", ulp=None, absolute=0.0, plain=False
    ):
        self.name, self.text, self.dtypes, self.reference = name, text, dtypes, reference
        self.result, self.ulp, self.absolute, self.plain = result, ulp, absolute, plain

    def resultDtype(self, dtype):
        return (
            dtype
            if self.result == "T"
            else self.result(dtype)
            if callable(self.result)
            else self.result
        )


def arithmetic(onFloats, onIntegers):
    """A reference for floats (in float32 or wider, then rounded: that is rounding once) and for
    Python integers.
    """

    def apply(dtype, *x):
        if isFloat(dtype):
            wide = [v.astype(np.float32) if dtype in ("f16", "bf16") else v for v in x]
            with np.errstate(all="ignore"):
                result = onFloats(*wide)
            return roundTo(result, dtype) if dtype in ("f16", "bf16") else result
        return wrap([onIntegers(*(int(v) for v in element)) for element in zip(*x)], dtype)

    return apply


def integers(function):
    return lambda dtype, *x: wrap(
        [function(dtype, *(int(v) for v in element)) for element in zip(*x)], dtype
    )


def divide(a, b):
    return 0 if b == 0 else abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def shift(dtype, a, b, isLeft):
    bits = BITS[dtype]
    outside = not 0 <= b < bits
    if isLeft:
        return 0 if outside else a << b
    return (-1 if a < 0 else 0) if outside else a >> b


def compare(function):
    def apply(dtype, a, b):
        with np.errstate(invalid="ignore"):
            return function(a, b)

    return apply


def extreme(isMax, hidesNaN):
    """IEEE's maximum and minimum (maximumNumber, minimumNumber where `hidesNaN`): -0 is less than
    +0.
    """

    def apply(dtype, a, b):
        if not isFloat(dtype):
            return (np.maximum if isMax else np.minimum)(a, b)
        with np.errstate(invalid="ignore"):
            takeA = (
                (a > b) | ((a == b) & ~np.signbit(a))
                if isMax
                else (a < b) | ((a == b) & np.signbit(a))
            )
        result = np.where(takeA, a, b)
        if hidesNaN:
            return np.where(np.isnan(a), b, np.where(np.isnan(b), a, result)).astype(a.dtype)
        return np.where(np.isnan(a) | np.isnan(b), np.array(np.nan, a.dtype), result).astype(
            a.dtype
        )

    return apply


def clampOf(dtype, a, b, c):
    return extreme(False, False)(dtype, extreme(True, False)(dtype, a, b), c)


def rounding(function):
    def apply(dtype, a):
        with np.errstate(invalid="ignore"):
            return function(a).astype(a.dtype)

    return apply


def signOf(dtype, a):
    if isFloat(dtype):
        with np.errstate(invalid="ignore"):
            return np.where(a > 0, 1, np.where(a < 0, -1, a)).astype(a.dtype)
    return np.array([(int(v) > 0) - (int(v) < 0) for v in a], a.dtype)


def absolute(dtype, a):
    return np.abs(a) if isFloat(dtype) else wrap([abs(int(v)) for v in a], dtype)


def floatMath(function):
    return lambda dtype, *x: function(*x)


def bits(dtype, a):
    return int(a) & ((1 << BITS[dtype]) - 1)


def ceilDivide(dtype, a, b):
    return 0 if b == 0 else -((-a) // b)


def nextPower(dtype, a):
    return 1 if a <= 1 else 1 << (a - 1).bit_length()


# What has as many bits, of another kind.
SAME_BITS = {
    "f16": "u16",
    "bf16": "i16",
    "f32": "u32",
    "f64": "i64",
    "i8": "u8",
    "u8": "i8",
    "i16": "f16",
    "u16": "bf16",
    "i32": "f32",
    "u32": "i32",
    "i64": "f64",
    "u64": "f64",
    **dict.fromkeys(FLOAT8, "i8"),
    "f8e4m3": "u8",
}


def reinterpret(dtype, a):
    from formats import load, store

    to = SAME_BITS[dtype]
    stored = np.ascontiguousarray(store(a, dtype))
    return load(stored.view({"bf16": np.uint16}.get(to, VALUES[to])), to)


def math1(name, ulp, function=None, below=0.0):
    return Operation(
        name,
        f"{name}(a)",
        FLOATS,
        floatMath(function or functions.longFunction(name)),
        ulp=ulp,
        absolute=below,
    )


TABLE = [
    Operation("+", "a + b", NUMBERS + INDEX, arithmetic(np.add, lambda a, b: a + b)),
    Operation("-", "a - b", NUMBERS + INDEX, arithmetic(np.subtract, lambda a, b: a - b)),
    Operation("*", "a * b", NUMBERS + INDEX, arithmetic(np.multiply, lambda a, b: a * b)),
    Operation("/", "a / b", NUMBERS + INDEX, arithmetic(np.divide, divide)),
    Operation("%", "a % b", INTEGERS + INDEX, integers(lambda dtype, a, b: a - divide(a, b) * b)),
    Operation(
        "unary -",
        "-a",
        NUMBERS + INDEX,
        lambda dtype, a: -a if isFloat(dtype) else wrap([-int(v) for v in a], dtype),
    ),
    Operation("~", "~a", INTEGERS + INDEX, integers(lambda dtype, a: ~a)),
    Operation("&", "a & b", INTEGERS + INDEX, integers(lambda dtype, a, b: a & b)),
    Operation("|", "a | b", INTEGERS + INDEX, integers(lambda dtype, a, b: a | b)),
    Operation("^", "a ^ b", INTEGERS + INDEX, integers(lambda dtype, a, b: a ^ b)),
    Operation(
        "<<", "a << b", INTEGERS + INDEX, integers(lambda dtype, a, b: shift(dtype, a, b, True))
    ),
    Operation(
        ">>", "a >> b", INTEGERS + INDEX, integers(lambda dtype, a, b: shift(dtype, a, b, False))
    ),
    Operation("!", "!a", ["bool"], lambda dtype, a: ~a),
    Operation("&&", "a && b", ["bool"], lambda dtype, a, b: a & b),
    Operation("||", "a || b", ["bool"], lambda dtype, a, b: a | b),
    Operation("==", "a == b", COMPUTED + INDEX, compare(np.equal), "bool"),
    Operation("!=", "a != b", COMPUTED + INDEX, compare(np.not_equal), "bool"),
    Operation("<", "a < b", NUMBERS + INDEX, compare(np.less), "bool"),
    Operation("<=", "a <= b", NUMBERS + INDEX, compare(np.less_equal), "bool"),
    Operation(">", "a > b", NUMBERS + INDEX, compare(np.greater), "bool"),
    Operation(">=", "a >= b", NUMBERS + INDEX, compare(np.greater_equal), "bool"),
    Operation(
        "where",
        "where(m, a, b)",
        COMPUTED + FLOAT8 + NIBBLES + INDEX,
        lambda dtype, m, a, b: np.where(m, a, b),
    ),
    Operation("min (of two)", "min(a, b)", NUMBERS + INDEX, extreme(False, False)),
    Operation("max (of two)", "max(a, b)", NUMBERS + INDEX, extreme(True, False)),
    Operation("minnum", "minnum(a, b)", NUMBERS + INDEX, extreme(False, True)),
    Operation("maxnum", "maxnum(a, b)", NUMBERS + INDEX, extreme(True, True)),
    Operation("clamp", "clamp(a, b, c)", NUMBERS + INDEX, clampOf),
    Operation("fma", "fma(a, b, c)", FLOATS, lambda dtype, *x: functions.fma(dtype)(*x)),
    Operation("abs", "abs(a)", NUMBERS + INDEX, absolute),
    Operation("sign", "sign(a)", NUMBERS + INDEX, signOf),
    Operation("floor", "floor(a)", FLOATS, rounding(np.floor)),
    Operation("ceil", "ceil(a)", FLOATS, rounding(np.ceil)),
    Operation("round", "round(a)", FLOATS, rounding(np.rint)),
    Operation("trunc", "trunc(a)", FLOATS, rounding(np.trunc)),
    Operation("isnan", "isnan(a)", FLOATS, lambda dtype, a: np.isnan(a), "bool"),
    Operation("isinf", "isinf(a)", FLOATS, lambda dtype, a: np.isinf(a), "bool"),
    Operation("isfinite", "isfinite(a)", FLOATS, lambda dtype, a: np.isfinite(a), "bool"),
    Operation(
        "popcount",
        "popcount(a)",
        INTEGERS + INDEX,
        integers(lambda dtype, a: bin(bits(dtype, a)).count("1")),
    ),
    Operation(
        "clz",
        "clz(a)",
        INTEGERS + INDEX,
        integers(lambda dtype, a: BITS[dtype] - bits(dtype, a).bit_length()),
    ),
    Operation(
        "mulhi",
        "mulhi(a, b)",
        INTEGERS + INDEX,
        integers(lambda dtype, a, b: (a * b) >> BITS[dtype]),
    ),
    Operation("cdiv", "cdiv(a, b)", INTEGERS + INDEX, integers(ceilDivide)),
    Operation("next_pow2", "next_pow2(a)", INTEGERS + INDEX, integers(nextPower)),
    Operation("identity", "identity(a)", COMPUTED + FLOAT8 + NIBBLES + INDEX, lambda dtype, a: a),
    Operation(
        "bitcast", "bitcast(a, {S})", NUMBERS + FLOAT8, reinterpret, lambda dtype: SAME_BITS[dtype]
    ),
    Operation(
        "lowest",
        "lowest({T})",
        NUMBERS + FLOAT8 + INDEX + ["bool"],
        lambda dtype, a: limit(dtype, a, True),
    ),
    Operation(
        "highest",
        "highest({T})",
        NUMBERS + FLOAT8 + INDEX + ["bool"],
        lambda dtype, a: limit(dtype, a, False),
    ),
    Operation("sqrt", "sqrt(a)", FLOATS, arithmetic(np.sqrt, None)),
    Operation(
        "as f32 as bf16",
        "(a as f32) as bf16",
        ["i32", "i64", "u32", "u64"],
        lambda dtype, a: converted(converted(a, dtype, "f32"), "f32", "bf16"),
        "bf16",
    ),
    Operation(
        "as f64 as f32",
        "(a as f64) as f32",
        ["i64", "u64"],
        lambda dtype, a: converted(converted(a, dtype, "f64"), "f64", "f32"),
        "f32",
    ),
    math1("rsqrt", 1.6, functions.rsqrt),
    math1("exp", 2.1),
    math1("exp2", 2.1),
    math1("expm1", 2.0),
    math1("log", 1.6),
    math1("log2", 1.2),
    math1("log1p", 1.7),
    math1("sin", 2.3, functions.sin),
    math1("cos", 2.3, functions.cos),
    math1("tan", 4.2, functions.tan),
    math1("tanh", 2.6),
    math1("erf", 2.2, functions.erf),
    # 1 / (1 + exp(-x)): where exp overflows the result is 0, below the least normal number.
    math1("sigmoid", 3.0, functions.sigmoid, below=1.0),
    Operation("pow", "pow(a, b)", FLOATS, floatMath(functions.power), ulp=1.2),
]


def limit(dtype, a, low):
    if dtype == "bool":
        value = not low
    elif isFloat(dtype):
        from formats import FORMATS

        value = FORMATS[dtype][2] * (-1 if low else 1)
    else:
        value = bounds(dtype)[0 if low else 1]
    return np.full(a.shape, value, VALUES[dtype])


def converted(values, source, to):
    """`as`: truncates and saturates to integers, wraps between them, rounds once to floats,
    saturates to 8-bit floats.
    """
    if source == to:
        return values
    if isFloat(to):
        if isFloat(source):
            return roundTo(values, to)
        return roundTo(np.array([np.longdouble(int(v)) for v in values], np.longdouble), to)
    if not isFloat(source):
        return wrap([int(v) for v in values], to)
    low, high = bounds(to)
    return np.array(
        [
            0 if v != v else high if v > high else low if v < low else int(v)
            for v in (float(x) for x in values)
        ],
        VALUES[to],
    )


# `as`: every dtype but bool, i4 and u4 can be converted to; from bool and the packed integers too.
CASTS_TO = NUMBERS + FLOAT8 + INDEX
CASTS_FROM = STORED + INDEX


def operandNames(text):
    """Which of m, a, b, c an operation's text names."""
    import re

    return [name for name in "mabc" if re.search(rf"\b{name}\b", text)]
