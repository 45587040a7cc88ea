#!/usr/bin/env python3
"""Builds the runtime, its unit tests and the fuzz targets of its readers with sanitizers, and runs
them.

  run.py [--build FOLDER] [--jobs N] [--fuzz SECONDS] [address] [thread]

`address` (with `undefined`) runs the unit tests and replays test/fuzz/corpus; `thread` runs the
unit tests. A report of a sanitizer ends a program, and so fails it. --fuzz goes on from the corpus
for that many seconds with each reader (inputs that fail stay in FOLDER) and is for people, not for
the tests. Needs clang-22 and libclang-rt-22-dev, no LLVM libraries.
"""

import argparse
import glob
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
READERS = tuple(
    sorted(
        os.path.basename(path)[: -len(".cpp")]
        for path in glob.glob(os.path.join(ROOT, "test", "fuzz", "readers", "*.cpp"))
    )
)
HERE = os.path.dirname(os.path.abspath(__file__))
# A test forks a process that starts threads of its own, which the thread sanitizer would end.
OPTIONS = {
    "LSAN_OPTIONS": "print_suppressions=0:suppressions=" + os.path.join(HERE, "lsan.txt"),
    "ASAN_OPTIONS": "detect_leaks=1:abort_on_error=0",
    "UBSAN_OPTIONS": "print_stacktrace=1",
    "TSAN_OPTIONS": (
        "halt_on_error=1:die_after_fork=0:suppressions="
        + os.path.join(ROOT, "test", "deploy", "Inputs", "tsan.txt")
    ),
}


def build(kind, folder, jobs):
    """Configures and builds one kind; returns the CMake targets' folder."""
    sanitizers = {"address": "address,undefined", "thread": "thread"}[kind]
    fuzz = kind == "address"
    subprocess.run(
        [
            "cmake",
            "-G",
            "Ninja",
            "-S",
            ROOT,
            "-B",
            folder,
            "-DCMAKE_C_COMPILER=clang-22",
            "-DCMAKE_CXX_COMPILER=clang++-22",
            "-DTILE_RUNTIME_ONLY=ON",
            f"-DTILE_SANITIZE={sanitizers}",
            f"-DTILE_FUZZ={'ON' if fuzz else 'OFF'}",
        ],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    targets = ["TileRuntimeTests"] + (["fuzz-readers"] if fuzz else [])
    subprocess.run(
        ["ninja", "-C", folder, "-j", str(jobs)] + targets, check=True, stdout=subprocess.DEVNULL
    )
    return os.path.join(folder, "bin")


def run(name, command, environment):
    """Runs one program; prints its output where it fails. True if it held."""
    done = subprocess.run(
        command,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        check=False,
    )
    print(f"{name}: {'passed' if done.returncode == 0 else 'FAILED'}", flush=True)
    if done.returncode:
        print(done.stdout[-6000:])
    return done.returncode == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("--build", default=os.path.join(ROOT, "build", "sanitize"))
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--fuzz", type=int, default=0, metavar="SECONDS")
    parser.add_argument("kinds", nargs="*", choices=[[], "address", "thread"], default=[])
    options = parser.parse_args()
    environment = dict(os.environ, **OPTIONS)
    results = []
    for kind in options.kinds or ["address", "thread"]:
        programs = build(kind, os.path.join(options.build, kind), options.jobs)
        results.append(
            run(
                f"{kind}: unit tests of the runtime",
                [os.path.join(programs, "TileRuntimeTests"), "--gtest_brief=1"],
                environment,
            )
        )
        if kind == "address":
            results.append(
                run(
                    f"{kind}: steps of the readers grow as their input",
                    [os.path.join(programs, "reader-growth")],
                    environment,
                )
            )
        for reader in READERS if kind == "address" else ():
            inputs = sorted(glob.glob(os.path.join(ROOT, "test", "fuzz", "corpus", reader, "*")))
            results.append(
                bool(inputs)
                and run(
                    f"{kind}: {reader}, {len(inputs)} inputs replayed",
                    [os.path.join(programs, f"fuzz-{reader}"), "-timeout=120"] + inputs,
                    environment,
                )
            )
            if options.fuzz:
                grown = os.path.join(options.build, "grown", reader)
                os.makedirs(grown, exist_ok=True)
                results.append(
                    run(
                        f"{reader}: fuzzed for {options.fuzz} s",
                        [
                            os.path.join(programs, f"fuzz-{reader}"),
                            grown,
                            os.path.join(ROOT, "test", "fuzz", "corpus", reader),
                            f"-max_total_time={options.fuzz}",
                            "-timeout=120",
                            "-rss_limit_mb=2048",
                            f"-artifact_prefix={options.build}/{reader}-",
                            "-max_len=4096",
                            "-close_fd_mask=1",
                            "-print_final_stats=1",
                            "-seed=1",
                        ],
                        environment,
                    )
                )
    print(f"{sum(results)} passed, {len(results) - sum(results)} failed")
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
