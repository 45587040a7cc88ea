"""The library that comes with the compiler against NumPy: std_library.py TILEC [cpu|cuda].

A kernel of Inputs/std_library/ calls each function of one file; what it writes is compared with the
model here. Every function that a file declares must be among them.
"""

import math
import os
import re
import subprocess
import sys
import tempfile

import numpy as np

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "examples"))
import case as cases  # noqa: E402
import philox  # noqa: E402

INPUTS = os.path.join(ROOT, "test/e2e/Inputs/std_library")
erf = np.vectorize(math.erf)
sigmoid = lambda x: 1 / (1 + np.exp(-x))
softplus = lambda x: np.logaddexp(0, x)
phi = lambda x: 0.5 * (1 + erf(x / math.sqrt(2)))
gelu = lambda x: x * phi(x)
C = math.sqrt(2 / math.pi)


def run(tilec, device, name, arguments, outputs, definitions=()):
    """The outputs of a kernel of the file `name`."""
    with tempfile.TemporaryDirectory() as folder:
        line = [tilec, "run", os.path.join(INPUTS, name + ".tile"), "--device", device]
        for definition in definitions:
            line += ["-D", definition]
        for key, value in arguments.items():
            if isinstance(value, np.ndarray):
                np.save(os.path.join(folder, key + ".npy"), value)
                value = os.path.join(folder, key + ".npy")
            line += ["--arg", f"{key}={value}"]
        for key in outputs:
            line += ["--out", f"{key}={folder}/{key}.out.npy"]
        subprocess.run(line, check=True)
        return [np.load(f"{folder}/{key}.out.npy") for key in outputs]


def close(what, got, expected, rtol=2e-6, atol=2e-6):
    error = np.abs(np.asarray(got, np.float64) - expected)
    wrong = ~(
        (error <= atol + rtol * np.abs(expected))
        | (np.asarray(got) == expected)
        | (np.isnan(got) & np.isnan(expected))
    )
    if np.any(wrong):
        at = np.unravel_index(np.argmax(wrong), wrong.shape)
        sys.exit(f"{what}: {got[at]!r} where {np.asarray(expected)[at]!r} was expected, at {at}")


def equal(what, got, expected):
    close(what, got, expected, 0, 0)


def checkComplete(name):
    """Every function of the library's file is called in the kernel of that name."""
    with (
        open(os.path.join(ROOT, "library/std", name + ".tile")) as library,
        open(os.path.join(INPUTS, name + ".tile")) as kernel,
    ):
        declared, used = re.findall(r"^fn (\w+)", library.read(), re.MULTILINE), kernel.read()
    missing = [function for function in declared if not re.search(rf"\b{function}\b", used)]
    if missing:
        sys.exit(f"std/{name}.tile: not tested: {', '.join(missing)}")


def activations(tilec, device):
    x = np.concatenate(
        [np.linspace(-6, 6, 241), [-200, -50, -20, 0, 20, 50, 200, 1e-4, -1e-4]]
    ).astype(np.float32)
    w = np.random.default_rng(1).standard_normal(x.shape).astype(np.float32)
    (y,) = run(tilec, device, "activations", {"x": x, "w": w}, ["y"])
    x, w = x.astype(np.float64), w.astype(np.float64)
    t = np.tanh(C * (x + 0.044715 * x**3))
    silu = x * sigmoid(x)
    expected = [
        np.maximum(x, 0),
        np.where(x > 0, x, 0.01 * x),
        np.where(x > 0, x, 0.2 * x),
        np.clip(x, 0, 6),
        np.maximum(x, 0) ** 2,
        np.where(x > 0, x, np.expm1(np.minimum(x, 0))),
        1.0507009873554805 * np.where(x > 0, x, 1.6732632423543772 * np.expm1(np.minimum(x, 0))),
        gelu(x),
        0.5 * x * (1 + t),
        x * sigmoid(1.702 * x),
        silu,
        x * np.tanh(softplus(x)),
        softplus(x),
        -softplus(-x),
        x / (1 + abs(x)),
        np.clip(x / 6 + 0.5, 0, 1),
        x * np.clip(x / 6 + 0.5, 0, 1),
        sigmoid(x) * w,
        np.maximum(x, 0) * w,
        gelu(x) * w,
        silu * w,
        (x > 0) * 1.0,
        phi(x) + x * np.exp(-x * x / 2) / math.sqrt(2 * math.pi),
        0.5 * (1 + t) + 0.5 * x * (1 - t * t) * C * (1 + 3 * 0.044715 * x * x),
        sigmoid(x) * (1 + x * (1 - sigmoid(x))),
        sigmoid(x),
    ]
    for i, values in enumerate(expected):
        close(f"activations, row {i}", y[i], values, 4e-6, 4e-6)


