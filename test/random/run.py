#!/usr/bin/env python3
"""Runs random kernels: on the CPU at -O0 and -O3, in the NumPy interpreter, and with --device cuda
on the GPU. All must agree to the bit.

  run.py [--tilec PROGRAM] [--device cpu|cuda] [--runs DEVICE:LEVEL,...] [--seeds
  FIRST..LAST[..STEP] | --full] [--seconds S] [--jobs N]
         [--reduce SEED] [--show SEED]

--full runs 10,000 seeds: about 50 minutes of one processor for the CPU, 90 for the GPU. --seconds
ends earlier and says where to go on. A kernel that disagrees is written to --keep as it is;
--reduce SEED prints a smaller one that disagrees in the same way (reduce.py).
"""

import argparse
import concurrent.futures
import itertools
import os
import resource
import subprocess
import sys
import tempfile
import time

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import gpu
import meaning
import program as p
import statements
import tiled
from formats import isFloat, load, store

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


class Invalid(Exception):
    """tilec refused the kernel, crashed or ran too long: its message."""


SECONDS = 120  # of processor time, for a kernel to be compiled and run
driver = (
    None  # of this process, once something has run on the GPU; False when its context has failed
)


def limit():
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))


def compiled(program, arrays, tilec, device, level):
    """What the kernel writes: {name: values}."""
    with tempfile.TemporaryDirectory(prefix="tile-random-") as folder:
        source = os.path.join(folder, "k.tile")
        with open(source, "w", encoding="utf-8") as file:
            file.write(p.programText(program))
        if device == "cuda" and driver is not False:
            stored = launched(program, arrays, tilec, source, level)
        else:
            stored = executed(program, arrays, tilec, source, device, level)
        return {t.name: load(stored[t.name], t.dtype) for t in program.tensors if t.access != "in"}


def launched(program, arrays, tilec, source, level):
    """Of the GPU, from this process."""
    global driver
    driver = driver or gpu.Driver(os.path.dirname(os.path.dirname(os.path.abspath(tilec))))
    arguments = {
        t.name: (store(arrays[t.name], t.dtype), t.dtype, t.offset) for t in program.tensors
    }
    arguments.update((name, value) for name, (_, value) in program.scalars.items())
    try:
        outputs = [t.name for t in program.tensors if t.access != "in"]
        return driver.run(tilec, source, level, arguments, outputs, keepsState(program))
    except gpu.Broken as error:
        driver = False
        raise Invalid(f"-O{level} on cuda: {error}") from None
    except RuntimeError as error:  # of tilec or of the launcher
        raise Invalid(f"-O{level} on cuda: {error}") from None


def keepsState(program):
    """Whether a launch leaves counters behind, which the next one needs as they were; and stores
    the same when it is repeated.
    """
    text = p.programText(program)
    return (" split" in text or "persistent" in text) and all(
        t.access != "inout" for t in program.tensors
    )


def executed(program, arrays, tilec, source, device, level):
    """By tilec: on the CPU, and on the GPU behind a kernel that has broken this process's
    context.
    """
    folder = os.path.dirname(source)
    line = [tilec, "run", source, "--device", device, f"-O{level}", "--threads", "1"]
    line += ["--random", ",".join(f"{name}={value}" for name, value in program.dims.items())]
    for tensor in program.tensors:
        if tensor.access != "out":
            np.save(f"{folder}/{tensor.name}.npy", store(arrays[tensor.name], tensor.dtype))
            line += ["--arg", f"{tensor.name}={folder}/{tensor.name}.npy"]
        if tensor.access != "in":
            line += ["--out", f"{tensor.name}={folder}/{tensor.name}.out.npy"]
    for name, (_, value) in program.scalars.items():
        line += ["--arg", f"{name}={value}"]
    done = subprocess.run(line, capture_output=True, text=True, preexec_fn=limit)
    if done.returncode < 0:
        raise Invalid(
            f"-O{level} on {device}: no end after {SECONDS} s of processor time, or killed (signal"
            f" {-done.returncode})"
        )
    if done.returncode:
        raise Invalid(
            f"-O{level} on {device}: exit {done.returncode}: {done.stderr.strip()[:1200]}"
        )
    return {
        t.name: np.load(f"{folder}/{t.name}.out.npy") for t in program.tensors if t.access != "in"
    }


def interpreted(program, arrays):
    copies = {name: values.copy() for name, values in arrays.items()}
    meaning.Interpreter(program, copies).run()
    return {t.name: copies[t.name] for t in program.tensors if t.access != "in"}


