#!/usr/bin/env python3
"""Runs the kernels of this folder, one a file, and compares every output with what its head says,
bit by bit.

The first lines are comments:
  // N1.2, N1.3: what the rules of docs/Language.md say that this file checks // define T = f16
  a compile-time parameter // a: i32[3] = [7, -7, 5]    an argument: its dtype, shape and values, a
  Python expression of NumPy's functions, repeated or //                           cut to the
  shape's size // s = 2.0                   a scalar argument // y -> f32[3] = a / 2       an
  output; the expression may use the arguments; NaN equals NaN. A tensor that is named twice, // y ~
  1e-6 f32[3] = a / 2   with `:` and `->`, goes in and out. With ~: a tolerance relative to 1 +
  |value|
"""

import argparse
import concurrent.futures
import os
import re
import subprocess
import sys
import tempfile

import numpy

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(ROOT, "examples"))
import case as cases  # noqa: E402

DTYPES = {
    "bool": numpy.bool_,
    "f16": numpy.float16,
    "f32": numpy.float32,
    "f64": numpy.float64,
    **{
        f"{sign}{bits}": numpy.dtype(f"{'int' if sign == 'i' else 'uint'}{bits}")
        for sign in "iu"
        for bits in (8, 16, 32, 64)
    },
}
LINE = re.compile(r"// (\w+)(:| ->| ~ (\S+)) (\w+)\[([\d, ]*)\] = (.*)$")


def stored(values, dtype, shape):
    """The values as they lie in memory, repeated or cut to the shape's size."""
    size = int(numpy.prod(shape, dtype=numpy.int64))
    values = (
        numpy.resize(numpy.asarray(values).ravel(), size).reshape(shape)
        if size
        else numpy.zeros(shape)
    )
    with numpy.errstate(all="ignore"):
        return (
            numpy.ascontiguousarray(values.astype(DTYPES[dtype]))
            if dtype in DTYPES
            else cases.store(values, dtype)
        )


def loaded(array, dtype):
    """What lies in memory as numbers to compute with."""
    return array if dtype in DTYPES and dtype not in cases.ROUNDING else cases.load(array, dtype)


def run(tilec, path, device, flags=()):
    """What is wrong with a file, or None."""
    try:
        return check(tilec, path, device, flags)
    except Exception as problem:  # a mistake in a head
        return f"{type(problem).__name__}: {problem}"


def check(tilec, path, device, flags):
    with open(path, encoding="utf-8") as file:
        head = [line.rstrip() for line in file if line.startswith("//")]
    names = {key: getattr(numpy, key) for key in dir(numpy) if not key.startswith("_")}
    names |= {"inf": numpy.inf, "nan": numpy.nan, "numpy": numpy}
    with (
        tempfile.TemporaryDirectory(prefix="tile-language-") as folder,
        numpy.errstate(all="ignore"),
    ):
        call, expected = [tilec, "run", path, "--device", device, *flags], []
        for line in head[1:]:
            if match := re.match(r"// define (\w+) = (.*)$", line):
                call += ["-D", f"{match[1]}={match[2]}"]
            elif match := LINE.match(line):
                name, kind, tolerance, dtype, shape, text = match.groups()
                shape = tuple(int(n) for n in shape.split(",") if n.strip())
                values = stored(
                    eval(text, names), dtype, shape
                )  # the expressions are this repository's own
                if kind == ":":
                    numpy.save(os.path.join(folder, name + ".npy"), values)
                    call += ["--arg", f"{name}={folder}/{name}.npy"]
                    names[name] = loaded(values, dtype)
                else:
                    call += ["--out", f"{name}={folder}/{name}.out.npy"]
                    expected.append((name, values, dtype, tolerance))
            elif match := re.match(r"// (\w+) = (.*)$", line):
                call += ["--arg", f"{match[1]}={match[2]}"]
                names[match[1]] = eval(match[2], names)
        done = subprocess.run(call, capture_output=True, text=True, timeout=120)
        if done.returncode:
            return done.stderr.strip()
        for name, values, dtype, tolerance in expected:
            found, want = numpy.load(f"{folder}/{name}.out.npy").reshape(values.shape), values
            if tolerance or dtype not in DTYPES:
                found, want = loaded(found, dtype).astype(float), loaded(want, dtype).astype(float)
            good = (found == want) | ((found != found) & (want != want))
            if tolerance:
                good |= abs(found - want) <= float(tolerance) * (1 + abs(want))
            elif found.dtype.kind == "f":
                good &= (numpy.signbit(found) == numpy.signbit(want)) | (found != found)
            if not good.all():
                where = numpy.unravel_index(numpy.argmin(good), good.shape)
                return (
                    f"{name}{[int(k) for k in where]} is {found[where]}, expected {want[where]}"
                    f" ({(~good).sum()} of {good.size} differ)"
                )
    return None if expected else "it has no outputs"


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--build", default=os.path.join(ROOT, "build"))
    parser.add_argument("--device", default="cpu", choices=["cpu", "cuda"])
    parser.add_argument("--file", help="this file alone, unoptimised and optimised")
    parser.add_argument("names", nargs="*", help="only files whose name contains one of these")
    options = parser.parse_args()
    tilec = os.path.abspath(os.path.join(options.build, "bin", "tilec"))
    if options.file:
        wrong = [
            (level, run(tilec, options.file, options.device, [level])) for level in ("-O0", "-O3")
        ]
        for level, problem in wrong:
            print(f"{level}: {problem or 'passed'}")
        return 1 if any(problem for _, problem in wrong) else 0
    files = sorted(
        name for name in os.listdir(os.path.join(HERE, "Inputs")) if name.endswith(".tile")
    )
    files = [
        name for name in files if not options.names or any(part in name for part in options.names)
    ]
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for name, wrong in zip(
            files,
            pool.map(
                lambda name: run(tilec, os.path.join(HERE, "Inputs", name), options.device), files
            ),
        ):
            if wrong:
                failed += 1
                print(f"FAIL {name}: {wrong}")
    print(f"{len(files) - failed} passed, {failed} failed")
    return 1 if failed or not files else 0


if __name__ == "__main__":
    sys.exit(main())
