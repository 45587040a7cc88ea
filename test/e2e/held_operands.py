"""Operands that are computed and kept in registers, on an emulated GPU against NumPy: the kernels
of Inputs/held_operands.tile. Argument: tilec."""

import os
import subprocess
import sys
import tempfile

import numpy as np

TILEC = sys.argv[1]
SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "Inputs", "held_operands.tile")
random = np.random.default_rng(0)
checked = failed = 0


def expect(kernel, inputs, definitions, wanted):
    global checked, failed
    with tempfile.TemporaryDirectory(prefix="tile-held-operands-") as folder:
        line = [TILEC, "run", SOURCE, "--kernel", kernel, "--device", "cuda", "-D", "T=f16"]
        for key, value in definitions.items():
            line += ["-D", f"{key}={value}"]
        for key, value in {**inputs, "c": np.full(wanted.shape, 9, np.float32)}.items():
            path = os.path.join(folder, key + ".npy")
            np.save(path, value)
            line += ["--arg", f"{key}={path}"]
        result = os.path.join(folder, "result.npy")
        subprocess.run([*line, "--out", f"c={result}"], check=True, stdout=subprocess.DEVNULL)
        wrong = np.abs(np.load(result) - wanted).max()
    checked += 1
    if not wrong <= 1e-4 * max(1.0, np.abs(wanted).max()):
        failed += 1
        print("FAIL", kernel, definitions, wanted.shape, "differs by", wrong)


def draw(*shape):
    return random.uniform(-1, 1, shape).astype(np.float16)


def rounded(x):
    return x.astype(np.float32).astype(np.float16).astype(np.float64)


for m, n, k in ((64, 64, 64), (130, 72, 200), (1, 8, 8), (200, 136, 456)):
    a, b, scale = draw(m, k), draw(k, n), random.uniform(-1, 1, k).astype(np.float32)
    x = rounded(np.maximum(a.astype(np.float32) * scale, 0))
    for tile in ({}, {"BM": 128, "BK": 32}, {"BM": 96, "BN": 48, "BK": 48}):
        inputs = {"a": a, "scale": scale, "b": b}
        expect("left", inputs, tile, x @ b.astype(np.float64))
    b, scale = draw(n, k), random.uniform(-1, 1, n).astype(np.float32)
    w = rounded(b.astype(np.float32) * scale[:, None])
    for tile in ({}, {"BM": 32, "BN": 128, "BK": 32}, {"BM": 48, "BN": 96, "BK": 48}):
        inputs = {"a": a, "b": b, "scale": scale}
        expect("right", inputs, tile, a.astype(np.float64) @ w.T)
for m, n, k in ((16, 64, 32), (33, 72, 96), (1, 8, 32), (40, 200, 512)):
    a, scale, zero = draw(m, k), draw(k // 32, n), random.uniform(0, 9, k // 32).astype(np.float32)
    q = random.integers(0, 2**32, (k // 8, n), dtype=np.uint32)
    codes = q[:, None, :] >> np.arange(0, 32, 4, dtype=np.uint32)[None, :, None] & np.uint32(15)
    groups = [np.repeat(x, 32, axis=0) for x in (zero[:, None], scale.astype(np.float32))]
    w = rounded((codes.reshape(k, n).astype(np.float32) - groups[0]) * groups[1])
    for tile in ({}, {"BM": 32, "BN": 128}):
        inputs = {"a": a, "q": q, "scale": scale, "zero": zero}
        expect("packed", inputs, tile, a.astype(np.float64) @ w)
for m, n, k in ((16, 64, 64), (33, 72, 96), (1, 8, 32), (40, 200, 512)):
    a, scale = draw(m, k), random.uniform(-1, 1, n).astype(np.float32)
    for dtype, q in (
        ("u4", random.integers(0, 256, (n, k // 2), dtype=np.uint8)),
        ("u8", random.integers(0, 256, (n, k), dtype=np.uint8)),
        ("i8", random.integers(-128, 128, (n, k), dtype=np.int8)),
    ):
        codes = np.stack((q & 15, q >> 4), 2).reshape(n, k) if dtype == "u4" else q
        w = rounded(codes.astype(np.float32) * scale[:, None])
        for tile in ({}, {"BM": 32, "BN": 128, "BK": 32}, {"BM": 72, "BN": 64, "BK": 128}):
            inputs = {"a": a, "q": q, "scale": scale}
            expect("bytes", inputs, {"W": dtype, **tile}, a.astype(np.float64) @ w.T)
print(f"{checked} products, {failed} failed")
sys.exit(failed > 0)