def norms(tilec, device):
    random = np.random.default_rng(2)
    x, g = random.standard_normal((2, 5, 13)).astype(np.float32)
    y, tall, moments, few = run(
        tilec, device, "norms", {"x": x, "g": g, "eps": 0.125}, ["y", "tall", "moments", "few"]
    )
    x, g = x.astype(np.float64), g.astype(np.float64)
    mu, var = x.mean(1, keepdims=True), x.var(1, keepdims=True)
    rms, ln = 1 / np.sqrt((x * x).mean(1, keepdims=True) + 0.125), 1 / np.sqrt(var + 0.125)
    e = np.exp(x - x.max(1, keepdims=True))
    p, h = e / e.sum(1, keepdims=True), (x - mu) * ln
    expected = [
        mu + 0 * x,
        var + 0 * x,
        rms + 0 * x,
        x * rms,
        h,
        x / np.maximum(np.linalg.norm(x, axis=1, keepdims=True), 0.125),
        p,
        np.log(p),
        rms * (g - x * rms**2 * (g * x).mean(1, keepdims=True)),
        ln * (g - g.mean(1, keepdims=True) - h * (g * h).mean(1, keepdims=True)),
        p * (g - (g * p).sum(1, keepdims=True)),
    ]
    for i, values in enumerate(expected):
        close(f"norms, part {i}", y[i], values, 4e-6, 4e-6)
    close("norms, softmax[0]", tall, np.exp(x) / np.exp(x).sum(0), 4e-6)
    counts = np.arange(4)
    equal(
        "norms, moments joined to none",
        few[0],
        [counts, np.where(counts, 3.5, 0), np.full(4, 0.25)],
    )
    equal("norms, none joined to moments", few[1], [counts, np.full(4, 3.5), np.full(4, 0.25)])
    close(
        "norms, moments",
        moments,
        np.stack([np.full(5, 13.0), x.mean(1), ((x - mu) ** 2).sum(1)]),
        4e-6,
    )


def online_softmax(tilec, device):
    x = (10 * np.random.default_rng(3).standard_normal((6, 100))).astype(np.float32)
    x[1] = -np.inf
    x[2, 40:] = -np.inf
    y, rows = run(tilec, device, "online_softmax", {"x": x}, ["y", "rows"])
    x = x.astype(np.float64)
    with np.errstate(divide="ignore"):
        lse = np.log(np.exp(x).sum(1))
    finite = np.isfinite(lse)
    for i in range(3):
        close(f"online_softmax, row {i}", y[i][finite], lse[finite])
    p = np.exp(x - np.where(finite, lse, 0)[:, None])
    for i in range(3):
        close(
            f"online_softmax, rows {i}", rows[i][finite], (p * np.arange(100)).sum(1)[finite], 1e-5
        )


