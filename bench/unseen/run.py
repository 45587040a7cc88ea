#!/usr/bin/env python3
"""Checks and times the kernels of this folder, which were drawn up from the documentation alone
(see README.md).

  run.py [NAME...]                              every case on the CPU, against NumPy in float64
  run.py --compile [--target sm_80,sm_90a]      compiles the defaults: messages, spills, seconds
  run.py --device cuda [--home RELEASE] [--quick] [--json FILE]
                                                every case on the GPU, then times beside Triton
                                                where there is a version of it

Needs Python with NumPy, for a GPU also PyTorch and Triton. --quick times one shape of each kernel,
60 to 90 s on 16 cores.
"""

import argparse
import concurrent.futures
import importlib.util
import os
import re
import resource
import subprocess
import sys
import tempfile

import numpy

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
KERNELS = os.path.join(HERE, "kernels")
sys.path[:0] = [os.path.join(ROOT, "examples"), os.path.join(ROOT, "bench"), HERE]
import case as cases  # noqa: E402

TARGETS = "sm_80,sm_89,sm_90a,sm_100a,sm_120"
SLOW = 2.0  # seconds of processor time that are worth a word


def names():
    return sorted(f[:-5] for f in os.listdir(KERNELS) if f.endswith(".tile"))


def module(name):
    spec = importlib.util.spec_from_file_location(name, os.path.join(KERNELS, name + ".py"))
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


def source(name):
    return os.path.join(KERNELS, name + ".tile")


def parameters(name):
    """Compile-time parameters that launches deduce: those with a set and no default."""
    with open(source(name), encoding="utf-8") as file:
        return set(re.findall(r"(\w+): \w+ in \{[^}]*\}(?! =)", file.read()))


def definitions(name, case):
    """-D for what a launch does not deduce, as it does the D of a D=64 in a case's shape."""
    deduced = parameters(name)
    with open(source(name), encoding="utf-8") as file:
        text = file.read()
    return {
        k: v
        for k, v in {**case.dims, **case.definitions}.items()
        if re.search(rf"\b{k}: (int|dtype|bool|float|fn)\b", text)
        and (k not in deduced or not onTensors(text, k))
    }


def onTensors(text, name):
    """Whether the parameter is a tensor's dtype or a whole dimension: arguments bind it."""
    head = text[text.index("kernel ") :]
    types = re.findall(r": (?:in|out|inout) (\w+)(?:\[([^\]]*)\])?", head)
    return any(name == dtype or name in re.split(r", *", dims) for dtype, dims in types)


# --- the CPU


def check(tilec, name, one, level, device="cpu"):
    """None where the case passes on the device, else the mistake."""
    example = module(name)
    arguments, stored, expected = cases.prepare(example, one)
    with tempfile.TemporaryDirectory(prefix="tile-unseen-") as folder:
        line = [tilec, "run", source(name), "--device", device, f"-O{level}"]
        for key, value in {
            **definitions(name, one),
            **{k: v for k, v in one.definitions.items()},
        }.items():
            line += ["-D", f"{key}={value}"]
        for key, argument in arguments.items():
            if isinstance(argument, cases.Scalar):
                if key in stored:
                    line += ["--arg", f"{key}={stored[key]!r}"]
                continue
            path = os.path.join(folder, key + ".npy")
            element = numpy.dtype(cases.STORAGE[argument.dtype])
            array = (
                stored[key]
                if argument.reads
                else numpy.frombuffer(
                    b"\xff"
                    * (int(numpy.prod(argument.shape, dtype=numpy.int64)) * element.itemsize),
                    element,
                ).reshape(argument.shape)
            )
            numpy.save(path, array)
            line += ["--arg", f"{key}={path}"]
            if argument.writes:
                line += ["--out", f"{key}={os.path.join(folder, key + '.out.npy')}"]
        try:
            done = subprocess.run(line, capture_output=True, text=True, timeout=300)
        except subprocess.TimeoutExpired:
            return "no end after 300 s"
        if done.returncode or done.stderr.strip():
            return f"exit code {done.returncode}: " + "\n    ".join(
                done.stderr.strip().splitlines()[:12]
            )
        for key, values in expected.items():
            wrong = arguments[key].mismatch(
                numpy.load(os.path.join(folder, key + ".out.npy")), values
            )
            if wrong:
                return f"{key}: {wrong}"
    return None


