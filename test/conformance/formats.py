"""The dtypes of the language in NumPy: how their values are held, stored in .npy files, rounded to,
and which are special.

Values of a dtype are held in the NumPy dtype that has it, bf16 and the 8-bit floats in float32
(which holds them exactly), index in int64. bf16 and 8-bit floats are stored as their bits, two
integers of 4 bits as a byte.
"""

import numpy as np

FLOATS = ["f16", "bf16", "f32", "f64"]
SIGNED = ["i8", "i16", "i32", "i64"]
UNSIGNED = ["u8", "u16", "u32", "u64"]
INTEGERS = SIGNED + UNSIGNED
# Bits of the mantissa, the bias, the code of the largest finite number; the code behind it is
# infinity if there is one, and the last code is NaN.
CODES8 = {"f8e4m3": (3, 7, 0x7E), "f8e5m2": (2, 15, 0x7B)}
FLOAT8 = list(CODES8)
NIBBLES = ["i4", "u4"]
STORED = ["bool"] + INTEGERS + FLOATS + FLOAT8 + NIBBLES
ALL = STORED + ["index"]

VALUES = {
    "bool": np.bool_,
    "i8": np.int8,
    "i16": np.int16,
    "i32": np.int32,
    "i64": np.int64,
    "u8": np.uint8,
    "u16": np.uint16,
    "u32": np.uint32,
    "u64": np.uint64,
    "f16": np.float16,
    "bf16": np.float32,
    "f32": np.float32,
    "f64": np.float64,
    **dict.fromkeys(FLOAT8, np.float32),
    "i4": np.int8,
    "u4": np.uint8,
    "index": np.int64,
}
BITS = {
    "bool": 8,
    "i8": 8,
    "i16": 16,
    "i32": 32,
    "i64": 64,
    "u8": 8,
    "u16": 16,
    "u32": 32,
    "u64": 64,
    "f16": 16,
    "bf16": 16,
    "f32": 32,
    "f64": 64,
    **dict.fromkeys(FLOAT8, 8),
    "i4": 4,
    "u4": 4,
    "index": 64,
}
# Digits of the significand, the least exponent of a normal number, the largest finite number.
FORMATS = {
    "f16": (11, -14, 65504.0),
    "bf16": (8, -126, float.fromhex("0x1.fep127")),
    "f32": (24, -126, float.fromhex("0x1.fffffep127")),
    "f64": (53, -1022, float.fromhex("0x1.fffffffffffffp1023")),
}
for _dtype, (_mantissa, _bias, _largest) in CODES8.items():
    _digits = _largest & ((1 << _mantissa) - 1) | (1 << _mantissa)
    FORMATS[_dtype] = (
        _mantissa + 1,
        1 - _bias,
        float(np.ldexp(_digits, (_largest >> _mantissa) - _bias - _mantissa)),
    )
long = np.longdouble


def isFloat(dtype):
    return dtype in FORMATS


def hasInfinity(dtype):
    """Of a float: has it codes for infinity?"""
    return dtype not in FLOAT8 or CODES8[dtype][2] + 1 != 0x7F


def bounds(dtype):
    """The least and the greatest value of an integer dtype."""
    if dtype == "i4":
        return -8, 7
    if dtype == "u4":
        return 0, 15
    info = np.iinfo(VALUES[dtype])
    return int(info.min), int(info.max)


def unit(values, dtype):
    """The distance between the neighbours of each number in a float dtype."""
    digits, least, _ = FORMATS[dtype]
    with np.errstate(invalid="ignore"):
        _, exponent = np.frexp(np.where(np.isfinite(values), values, 1).astype(long))
    return np.ldexp(long(1), (np.maximum(exponent - 1, least) - (digits - 1)).astype(np.int32))


def roundTo(values, dtype):
    """Numbers rounded once to a float dtype, ties to even; the 8-bit floats saturate to finite.
    Exact for what long double holds.
    """
    values = np.asarray(values, long)
    _, _, largest = FORMATS[dtype]
    step = unit(values, dtype)
    with np.errstate(all="ignore"):
        rounded = np.where(np.isfinite(values), np.rint(values / step) * step, values)
        rounded = np.where(rounded == 0, np.copysign(long(0), values), rounded)
        beyond = np.abs(rounded) > largest
    limit = largest if dtype in FLOAT8 else np.inf
    rounded = np.where(beyond & ~np.isnan(values), np.copysign(long(limit), values), rounded)
    with np.errstate(all="ignore"):
        return rounded.astype(VALUES[dtype])


def wrap(values, dtype):
    """Python integers reduced to an integer dtype."""
    low, high = bounds(dtype)
    return np.array(
        [(int(v) - low) % (high - low + 1) + low for v in np.asarray(values, object).ravel()],
        VALUES[dtype],
    ).reshape(np.shape(values))


def decode8(codes, dtype):
    """The numbers that the codes of an 8-bit float stand for."""
    mantissa, bias, largest = CODES8[dtype]
    magnitude = codes.astype(np.int64) & 0x7F
    exponent, fraction = magnitude >> mantissa, magnitude & ((1 << mantissa) - 1)
    value = np.where(
        exponent == 0,
        np.ldexp(fraction.astype(float), 1 - bias - mantissa),
        np.ldexp((fraction + (1 << mantissa)).astype(float), exponent - bias - mantissa),
    )
    value = np.where(magnitude > largest, np.nan, value)
    if hasInfinity(dtype):
        value = np.where(magnitude == largest + 1, np.inf, value)
    return np.where(codes & 0x80, -value, value).astype(np.float32)


