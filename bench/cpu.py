#!/usr/bin/env python3
"""The CPU path against NumPy on the same cores: f32 matmul against its BLAS, softmax against the
usual four lines.

`tilec run --time` and NumPy take turns, round after round, so that both see the same machine;
medians of the rounds.
"""

import argparse
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time

import numpy
import resultfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
UNITS = {"ns": 1e-6, "us": 1e-3, "µs": 1e-3, "ms": 1.0, "s": 1e3}


def softmax(x):
    e = numpy.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


# (example, definitions, shapes of the inputs, output, NumPy's way, how often faster we want to be)
JOBS = [
    ("matmul_f32", [], {"a": (1024, 1024), "b": (1024, 1024)}, "c", lambda a, b: a @ b, 0.6),
    ("softmax", ["T=f32", "BLOCK=4096"], {"x": (4096, 4096)}, "y", softmax, 2.0),
]


def blas():
    """The library behind NumPy's matmul."""
    with open("/proc/self/maps", encoding="utf-8") as stream:
        found = [
            line.split()[-1]
            for line in stream
            if "blas" in line.rsplit("/", 1)[-1] or "openblas" in line
        ]
    return os.path.realpath(found[0]) if found else "built in"


def kernelTime(output):
    """Milliseconds from the line that `tilec run --time` prints."""
    match = re.search(r"([0-9.]+) (ns|us|µs|ms|s)\b", output)
    if not match:
        raise RuntimeError(f"no time in: {output.strip()[:200]!r}")
    return float(match.group(1)) * UNITS[match.group(2)]


def measure(tilec, folder, example, definitions, shapes, output, reference, rounds):
    """(our milliseconds, NumPy's milliseconds, compile milliseconds or None), medians; checks the
    numbers first.
    """
    random = numpy.random.default_rng(0)
    inputs = {
        name: random.standard_normal(shape).astype(numpy.float32) for name, shape in shapes.items()
    }
    line = [
        tilec,
        "run",
        os.path.join(ROOT, "examples", example, example + ".tile"),
        "--device",
        "cpu",
        "--time",
    ]
    for definition in definitions:
        line += ["-D", definition]
    for name, array in inputs.items():
        numpy.save(os.path.join(folder, name + ".npy"), array)
        line += ["--arg", f"{name}={os.path.join(folder, name)}.npy"]
    result = os.path.join(folder, "result.npy")
    ours, theirs = [], []
    for index in range(rounds):
        extra = ["--out", f"{output}={result}"] if index == 0 else []
        done = subprocess.run(line + extra, capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError((done.stderr.strip().splitlines() or ["no message"])[0])
        ours.append(kernelTime(done.stdout + done.stderr))
        for repeat in range(4):
            begin = time.perf_counter()
            expected = reference(*inputs.values())
            if repeat:
                theirs.append((time.perf_counter() - begin) * 1e3)
        if index == 0:
            numpy.testing.assert_allclose(numpy.load(result), expected, rtol=1e-4, atol=1e-3)
    return statistics.median(ours), statistics.median(theirs)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", default=os.path.join(ROOT, "build"))
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--results", default=os.path.join(ROOT, "bench", "results"))
    options = parser.parse_args()
    tilec = os.path.join(options.build, "bin", "tilec")
    rows, failed = [], False
    numpy.ones((2, 2)) @ numpy.ones((2, 2))
    library = blas()
    print(f"NumPy {numpy.__version__}, {library}, {len(os.sched_getaffinity(0))} cores")
    if "openblas" not in library:
        print(
            "this NumPy does not use OpenBLAS: the ratio of matmul says nothing (apt-get install"
            " libopenblas0-pthread)"
        )
    for example, definitions, shapes, output, reference, goal in JOBS:
        size = "x".join(str(extent) for extent in next(iter(shapes.values())))
        with tempfile.TemporaryDirectory(prefix="tile-bench-") as folder:
            try:
                ours, theirs = measure(
                    tilec, folder, example, definitions, shapes, output, reference, options.rounds
                )
            except (RuntimeError, AssertionError) as error:
                failed = True
                print(f"{example} {size}: FAILED: {error}")
                rows.append({"name": f"{example} {size}", "failed": True})
                continue
        ratio = theirs / ours
        rows.append(
            {
                "name": f"{example} {size}",
                "ms": round(ours, 3),
                "numpy_ms": round(theirs, 3),
                "ratio": round(ratio, 3),
                "goal": goal,
            }
        )
        print(
            f"{example:12} {size:10} {ours:8.2f} ms, NumPy {theirs:8.2f} ms: {ratio:5.2f} of its"
            f" speed, goal {goal}: {'reached' if ratio >= goal else 'missed'}",
            flush=True,
        )
    resultfile.save(
        os.path.join(options.results, "cpu.json"),
        {
            "numpy": numpy.__version__,
            "blas": os.path.basename(library),
            "cores": len(os.sched_getaffinity(0)),
            "rows": rows,
        },
    )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
