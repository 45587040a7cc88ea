#!/usr/bin/env python3
"""`tilec tune` on a real card: candidates that hang, trap, read a bad address, want more memory
than there is, or compute wrong numbers neither stop nor taint the search; killed at any time it
goes on where it was, and the card works afterwards. (D9.3)

run_tune.py [BUILD]: a build folder or an unpacked release (TILE_HOME). About 40 s. Exit code 0 if
all is right.
"""

import collections
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time

import numpy

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
SOURCE = os.path.join(HERE, "Inputs", "tune_faults.tile")
HOME = (
    sys.argv[1] if len(sys.argv) > 1 else os.environ.get("TILE_HOME") or os.path.join(ROOT, "build")
)
TILEC = os.path.join(HOME, "bin", "tilec")
# What the log must say of each fault.
REASONS = {
    "hang": "no end after",
    "trap": "CUDA_ERROR_LAUNCH_FAILED|CUDA_ERROR_ILLEGAL_INSTRUCTION|CUDA_ERROR_ASSERT",
    "address": "CUDA_ERROR_ILLEGAL_ADDRESS",
    "memory": "CUDA_ERROR_OUT_OF_MEMORY",
    "wrong": "differs",
}
problems = []


def expect(good, what):
    print(("ok      " if good else "WRONG   ") + what, flush=True)
    if not good:
        problems.append(what)


def tune(work, *words, start=subprocess.run, **more):
    return start(
        [TILEC, "tune", SOURCE, "--device", "cuda:0", "--work", work, *words], text=True, **more
    )


def read(work):
    """The complete lines of the log, behind its head."""
    try:
        with open(os.path.join(work, "log.jsonl"), encoding="utf-8") as stream:
            lines = stream.read().split("\n")[1:]
    except FileNotFoundError:
        return []
    result = []
    for line in lines:
        try:
            result.append(json.loads(line))
        except ValueError:
            pass
    return result


def faultOf(config):
    return (
        dict(item.split("=") for item in config.split(",")).get("FAULT", "none")
        if config
        else "none"
    )


def checkRun(folder, result, m, n):
    """A fresh process runs what was chosen, and its numbers are right."""
    x = numpy.random.default_rng(1).standard_normal((m, n)).astype(numpy.float32)
    numpy.save(f"{folder}/x.npy", x)
    done = subprocess.run(
        [
            TILEC,
            "run",
            SOURCE,
            "--config",
            result,
            "--device",
            "cuda",
            "--arg",
            f"x={folder}/x.npy",
            "--out",
            f"y={folder}/y.npy",
        ],
        capture_output=True,
        text=True,
        timeout=60,
    )
    expect(
        done.returncode == 0,
        f"a run of the chosen configuration ends well: {done.stderr.strip()[:200]}",
    )
    if done.returncode == 0:
        error = numpy.abs(numpy.load(f"{folder}/y.npy") - x.astype(numpy.float64).sum(1)).max()
        expect(error < 1e-3, f"its numbers are right: {error:.2g}")


