#!/usr/bin/env python3
"""Changes the tests of dialects and passes token by token and runs tile-opt on what comes out: no
crash, no hang.

  mutate_mlir.py [--tile-opt PROGRAM] [--seconds N | --count N] [--seed N] [--keep FOLDER]

Half of the inputs go through the passes of their own test, the others through those of any.
"""

import argparse
import glob
import os
import random
import re
import resource
import shlex
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from mutate import ROOT, mutate  # noqa: E402

WORDS = [
    "0",
    "1",
    "-1",
    "3",
    "64",
    "index",
    "i1",
    "i4",
    "f16",
    "f32",
    "bf16",
    "tensor<8xf32>",
    "tensor<3x5xf32>",
    "4294967296",
    "?",
    "9223372036854775807",
    "[]",
    "[0]",
    "[[0, 1]]",
    "true",
    "false",
    "array<i64: 1>",
    "dense<0.0>",
    "#rows",
    "%x",
    "1x",
]
SECONDS = 20


def cases():
    """(file, arguments of tile-opt, text) of each part of each test."""
    for folder in ("passes", "dialect"):
        for path in sorted(
            glob.glob(os.path.join(ROOT, "test", folder, "**", "*.mlir"), recursive=True)
        ):
            with open(path, encoding="utf-8") as file:
                text = re.sub(r"\\\n// RUN: *", "", file.read())  # lines that go on
            for run in re.findall(r"RUN: tile-opt %s ([^|\n]*)", text):
                run = re.sub(r"2>&1|--?(split-input-file|verify-diagnostics)", "", run).strip()
                if "%" not in run and ">" not in run:
                    yield from ((path, shlex.split(run), part) for part in text.split("// -----"))


def failure(line):
    """None, or how tile-opt ended."""

    def limit():
        resource.setrlimit(
            resource.RLIMIT_CPU, (SECONDS, SECONDS)
        )  # not of the clock: the machine may be busy

    try:
        done = subprocess.run(
            line,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=SECONDS * 20,
            preexec_fn=limit,
        )
    except subprocess.TimeoutExpired:
        return "hangs"
    if done.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
        return f"takes more than {SECONDS} s"
    if done.returncode in (0, 1):
        return None
    frames = [
        frame for frame in re.findall(r"#\d+ 0x\w+ ([^(\n]*)", done.stderr) if "tile" in frame
    ]
    return f"exit {done.returncode}: " + "; ".join(frames[:3] or [done.stderr.strip()[-200:]])


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("--tile-opt", default=os.path.join(ROOT, "build", "bin", "tile-opt"))
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--count", type=int, help="so many inputs, instead of a time")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", help="a folder for what fails")
    options = parser.parse_args()
    tests, choose = list(cases()), random.Random(options.seed)
    texts = [text for _, _, text in tests]
    begin, tried, failed, seen = time.monotonic(), 0, 0, set()
    with tempfile.TemporaryDirectory(prefix="tile-mutate-") as folder:
        path = os.path.join(folder, "k.mlir")
        while (
            tried < options.count if options.count else time.monotonic() - begin < options.seconds
        ):
            tried += 1
            source, run, text = choose.choice(tests)
            if choose.random() < 0.5:
                run = choose.choice(tests)[1]
            text = mutate(text, texts, WORDS, choose)
            with open(path, "w", encoding="utf-8", errors="replace") as file:
                file.write(text)
            wrong = failure([options.tile_opt, path, *run])
            if not wrong:
                continue
            failed += 1
            if wrong not in seen:  # each kind once
                seen.add(wrong)
                print(
                    f"FAIL input {tried}, from {os.path.relpath(source, ROOT)} by {' '.join(run)}:"
                    f" {wrong}",
                    flush=True,
                )
                if options.keep:
                    with open(
                        os.path.join(options.keep, f"{options.seed}-{tried}.mlir"),
                        "w",
                        encoding="utf-8",
                        errors="replace",
                    ) as file:
                        file.write(text)
    print(f"{tried - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
