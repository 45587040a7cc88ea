#!/usr/bin/env python3
"""Runs the cases of the examples through `tilec run --device cpu` and compares the numbers with the
NumPy references.
"""

import argparse
import concurrent.futures
import os
import subprocess
import sys
import tempfile
import time
import zlib

import numpy

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "examples"))
import case as cases  # noqa: E402


def garbage(argument):
    """An array of the argument's shape with every bit set: NaN for floats."""
    element = numpy.dtype(cases.STORAGE[argument.dtype])
    size = int(numpy.prod(argument.shape, dtype=numpy.int64)) * element.itemsize
    return numpy.frombuffer(b"\xff" * size, element).reshape(argument.shape)


def command(tilec, name, case, arguments, stored, folder, device):
    """The call of tilec, its .npy inputs written to `folder`. In every other case the memory of
    outputs starts as NaN, so that an element that is not written shows; in the rest tilec itself
    finds the sizes of the outputs.
    """
    dirty = zlib.crc32(case.name.encode()) % 2
    line = [tilec, "run", cases.source(name), "--device", device]
    if case.kernel:
        line += ["--kernel", case.kernel]
    for key, value in case.definitions.items():
        line += ["-D", f"{key}={value}"]
    for key, argument in arguments.items():
        if isinstance(argument, cases.Scalar):
            if key in stored:
                line += ["--arg", f"{key}={stored[key]!r}"]
            continue
        path = os.path.join(folder, key + ".npy")
        if argument.reads or dirty or argument.partial:
            array = stored[key] if argument.reads else garbage(argument)
            numpy.save(
                path, numpy.asfortranarray(array) if dirty else array
            )  # tilec takes either order
            line += ["--arg", f"{key}={path}"]
        if argument.writes:
            line += ["--out", f"{key}={os.path.join(folder, key + '.out.npy')}"]
    return line


def runCase(tilec, name, example, case, device, timeout):
    """None where the case passes, else what is wrong."""
    arguments, stored, expected = cases.prepare(example, case)
    with tempfile.TemporaryDirectory(prefix="tile-e2e-") as folder:
        line = command(tilec, name, case, arguments, stored, folder, device)
        try:
            done = subprocess.run(line, capture_output=True, text=True, timeout=timeout)
        except subprocess.TimeoutExpired:
            return f"no end after {timeout} s"
        if done.returncode != 0:
            lines = (done.stderr.strip() or done.stdout.strip() or "no message").splitlines()
            return f"exit code {done.returncode}: " + "\n    ".join(lines[:8])
        for key, values in expected.items():
            path = os.path.join(folder, key + ".out.npy")
            if not os.path.exists(path):
                return f"{key}: no output was written"
            wrong = arguments[key].mismatch(numpy.load(path), values)
            if wrong:
                return f"{key}: {wrong}"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("examples", nargs="*", help="names of examples (all)")
    parser.add_argument(
        "--build",
        default=os.path.join(ROOT, "build"),
        help="the build folder, or an unpacked release",
    )
    parser.add_argument("--device", default="cpu", choices=["cpu", "cuda"])
    parser.add_argument("--case", default="", help="run only the cases whose name contains this")
    parser.add_argument("--first", type=int, metavar="N", help="of each example the first N cases")
    parser.add_argument("--jobs", type=int, default=2, help="cases at a time")
    parser.add_argument("--timeout", type=float, default=120.0, help="seconds for one case")
    parser.add_argument("--verbose", action="store_true", help="print the cases that pass, too")
    options = parser.parse_args()
    unknown = set(options.examples) - set(cases.names())
    if unknown:
        parser.error(
            f"no such example: {', '.join(sorted(unknown))}; there are {', '.join(cases.names())}"
        )
    tilec = os.path.join(options.build, "bin", "tilec")
    if not os.access(tilec, os.X_OK):
        parser.error(f"{tilec} is missing: build first")

    passed = failed = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for name in options.examples or cases.names():
            begin, good, example = time.time(), 0, cases.module(name)
            chosen = [case for case in example.CASES if options.case in case.name][: options.first]
            results = pool.map(
                lambda case: runCase(tilec, name, example, case, options.device, options.timeout),
                chosen,
            )
            for case, wrong in zip(chosen, results):
                if wrong:
                    failed += 1
                    print(f"FAIL {name} [{case.name}]\n    {wrong}", flush=True)
                else:
                    good += 1
                    if options.verbose:
                        print(f"pass {name} [{case.name}]", flush=True)
            passed += good
            print(
                f"{name:16} {good:3} of {len(chosen):3} passed  {time.time() - begin:6.2f} s",
                flush=True,
            )
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