def quantize(tilec, device):
    random = np.random.default_rng(4)
    x = (random.standard_normal((8, 32)) * 10.0 ** random.integers(-3, 4, (8, 1))).astype(
        np.float32
    )
    x[3] = 0
    codes = random.integers(0, 16, (8, 32)).astype(np.uint8)
    words = random.integers(0, 2**32, (4, 6), np.uint32)
    ties = (np.arange(-64, 64) / 8).astype(np.float32)
    i8, clamped, f8, u8, nibbles, y, nf, columns, rows, powers, fours, blocks = run(
        tilec,
        device,
        "quantize",
        {
            "x": x,
            "codes": codes,
            "words": words,
            "powers": np.arange(256, dtype=np.uint8),
            "ties": ties,
        },
        [
            "bytes",
            "clamped",
            "floats",
            "unsigned",
            "nibbles",
            "y",
            "nf",
            "columns",
            "rows",
            "scales",
            "fours",
            "blocks",
        ],
    )
    f32, top = np.float32, np.abs(x).max(1, keepdims=True)
    scales = [np.where(top > 0, top / f32(limit), f32(1)) for limit in (127, 448, 57344)]
    q = np.clip(np.rint(x / scales[0]), -127, 127)
    equal("quantize_i8", i8, q)
    beyond = np.clip(
        np.rint(x / (scales[0] / f32(2))), -127, 127
    )  # codes lie on both sides of 0, -128 is none
    assert (beyond == -127).any() and (beyond == 127).any() and (x / scales[0] * 2 < -128).any()
    equal("quantize_i8 of what is too large", clamped, beyond)
    equal(
        "quantize_f8e4m3", f8[0], cases.encodeFloat8((x / scales[1]).astype(np.float64), "f8e4m3")
    )
    equal(
        "quantize_f8e5m2", f8[1], cases.encodeFloat8((x / scales[2]).astype(np.float64), "f8e5m2")
    )
    low, high = (
        np.minimum(x.min(1, keepdims=True), f32(0)),
        np.maximum(x.max(1, keepdims=True), f32(0)),
    )
    scale = np.where(high > low, (high - low) / f32(255), f32(1))
    zero = np.rint(-low / scale)
    byte = np.clip(np.rint(x / scale) + zero, 0, 255)
    equal("quantize_u8", u8, byte)
    equal("dequantize", y[0], q.astype(f32) * scales[0])
    equal("dequantize_u8", y[1], (byte.astype(f32) - zero) * scale)
    table = cases.module("nf4_dequantize").NF4.astype(np.float32)
    fp4 = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6], np.float32)
    equal("nf4", y[2], table[codes])
    equal("fp4", y[3], np.concatenate([fp4, -fp4])[codes])
    pairs = codes.reshape(8, 16, 2)
    equal("pack_nibbles", nibbles[0], pairs[..., 0] | pairs[..., 1] << 4)
    equal("unpack_nibbles", nibbles[1] + 16 * nibbles[2], nibbles[0])
    unit = np.clip(x / np.where(top > 0, top, 1), -1, 1)
    places = words[:, :, None] >> np.arange(0, 32, 4, dtype=np.uint32) & np.uint32(15)
    equal("unpack_columns", columns[0], places.reshape(4, 48))
    equal("unpack_columns in AWQ's order", columns[1][:, [0, 2, 4, 6, 1, 3, 5, 7]], places[:, 0])
    equal("unpack_rows", rows, places.transpose(0, 2, 1).reshape(32, 6))
    equal("e8m0", powers, np.append(2.0 ** (np.arange(255) - 127.0), np.nan))
    # The nearest value, of two that are as near the even code.
    distance = np.abs(np.abs(ties)[:, None] - fp4) + np.arange(8) % 2 * 1e-6
    equal("to_fp4", fours, distance.argmin(1) + np.where(ties < 0, 8, 0))
    with np.errstate(divide="ignore"):
        exponent = np.floor(np.log2(top[:, 0]))
    for i, most in enumerate((2, 8)):
        equal(f"to_e8m0[{most}]", blocks[i], np.maximum(exponent - most + 127, 0))
    equal("to_e8m0 of infinity", blocks[2], np.where(top[:, 0] > 0, 255, 0))
    equal(
        "to_nf4",
        nf,
        np.abs(unit[..., None].astype(np.float64) - table.astype(np.float64)).argmin(-1),
    )


