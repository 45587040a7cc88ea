#!/usr/bin/env python3
"""Cost of a launch on the host, in one run: from C, the runtime library, its prepared calls and
generated C beside cuLaunchKernel, with and without checks; from Python, `tile` beside Triton, for
kernels of three arguments. Needs a GPU, gcc, PyTorch and Triton.

launch.py [--home DIR] [--target sm_90a] [--json FILE]: DIR is a release or a build folder.
launch.py --against RELEASE [--rounds N]: two versions in turns, each in a process of its own every
round, so that a machine that gets slower does so for both; medians of the rounds, and their ratio.
From one process to the next the driver's own call differs by up to a quarter, so ratios from C are
also given relative to it.
"""

import argparse
import ctypes
import importlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

import resultfile
from releases import moduleFolder

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
RAW = "cuLaunchKernel"  # of bench/launch.c's ways


def driverFolder():
    """Where the loader finds libcuda.so.1, which need not be where a linker looks."""
    ctypes.CDLL("libcuda.so.1")
    with open("/proc/self/maps", encoding="utf-8") as maps:
        return next(os.path.dirname(line.split()[-1]) for line in maps if "libcuda.so" in line)


def buildC(home, target, folder, root=ROOT):
    """Builds bench/launch.c in the folder with the library of `home`, the header and the kernels
    of `root`: the command that runs it, and its environment."""
    tilec = os.path.join(home, "bin", "tilec")
    cubin, generated = os.path.join(folder, "kernels.cubin"), os.path.join(folder, "kernels.c")
    for output in (cubin, generated):
        source = os.path.join(root, "examples", "deploy", "kernels.tile")
        subprocess.run([tilec, source, "--target", target, "-o", output], check=True)
    with open(cubin + ".json", encoding="utf-8") as stream:
        threads = next(
            k["launch"]["threads"] for k in json.load(stream)["kernels"] if k["name"] == "saxpy"
        )
    program, library = os.path.join(folder, "launch"), os.path.join(home, "lib")
    include = os.path.join(root, "runtime", "include")
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
    before = os.environ.get("LD_LIBRARY_PATH", "")
    return [program, cubin, str(threads)], {"LD_LIBRARY_PATH": library + os.pathsep + before}


def runC(command, environment):
    """{way: nanoseconds} of bench/launch.c."""
    done = subprocess.run(
        command, check=True, capture_output=True, text=True, env=dict(os.environ, **environment)
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


def fromPython(home, folder, root=ROOT):
    """{way: nanoseconds} of a call of `tile`, of Triton and of a PyTorch operator."""
    import torch
    import triton
    import triton.language as tl

    sys.path.insert(0, os.path.join(root, "python"))
    os.environ["TILE_HOME"] = home
    tile = importlib.import_module(os.path.basename(moduleFolder(root)))

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
    ways = {}
    if hasattr(tile, "compile"):  # not in the first version
        kernels = tile.compile(os.path.join(root, "examples", "deploy", "kernels.tile"))
        compiled, mean, rows = kernels.saxpy, kernels.row_mean, x.view(1, 1024)
        compiled(x, y, 2.0)
        assert torch.equal(y, torch.full_like(y, 7.0)) and mean(rows).item() == 1.0, (
            "what tile.compile made is wrong"
        )
        ways["tile.compile"] = lambda: compiled(x, y, 2.0)
        ways["tile.compile, output made"] = lambda: mean(rows)
    ways |= {
        "tile": lambda: ours(x, y, 2.0),
        "tile unchecked": lambda: ours(x, y, 2.0, check=False),
        "tile prepared": lambda: prepared(x, y, 2.0),
        "tile prepared, unchecked": lambda: prepared(x, y, 2.0, check=False),
        "triton": lambda: saxpy[(1,)](x, y, 2.0, 1024, BLOCK=1024),
        "torch add_": lambda: y.add_(x, alpha=2.0),
    }
    return medianTimes(ways, torch.cuda.synchronize)


def inTurns(homes, target, rounds):
    """[{group: {way: nanoseconds}} of each home], medians of rounds in which the homes alternate;
    a home is the pair of its build or release and the folder of its sources."""
    figures = [{"c_ns": {}, "python_ns": {}} for _ in homes]
    with tempfile.TemporaryDirectory(prefix="tile-launch-") as folder:
        commands = []
        for index, (home, root) in enumerate(homes):
            own = os.path.join(folder, str(index))
            os.makedirs(own)
            python = [sys.executable, os.path.abspath(__file__), "--python", own]
            python += ["--home", home, "--root", root]
            commands.append((buildC(home, target, own, root), python))
        for _ in range(rounds):
            for figure, (c, python) in zip(figures, commands):
                done = subprocess.run(python, check=True, capture_output=True, text=True)
                for group, ways in (("c_ns", runC(*c)), ("python_ns", json.loads(done.stdout))):
                    for name, value in ways.items():
                        figure[group].setdefault(name, []).append(value)
    return [
        {
            group: {name: statistics.median(values) for name, values in ways.items()}
            for group, ways in figure.items()
        }
        for figure in figures
    ]


def compare(options):
    """Two versions in turns: the table and the record of --against."""
    release = os.path.abspath(options.against)
    homes = [(options.home, ROOT), (release, release)]
    ours, theirs = inTurns(homes, options.target, options.rounds)
    raw = ours["c_ns"][RAW] / theirs["c_ns"][RAW]
    for group, language in (("c_ns", "C"), ("python_ns", "Python")):
        for name, value in ours[group].items():
            before = theirs[group].get(name)
            against = f"{before:8.0f} ns  {value / before:6.3f} of it" if before else "       -"
            if before and group == "c_ns" and name != RAW:
                against += f", {value / before / raw:6.3f} beside {RAW}"
            print(f"{language:7} {name:26} {value:8.0f} ns {against}")
    if options.json:
        record = {"rounds": options.rounds, "this": ours, "release": theirs}
        resultfile.save(options.json, record)
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--home", default=os.environ.get("TILE_HOME") or os.path.join(ROOT, "build")
    )
    parser.add_argument("--target", default="sm_90a")
    parser.add_argument("--json", help="write the figures to this file, too")
    parser.add_argument(
        "--against", metavar="RELEASE", help="an unpacked release of another version"
    )
    parser.add_argument("--rounds", type=int, default=7, help="turns of --against (7)")
    parser.add_argument("--root", default=ROOT, help=argparse.SUPPRESS)
    parser.add_argument("--python", metavar="FOLDER", help=argparse.SUPPRESS)
    options = parser.parse_args()
    options.home = os.path.abspath(options.home)
    if options.python:
        print(json.dumps(fromPython(options.home, options.python, options.root)))
        return 0
    if options.against:
        return compare(options)
    with tempfile.TemporaryDirectory(prefix="tile-launch-") as folder:
        c = runC(*buildC(options.home, options.target, folder))
        python = fromPython(options.home, folder)
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
