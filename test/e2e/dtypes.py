"""Unsigned integers, 8-bit floats and 4-bit integers against NumPy: every code of f8, conversions,
arithmetic, reductions, products, accesses of half bytes. Arguments: tilec, and cuda to run it
there.
"""

import os
import subprocess
import sys
import tempfile

import numpy as np
from cpu_kernel import NUMPY

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "Inputs", "dtypes.tile")
TILEC, DEVICE = sys.argv[1], (sys.argv[2:] or ["cpu"])[0]
FORMATS = {
    "f8e4m3": (3, 7, 0x7E),
    "f8e5m2": (2, 15, 0x7B),
}  # mantissa bits, bias, largest finite number
random = np.random.default_rng(0)


def decode(codes, dtype):
    """The numbers that f8 codes stand for."""
    mantissa, bias, largest = FORMATS[dtype]
    magnitude = codes.astype(np.int64) & 0x7F
    exponent, fraction = magnitude >> mantissa, magnitude & ((1 << mantissa) - 1)
    value = np.where(
        exponent == 0,
        np.ldexp(fraction.astype(float), 1 - bias - mantissa),
        np.ldexp((fraction + (1 << mantissa)).astype(float), exponent - bias - mantissa),
    )
    value = np.where(magnitude > largest, np.nan, value)
    if dtype == "f8e5m2":
        value = np.where(magnitude == 0x7C, np.inf, value)
    return np.where(codes & 0x80, -value, value)


def encode(values, dtype):
    """The nearest code by search, ties to even; -1 for NaN."""
    largest = FORMATS[dtype][2]
    table = decode(np.arange(largest + 1), dtype)
    magnitude = np.minimum(
        np.abs(np.nan_to_num(values.astype(np.float64), posinf=1e300, neginf=-1e300)), table[-1]
    )
    high = np.searchsorted(table, magnitude)
    low = np.maximum(high - 1, 0)
    below, above = magnitude - table[low], table[high] - magnitude
    code = np.where((below < above) | ((below == above) & (low % 2 == 0)), low, high)
    code = np.where(above == 0, high, code) | (np.signbit(values) << 7)
    return np.where(np.isnan(values), -1, code)


def run(kernel, definitions, outputs, inputs=(), scalars=()):
    """Outputs of a call on the CPU; `outputs`: name -> extents that nothing else gives, as text."""
    with tempfile.TemporaryDirectory() as folder:
        line = [TILEC, "run", SOURCE, "--kernel", kernel, "--device", DEVICE]
        for name, value in definitions.items():
            line += ["-D", f"{name}={value}"]
        for name, value in dict(inputs).items():
            np.save(f"{folder}/{name}.npy", value)
            line += ["--arg", f"{name}={folder}/{name}.npy"]
        for name, value in dict(scalars).items():
            line += ["--arg", f"{name}={value}"]
        for name, extents in outputs.items():
            line += ["--out", f"{name}={folder}/{name}.out.npy"] + (
                ["--random", extents] if extents else []
            )
        result = subprocess.run(line, capture_output=True, text=True)
        if result.returncode:
            raise SystemExit(" ".join(line) + "\n" + result.stderr[:3000])
        return [np.load(f"{folder}/{name}.out.npy") for name in outputs]


def same(what, found, expected):
    found, expected = np.asarray(found), np.asarray(expected)
    with np.errstate(invalid="ignore"):
        equal = (found == expected) | ((found != found) & (expected != expected))
    if found.shape != expected.shape or not equal.all():
        at = tuple(int(i) for i in np.argwhere(~equal)[0])
        raise SystemExit(
            f"{what}: at {at} expected {expected[at]!r}, found {found[at]!r} ({(~equal).sum()}"
            " differ)"
        )


def sameF8(what, dtype, found, values):
    """`found` are the codes of `values`, NaN for NaN."""
    expected = encode(values, dtype)
    same(what, np.isnan(decode(found, dtype)), expected < 0)
    same(what, np.where(expected < 0, 0, found), np.where(expected < 0, 0, expected))


def convert(x, source, target):
    return run("convert", {"T": source, "F": target}, {"y": ""}, {"x": x})[0]