def checkAll(options, chosen):
    tilec = os.path.join(options.home, "bin", "tilec")
    some = slice(1, 2) if options.quick else slice(None)
    jobs = [(name, one) for name in chosen for one in module(name).CASES[some]]
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        results = list(
            pool.map(lambda job: check(tilec, *job, options.level, options.check_on), jobs)
        )
    failed = 0
    for (name, one), wrong in zip(jobs, results):
        if wrong:
            failed += 1
            print(f"FAIL {name} [{one.name}]\n    {wrong}")
    print(f"{len(jobs) - failed} passed, {failed} failed")
    return failed


# --- compiling


def configurations(name, every=True):
    """The different definitions of the cases, and an empty one for all defaults."""
    example = module(name)
    found = []
    for one in (example.CASES if every else []) + example.TIMED:
        fixed = definitions(name, one)
        if fixed not in found:
            found.append(fixed)
    return found


def compileOne(tilec, name, fixed, target, path, timeout=300):
    """(what the compiler says, seconds of processor time: a busy machine does not count)."""
    line = [tilec, source(name), "--target", target, "-o", path]
    for key, value in fixed.items():
        line += ["-D", f"{key}={value}"]
    with tempfile.TemporaryFile("w+") as said:
        process = subprocess.Popen(
            line,
            stdout=subprocess.DEVNULL,
            stderr=said,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (timeout, timeout)),
        )
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        said.seek(0)
        message = said.read().strip()
    return (
        f"exit code {process.returncode}: {message}" if process.returncode else message
    ), used.ru_utime + used.ru_stime


def compileAll(options, chosen):
    """Compiles each kernel in all its instances and reports messages and slow ones."""
    tilec = os.path.join(options.home, "bin", "tilec")
    findings = 0
    with tempfile.TemporaryDirectory(prefix="tile-unseen-") as folder:
        jobs = [
            (name, fixed, target)
            for name in chosen
            for fixed in configurations(name, options.every)
            for target in options.target.split(",")
        ]

        def one(number):
            name, fixed, target = jobs[number]
            return compileOne(tilec, name, fixed, target, os.path.join(folder, f"{number}.cubin"))

        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            results = list(pool.map(one, range(len(jobs))))
    for (name, fixed, target), (message, seconds) in zip(jobs, results):
        if message or seconds > SLOW:
            findings += 1
            print(
                f"{name} {fixed} {target} {seconds:.1f} s\n    "
                + "\n    ".join(message.splitlines()[:10])
            )
    print(f"{len(jobs)} compilations, {findings} with something to say")
    return sum(message.startswith("exit") for message, _ in results)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("kernels", nargs="*", help="names of kernels (all)")
    parser.add_argument(
        "--home",
        default=os.environ.get("TILE_HOME") or os.path.join(ROOT, "build"),
        help="a build folder or an unpacked release",
    )
    parser.add_argument("--device", default="cpu", choices=["cpu", "cuda"])
    parser.add_argument(
        "--check-on",
        default="cpu",
        choices=["cpu", "cuda"],
        help="where --device cpu, which needs NumPy alone, runs: a card, or an emulated one",
    )
    parser.add_argument("--level", default=3, type=int, help="optimisation level on the CPU")
    parser.add_argument("--compile", action="store_true", help="compile for --target, run nothing")
    parser.add_argument("--target", default=TARGETS)
    parser.add_argument(
        "--every",
        action="store_true",
        help="--compile: the tile sizes of all cases, not the defaults alone",
    )
    parser.add_argument(
        "--quick", action="store_true", help="check one case and time one shape of each kernel"
    )
    parser.add_argument(
        "--json",
        default=os.path.join(ROOT, "bench", "results", "unseen.json"),
        help="where --device cuda writes",
    )
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args()
    unknown = set(options.kernels) - set(names())
    if unknown:
        parser.error(
            f"no such kernel: {', '.join(sorted(unknown))}; there are {', '.join(names())}"
        )
    chosen = options.kernels or names()
    if options.compile:
        return 1 if compileAll(options, chosen) else 0
    if options.device == "cpu":
        return 1 if checkAll(options, chosen) else 0
    import card

    return 1 if card.run(options, chosen, sys.modules[__name__]) else 0


if __name__ == "__main__":
    sys.exit(main())
