#!/usr/bin/env python3
"""Kills a search, with its workers, at random times and lets it go on: what was in the log is not
measured again, and the result is that of a search that was left alone. kill_and_resume.py TILEC
SOURCE WORK; TILE_LIBCUDA names a driver whose times are always the same.
"""

import collections, json, os, random, shutil, signal, subprocess, sys, time

tilec, source, work = sys.argv[1:]
shapes = [1000, 2000, 3000, 5000, 7000, 11000, 13000]


def command(folder, result):
    return [
        tilec,
        "tune",
        source,
        "-D",
        "FAULT=none",
        "--device",
        "cuda",
        "--timeout",
        "600",
        "--work",
        folder,
        "--keep",
        "3",
        "-o",
        result,
    ] + [word for n in shapes for word in ("--shape", f"N={n}")]


def read(folder):
    """The complete lines of the log."""
    try:
        text = open(f"{folder}/log.jsonl").read()
    except FileNotFoundError:
        return []
    lines = []
    for line in text.split("\n")[1:]:
        try:
            lines.append(json.loads(line))
        except ValueError:
            pass
    return lines


def key(line):
    return line["config"], line["shape"], line["effort"]


subprocess.run(
    [
        tilec,
        "tune",
        source,
        "-D",
        "FAULT=none",
        "--precompile",
        "--target",
        "sm_90a",
        "--work",
        work + ".whole",
    ],
    check=True,
    stderr=subprocess.DEVNULL,
)
shutil.copytree(work + ".whole", work + ".cut")
whole = subprocess.run(
    command(work + ".whole", work + ".whole.json"),
    check=True,
    stdout=subprocess.PIPE,
    stderr=subprocess.PIPE,
    text=True,
)
count = len(read(work + ".whole"))
assert count > 60, whole.stderr

random.seed(7)
kills = 0
for attempt in range(200):
    before = read(work + ".cut")
    process = subprocess.Popen(
        command(work + ".cut", work + ".cut.json"),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    # Not at a time, but when it has made a few measurements more: however slow the machine is.
    wanted = len(before) + random.randrange(0, 12)
    while process.poll() is None and len(read(work + ".cut")) < wanted:
        time.sleep(0.002)
    time.sleep(random.random() * 0.01)
    if process.poll() is not None:
        break
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    kills += 1
    after = read(work + ".cut")
    assert after[: len(before)] == before, "a log that was there has changed"
assert process.returncode == 0 and kills >= 4, (process.returncode, kills)

times = collections.Counter(key(line) for line in read(work + ".cut"))
assert all(n == 1 for n in times.values()), (
    f"measured again: {[k for k, n in times.items() if n > 1]}"
)
left = {key(line) for line in read(work + ".whole")}
assert set(times) == left, f"another way: {sorted(set(times) ^ left)}"
assert json.load(open(work + ".cut.json")) == json.load(open(work + ".whole.json"))
print(f"{kills} kills, {count} measurements")