def faults(folder):
    work, result, shape = f"{folder}/faults", f"{folder}/r.json", (131072, 128)
    begin = time.perf_counter()
    done = tune(
        work,
        "--exhaustive",
        "--shape",
        f"M={shape[0]},N={shape[1]}",
        "--timeout",
        "3",
        "-o",
        result,
        capture_output=True,
        timeout=170,
    )
    expect(
        done.returncode == 0,
        f"the search ends, after {time.perf_counter() - begin:.0f} s:"
        f" {done.stderr.strip().splitlines()[-1:] if done.returncode else ''}",
    )
    log = read(work)
    failed = {faultOf(line["config"]): line for line in log if "ms" not in line}
    for fault, words in REASONS.items():
        reason = failed.get(fault, {}).get("reason", "nothing")
        expect(any(word in reason for word in words.split("|")), f"{fault}: left out, {reason}")
    expect("none" not in failed, f"no good candidate is left out: {failed.get('none')}")
    alone = {line["config"]: line["ms"] for line in log if line["effort"] == 2 and "ms" in line}
    expect(
        len(alone) == 13 and all(faultOf(config) == "none" for config in alone),
        f"all good candidates are measured: {len(alone)} of 13",
    )
    if done.returncode == 0:
        with open(result, encoding="utf-8") as stream:
            best = ",".join(
                f"{name}={value}" for name, value in sorted(json.load(stream)["best"].items())
            )
        mine = next(
            (ms for config, ms in alone.items() if ",".join(sorted(config.split(","))) == best),
            float("inf"),
        )
        expect(
            mine <= 1.15 * min(alone.values()),
            f"the best is chosen: {best}, {mine:.4f} ms; measured alone {min(alone.values()):.4f}"
            f" to {max(alone.values()):.4f} ms",
        )
        checkRun(folder, result, *shape)
    # The times of good candidates are the same where nothing failed before them.
    clean = f"{folder}/clean"
    tune(
        clean,
        "--exhaustive",
        "-D",
        "FAULT=none",
        "-D",
        "COLS=64",
        "-D",
        "PARTS=1",
        "--shape",
        f"M={shape[0]},N={shape[1]}",
        check=True,
        capture_output=True,
        timeout=60,
    )
    other = {
        tuple(
            sorted(part for part in line["config"].split(",") if part.startswith(("BM", "warps")))
        ): line["ms"]
        for line in read(clean)
        if line["effort"] == 2 and "ms" in line
    }
    ratios = [
        ms / other[key]
        for config, ms in alone.items()
        if (
            key := tuple(
                sorted(part for part in config.split(",") if part.startswith(("BM", "warps")))
            )
        )
        in other
    ]
    expect(
        len(ratios) >= 12 and 0.85 < numpy.median(ratios) < 1.15,
        f"times beside failures are those without: {len(ratios)} ratios, median"
        f" {numpy.median(ratios or [0]):.3f}",
    )


def kills(folder):
    """Killed at random, also while a candidate hangs: nothing that is in the log is measured again,
    and it comes to an end.
    """
    work, words = (
        f"{folder}/killed",
        ["--exhaustive", "--timeout", "3", "--shape", "M=131072,N=128", "--shape", "M=1000,N=512"],
    )
    random.seed(7)
    count = 0
    for attempt in range(5):
        before = read(work)
        process = tune(
            work,
            *words,
            start=subprocess.Popen,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        wanted, stop = len(before) + random.randrange(2, 12), time.monotonic() + 20
        while process.poll() is None and len(read(work)) < wanted and time.monotonic() < stop:
            time.sleep(0.002)
        time.sleep(random.random() * 0.05)
        if process.poll() is not None:
            break
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        count += 1
        if read(work)[: len(before)] != before:
            expect(False, "a log that was there has changed")
    done = tune(work, *words, "-o", f"{folder}/k.json", capture_output=True, timeout=120)
    times = collections.Counter(
        (line["config"], line["shape"], line["effort"]) for line in read(work)
    )
    again = [key for key, n in times.items() if n > 1]
    expect(
        done.returncode == 0 and count >= 3 and not again,
        f"{count} kills, {len(times)} measurements, made twice: {again}",
    )
    if done.returncode == 0:
        with open(f"{folder}/k.json", encoding="utf-8") as stream:
            entries = json.load(stream)["entries"]
        expect(
            len(entries) == 2
            and all(entry["config"].get("FAULT", "none") == "none" for entry in entries),
            "the result has both shapes, by good candidates",
        )
        checkRun(folder, f"{folder}/k.json", 1000, 512)


begin = time.perf_counter()
with tempfile.TemporaryDirectory(prefix="tile-tune-") as folder:
    faults(folder)
    kills(folder)
print(f"{len(problems)} problems, {time.perf_counter() - begin:.0f} s")
sys.exit(bool(problems))
