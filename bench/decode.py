#!/usr/bin/env python3
"""Decoding with one query a sequence, on this machine's GPU: examples/attention_decode, defaults.

Each shape is checked against PyTorch in float32, then timed in turns with a copy that moves as many
bytes, with PyTorch's scaled_dot_product_attention, and with the kernel of --against, an unpacked
release. TILE_HOME names an unpacked release or a build folder. Prints a table, and writes --json.
"""

import argparse
import importlib.util
import math
import os
import statistics
import subprocess
import sys
import tempfile

import resultfile
from releases import moduleFolder

import torch

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SHAPES = [(1, 4096), (1, 32768), (1, 131072), (4, 8192), (8, 4096), (16, 8192), (64, 4096)]
HEADS, SHARED, D = 8, 4, 128


def load(home, name):
    """The kernel of the release at `home`, through that release's own module and library."""
    folder = tempfile.mkdtemp()
    source = os.path.join(home, "examples", "attention_decode", "attention_decode.tile")
    package = os.path.join(folder, "decode.cubin")
    subprocess.run(
        [os.path.join(home, "bin", "tilec"), source, "-D", "T=f16", "-D", f"D={D}"]
        + ["--target", "sm_90a", "-o", package],
        check=True,
    )
    os.environ["TILE_HOME"] = home
    spec = importlib.util.spec_from_file_location(
        name,
        os.path.join(moduleFolder(home), "__init__.py"),
        submodule_search_locations=[moduleFolder(home)],
    )
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module.load(package)["attention_decode"]


def measure(calls, rounds):
    """Median microseconds of each call, in turns."""
    times = {who: [] for who in calls}
    for call in calls.values():
        call()
    for _ in range(rounds):
        for who, call in calls.items():
            begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            repeat = 20
            torch.cuda.synchronize()
            begin.record()
            for _ in range(repeat):
                call()
            end.record()
            torch.cuda.synchronize()
            times[who].append(begin.elapsed_time(end) * 1000 / repeat)
    return {who: statistics.median(each) for who, each in times.items()}


def run(kernels, b, length, rounds):
    """Times one shape; raises an AssertionError where a result is wrong."""
    make = lambda *shape: torch.randn(shape, device="cuda", dtype=torch.float16)  # noqa: E731
    q, k, v = make(b, HEADS * SHARED, D), make(b, HEADS, length, D), make(b, HEADS, length, D)
    lengths = torch.full((b,), length, device="cuda", dtype=torch.int32)
    scale, calls = 1 / math.sqrt(D), {}
    s = torch.einsum("bgrd,bgld->bgrl", q.float().view(b, HEADS, SHARED, D), k.float()) * scale
    expected = torch.einsum("bgrl,bgld->bgrd", s.softmax(-1), v.float()).reshape(q.shape)
    for who, kernel in kernels.items():
        out = torch.empty_like(q)
        kernel(q, k, v, lengths, out, scale)
        worst = (out.float() - expected).abs().max().item()
        assert worst < 2e-3, f"{who}: B={b} L={length}: off by {worst}"
        calls[who] = lambda kernel=kernel, out=out: kernel(q, k, v, lengths, out, scale)
    both = torch.cat([k.flatten(), v.flatten()])
    half = both.numel() // 2
    target = torch.empty_like(both[:half])
    calls["copy"] = lambda: target.copy_(both[:half])
    calls["sdpa"] = lambda: torch.nn.functional.scaled_dot_product_attention(
        q[:, :, None], k, v, scale=scale, enable_gqa=True
    )
    return measure(calls, rounds), 2 * both.numel()


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--against", metavar="RELEASE")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--json", metavar="FILE")
    options = parser.parse_args()
    kernels = {"tile": load(os.environ.get("TILE_HOME", ROOT), "tile_now")}
    if options.against:
        kernels["before"] = load(options.against, "tile_before")
    rows = []
    for b, length in SHAPES:
        times, moved = run(kernels, b, length, options.rounds)
        rows.append({"B": b, "L": length, "bytes": moved, "us": times})
        rates = ", ".join(f"{who} {us:.1f} us" for who, us in times.items())
        print(f"B={b} L={length}: {moved / times['tile'] / 1e3:.0f} GB/s; {rates}", flush=True)
    if options.json:
        record = {
            "machine": torch.cuda.get_device_name(),
            "heads": HEADS,
            "shared": SHARED,
            "D": D,
            "rows": rows,
        }
        resultfile.save(options.json, record)


if __name__ == "__main__":
    main()
