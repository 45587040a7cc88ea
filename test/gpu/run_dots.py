#!/usr/bin/env python3
"""Runs products of every type, transposition and many tile shapes on CUDA and checks them against
PyTorch in float64.

Extents are such that tiles stand over the edges of the matrices; outputs start as NaN between guard
zones. With --quick every seventh tile shape is run. Needs python3 with PyTorch, and a build folder
or an unpacked release in TILE_HOME.
"""

import concurrent.futures
import itertools
import os
import subprocess
import sys
import tempfile

import torch

from run_examples import Guarded, TILEC, architecture, tile  # sets up paths and TILE_HOME

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "Inputs", "products.tile")
TORCH = {
    "f16": torch.float16,
    "bf16": torch.bfloat16,
    "f32": torch.float32,
    "f64": torch.float64,
    "f8e4m3": torch.float8_e4m3fn,
    "f8e5m2": torch.float8_e5m2,
    "i8": torch.int8,
    "u8": torch.uint8,
}
BYTES = {"f16": 2, "bf16": 2, "f32": 4, "f64": 8, "f8e4m3": 1, "f8e5m2": 1, "i8": 1, "u8": 1}
# The error of one product and sum relative to the largest result: the operands' and the
# accumulator's precision.
TOLERANCE = {
    ("f16", "f16", "f32"): 1e-5,
    ("bf16", "bf16", "f32"): 1e-5,
    ("f32", "f32", "f32"): 3e-3,
    ("f64", "f64", "f64"): 1e-7,  # the output is f32
    ("f16", "f16", "f16"): 2e-2,
    ("f8e4m3", "f8e4m3", "f32"): 2e-3,
    ("f8e5m2", "f8e5m2", "f32"): 2e-3,
    ("f8e4m3", "f8e5m2", "f32"): 2e-3,
    ("i8", "i8", "i32"): 0.0,
    ("i8", "u8", "i32"): 0.0,
    ("u8", "i8", "i32"): 0.0,
}
EXTENTS = [(256, 256, 256), (200, 328, 136), (64, 8, 512), (1032, 72, 40)]


def variants():
    """(T, V, U, BM, BN, BK, W) of the tiles to run."""
    for bm, bn, bk, warps in itertools.product(
        (8, 16, 32, 64, 128, 256), (8, 16, 32, 64, 128, 256), (16, 64, 128), (4, 8)
    ):
        if (
            bm * bn > 128 * 32 * warps
            or (bm == 256 and bn > 64 and warps == 4)
            or (bm < 64 and bn < 64)
        ):
            continue
        for t, v, u in TOLERANCE:
            fits = bm * bn * (2 if u == "f64" else 1) <= 128 * 32 * warps
            if fits and (bm + bn) * bk * BYTES[t] <= 192 * 1024:
                yield t, v, u, bm, bn, bk, warps


def compileVariant(folder, variant):
    path = os.path.join(folder, "-".join(map(str, variant)) + ".cubin")
    line = [TILEC, SOURCE, "--target", architecture(), "-o", path]
    for name, value in zip(("T", "V", "U", "BM", "BN", "BK", "W"), variant):
        line += ["-D", f"{name}={value}"]
    done = subprocess.run(line, capture_output=True, text=True, timeout=300)
    return variant, path, done.stderr.strip() if done.returncode else None


def check(module, name, variant, extents):
    m, n, k = extents
    torch.manual_seed(m * n + k)

    def draw(shape, dtype):
        x = torch.randn(shape, device="cuda")
        x = {"i8": 30 * x, "u8": (128 + 30 * x).clamp(0, 255)}.get(dtype, x)
        return x.to(TORCH[dtype])

    a = draw((k, m) if name[0] == "t" else (m, k), variant[0])
    b = draw((n, k) if name[1] == "t" else (k, n), variant[1])
    c = Guarded("f32", (m, n))
    module[name](a, b, c.tensor)
    torch.cuda.synchronize()
    wide = [x.double() if x.dtype == torch.float64 else x.float().double() for x in (a, b)]
    expected = (wide[0].T if name[0] == "t" else wide[0]) @ (
        wide[1].T if name[1] == "t" else wide[1]
    )
    # Sums of up to 512 products of bytes are exact in f32.
    error = ((c.tensor.double() - expected).abs().max() / expected.abs().max()).item()
    if not error <= TOLERANCE[variant[:3]]:
        wrong = (c.tensor.double() - expected).abs() > TOLERANCE[variant[:3]] * expected.abs().max()
        wrong |= c.tensor.isnan()
        first = wrong.nonzero()[0].tolist() if wrong.any() else []
        return (
            f"error {error:.3g} of the largest result; {int(wrong.sum())} of {m * n} wrong, the"
            f" first at {first}"
        )
    return None if c.intact() else "written out of bounds"


def main():
    passed = failed = 0
    with tempfile.TemporaryDirectory(prefix="tile-dots-") as folder:
        chosen = list(variants())[:: 7 if "--quick" in sys.argv else 1]
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            compiled = list(pool.map(lambda variant: compileVariant(folder, variant), chosen))
        for variant, path, error in compiled:
            if error:
                print(f"FAIL {variant}\n    {error[:400]}", flush=True)
                failed += 1
                continue
            module = tile.load(path)
            for name, extents in itertools.product(("nn", "nt", "tn", "tt"), EXTENTS):
                try:
                    wrong = check(module, name, variant, extents)
                # Whatever happens is this case's failure.
                except Exception as exception:  # noqa: BLE001
                    wrong = f"{type(exception).__name__}: {exception}"
                if wrong:
                    print(f"FAIL {name} {variant} {extents}\n    {wrong}", flush=True)
                passed, failed = passed + (not wrong), failed + bool(wrong)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
