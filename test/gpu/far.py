#!/usr/bin/env python3
"""Products over K = 2^30 + 4096: coordinates of copies beyond 2^30, within the reach of TMA and
beyond it, against sums of whole numbers, which are exact.

far.py [--home DIR] [--target sm_90a]: DIR is a release or a build folder. Needs a GPU with 12 GB
and PyTorch; about 30 s.
"""

import os
import subprocess
import sys
import tempfile

import home
import torch

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
K, N, LAST = (1 << 30) + 4096, 3, 8192
# TMA reaches positions below 2^31 - 2^21; a contract that permits more takes other copies.
LIMITS = {"near": 2_000_000_000, "far": 17_179_869_184}
SOURCE = """kernel {name}(a: in bf16[M, K], b: in bf16[N, K], c: out f32[M, N])
  where K in 0..={limit}, K % 64 == 0 grid (i: cdiv(M, 64), j: cdiv(N, 64)) {{
  var acc = zeros(f32, [64, 64]);
  for k in blocks(K, 64) {{ acc = dot(a[block(i, 64), k], b[block(j, 64), k].T, acc); }}
  c[block(i, 64), block(j, 64)] = acc;
}}
"""


def ones(rows):
    """-1, 0 or 1, without a copy in another dtype. The end, beyond 2^30, is all ones."""
    values = torch.empty((rows, K), dtype=torch.bfloat16, device="cuda")
    for row in values:
        row.random_(0, 3).sub_(1)
    values[:, -LAST:] = 1
    return values


def product(a, b):
    """The sums in integers, a piece of 2^26 at a time."""
    return sum(
        (x.int() * y.int()).sum(dtype=torch.int64)
        for x, y in zip(a.split(1 << 26), b.split(1 << 26))
    ).item()


def main():
    options = home.parse(__doc__)
    os.environ["TILE_HOME"] = options.home
    sys.path.insert(0, os.path.join(ROOT, "python"))
    import tile_compiler as tile

    torch.manual_seed(7)
    a, b = ones(1), ones(N)
    right = [product(a[0], row) for row in b]
    failed = 0
    with tempfile.TemporaryDirectory(prefix="tile-far-") as folder:
        for name, limit in LIMITS.items():
            source, cubin = (os.path.join(folder, name + end) for end in (".tile", ".cubin"))
            with open(source, "w", encoding="utf-8") as file:
                file.write(SOURCE.format(name=name, limit=limit))
            tilec = os.path.join(options.home, "bin", "tilec")
            subprocess.run([tilec, source, "--target", options.target, "-o", cubin], check=True)
            c = torch.full((1, N), float("nan"), device="cuda")
            tile.load(cubin)[name](a=a, b=b, c=c)
            found = [int(value) if value == value else None for value in c[0].tolist()]
            failed += found != right
            print(f"{'ok' if found == right else 'WRONG'} K up to {limit}: {found}, right {right}")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
