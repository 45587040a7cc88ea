"""Conversions of integers of few bits to floats, which the GPU's code writes into mantissas: every
value of bytes and words, under masks and shifts of each width, beside NumPy.

usage: casts.py TILEC FOLDER
"""

import os
import subprocess
import sys

import numpy as np

TILEC, FOLDER = sys.argv[1:]
os.makedirs(FOLDER, exist_ok=True)
DTYPES = "f16", "bf16", "f32"
WIDE = {"i32", "u32", "i64"}


def expressions(source):
    """What is converted: the text, and the same of NumPy; x has the source's dtype."""
    bits = np.dtype(numpy(source)).itemsize * 8
    if bits == 8:
        yield "x", lambda x: x
    for count in (1, 2, 4, 7, 8, 9, 10, 11, 15, 16, 22, 23, 24):
        if count < bits:
            mask, shift = 2**count - 1, bits - count
            yield f"x & {mask}", lambda x, mask=mask: x & x.dtype.type(mask)
            yield f"x >> {shift}", lambda x, shift=shift: x >> x.dtype.type(shift)
    yield "((x & 1) == 1) as i32", lambda x: (x & x.dtype.type(1)).astype(np.int32)
    yield "(x & 7) - 3", lambda x: (x & x.dtype.type(7)) - x.dtype.type(3)


def numpy(dtype):
    return {"i": "int", "u": "uint"}[dtype[0]] + dtype[1:]


def write(source, dtype, rows, columns):
    """A kernel with one result for each expression."""
    texts = [text for text, _ in expressions(source)]
    path = os.path.join(FOLDER, f"{source}_{dtype}_{columns}.tile")
    results = "".join(f",\n    y{i}: out {dtype}[M, {columns}]" for i in range(len(texts)))
    stores = "".join(f"  y{i}[m, :] = ({text}) as {dtype};\n" for i, text in enumerate(texts))
    with open(path, "w", encoding="utf-8") as stream:
        stream.write(
            f"kernel casts(t: in {source}[M, {columns}]{results})\n"
            f"  with warps(1) grid (m: M)\n{{\n  let x = t[m, :];\n{stores}}}\n"
        )
    return path


def read(path, dtype):
    found = np.load(path)
    if dtype == "bf16":
        found = (found.view(np.uint16).astype(np.uint32) << 16).view(np.float32)
    return found


def rounded(values, dtype):
    """To the nearest, from float64."""
    if dtype != "bf16":
        return values.astype({"f16": np.float16, "f32": np.float32}[dtype])
    bits = values.astype(np.float32).view(np.uint32)  # exact: 24 bits of an integer
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16 << 16).view(np.float32)


rng, checked = np.random.default_rng(5), 0
for target in ("sm_80", "sm_90a"):
    for source in ("i8", "u8", "i16", "u16", "i32", "u32", "i64"):
        for dtype in DTYPES:
            columns = {"i32": 64, "u16": 1024}.get(source, 256)  # 2, 32 or 8 elements a thread
            values = np.arange(2**16, dtype=np.uint32).view(np.int32)
            if source in WIDE:
                values = rng.integers(-(2**31), 2**31, 2**12)
            x = np.resize(values, (len(values) // columns or 1, columns)).astype(numpy(source))
            if source in ("i8", "u8"):
                x = x[:1]
            path = write(source, dtype, *x.shape)
            np.save(path + ".npy", x)
            line = [TILEC, "run", path, "--device", "cuda", "--target", target]
            line += ["--arg", f"t={path}.npy"]
            cases = list(expressions(source))
            for i in range(len(cases)):
                line += ["--out", f"y{i}={path}.{i}.npy"]
            subprocess.run(line, check=True, env={**os.environ, "TILE_EMULATE": target})
            for i, (text, compute) in enumerate(cases):
                if dtype == "bf16" and np.abs(compute(x)).max() >= 2**24:
                    continue  # NumPy would round twice
                wanted = rounded(compute(x).astype(np.float64), dtype)
                found = read(f"{path}.{i}.npy", dtype)
                at = np.argwhere(found != wanted)[:4]
                assert not len(at), (
                    f"{text} of {source} as {dtype}, {target}",
                    [(x[j, k], found[j, k], wanted[j, k]) for j, k in at],
                )
                checked += 1
print(f"{checked} conversions right")
