#!/usr/bin/env python3
"""Changes files for `--variants` and `--config` token by token and gives them to tilec: each is
read or refused by a message that names the file, and nothing crashes or hangs.

  mutate_options.py [--tilec PROGRAM] [--seconds N | --count N] [--seed N] [--keep FOLDER]
  [--replay]

It starts from corpus/variants and corpus/config; --replay runs these alone. Prints executions and
findings.
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

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from mutate import ROOT  # noqa: E402

KERNEL = """kernel which[BLOCK: int = 64](x: in f32[M, N], y: out f32[M, N])
  where M in 1..=65536, N in 1..=65536
  grid (m: M, j: cdiv(N, BLOCK))
  tune { BLOCK in {64, 128, 256, 512}; key M, N; }
{
  let n = block(j, BLOCK);
  y[m, n] = x[m, n];
}
"""
WORDS = [
    "0",
    "1",
    "-1",
    "64",
    "1e300",
    "9223372036854775808",
    "null",
    "true",
    '""',
    '"M"',
    '"M=1..=16:8"',
    '"N%64"',
    '"align(x)=64"',
    '"x=f32[M,8]"',
    '"BLOCK=64"',
    '"BLOCK"',
    '"warps"',
    "[]",
    "{}",
    "[[[[",
    '"\\u0000"',
    '"\\ud800"',
    '"name"',
    '"args"',
    '"schema"',
    '"best"',
    '"entries"',
    '"shape"',
    '"config"',
    '"others"',
    ":",
    ",",
]
SECONDS = 40  # of processor time


def mutate(source, other, choose):
    parts = re.findall(r'"(?:[^"\\]|\\.)*"|[\w.+-]+|\s+|.', source, re.DOTALL)
    for _ in range(choose.choice([1, 1, 2, 3, 8])):
        if not parts:
            break
        at, kind, length = choose.randrange(len(parts)), choose.randrange(7), choose.randrange(1, 9)
        if kind == 0:
            del parts[at : at + length]
        elif kind <= 2:
            parts[at] = choose.choice(WORDS)
        elif kind == 3:
            parts.insert(at, choose.choice(WORDS))
        elif kind == 4:
            parts[at:at] = parts[at : at + length] * choose.choice([1, 2, 50])
        elif kind == 5:
            donor = re.findall(r'"(?:[^"\\]|\\.)*"|[\w.+-]+|\s+|.', other, re.DOTALL)
            begin = choose.randrange(len(donor) + 1)
            parts[at:at] = donor[begin : begin + length]
        else:
            parts[at] = "".join(
                choose.choice([char, chr(choose.randrange(1, 256))]) for char in parts[at]
            )
    return "".join(parts)


def failure(line, path):
    """None, or what is wrong with how tilec ended."""

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
    if done.returncode not in (0, 1, 2) or "internal error" in done.stderr:
        return f"exit {done.returncode}: {done.stderr.strip()[:400]}"
    if done.returncode and "error:" not in done.stderr:
        return "fails without a message"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("--tilec", default=os.path.join(ROOT, "build", "bin", "tilec"))
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--count", type=int, help="so many inputs, instead of a time")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", help="a folder for what fails")
    parser.add_argument("--replay", action="store_true")
    options = parser.parse_args()
    texts = {}
    for option in ("variants", "config"):
        for path in sorted(glob.glob(os.path.join(ROOT, "test", "fuzz", "corpus", option, "*"))):
            with open(path, encoding="utf-8", errors="surrogateescape") as stream:
                texts.setdefault(option, []).append(stream.read())
    assert len(texts) == 2, "there is no corpus"
    choose, begin, tried, failed = random.Random(options.seed), time.monotonic(), 0, 0
    with tempfile.TemporaryDirectory(prefix="tile-options-") as folder:
        source, path = os.path.join(folder, "k.tile"), os.path.join(folder, "options.json")
        with open(source, "w", encoding="utf-8") as stream:
            stream.write(KERNEL)

        def attempt(option, text):
            nonlocal tried, failed
            with open(path, "w", encoding="utf-8", errors="surrogateescape") as stream:
                stream.write(text)
            line = [
                options.tilec,
                source,
                f"--{option}",
                path,
                "--emit=tile",
                "-o",
                os.devnull,
                "--target",
                "sm_90a",
            ]
            problem, tried = failure(line, path), tried + 1
            if problem:
                failed += 1
                print(f"--{option} {tried}: {problem}", flush=True)
                if options.keep:
                    os.makedirs(options.keep, exist_ok=True)
                    with open(
                        os.path.join(options.keep, f"{option}-{tried}.json"),
                        "w",
                        encoding="utf-8",
                        errors="surrogateescape",
                    ) as stream:
                        stream.write(text)

        for option, known in texts.items():
            for text in known:
                attempt(option, text)
        while not options.replay and (
            tried < options.count if options.count else time.monotonic() - begin < options.seconds
        ):
            option = choose.choice(sorted(texts))
            attempt(
                option,
                mutate(
                    choose.choice(texts[option]),
                    choose.choice(choose.choice(list(texts.values()))),
                    choose,
                ),
            )
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(
        f"{tried - failed} passed, {failed} failed, {used.ru_utime + used.ru_stime:.0f} s of"
        " processor time"
    )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