def testFloat8(dtype):
    codes = np.arange(256, dtype=np.uint8)
    values = decode(codes, dtype)
    for target in ("f16", "f32", "f64"):
        same(f"{dtype} to {target}", convert(codes, dtype, target).astype(np.float64), values)
    found = convert(codes, dtype, "bf16").astype(np.uint32) << 16
    same(f"{dtype} to bf16", found.view(np.float32).astype(np.float64), values)
    other = "f8e5m2" if dtype == "f8e4m3" else "f8e4m3"
    sameF8(f"{dtype} to {other}", other, convert(codes, dtype, other), values)
    for target in ("i8", "u8", "i32", "u64"):
        info = np.iinfo(NUMPY[target])
        expected = [
            (
                0
                if v != v
                else int(min(max(v, info.min - 1), info.max + 1))
                if abs(v) == np.inf
                else int(v)
            )
            for v in values
        ]
        same(
            f"{dtype} to {target}",
            convert(codes, dtype, target),
            np.array([min(max(v, info.min), info.max) for v in expected], NUMPY[target]),
        )

    # All of f16; of the others every f8, the ties between neighbours, what lies beside a tie, and
    # the ends.
    sameF8(
        f"f16 to {dtype}",
        dtype,
        convert(np.arange(65536, dtype=np.uint16).view(np.float16), "f16", dtype),
        np.arange(65536, dtype=np.uint16).view(np.float16),
    )
    finite = values[np.isfinite(values) & (values >= 0)]
    ties = (finite[:-1] + finite[1:]) / 2
    ends = [
        0.0,
        np.inf,
        np.nan,
        1e30,
        1e-40,
        448.0,
        464.0,
        464.0001,
        480.0,
        57344.0,
        61439.0,
        61440.0,
        65536.0,
        2.0**-10,
        2.0**-17,
    ]
    for source in ("f32", "f64"):
        kind = NUMPY[source]
        near = [np.nextafter(ties.astype(kind), kind(to)) for to in (0, np.inf)]
        x = np.concatenate(
            [
                finite,
                ties,
                *near,
                np.ldexp(random.standard_normal(4096), random.integers(-30, 20, 4096)),
                ends,
            ]
        ).astype(kind)
        x = np.concatenate([x, -x])
        sameF8(f"{source} to {dtype}", dtype, convert(x, source, dtype), x)
    bits = np.arange(65536, dtype=np.uint16)
    sameF8(
        f"bf16 to {dtype}",
        dtype,
        convert(bits, "bf16", dtype),
        (bits.astype(np.uint32) << 16).view(np.float32),
    )
    for source in ("i8", "u8", "i32", "u32", "i64", "u64"):
        info = np.iinfo(NUMPY[source])
        x = np.concatenate(
            [
                random.integers(info.min, info.max, 300, NUMPY[source], endpoint=True),
                np.arange(-100 if info.min else 0, 127, dtype=NUMPY[source]),
            ]
        )
        sameF8(f"{source} to {dtype}", dtype, convert(x, source, dtype), x.astype(np.float64))
    (found,) = run("constants", {"F": dtype}, {"y": "N=8"})
    largest = decode(np.array([FORMATS[dtype][2]]), dtype)[0]
    sameF8(
        f"constants of {dtype}",
        dtype,
        found,
        np.array([min(1000.0, largest), -largest, largest, 17.0, np.nan, largest, -largest, 2.5]),
    )


