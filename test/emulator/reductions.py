"""Integers that the lanes of a warp reduce by one instruction: sums, maxima, minima, any and all of
every width, of tiles that fill a warp, several, or a part of one, beside NumPy to the bit.

usage: reductions.py TILEC FOLDER
"""

import os
import subprocess
import sys

import numpy as np

TILEC, FOLDER = sys.argv[1:]
os.makedirs(FOLDER, exist_ok=True)
DTYPES = "i8", "u8", "i16", "u16", "i32", "u32", "i64"
EXTENTS = 5, 16, 32, 64, 100, 128, 700


def expressions(dtype):
    wide = "i64" if dtype in ("i32", "u32", "i64") else "i32"
    yield f"sum(x as {wide}) as i64", lambda x: x.astype(np.int64).sum()
    yield "max(x) as i64", np.max
    yield "min(x) as i64", np.min
    yield "max(x as index) as i64", np.max
    yield "min(x as i64)", np.min
    yield "any(x > 100) as i64", lambda x: (x > 100).any()
    yield "all(x > 100) as i64", lambda x: (x > 100).all()


rng, checked = np.random.default_rng(3), 0
for number, dtype in enumerate(DTYPES):
    kind = np.dtype({"i": "int", "u": "uint"}[dtype[0]] + dtype[1:])
    limits, cases = np.iinfo(kind), list(expressions(dtype))
    for count in EXTENTS:
        path = os.path.join(FOLDER, f"{dtype}_{count}.tile")
        results = "".join(f",\n    y{i}: out i64[M]" for i in range(len(cases)))
        stores = "".join(f"  y{i}[m] = {text};\n" for i, (text, _) in enumerate(cases))
        with open(path, "w", encoding="utf-8") as stream:
            stream.write(
                f"kernel reductions(t: in {dtype}[M, {count}]{results})\n"
                f"  with warps(4) grid (m: M)\n{{\n  let x = t[m, :];\n{stores}}}\n"
            )
        x = rng.integers(limits.min, limits.max, (12, count), kind, endpoint=True)
        x[1] = limits.min
        x[2] = limits.max
        x[3] = np.maximum(x[3], 101)
        x[4] = rng.integers(0, 3, count)  # 64 bits: high words alike
        if dtype == "i64":
            x[0] &= ~kind.type(2**40 - 1)
            x[5] = -x[4]
            x[6] //= count  # sums without overflow
        np.save(path + ".npy", x)
        target = ("sm_80", "sm_90a")[(number + count) % 2]
        line = [TILEC, "run", path, "--device", "cuda", "--target", target]
        line += ["--arg", f"t={path}.npy"]
        for i in range(len(cases)):
            line += ["--out", f"y{i}={path}.{i}.npy"]
        environment = {**os.environ, "TILE_EMULATE": target}
        subprocess.run(line, check=True, stdout=subprocess.DEVNULL, env=environment)
        for i, (text, compute) in enumerate(cases):
            wanted = np.array([compute(row) for row in x]).astype(np.int64)
            found = np.load(f"{path}.{i}.npy")
            assert (found == wanted).all(), (text, dtype, count, target, found, wanted)
            checked += len(x)
print(f"{checked} reductions right")
