#!/usr/bin/env python3
"""Largest error of the elementary functions on this GPU in f32, against PyTorch in float64; fails
above docs/Math.md's bounds.

Samples: every 61st bit pattern (all magnitudes, NaN, infinities, subnormals) and 2^26 points
between -104 and 89.
"""

import os
import subprocess
import sys
import tempfile

import torch

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
HOME = os.environ.get("TILE_HOME") or (
    ROOT if os.path.exists(os.path.join(ROOT, "bin")) else os.path.join(ROOT, "build")
)
os.environ["TILE_HOME"] = HOME
sys.path[:0] = [os.path.join(ROOT, "python")]
import tile_compiler as tile  # noqa: E402

# ulp; the measured maximum, rounded up.
BOUNDS = {
    "exp": 2.2,
    "exp2": 2.2,
    "expm1": 1.6,
    "log": 1.6,
    "log2": 1.2,
    "log1p": 1.8,
    "sqrt": 0.5,
    "rsqrt": 1.6,
    "sin": 2.3,
    "cos": 2.3,
    "tanh": 2.6,
    "sigmoid": 3.7,
    "erf": 2.2,
}
# With fp("fast"): relative errors.
FAST_BOUNDS = {"tanh": 2.0e-5, "erf": 8.0e-5}
SOURCE = """fn same(x) { return x; }
kernel apply[OP: fn = same, BLOCK: int = 1024](x: in f32[N], y: out f32[N])
  where N in 1..=268435456
  grid (i: cdiv(N, BLOCK))
{
  let n = block(i, BLOCK);
  y[n] = OP(x[n]);
}
"""


def samples():
    bits = torch.arange(0, 2**32, 61, dtype=torch.int64, device="cuda")
    signed = torch.where(bits >= 2**31, bits - 2**32, bits).to(torch.int32)
    return [signed.view(torch.float32), torch.linspace(-104, 89, 1 << 26, device="cuda")]


def measureFast(function, kernel, points):
    """(largest relative error of normal results, number of NaN that differ)."""
    worst, special = 0.0, 0
    for x in points:
        y = torch.empty_like(x)
        kernel(x, y)
        exact = getattr(torch, function)(x.double())
        special += int((torch.isnan(y) != torch.isnan(exact)).sum())
        normal = exact.abs() > 2.0**-120
        worst = max(
            worst, float(((y[normal].double() - exact[normal]) / exact[normal]).abs().max())
        )
    return worst, special


def measure(function, kernel, points):
    """(largest error in ulp, number of NaN and infinities that differ)."""
    worst, special = 0.0, 0
    for x in points:
        if function in ("sin", "cos"):
            x = x[x.abs() < 1e6]  # beyond, PyTorch's own float64 is not checked here
        y = torch.empty_like(x)
        kernel(x, y)
        exact = getattr(torch, function)(x.double())
        rounded = exact.float()
        special += int(
            (
                (torch.isnan(y) != torch.isnan(rounded))
                | (torch.isinf(rounded) & (y != rounded) & (exact.abs() > 3.5e38))
            ).sum()
        )
        finite = torch.isfinite(rounded) & torch.isfinite(y)
        exponent = torch.frexp(exact[finite].abs().clamp(min=2.0**-126))[1]
        ulp = torch.ldexp(torch.ones_like(exact[finite]), exponent - 24)
        worst = max(worst, float(((y[finite].double() - exact[finite]).abs() / ulp).max()))
    return worst, special


def main():
    points, passed, failed = samples(), 0, 0
    with tempfile.TemporaryDirectory(prefix="tile-accuracy-") as folder:
        for fast, bounds in ((False, BOUNDS), (True, FAST_BOUNDS)):
            source = os.path.join(folder, f"apply{fast}.tile")
            with open(source, "w", encoding="utf-8") as out:
                out.write(
                    SOURCE.replace("{\n  let", '  with fp("fast")\n{\n  let') if fast else SOURCE
                )
            for function, bound in bounds.items():
                binary = os.path.join(folder, f"{function}.ptx")
                subprocess.run(
                    [
                        os.path.join(HOME, "bin", "tilec"),
                        source,
                        "-D",
                        f"OP={function}",
                        "-o",
                        binary,
                    ],
                    check=True,
                )
                worst, special = (measureFast if fast else measure)(
                    function, tile.load(binary)["apply"], points
                )
                good = worst <= bound and special == 0
                passed, failed = passed + good, failed + (not good)
                error = f"{worst:.1e} relative" if fast else f"{worst:5.2f} ulp"
                print(
                    f"{'' if good else 'FAIL '}{function:6} {error} (bound {bound}), {special}"
                    " special values differ",
                    flush=True,
                )
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
