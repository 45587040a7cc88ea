"""Runs atomics.tile on the CPU, on four threads, against a model in Python. (O8.1, O8.3, M3.1,
M3.2)
"""

import os
import subprocess
import tempfile

import numpy as np

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "Inputs", "atomics.tile")
random = np.random.default_rng(2)


def run(kernel, **arrays):
    """The arrays as the kernel leaves them."""
    with tempfile.TemporaryDirectory() as folder:
        line = ["tilec", "run", SOURCE, "--kernel", kernel, "--device", "cpu", "--threads", "4"]
        for name, array in arrays.items():
            np.save(os.path.join(folder, name), array)
            line += ["--arg", f"{name}={folder}/{name}.npy"]
        outputs = [name for name in arrays if name not in ("k", "x")]
        for name in outputs:
            line += ["--out", f"{name}={folder}/{name}.out.npy"]
        subprocess.run(line, check=True)
        return [np.load(os.path.join(folder, name + ".out.npy")) for name in outputs]


def check(what, *pairs):
    for found, expected in pairs:
        if not np.array_equal(found, expected):
            raise SystemExit(f"{what}: expected {expected}, found {found}")
    print(f"{what}: ok")


def sequence():
    """Old values, of positions that are all different within a tile, some of which do not exist."""
    k = np.concatenate([random.permutation(80)[:32] - 8 for _ in range(3)]).astype(np.int32)
    h = random.integers(0, 9, 64).astype(np.int32)
    found = run("sequence", k=k, h=h, o=np.full(96, -1, np.int32), s=np.full(4, -1, np.int32))
    h, o, total = h.copy(), np.zeros(96, np.int32), 0
    for n in range(0, 96, 32):
        part = k[n : n + 32]
        inside = (part >= 0) & (part < 64)
        o[n : n + 32][inside] = h[part[inside]]
        h[part[inside]] += 1
        total += o[n : n + 32].sum()
        before = h[0]
        h[0] = max(h[0], total)
        total += before
    h[:4] = np.where(h[:4] == 7, 5, h[:4])
    check("sequence", *zip(found, (h, o, h[:4])))


def bins():
    x = random.integers(-2, 18, 40 * 64).astype(np.int32)
    found = run(
        "bins", x=x, h=np.arange(16, dtype=np.int32), seen=np.array([0], np.int64).reshape(())
    )
    check(
        "bins",
        (found[0], np.arange(16) + np.bincount(x[(x >= 0) & (x < 16)], minlength=16)),
        (found[1], np.array((x >= 0).sum())),
    )


def finish():
    """Sums of integers, exact in any order; again and again, since what is missing would be missing
    now and then.
    """
    for _ in range(10):
        x = random.integers(-99, 100, 5003).astype(np.float32)
        found = run(
            "finish",
            x=x,
            part=np.full(64, np.nan, np.float32),
            ticket=np.zeros(1, np.int32),
            y=np.ones(1, np.float32),
        )
        check("finish", (found[1], [64]), (found[2], [1 + x.sum()]))


sequence()
bins()
finish()
print("atomics: ok")
