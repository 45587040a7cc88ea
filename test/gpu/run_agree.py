#!/usr/bin/env python3
"""Runs the kernels of agree/ on the CPU and on CUDA with the same random inputs and compares what
they write (N6.1).

Each file's first lines say how to run it; a definition that lists several values is run for each.
Data movement, integers and strict element-wise arithmetic must agree to the bit, the rest within
the tolerance of its dtype. An argument 0 to 3 is the optimisation level on CUDA; --list says how
many runs each file asks for, without a GPU.
"""

import concurrent.futures
import itertools
import os
import re
import subprocess
import sys
import tempfile

import numpy

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
HOME = os.environ.get("TILE_HOME") or (
    ROOT if os.path.exists(os.path.join(ROOT, "bin")) else os.path.join(ROOT, "build")
)
TILEC = os.path.join(HOME, "bin", "tilec")
EXACT = {
    "arithmetic",
    "casts",
    "control",
    "counters",
    "integers",
    "joins",
    "narrow",
    "order",
    "ranges",
    "scalars",
    "unused",
    "views",
}
TOLERANCE = {"f16": 2e-3, "bf16": 1.6e-2, "f32": 2e-5}


def variants(text):
    """(arguments, dtype) of each run that the `// run:` lines ask for, for each dtype that the
    kernel has. A name of several -D takes the values of all of them.
    """
    arguments = " ".join(re.findall(r"^// run: (.*)", text, re.M)).split()
    named, fixed = {}, []
    while arguments:
        word = arguments.pop(0)
        if word == "-D":
            name, values = arguments.pop(0).split("=")
            named.setdefault(name, []).extend(["-D", f"{name}={v}"] for v in values.split(","))
        else:
            fixed.append(word)
    lists = list(named.values())
    dtypes = re.search(r"\[T: dtype in \{([^}]*)\}", text)
    if dtypes:
        lists.append([["-D", f"T={value.strip()}"] for value in dtypes.group(1).split(",")])
    for choice in itertools.product(*lists):
        words = [word for pair in choice for word in pair]
        dtype = next((word[2:] for word in words if word.startswith("T=")), "f32")
        yield fixed + words, dtype


def widen(array, dtype):
    if dtype == "bf16" and array.dtype == numpy.uint16:
        return (array.astype(numpy.uint32) << 16).view(numpy.float32)
    return array


def run(path, arguments, device, outputs, folder, level):
    paths = {name: os.path.join(folder, f"{name}.{device}.npy") for name in outputs}
    call = [TILEC, "run", path, *arguments, "--seed", "5", "--device", device, f"-O{level}"]
    for name in outputs:
        call += ["--out", f"{name}={paths[name]}"]
    done = subprocess.run(call, capture_output=True, text=True, timeout=120)
    if done.returncode:
        raise RuntimeError(f"{device}: exit {done.returncode}: {done.stderr.strip()[:300]}")
    return {name: numpy.load(file) for name, file in paths.items()}


def compare(name, dtype, left, right):
    for output in left:
        a, b = left[output], right[output]
        if name in EXACT:
            same = a.tobytes() == b.tobytes()
            if not same and a.dtype.kind == "f":
                same = numpy.array_equal(a, b, equal_nan=True)
        else:
            a, b = widen(a, dtype).astype(numpy.float64), widen(b, dtype).astype(numpy.float64)
            scale = TOLERANCE[dtype]
            same = numpy.allclose(
                a,
                b,
                rtol=scale,
                atol=scale * max(1.0, numpy.abs(a[numpy.isfinite(a)]).max(initial=0) * 0.1),
                equal_nan=True,
            )
        if not same:
            a, b = numpy.atleast_1d(a).reshape(-1), numpy.atleast_1d(b).reshape(-1)
            at = int(numpy.flatnonzero(a != b)[0])
            return (
                f"{output}[{at}] is {a[at]} on the CPU and {b[at]} on CUDA; {int((a != b).sum())}"
                f" of {a.size} differ"
            )
    return None


def check(path, arguments, dtype, level):
    """What is wrong with a run, or None."""
    with open(path, encoding="utf-8") as stream:
        outputs = re.findall(r"(\w+): out ", stream.read())
    name = os.path.basename(path)[:-5]
    with tempfile.TemporaryDirectory(prefix="tile-agree-") as folder:
        try:
            left = run(path, arguments, "cpu", outputs, folder, 3)
            return compare(name, dtype, left, run(path, arguments, "cuda", outputs, folder, level))
        except (RuntimeError, subprocess.TimeoutExpired) as error:
            return str(error)


def main():
    onlyList = sys.argv[1:] == ["--list"]
    level = int(sys.argv[1]) if sys.argv[1:] and not onlyList else 3  # of the CUDA side
    runs = []
    for file in sorted(os.listdir(os.path.join(HERE, "agree"))):
        path = os.path.join(HERE, "agree", file)
        with open(path, encoding="utf-8") as stream:
            asked = [(path, words, dtype, level) for words, dtype in variants(stream.read())]
        if onlyList:
            print(f"{file[:-5]}: {len(asked)}")
        runs += asked
    if onlyList:
        return 0
    passed = failed = 0
    with concurrent.futures.ThreadPoolExecutor(min(8, os.cpu_count() or 1)) as pool:
        for (path, arguments, _, _), wrong in zip(runs, pool.map(lambda each: check(*each), runs)):
            if wrong:
                print(
                    f"FAIL {os.path.basename(path)} {' '.join(arguments)}\n    {wrong}", flush=True
                )
            passed, failed = passed + (not wrong), failed + bool(wrong)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