def scores(tilec, device):
    m, n = 7, 12
    s = np.random.default_rng(5).standard_normal((m, n)).astype(np.float32) * 3
    y, slopes = run(tilec, device, "scores", {"s": s}, ["y", "slopes"], [f"M={m}", f"N={n}"])
    far = np.arange(m)[:, None] - np.arange(n)
    early = np.arange(n) < 2
    for i, seen in enumerate(
        [far >= 0, (far >= 0) & ((far < 4) | early), np.broadcast_to(np.arange(n) < 3, s.shape)]
    ):
        equal(f"scores, mask {i}", y[i], np.where(seen, s, -np.inf))
    close("soft_cap", y[3], 1.5 * np.tanh(s / 1.5))
    close("soft_cap_slope", y[5], 1 - np.tanh(s / 1.5) ** 2)
    close("alibi", y[4], s - 0.25 * abs(far))
    equal("alibi_slope", slopes, 2.0 ** -np.arange(1, 9))


def chunks(tilec, device):
    for n, d in ((1, 2), (2, 8), (64, 16)):
        random = np.random.default_rng(n)
        x = (random.standard_normal((n, n)) / 8).astype(np.float32)
        # What stands on and above the diagonal does not count. The inverse with ones below it has
        # two diagonals; its powers' sums are beyond f32.
        ones = np.triu(random.standard_normal((n, n))) + np.tri(n, k=-1)
        # Steps that forget everything, between steps that keep almost all.
        w = -np.where(random.random((n, d)) < 0.1, 60.0, 0.1) * random.random((n, d))
        z = np.cumsum(w[:, 0]).astype(np.float32)
        w, q, k = w.astype(np.float32), *random.standard_normal((2, n, d)).astype(np.float32)
        for below in (x, ones.astype(np.float32)):
            left, inverse, score = run(
                tilec,
                device,
                "chunks",
                {"x": below, "z": z, "q": q, "k": k, "w": w},
                ["left", "inverse", "score"],
                [f"N={n}", f"D={d}"],
            )
            lower = np.tri(n)
            far = z.astype(np.float64)[:, None] - z
            close("decay", left, np.where(lower, np.exp(np.minimum(far, 0)), 0), 1e-4)
            expected = np.linalg.inv(np.eye(n) + np.tril(below.astype(np.float64), -1))
            close("inverse_unit_lower", inverse[0], expected, 1e-5, 1e-5)
            close("inverse_unit_lower[f16]", inverse[1], expected, 2e-3, 2e-3)
            sums = np.cumsum(w.astype(np.float64), 0)
            for i, to in enumerate((sums, sums - w)):
                kept = np.exp(np.minimum(to[:, None] - sums, 0))
                expected = np.tril(np.einsum("id,jd,ijd->ij", q, k, kept), -1)
                close(f"decayed_scores, {i}", score[i], expected, 1e-4, 3e-4)


def epilogues(tilec, device):
    random = np.random.default_rng(8)
    x, residual = random.standard_normal((2, 13, 38))
    rows, columns, bias = (random.standard_normal(n) for n in (13, 38, 38))
    given = {
        "x": x.astype(np.float32),
        "rows": rows.astype(np.float32),
        "columns": columns.astype(np.float32),
        "bias": bias.astype(np.float16),
        "residual": residual.astype(np.float16),
    }
    outputs = ["plain", "all", "some", "gated"]
    plain, whole, some, gated = run(tilec, device, "epilogues", given, outputs)
    x, rows, columns, bias, residual = (v.astype(np.float64) for v in given.values())
    silu = lambda v: v * sigmoid(v)
    equal("epilogue", plain, x)
    close("epilogue of all", whole, silu(x * rows[:, None] * columns + bias) + residual, 4e-6, 4e-6)
    close("epilogue of some", some, np.maximum(x * columns, 0))
    close("gated_pairs", gated, silu(x[:, ::2]) * x[:, 1::2], 4e-6, 4e-6)