def testUnsigned(dtype):
    kind = NUMPY[dtype]
    info = np.iinfo(kind)
    ends = np.array(
        [
            0,
            1,
            2,
            7,
            info.bits - 1,
            info.bits,
            info.max // 2,
            info.max // 2 + 1,
            info.max - 1,
            info.max,
        ],
        kind,
    )
    x, y = (grid.ravel() for grid in np.meshgrid(ends, ends))
    x = np.concatenate([x, random.integers(0, info.max, 200, kind, endpoint=True)])
    y = np.concatenate([y, random.integers(0, info.max, 200, kind, endpoint=True)])
    found, compared = run("integers", {"T": dtype}, {"o": "", "c": ""}, {"x": x, "y": y})
    a, b = x.astype(object), y.astype(object)
    wrap = lambda values: np.array([int(v) & info.max for v in values], kind)
    zero = lambda f: wrap([f(int(p), int(q)) if q else 0 for p, q in zip(a, b)])
    expected = [
        zero(lambda p, q: p // q),
        wrap([p % q if q else p for p, q in zip(a, b)]),
        wrap([p >> q if q < info.bits else 0 for p, q in zip(a, b)]),
        wrap([p << q if q < info.bits else 0 for p, q in zip(a, b)]),
        np.minimum(x, y),
        np.maximum(x, y),
        wrap((a * b) >> info.bits),
        zero(lambda p, q: -(-p // q)),
        wrap([min(p, 1) + q - min(max(p, 3), 100) for p, q in zip(a, b)]),
    ]
    for i, values in enumerate(expected):
        same(f"{dtype} operation {i}", found[i], values)
    for i, values in enumerate([x < y, x <= y, x > y, x >= y]):
        same(f"{dtype} comparison {i}", compared[i], values)

    x = random.integers(0, info.max, 100, kind, endpoint=True)
    found, positions = run("reductions", {"T": dtype}, {"o": "", "p": ""}, {"x": x})
    same(f"{dtype} extremes", found, [x.max(), x.min()])
    same(f"{dtype} positions", positions, [x.argmax(), x.argmin()])
    if info.bits >= 32:
        (found,) = run("sums", {"T": dtype}, {"o": ""}, {"x": x | kind(1)})
        same(
            f"{dtype} sums",
            found,
            [(x | kind(1)).sum(dtype=kind), np.multiply.reduce(x | kind(1), dtype=kind)],
        )
    for target in ("i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64"):
        same(f"{dtype} to {target}", convert(ends, dtype, target), ends.astype(NUMPY[target]))
        signed = ends.astype(NUMPY[target]) if target[0] == "i" else ends[:2].astype(NUMPY[target])
        same(f"{target} to {dtype}", convert(signed, target, dtype), signed.astype(kind))
    for target in ("f32", "f64"):
        same(f"{dtype} to {target}", convert(ends, dtype, target), ends.astype(NUMPY[target]))
    for source in ("f16", "f32", "f64"):
        v = np.array(
            [
                0,
                -0.5,
                0.9,
                -1,
                -3,
                7.99,
                255,
                255.5,
                256,
                65535,
                65536,
                2.0**32,
                2.0**64,
                np.inf,
                -np.inf,
                np.nan,
            ]
        )
        with np.errstate(over="ignore"):
            v = v.astype(NUMPY[source])
        whole = [
            0 if p != p else 0 if p < 0 else info.max if p > info.max else min(int(p), info.max)
            for p in v.astype(np.float64)
        ]
        same(f"{source} to {dtype}", convert(v, source, dtype), np.array(whole, kind))


def testProducts():
    shape = lambda *extents: extents
    for a, w, c in [
        ("i8", "i8", "i32"),
        ("u8", "u8", "i32"),
        ("f8e4m3", "f8e4m3", "f32"),
        ("f8e5m2", "f8e5m2", "f32"),
        ("f8e4m3", "f8e5m2", "f32"),
        ("f8e5m2", "f8e4m3", "f32"),
    ]:

        def operand(dtype, rows):
            if dtype in FORMATS:
                codes = random.integers(0, 256, shape(rows, 64)).astype(np.uint8)
                codes = np.where(np.abs(decode(codes, dtype)) <= 240, codes, 0x35).astype(np.uint8)
                return codes, decode(codes, dtype)
            info = np.iinfo(NUMPY[dtype])
            values = random.integers(
                info.min, info.max, shape(rows, 64), NUMPY[dtype], endpoint=True
            )
            return values, values.astype(np.int64)

        (x, xv), (y, yv) = operand(a, 32), operand(w, 32)
        (found,) = run("product", {"A": a, "W": w, "C": c}, {"c": ""}, {"a": x, "b": y})
        exact = xv @ yv.T
        if c == "i32":
            same(f"{a} product", found, exact)
        else:
            # Tensor cores keep 13 bits behind the leading one of what they add at once.
            bound = 64 * 2.0 ** (-24 if DEVICE == "cpu" else -13) * (np.abs(xv) @ np.abs(yv).T)
            same(f"{a} by {w}", np.abs(found - exact) <= bound, np.ones((32, 32), bool))


def testNibbles(dtype, target):
    rows, columns = 19, 70
    values = (
        random.integers(-8, 8, (rows, columns))
        if dtype == "i4"
        else random.integers(0, 16, (rows, columns))
    )
    packed = ((values[:, ::2] & 15) | (values[:, 1::2] & 15) << 4).astype(np.uint8)
    found = run(
        "nibbles",
        {"S": dtype, "T": target},
        {"all": "", "part": "", "turned": "", "one": "", "odd": ""},
        {"w": packed},
    )
    window = np.zeros((rows, 24), int)
    window[:, 2:19] = values[:, 3:20]
    one = np.array([values[r, 7 + (r % 3 if r % 2 else 0)] for r in range(rows)])
    expected = {
        "all": values,
        "part": window,
        "turned": values.T,
        "one": one,
        "odd": values[:, 1:33:2],
    }
    for result, (name, wanted) in zip(found, expected.items()):
        if target == "bf16":
            result = (result.astype(np.uint32) << 16).view(np.float32)
        same(f"{dtype} to {target}, {name}", result.astype(np.float64), wanted.astype(np.float64))


for dtype in ("f8e4m3", "f8e5m2"):
    testFloat8(dtype)
for dtype in ("i4", "u4"):
    for target in ("f16", "bf16", "f32", "f64", "i8", "i32", "i64"):
        testNibbles(dtype, target)
for dtype in ("u8", "u16", "u32", "u64"):
    testUnsigned(dtype)
testProducts()
(found,) = run(
    "scalars", {}, {"y": ""}, scalars={"a": 255, "b": 65535, "c": 2**32 - 1, "d": 2**63 - 1}
)
same("scalars", found, np.array([255, 65535, 2**32 - 1, (2**63 - 1) // 3], np.uint64))
print("all dtypes: ok")
