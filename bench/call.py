#!/usr/bin/env python3
"""Cost of a call from Python, on this machine's CPU: the first one of a source that was never
compiled, the first of a process that finds it on disk, and later ones, with outputs given and made.
NumPy's arrays, and PyTorch's where it is there.

call.py [--tilec PATH] [--library PATH] [--rounds N] [--json FILE]. Figures are medians of rounds,
and the least, for machines on which other work runs.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time

import resultfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SOURCE = """
kernel scale[T: dtype in {f16, bf16, f32}](x: in T[M, N], y: out T[M, N], a: T)
  where M in 1..=65536, N in 1..=65536
  grid (row: M)
{
  for n in blocks(N, 1024) { y[row, n] = a * x[row, n]; }
}"""
FIRST = """
import resource, sys, time, numpy
def busy():
    used = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(one.ru_utime + one.ru_stime for one in used)
x = numpy.ones((1000, 777), "f4")
begin, before = time.perf_counter(), busy()
import tile_compiler as tile
y = tile.compile(sys.argv[1])(x, 3)
print(time.perf_counter() - begin, busy() - before)
assert (y == 3).all()
"""


def firstCalls(rounds):
    """Microseconds of the first call of a process, import of `tile` included, and what the
    processors spent on it.
    """
    names = ("first call, never compiled", "first call, compiled before")
    times = {name + kind: [] for name in names for kind in ("", ", processors")}
    for _ in range(rounds):
        with tempfile.TemporaryDirectory(prefix="tile-call-") as folder:
            for name in names:
                done = subprocess.run(
                    [sys.executable, "-c", FIRST, SOURCE],
                    capture_output=True,
                    text=True,
                    check=True,
                    env=dict(os.environ, XDG_CACHE_HOME=folder),
                )
                for kind, text in zip(("", ", processors"), done.stdout.split()):
                    times[name + kind].append(1e6 * float(text))
    return times


def laterCalls(rounds):
    """Microseconds of later calls, of rows so short that the kernel takes next to nothing."""
    import numpy
    import tile_compiler as tile

    ways = {}

    def add(package, x, y):
        function = tile.compile(SOURCE)
        function(x, y, 3.0)
        kernel = function._find({0: x, 1: y, 2: 3.0})
        prepared = kernel.prepare(x, y, 3.0)
        ways.update(
            {
                f"{package}, outputs given": lambda: function(x, y, 3.0),
                f"{package}, outputs made": lambda: function(x, 3.0),
                f"{package}, loaded kernel": lambda: kernel(x, y, 3.0),
                f"{package}, prepared call": lambda: prepared(x, y, 3.0),
            }
        )

    add("NumPy", numpy.ones((1, 64), "f4"), numpy.empty((1, 64), "f4"))
    try:
        import torch

        add("PyTorch", torch.ones(1, 64), torch.empty(1, 64))
    except ImportError:
        pass
    times = {name: [] for name in ways}
    for _ in range(rounds):
        for name, call in ways.items():
            begin = time.perf_counter_ns()
            for _ in range(200):
                call()
            times[name].append((time.perf_counter_ns() - begin) / 200e3)
    return times


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tilec", default=os.path.join(ROOT, "build", "bin", "tilec"))
    parser.add_argument(
        "--library", default=os.path.join(ROOT, "build", "lib", "libtile_runtime.so")
    )
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--json", help="write the figures there")
    options = parser.parse_args()
    os.environ.update(
        TILEC=options.tilec,
        TILE_RUNTIME_LIB=options.library,
        PYTHONPATH=os.path.join(ROOT, "python"),
    )
    sys.path.insert(0, os.environ["PYTHONPATH"])
    times = firstCalls(max(options.rounds // 3, 3))
    with tempfile.TemporaryDirectory(prefix="tile-call-") as folder:
        os.environ["XDG_CACHE_HOME"] = folder
        times.update(laterCalls(10 * options.rounds))
    figures = {
        name: {"median": statistics.median(values), "least": min(values)}
        for name, values in times.items()
    }
    print(f"{'microseconds':42}{'median':>12}{'least':>12}")
    for name, one in figures.items():
        print(f"{name:42}{one['median']:12.2f}{one['least']:12.2f}")
    if options.json:
        resultfile.save(
            options.json,
            {
                "python": sys.version.split()[0],
                "processors": os.cpu_count(),
                "load": os.getloadavg()[0],
                "microseconds": figures,
            },
        )


if __name__ == "__main__":
    main()