def ragged(tilec, device):
    lengths = np.array([5, 0, 4, 1, 0, 9, 0])
    offset = np.concatenate([[0], np.cumsum(lengths)])
    found, beside = run(
        tilec,
        device,
        "ragged",
        {"offset": offset.astype(np.int32)},
        ["found", "beside"],
        ["P=14", "Q=31"],
    )
    expected = [
        (e, offset[e] + t * 4, offset[e + 1])
        for e, length in enumerate(lengths)
        for t in range(-(-length // 4))
    ]
    equal("ragged_tile", found[: len(expected)], np.array(expected))
    assert (found[len(expected) :, 0] >= len(lengths)).all()
    expected = [
        (e, offset[e] + t * 4, offset[e + 1], column)
        for e, length in enumerate(lengths)
        for column in range(3)
        for t in range(-(-length // 4))
    ]
    equal("ragged_column", beside[: len(expected)], np.array(expected))
    assert len(expected) < 31 and (beside[len(expected) :, 0] >= len(lengths)).all()


def lookback(tilec, device):
    """Integers that fill all bits, and floats whose sums are exact."""
    random = np.random.default_rng(9)
    for dtype in ("i32", "i64", "f32", "f64"):
        kind = np.dtype({"i": "int", "f": "float"}[dtype[0]] + dtype[1:])
        bits = 8 * kind.itemsize - 1
        x = random.integers(-(2**bits), 2**bits, 203) if dtype[0] == "i" else np.arange(203) / 4
        x = x.astype(kind)
        before, order, last, state = run(
            tilec,
            device,
            "lookback",
            {"x": x},
            ["before", "order", "last", "state"],
            [f"T={dtype}"],
        )
        sums = np.cumsum(x, dtype=kind)
        equal(f"sum_before of {dtype}", before, sums - x)
        equal("numbers of programs", np.sort(order), np.arange(203))
        equal(f"published {dtype}", last, sums[-1:] + kind.type(5))
        equal("states", state, np.array([23]))


def transforms(tilec, device):
    x = np.random.default_rng(6).integers(-9, 10, (3, 64)).astype(np.float32)
    short = x[:, :10].reshape(-1, 2)[:5].copy()
    y, z = run(tilec, device, "transforms", {"x": x, "short": short}, ["y", "z"])
    h = np.ones((1, 1))
    while len(h) < 64:
        h = np.block([[h, h], [h, -h]])
    equal("hadamard", y, x @ h)
    equal("hadamard of two", z, np.stack([short.sum(1), short[:, 0] - short[:, 1]], 1))


def select(tilec, device):
    """Rows with ties, NaN and infinities, rows of nothing else; whole blocks and a part."""
    random = np.random.default_rng(8)
    for n in (1, 3, 256, 1000):
        x = (random.integers(-40, 40, (6, n)) / 8).astype(np.float32)
        x[random.random(x.shape) < 0.1] = np.nan
        x[1:3], x[3, ::3], x[4] = np.nan, np.inf, -np.inf
        x[2, n // 2 :] = -np.inf
        y, at, top = run(tilec, device, "select", {"x": x}, ["y", "at", "top"])
        order = np.argsort(-x, axis=1, kind="stable")[:, :5]
        found = order.shape[1]
        equal(f"largest, positions of {n}", at[:, :found], order)
        equal(f"largest of {n}", y[:, :found], np.take_along_axis(x, order, 1))
        assert (at[:, found:] >= n).all() and np.isnan(y[:, found:]).all()
        padded = np.full((6, 256), np.nan, np.float32)
        padded[:, : min(n, 256)] = x[:, :256]
        equal(f"peaks of {n}", top, np.fmax.reduce(padded.reshape(6, 8, 32), axis=2))


def random(tilec, device):
    n, seed = 4099, -123456789012345
    bits, y, whole, mask = run(
        tilec,
        device,
        "random",
        {"seed": seed, "first": 2**40 - 1000},
        ["bits", "y", "whole", "mask"],
        [f"N={n}"],
    )
    (start,) = run(tilec, device, "random", {"seed": 0, "first": 0}, ["bits"], ["N=4"])
    equal(
        "random_bits, published numbers",
        start,
        np.array([0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]),
    )
    at = np.arange(n) + 2**40 - 1000
    equal("random_bits", bits, philox.bits(seed, at))
    u = philox.uniform(seed, at)
    o = ((philox.bits(seed, at) >> np.uint64(9)) + 0.5) * 2.0**-23
    equal("rand", y[0], u)
    close("randn", y[1], philox.normal(seed, at), 0, 2e-6)
    equal("randint", whole[0], philox.integers(seed, at, -7, 1000))
    equal("randint of no width", whole[1], np.full(n, 5))
    equal("randint of bytes", whole[2], philox.integers(seed, at, -128, 127))
    close("uniform", y[2], -1 + 3 * u)
    close("normal", y[3], 5 + 2 * philox.normal(seed, at), 0, 8e-6)
    equal("bernoulli", mask, u < np.float32(0.25))
    close("dropout", y[4], np.where(u >= 0.5, 3 / 0.5, 0))
    equal("open_uniform", y[5], o)
    close("exponential", y[6], -np.log(o) / 2, 2e-6, 1e-7)
    close("gumbel", y[7], -np.log(-np.log(o)), 1e-5, 2e-6)
    close("logistic", y[8], np.log(o / (1 - o)), 1e-5, 2e-6)
    v = o - 0.5
    close("laplace", y[9], -np.sign(v) * np.log1p(-2 * abs(v)), 1e-4, 2e-6)
    inner = abs(v) < 0.499
    close("cauchy", y[10][inner], np.tan(np.pi * v)[inner], 1e-3, 2e-6)
    # What the distributions are for: moments of 4099 numbers, at five standard deviations.
    if abs(y[1].mean()) > 5 / math.sqrt(n) or abs(y[1].var() - 1) > 5 * math.sqrt(2 / n):
        sys.exit(f"randn: mean {y[1].mean()}, variance {y[1].var()}")


def knownAnswers():
    """The model against the known answers that Random123 1.14 publishes (kat_vectors, philox4x32
    10).
    """
    ones = 0xFFFFFFFF
    vectors = [
        ([0, 0, 0, 0], [0, 0], [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]),
        ([ones] * 4, [ones] * 2, [0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD]),
        (
            [0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344],
            [0xA4093822, 0x299F31D0],
            [0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1],
        ),
    ]
    for counter, key, words in vectors:
        got = [int(word) for word in philox.block(np.array(counter, np.uint64), key)]
        if got != words:
            sys.exit(
                f"philox: {[hex(word) for word in got]} where {[hex(word) for word in words]} was"
                " expected"
            )


def raster(tilec, device):
    rows, columns, band = 7, 5, 3
    (y,) = run(tilec, device, "raster", {"rows": rows, "columns": columns, "band": band}, ["y"])
    t = np.arange(rows * columns)
    banded = [
        (i, j)
        for first in range(0, rows, band)
        for j in range(columns)
        for i in range(first, min(first + band, rows))
    ]
    expected = [
        np.divmod(t, columns),
        np.divmod(t, rows)[::-1],
        np.array(banded).T,
        (t // columns, np.where(t // columns % 2 == 0, t % columns, columns - 1 - t % columns)),
    ]
    for i, order in enumerate(expected):
        equal(f"raster, order {i}", y[i], np.stack(order, 1))


def main():
    tilec, device = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "cpu"
    knownAnswers()
    for check in (
        activations,
        norms,
        online_softmax,
        quantize,
        ragged,
        random,
        raster,
        scores,
        chunks,
        epilogues,
        select,
        lookback,
        transforms,
    ):
        checkComplete(check.__name__)
        check(tilec, device)
    print("all of the library: ok")


if __name__ == "__main__":
    main()