def encode8(values, dtype):
    """Codes of numbers that an 8-bit float holds exactly."""
    codes = np.arange(256, dtype=np.uint8)
    table = decode8(codes, dtype)
    order = np.argsort(np.where(np.isnan(table), np.inf, table), kind="stable")
    result = np.zeros(values.shape, np.uint8)
    for code in codes[order]:
        number = table[code]
        same = (
            np.isnan(values)
            if np.isnan(number)
            else (values == number) & (np.signbit(values) == np.signbit(number))
        )
        result[same] = code
    return result


def store(values, dtype):
    """Values as they stand in memory."""
    values = np.asarray(values)
    if dtype == "bf16":
        bits = np.ascontiguousarray(values, np.float32).view(np.uint32)
        return np.asarray(
            (bits.reshape(values.shape) >> 16) | (np.isnan(values).astype(np.uint32) << 6)
        ).astype(np.uint16)
    if dtype in FLOAT8:
        return encode8(values, dtype)
    if dtype in NIBBLES:
        return ((values[..., ::2] & 15) | ((values[..., 1::2] & 15) << 4)).astype(np.uint8)
    return np.ascontiguousarray(values, VALUES[dtype]).reshape(values.shape)


def load(stored, dtype):
    """Values of what stands in memory."""
    if dtype == "bf16":
        return (stored.astype(np.uint32) << 16).view(np.float32)
    if dtype in FLOAT8:
        return decode8(stored, dtype)
    return stored


def specials(dtype):
    """Numbers at which operations go wrong, if they do."""
    if dtype == "bool":
        return np.array([False, True])
    if not isFloat(dtype):
        low, high = bounds(dtype)
        bits = BITS[dtype]
        numbers = [
            0,
            1,
            -1,
            2,
            3,
            -3,
            7,
            bits - 1,
            bits,
            bits + 1,
            100,
            low,
            low + 1,
            high,
            high - 1,
            high // 2,
            high // 2 + 1,
            10,
        ]
        return np.array(sorted({n for n in numbers if low <= n <= high}), VALUES[dtype])
    digits, least, largest = FORMATS[dtype]
    tiny, normal = 2.0 ** (least - digits + 1), 2.0**least
    numbers = [
        0.0,
        1.0,
        0.5,
        2.0,
        1.5,
        2.5,
        3.5,
        10.0,
        0.1,
        3.14159265,
        100.25,
        tiny,
        3 * tiny,
        normal - tiny,
        normal,
        largest,
        largest / 2,
        1 + 2.0 ** (1 - digits),
        1 - 2.0**-digits,
        2.0 ** (digits - 1) + 0.5,
        2.0**digits - 1,
        2.0 ** min(digits, 14) + 2,
        0.49,
        1e-3,
        5.5,
        88.0,
        np.inf,
    ]
    numbers = roundTo(np.array(numbers), dtype)
    return np.concatenate([numbers, -numbers, np.array([np.nan], VALUES[dtype])])


def anyValues(random, count, dtype):
    """Numbers of every magnitude."""
    if dtype == "bool":
        return random.integers(0, 2, count).astype(bool)
    if not isFloat(dtype):
        low, high = bounds(dtype)
        wide = [
            int(n)
            for n in random.integers(
                low, high, count, np.uint64 if dtype == "u64" else np.int64, endpoint=True
            )
        ]
        shift = random.integers(0, BITS[dtype], count)
        return np.array(
            [n if s % 3 == 0 else n >> int(s) for n, s in zip(wide, shift)], VALUES[dtype]
        )
    digits, least, largest = FORMATS[dtype]
    span = np.log2(largest)
    exponent = np.where(
        random.integers(0, 2, count) == 0,
        random.integers(-8, 8, count),
        random.integers(least - digits, int(span), count),
    )
    return roundTo(
        np.ldexp(random.uniform(1, 2, count) * random.choice([-1, 1], count), exponent), dtype
    )


def ties(random, dtype):
    """Numbers halfway between neighbours of every narrower float dtype, and those just beside them:
    where rounding twice shows.
    """
    found = []
    for to in FORMATS:
        digits, least, largest = FORMATS[to]
        if isFloat(dtype) and digits >= FORMATS[dtype][0]:
            continue
        top = (
            BITS[dtype] - 1
            if not isFloat(dtype)
            else min(np.log2(largest), np.log2(FORMATS[dtype][2])) - 1
        )
        exponents = random.integers(
            0 if not isFloat(dtype) else max(least, FORMATS[dtype][1]) - 2, int(top), 12
        )
        for exponent in exponents:
            step = long(2) ** int(max(exponent, least) - digits + 1)
            middle = (
                np.floor(long(2) ** int(exponent) / step * (1 + random.random())) + long(0.5)
            ) * step
            if isFloat(dtype):
                near = roundTo(np.array([middle]), dtype)
                found += (
                    [
                        near[0],
                        np.nextafter(near[0], VALUES[dtype](np.inf)),
                        np.nextafter(near[0], VALUES[dtype](0)),
                    ]
                    if dtype != "bf16"
                    else [near[0]]
                )
            elif middle == np.floor(middle) and int(middle) < bounds(dtype)[1]:
                found += [int(middle), int(middle) + 1, int(middle) - 1]
    found += [-v for v in found if isFloat(dtype) or bounds(dtype)[0] < 0]
    return np.array(found, VALUES[dtype])


def plainValues(random, shape, dtype):
    """Numbers near 1, for sums and products that must not overflow."""
    if dtype == "bool":
        return random.integers(0, 2, shape).astype(bool)
    if not isFloat(dtype):
        low, high = bounds(dtype)
        return random.integers(max(low, -9), min(high, 9), shape, endpoint=True).astype(
            VALUES[dtype]
        )
    return roundTo(random.standard_normal(shape), dtype)
