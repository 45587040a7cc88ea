#!/usr/bin/env python3
"""Changes the project's own kernels token by token and compiles what comes out: no crash, no hang,
no gigabyte, no internal error.

  mutate.py [--tilec PROGRAM] [--seconds N | --count N] [--seed N] [--emit STAGE] [--target TARGET]
  [--keep FOLDER]

Needs nothing but tilec; run.py with tile-fuzz tries more inputs in the same time, as it starts no
process for each.
"""

import argparse
import glob
import os
import random
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SOURCES = (
    "examples/*/*.tile",
    "test/gpu/agree/*.tile",
    "test/frontend/**/*.tile",
    "test/e2e/Inputs/*.tile",
    "test/fuzz/Inputs/*.tile",
    "library/std/*.tile",
)
MEMORY = 1 << 30  # beyond what the program itself takes
SECONDS = 40  # of processor time: an example with many instances takes 10


def dictionary():
    """The words of fuzz.cpp."""
    with open(
        os.path.join(os.path.dirname(os.path.abspath(__file__)), "fuzz.cpp"), encoding="utf-8"
    ) as file:
        text = file.read()
    body = text[text.index("words[] = {") : text.index("};", text.index("words[] = {"))]
    return [
        word.replace('\\"', '"').replace("\\n", "\n")
        for word in re.findall(r'"((?:[^"\\]|\\.)+)"', body)
    ]


def mutate(source, others, words, choose):
    parts = re.findall(r"\w+|\s+|[^\w\s]", source)
    for _ in range(choose.choice([1, 1, 1, 2, 2, 3, 5])):
        if not parts:
            break
        at, kind = choose.randrange(len(parts)), choose.randrange(9)
        other = choose.randrange(len(parts))
        length = choose.randrange(1, 7)
        if kind == 0:
            del parts[at : at + length]
        elif kind == 1:
            parts.insert(at, choose.choice(words))
        elif kind <= 3:
            parts[at] = choose.choice(words)
        elif kind == 4:
            parts[other:other] = parts[at : at + length]
        elif kind == 5:
            parts[at], parts[other] = parts[other], parts[at]
        elif kind == 6:  # a piece of another source
            donor = re.findall(r"\w+|\s+|[^\w\s]", choose.choice(others))
            begin = choose.randrange(max(len(donor), 1))
            parts[at:at] = donor[begin : begin + choose.randrange(1, 40)]
        else:  # a word in place of a word, a number by another
            places = [i for i, part in enumerate(parts) if part[0].isalnum()]
            if places:
                parts[choose.choice(places)] = (
                    parts[choose.choice(places)]
                    if kind == 7
                    else choose.choice(
                        ["0", "1", "3", "64", "1000000", "4294967296", "9223372036854775807"]
                    )
                )
    return "".join(parts)


def failure(line, path):
    """None, or what is wrong with how tilec ended."""

    def limit():
        resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
        resource.setrlimit(
            resource.RLIMIT_CPU, (SECONDS, SECONDS)
        )  # not of the clock: the machine may be busy

    try:
        done = subprocess.run(
            line + [path],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=SECONDS * 10,
            preexec_fn=limit,
        )
    except subprocess.TimeoutExpired:
        return "hangs"
    if done.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
        return f"takes more than {SECONDS} s"
    used = done.stderr
    if done.returncode not in (0, 1) or "internal error" in used:
        return f"exit {done.returncode}: {used.strip()[:400]}"
    if done.returncode == 1 and "error" not in used:
        return "fails without a message"
    if (
        "unknown location" in used
        or re.search(r"^error: (?!the target)", used, re.MULTILINE)
        and path not in used
    ):
        return f"a message without a place: {used.strip()[:300]}"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("--tilec", default=os.path.join(ROOT, "build", "bin", "tilec"))
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--count", type=int, help="so many inputs, instead of a time")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--emit", default="tile-opt", help="the last stage")
    parser.add_argument("--target", default="sm_90a")
    parser.add_argument("--keep", help="a folder for what fails")
    options = parser.parse_args()
    sources = []
    for pattern in SOURCES:
        for path in sorted(glob.glob(os.path.join(ROOT, pattern), recursive=True)):
            with open(path, encoding="utf-8", errors="replace") as file:
                sources.append(file.read())
    words, choose = dictionary(), random.Random(options.seed)
    line = [options.tilec, "--emit", options.emit, "--target", options.target, "-o", os.devnull]
    begin, tried, failed, seen = time.monotonic(), 0, 0, set()
    with tempfile.TemporaryDirectory(prefix="tile-mutate-") as folder:
        path = os.path.join(folder, "k.tile")
        while (
            tried < options.count if options.count else time.monotonic() - begin < options.seconds
        ):
            tried += 1
            text = mutate(choose.choice(sources), sources, words, choose)
            with open(path, "w", encoding="utf-8", errors="replace") as file:
                file.write(text)
            wrong = failure(line, path)
            if not wrong:
                continue
            failed += 1
            kind = re.sub(r"\d+|/\S+", "", wrong)[:90]
            if kind not in seen:  # each kind once
                seen.add(kind)
                print(f"FAIL input {tried}: {wrong}", flush=True)
                if options.keep:
                    with open(
                        os.path.join(options.keep, f"{options.seed}-{tried}.tile"),
                        "w",
                        encoding="utf-8",
                        errors="replace",
                    ) as file:
                        file.write(text)
    print(f"{tried - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
