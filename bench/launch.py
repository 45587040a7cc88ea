#!/usr/bin/env python3
"""Cost of a launch on the host, in one run: from C, the runtime library, its prepared calls and
generated C beside cuLaunchKernel, with and without checks; from Python, `tile` beside Triton, for
kernels of three arguments. Needs a GPU, gcc, PyTorch and Triton.

launch.py [--home DIR] [--target sm_90a] [--json FILE]: DIR is a release or a build folder.
"""

import argparse
import ctypes
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

import resultfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SOURCE = os.path.join(ROOT, "examples", "deploy", "kernels.tile")


def driverFolder():
    """Where the loader finds libcuda.so.1, which need not be where a linker looks."""
    ctypes.CDLL("libcuda.so.1")
    with open("/proc/self/maps", encoding="utf-8") as maps:
        return next(os.path.dirname(line.split()[-1]) for line in maps if "libcuda.so" in line)


def fromC(home, target, folder):
    """{way: nanoseconds} of bench/launch.c."""
    tilec = os.path.join(home, "bin", "tilec")
    cubin, generated = os.path.join(folder, "kernels.cubin"), os.path.join(folder, "kernels.c")
    for output in (cubin, generated):
        subprocess.run([tilec, SOURCE, "--target", target, "-o", output], check=True)
    with open(cubin + ".json", encoding="utf-8") as stream:
        threads = next(
            k["launch"]["threads"] for k in json.load(stream)["kernels"] if k["name"] == "saxpy"
        )
    program, library = os.path.join(folder, "launch"), os.path.join(home, "lib")
    include = os.path.join(ROOT, "runtime", "include")
    include = include if os.path.isdir(include) else os.path.join(home, "include")
    subprocess.run(
        [
            "gcc",
            "-O2",
            "-I",
            include,
            "-I",
            folder,
            os.path.join(ROOT, "bench", "launch.c"),
            generated,
            "-o",
            program,
            "-L",
            library,
            "-L",
            driverFolder(),
            "-ltile_runtime",
            "-l:libcuda.so.1",
            "-lpthread",
            "-ldl",
            "-Wl,-rpath," + library,
        ],
        check=True,
    )
    done = subprocess.run(
        [program, cubin, str(threads)],
        check=True,
        capture_output=True,
        text=True,
        env=dict(
            os.environ, LD_LIBRARY_PATH=library + os.pathsep + os.environ.get("LD_LIBRARY_PATH", "")
        ),
    )
    return {
        name: float(value)
        for name, value in (line.split("\t") for line in done.stdout.splitlines())
    }


def medianTimes(ways, synchronize, calls=400, rounds=60):
    """{way: nanoseconds of one call}, the median of rounds in which the ways alternate."""
    times = {name: [] for name in ways}
    for name, call in ways.items():
        for _ in range(50):
            call()
    synchronize()
    for _ in range(rounds):
        for name, call in ways.items():
            begin = time.perf_counter_ns()
            for _ in range(calls):
                call()
            times[name].append((time.perf_counter_ns() - begin) / calls)
            synchronize()
    return {name: statistics.median(values) for name, values in times.items()}


def fromPython(home, target, folder):
    """{way: nanoseconds} of a call of `tile`, of Triton and of a PyTorch operator."""
    import torch
    import triton
    import triton.language as tl

    sys.path.insert(0, os.path.join(ROOT, "python"))
    os.environ["TILE_HOME"] = home
    import tile

    @triton.jit
    def saxpy(x, y, a, n, BLOCK: tl.constexpr):
        at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        mask = at < n
        tl.store(y + at, a * tl.load(x + at, mask=mask) + tl.load(y + at, mask=mask), mask=mask)

    ours = tile.load(os.path.join(folder, "kernels.cubin"))["saxpy"]
    x, y = torch.ones(1024, device="cuda"), torch.ones(1024, device="cuda")
    ours(x, y, 2.0)
    assert torch.equal(y, torch.full_like(y, 3.0)), "saxpy is wrong"
    prepared = ours.prepare(x, y, 2.0)
    prepared(x, y, 2.0)
    assert torch.equal(y, torch.full_like(y, 5.0)), "a prepared saxpy is wrong"
    kernels = tile.compile(os.path.join(ROOT, "examples", "deploy", "kernels.tile"))
    compiled, mean, rows = kernels.saxpy, kernels.row_mean, x.view(1, 1024)
    compiled(x, y, 2.0)
    assert torch.equal(y, torch.full_like(y, 7.0)) and mean(rows).item() == 1.0, (
        "what tile.compile made is wrong"
    )
    ways = {
        "tile.compile": lambda: compiled(x, y, 2.0),
        "tile.compile, output made": lambda: mean(rows),
        "tile": lambda: ours(x, y, 2.0),
        "tile unchecked": lambda: ours(x, y, 2.0, check=False),
        "tile prepared": lambda: prepared(x, y, 2.0),
        "tile prepared, unchecked": lambda: prepared(x, y, 2.0, check=False),
        "triton": lambda: saxpy[(1,)](x, y, 2.0, 1024, BLOCK=1024),
        "torch add_": lambda: y.add_(x, alpha=2.0),
    }
    return medianTimes(ways, torch.cuda.synchronize)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--home", default=os.environ.get("TILE_HOME") or os.path.join(ROOT, "build")
    )
    parser.add_argument("--target", default="sm_90a")
    parser.add_argument("--json", help="write the figures to this file, too")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="tile-launch-") as folder:
        c = fromC(os.path.abspath(options.home), options.target, folder)
        python = fromPython(os.path.abspath(options.home), options.target, folder)
    base = c["cuLaunchKernel"]
    for name, value in c.items():
        print(
            f"C       {name:24} {value:8.0f} ns"
            + (f"  {value - base:+7.0f} ns" if name != "cuLaunchKernel" else "")
        )
    for name, value in python.items():
        print(f"Python  {name:24} {value:8.0f} ns  {value / python['triton']:7.2f} of Triton's")
    if options.json:
        resultfile.save(options.json, {"c_ns": c, "python_ns": python})
    return 0


if __name__ == "__main__":
    sys.exit(main())
