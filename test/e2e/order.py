"""O2.3, O2.4, O3.7, O6.1, O6.2, O6.3: what orders, joins and reduces tiles by functions, takes,
slices and reshapes, positions and counts, for every dtype and several shapes against NumPy. All
must agree to the bit. Arguments: tilec; cpu, cuda or padded (the CPU, with extents as GPUs have
them); and the name of one of the kernels to run it alone.
"""

import os
import re
import subprocess
import sys
import tempfile

import numpy as np

from cpu_kernel import NUMPY, Kernels

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "Inputs", "order.tile")
TILEC, DEVICE, PART = sys.argv[1], (sys.argv[2:] or ["cpu"])[0], (sys.argv[3:] or [""])[0]
INTEGERS = ["i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"]
FLOATS = ["f16", "bf16", "f32", "f64"]
SHAPES = [(5, 13, 3), (16, 32, 8), (1, 1, 1), (3, 1, 1), (1, 100, 100), (33, 6, 5)]
failed = 0


def narrow(x):
    """float32 rounded to bf16, as its bits."""
    bits = x.astype(np.float32).view(np.uint32)
    return np.where(np.isnan(x), 0x7FC0, (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(
        np.uint16
    )


def values(x, dtype):
    """What stored elements stand for, in a type that NumPy orders."""
    return (x.astype(np.uint32) << 16).view(np.float32) if dtype == "bf16" else x


def random(dtype, shape, generator):
    """Few different values, so that ties are many, and the special ones."""
    if dtype == "bool":
        return generator.random(shape) < 0.4
    if dtype in FLOATS:
        x = generator.integers(-8, 8, shape) / 4.0
        for value, share in ((np.nan, 0.06), (np.inf, 0.05), (-np.inf, 0.05), (-0.0, 0.1)):
            x = np.where(generator.random(shape) < share, value, x)
        return narrow(x) if dtype == "bf16" else x.astype(NUMPY[dtype])
    if dtype.startswith("f8"):
        return generator.integers(0, 256, shape).astype(np.uint8)
    kind = NUMPY[dtype]
    x = generator.integers(0, 10, shape).astype(kind)
    x = np.where(generator.random(shape) < 0.1, np.array(np.iinfo(kind).max, kind), x)
    return np.where(generator.random(shape) < 0.1, np.array(np.iinfo(kind).min, kind), x)


def run(kernel, definitions, outputs, inputs):
    """What the kernel writes, by name; `outputs` has an array of each one's shape."""
    if DEVICE == "padded":
        return runPadded(kernel, definitions, outputs, inputs)
    with tempfile.TemporaryDirectory() as folder:
        line = [TILEC, "run", SOURCE, "--kernel", kernel, "--device", DEVICE]
        for name, value in definitions.items():
            line += ["-D", f"{name}={value}"]
        for name, value in inputs.items():
            np.save(f"{folder}/{name}.npy", value)
            line += ["--arg", f"{name}={folder}/{name}.npy"]
        for name in outputs:
            line += ["--out", f"{name}={folder}/{name}.out.npy"]
        result = subprocess.run(line, capture_output=True, text=True)
        if result.returncode:
            raise SystemExit(" ".join(line) + "\n" + result.stderr[:3000])
        return {name: np.load(f"{folder}/{name}.out.npy") for name in outputs}


def output(*command, text=None):
    result = subprocess.run(command, capture_output=True, text=True, input=text)
    if result.returncode:
        raise SystemExit(" ".join(command) + "\n" + result.stderr[:3000])
    return result.stdout


def runPadded(kernel, definitions, outputs, inputs):
    """The same on the CPU, but with slices, concatenations and extents as GPUs have them."""
    lines = [word for name, value in definitions.items() for word in ("-D", f"{name}={value}")]
    text = output(TILEC, SOURCE, "--kernel", kernel, *lines, "--emit=tile-opt", "-o", "-")
    text = output(
        os.path.join(os.path.dirname(TILEC), "tile-opt"),
        "--tile-gpu-expand-shapes",
        "--tile-gpu-pad-extents",
        text=text,
    )
    symbol = re.search(r"tile.kernel @(\w+)", text).group(1)
    names = re.findall(r'#tile.param<"(\w+)"', text)
    types = re.findall(r"!tile.ptr<(\w+)>", text[: text.index("tile.yield")])
    kinds = {
        "i1": np.bool_,
        "i8": np.int8,
        "i16": np.int16,
        "i32": np.int32,
        "i64": np.int64,
        "f16": np.float16,
        "bf16": np.uint16,
        "f32": np.float32,
        "f64": np.float64,
    }
    arrays = {}
    for name, kind in zip(names, types):
        if name in inputs:
            arrays[name] = np.ascontiguousarray(inputs[name])
        else:
            wanted = outputs[name].dtype
            found = np.dtype(kinds.get(kind, np.uint8))
            arrays[name] = np.zeros(
                outputs[name].shape, wanted if wanted.itemsize == found.itemsize else found
            )
    Kernels(text).run(symbol, [arrays[name] for name in names], 1)
    return {name: arrays[name] for name in outputs}


def check(kernel, definitions, inputs, expected, quiet=()):
    global failed
    expected = {name: np.asarray(want) for name, want in expected.items()}
    found = run(kernel, definitions, expected, inputs)
    for name, want in expected.items():
        got, want = found[name], np.asarray(want)
        if got.shape != want.shape:
            got = got.reshape(want.shape)
        if definitions["T"] == "bf16" and got.dtype == np.uint16:
            got, want = values(got, "bf16"), values(want, "bf16")
        with np.errstate(invalid="ignore"):
            equal = (got == want) | ((got != got) & (want != want))
        if got.dtype.kind == "f":
            equal &= (np.signbit(got) == np.signbit(want)) | (got != got) | (name in quiet)
        if not equal.all():
            at = tuple(int(i) for i in np.argwhere(~equal)[0])
            print(
                f"{kernel} {definitions} {name}: at {at} expected {want[at]!r}, found {got[at]!r}"
                f" ({(~equal).sum()} of {equal.size} differ)"
            )
            failed += 1


def order(x, dtype, axis, descending):
    v = values(x, dtype)
    keys = v if not descending else -v if dtype in FLOATS else ~v
    return np.argsort(keys, axis=axis, kind="stable")  # NaN last


def along(x, places, axis):
    return np.take_along_axis(x, places, axis)


def orders(dtype, m, n, k, generator):
    x = random(dtype, (m, n), generator)
    places = {
        (axis, down): order(x, dtype, axis, down) for axis in (0, 1) for down in (False, True)
    }
    take = lambda axis, down: along(x, places[axis, down], axis)
    check(
        "orders",
        {"T": dtype, "M": m, "N": n, "K": k},
        {"x": x},
        {
            "up": np.stack([take(1, False), take(0, False)]),
            "down": np.stack([take(1, True), take(0, True)]),
            "at": np.stack([places[1, False], places[0, True]]),
            "other": take(0, True),
            "top": take(1, True)[:, :k],
            "place": places[1, True][:, :k],
            "rows": take(0, True)[:1],
            "row": places[0, True][:1],
        },
    )


def joins(dtype, m, n, k, generator):
    x, y = random(dtype, (m, n), generator), random(dtype, (2, n), generator)
    p = generator.integers(-3, m + n, (m, n)).astype(np.int32)
    at = lambda places, axis: np.take(x, np.clip(places, 0, x.shape[axis] - 1), axis)
    check(
        "joins",
        {"T": dtype, "M": m, "N": n, "K": k},
        {"x": x, "y": y, "k": p},
        {
            "below": np.concatenate([x, y]),
            "beside": np.concatenate([x, x, x], 1),
            "first": np.stack([x, x[::-1]]),
            "middle": np.stack([x, x, x[:, ::-1]], 1),
            "last": np.stack([x, x], -1),
            "many": np.repeat(x, 3, 0),
            "wide": np.repeat(x, 2, 1),
            "turned": np.stack([x[::-1], x[:, ::-1]]),
            "part": x[:, n - k :],
            "one": x[:, n // 2],
            "corner": x[-1, -1:],
            "flat": x.reshape(-1),
            "folded": x.reshape(n, m),
            "taken": np.stack(
                [
                    at(p[:, 0], 0),
                    at(p[0], 1),
                    at(np.arange(m) * 2 - 3, 0),
                    at(np.arange(n) * 3 - 2, 1),
                    np.broadcast_to(at(p[0, 0], 0), (m, n)),
                ]
            ),
            "line": at(p[0, -1], 0),
            "single": np.array([x[0, np.clip(p[-1, 0], 0, n - 1)], x[0, 0]]),
        },
    )


def scanned(f, tiles, axis, reverse=False):
    """Inclusive scan of a list of arrays by a function of two lists."""
    lines = [np.moveaxis(np.flip(t, axis) if reverse else t, axis, 0).copy() for t in tiles]
    for i in range(1, lines[0].shape[0]):
        before, here = [t[i - 1] for t in lines], [t[i] for t in lines]
        for line, value in zip(lines, f(here, before) if reverse else f(before, here)):
            line[i] = value
    lines = [np.moveaxis(t, 0, axis) for t in lines]
    return [np.flip(t, axis) if reverse else t for t in lines]


def reduced(f, tiles, axis):
    return [np.take(t, [-1], axis) for t in scanned(f, tiles, axis)]


def firstOf(v, axis, largest):
    """The first position of the extreme, a NaN counting as it."""
    return (np.argmax if largest else np.argmin)(v, axis=axis)


def extreme(x, v, axis, largest):
    """The stored element that is the extreme: of zeros the larger is +0."""
    if v.dtype.kind != "f":
        return np.max(x, axis) if largest else np.min(x, axis)
    best = (np.max if largest else np.min)(v, axis=axis)
    return narrow(best) if x.dtype == np.uint16 and v.dtype == np.float32 else best.astype(x.dtype)


def reduces(dtype, m, n, k, generator):
    x, z, f = (
        random(dtype, (m, n), generator),
        random(dtype, (m, n, 3), generator),
        generator.random((m, n)) < 0.3,
    )
    v, u = values(x, dtype), values(z, dtype)
    latest = lambda a, b: [a[0] | b[0], np.where(b[0], b[1], a[1])]
    g0, w0 = reduced(latest, [f, x], 0)
    g1, w1 = reduced(latest, [f, x], 1)
    # chosen: the last one that differs from what came before, which NaN does always. A zero equals
    # a zero of the other sign, so the sign that is left depends on the grouping: 0 . (1 . -0) is 0,
    # (0 . 1) . -0 is -0.
    ends = scanned(
        lambda a, b: [np.where(values(b[0], dtype) != values(a[0], dtype), b[0], a[0])], [x], 1
    )[0][:, -1:]
    sg, sw = scanned(latest, [f, x], 1, reverse=True)
    tg, tw = scanned(latest, [f, x], 0)
    full = lambda a: np.broadcast_to(a, (m, n))
    kept = lambda a, axis: np.expand_dims(a, axis)
    place = [
        full(firstOf(v, None, True)),
        full(firstOf(v, None, False)),
        full(firstOf(v, 0, True)),
        full(firstOf(v, 0, False)),
        full(kept(firstOf(v, 1, True), 1)),
        full(kept(firstOf(v, 1, False), 1)),
        firstOf(u, 2, True),
        full(firstOf(u, None, False)),
    ]
    top, bottom = extreme(x, v, None, True), extreme(x, v, None, False)
    check(
        "reduces",
        {"T": dtype, "M": m, "N": n},
        {"x": x, "z": z, "f": f},
        {
            "last": np.stack([full(w0), full(w1)]),
            "flag": np.stack([full(g0), full(g1)]),
            "low": extreme(x, v, 0, False),
            "high": extreme(x, v, 0, True),
            "ends": ends,
            "back": np.stack([np.where(sg, sw, x), np.where(tg, tw, x)]),
            "deep": extreme(z, u, 1, True),
            "place": np.stack(place),
            "best": np.array([top, bottom, top, bottom], x.dtype),
            "truth": np.stack(
                [
                    full(f.any()) & full(f.any(1, keepdims=True)),
                    full((f | (v == v)).all()),
                    full(f.any(0)),
                    full(f.all(0)),
                ]
            ),
            "sums": np.stack([full(f.sum()), full(f.sum(0)), full(f.sum(1, keepdims=True))]),
        },
        quiet=("low", "high", "ends", "deep", "best"),
    )


def composes(dtype, m, n, k, generator):
    kind = NUMPY[dtype]
    if dtype in FLOATS:  # signs, so that every grouping is exact
        x = generator.choice([-1.0, 1.0], (m, n, 3)).astype(kind)
    else:
        x = generator.integers(0, 2**32, (m, n, 3)).astype(kind)
    affine = lambda a, b: [b[0] * a[0], b[0] * a[1] + b[1]]
    rows = [np.zeros((3, 3 * m * n), kind), np.zeros((3, 3 * m * n), kind)]
    with np.errstate(over="ignore"):
        for axis in range(3):
            for row, result in zip(rows, reduced(affine, [x, x + kind(1)], axis)):
                row[axis, : result.size] = result.reshape(-1)
        whole = [r[0] for r in reduced(affine, [x.reshape(-1), x.reshape(-1) + kind(1)], 0)]
        product = [
            np.multiply.reduce(x, axis=None, dtype=kind),
            np.add.reduce(np.multiply.reduce(x, axis=1, dtype=kind), axis=None, dtype=kind),
        ]
    found = run(
        "composes",
        {"T": dtype, "M": m, "N": n},
        {
            "p": rows[0],
            "q": rows[1],
            "whole": np.array(whole, kind),
            "product": np.array(product, kind),
        },
        {"x": x},
    )
    for axis, size in enumerate((3 * n, 3 * m, m * n)):
        for name, row in zip("pq", rows):
            if not np.array_equal(found[name].reshape(3, -1)[axis, :size], row[axis, :size]):
                globals().__setitem__("failed", failed + 1)
                print(f"composes {dtype} {m}x{n}: {name} along axis {axis} differs")
    for name, want in (("whole", whole), ("product", product)):
        if not np.array_equal(found[name], np.array(want, kind)):
            globals().__setitem__("failed", failed + 1)
            print(f"composes {dtype} {m}x{n}: {name} is {found[name]}, expected {want}")


def counts(dtype, m, n, k, generator):
    x, f = random(dtype, (m, n), generator), generator.random((m, n)) < 0.5
    bins = 10

    def counted(v):
        wide = v.astype(object)
        return np.array([sum(1 for e in wide.reshape(-1) if e == i) for i in range(bins)], np.int32)

    check(
        "counts",
        {"T": dtype, "M": m, "N": n, "BINS": bins},
        {"x": x, "f": f},
        {"all_of": counted(x), "some": counted(x[f]), "one": counted(x[:1, :1][f[:1, :1]])},
    )


TABLE = [
    (orders, ["bool"] + INTEGERS + FLOATS),
    (joins, ["bool"] + INTEGERS + FLOATS + ["f8e4m3", "f8e5m2"]),
    (reduces, INTEGERS + FLOATS),
    (composes, ["i32", "i64", "u32", "u64", "f32", "f64"]),
    (counts, INTEGERS),
]
ran = 0
for test, dtypes in TABLE:
    for number, dtype in enumerate(dtypes):
        if not test.__name__.startswith(PART):
            continue
        # Each dtype has one shape in turn; the one that stands for all has all.
        if DEVICE == "padded" and dtype not in ("f32", "i32", "i64"):
            continue
        shapes = (
            SHAPES if dtype == ("i32" if "f32" not in dtypes else "f32") else [SHAPES[number % 2]]
        )
        for m, n, k in shapes:
            test(dtype, m, n, k, np.random.default_rng(ran))
            ran += 1
print(f"order: {ran} runs, {failed} failed")
sys.exit(1 if failed else 0)