def difference(left, right, program, names):
    """None, or the first place where two runs differ."""
    for tensor in program.tensors:
        if tensor.access == "in":
            continue
        a, b = left[tensor.name], right[tensor.name]
        same = (a == b) | ((a != a) & (b != b))
        if isFloat(tensor.dtype) and 'fp("fast")' not in program.attributes:
            same &= (np.signbit(a) == np.signbit(b)) | (a != a)
        if not same.all():
            at = tuple(int(i) for i in np.argwhere(~same)[0])
            return (
                f"{tensor.name}{list(at)} is {a[at]} by {names[0]} and {b[at]} by {names[1]};"
                f" {int((~same).sum())} of {same.size} differ"
            )
    return None


def test(program, seed, options, arrays=None, runs=None):
    """What is wrong with one program; None if all agree; "long" if it would run too long to
    compare. `runs`: devices and levels.
    """
    arrays = arrays or statements.arrays(program, seed)
    try:
        expected = interpreted(program, arrays)
    except meaning.TooLong:
        return "long"
    runs = runs or options.runs
    try:
        for device, level in runs:
            found = compiled(program, arrays, options.tilec, device, level)
            wrong = difference(expected, found, program, ("NumPy", f"{device} -O{level}"))
            if wrong:
                return wrong
    except Invalid as error:
        return str(error)
    return None


def one(seed, options, deadline):
    """(seed, what is wrong or None), "late" behind the deadline."""
    if deadline and time.time() > deadline:
        return seed, "late"
    program = tiled.draw(seed, options.size)
    wrong = test(program, seed, options)
    if wrong and wrong != "long" and options.keep:
        with open(os.path.join(options.keep, f"{seed}.tile"), "w", encoding="utf-8") as file:
            file.write(
                "".join(f"// {line}\n" for line in wrong.splitlines()) + p.programText(program)
            )
    return seed, wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("--tilec", default=os.path.join(ROOT, "build", "bin", "tilec"))
    parser.add_argument("--device", default="cpu", choices=["cpu", "cuda"])
    parser.add_argument(
        "--runs",
        help="what to compare with NumPy (cpu:0,cpu:3, and with --device cuda cuda:3,cuda:0)",
    )
    parser.add_argument("--seconds", type=float, help="start nothing more after so long")
    parser.add_argument(
        "--seeds",
        default="0..40",
        help="FIRST..LAST[..STEP], without the last (2..LAST..3: tiled.py)",
    )
    parser.add_argument("--full", action="store_true", help="10,000 seeds")
    parser.add_argument("--size", type=float, default=1.0, help="how large kernels are")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--keep", help="a folder for kernels that disagree")
    parser.add_argument("--show", type=int, help="print the kernel of a seed and end")
    parser.add_argument(
        "--reduce",
        type=int,
        help="make the kernel of a seed, which disagrees, smaller, and print it",
    )
    options = parser.parse_args()
    runs = options.runs or "cpu:0,cpu:3" + (",cuda:3,cuda:0" if options.device == "cuda" else "")
    options.runs = [
        (device, int(level)) for device, level in (run.split(":") for run in runs.split(","))
    ]
    if any(device == "cuda" for device, _ in options.runs) and not gpu.isPresent():
        parser.error("there is no GPU here: libcuda.so.1 is missing")
    if options.show is not None:
        print(p.programText(tiled.draw(options.show, options.size)), end="")
        return 0
    if options.reduce is not None:
        import reduce

        return reduce.main(options.reduce, options, test)
    seeds = range(*(int(n) for n in options.seeds.split("..")))
    if options.full:
        seeds = range(10000)
    last = seeds.stop
    passed = failed = long = late = 0
    deadline = time.time() + options.seconds if options.seconds else None
    # Processes: the interpreter is Python, and each has a context of its own. None is there before
    # the first launch.
    with concurrent.futures.ProcessPoolExecutor(options.jobs) as pool:
        for seed, wrong in pool.map(
            one, seeds, itertools.repeat(options), itertools.repeat(deadline), chunksize=4
        ):
            if wrong == "late":
                late, last = late + 1, min(last, seed)
            elif wrong == "long":
                long += 1
            elif wrong:
                failed += 1
                print(f"FAIL seed {seed}: {wrong}", flush=True)
            else:
                passed += 1
    if late:
        print(f"the time is over; go on with --seeds {last}.., {late} of these were left")
    if long:
        print(f"{long} kernels would run too long to be interpreted")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
