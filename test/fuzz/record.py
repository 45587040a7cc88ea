#!/usr/bin/env python3
"""Fuzzes everything that reads files for long, in turns, and keeps a record: record.py PROGRAMS LOG
[--seconds CPU] [--turn SECONDS] [--jobs N] [READER...].

PROGRAMS holds the targets that `test/sanitize/run.py address` builds (a copy of them, where the
build tree changes meanwhile). The compiler's own readers, sources, MLIR, --variants and --config,
are tried by mutate*.py with --tilec and --tile-opt, a process for each input. Each reader gets
turns till it has used --seconds of processor time. LOG holds one line of JSON for each turn:
reader, seed, executions, processor seconds, the commit of the sources, findings (files that a
sanitizer, a limit of time or of memory, or a mutator complained of; they stay in LOG.findings).
What is in LOG already counts, so that the script may be stopped at any time. `record.py --table
LOG` prints the sums as a table.
"""

import argparse
import collections
import concurrent.futures
import glob
import json
import os
import re
import subprocess
import sys
import tempfile
import threading

HERE = os.path.dirname(os.path.abspath(__file__))
BUILD = os.path.join(os.path.dirname(os.path.dirname(HERE)), "build", "bin")
# Readers of the compiler: the script that changes their inputs, the option that names the program.
MUTATORS = {
    "source": ("mutate.py", "tilec"),
    "mlir": ("mutate_mlir.py", "tile_opt"),
    "options": ("mutate_options.py", "tilec"),
}


def commit():
    return subprocess.run(
        ["git", "-C", HERE, "rev-parse", "--short", "HEAD"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()


def read(path):
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8") as stream:
        return [json.loads(line) for line in stream]


def run(command, found, prefix):
    """Runs one turn's program; returns its text, processor seconds and new findings."""
    before = set(os.listdir(found))
    with tempfile.TemporaryFile("w+", errors="replace") as messages:
        child = subprocess.Popen(command, stdout=messages, stderr=messages)
        _, status, used = os.wait4(child.pid, 0)  # with its own children
        child.returncode = os.waitstatus_to_exitcode(status)
        messages.seek(0)
        text = messages.read()
    new = (name for name in set(os.listdir(found)) - before if name.startswith(prefix))
    return text, used.ru_utime + used.ru_stime, sorted(new)


def fuzz(reader, seed, options, found):
    """One turn of libFuzzer."""
    grown = os.path.join(options.log + ".grown", f"{reader}-{seed % options.jobs}")
    os.makedirs(grown, exist_ok=True)
    text, used, findings = run(
        [
            os.path.join(options.programs, f"fuzz-{reader}"),
            grown,
            os.path.join(HERE, "corpus", reader),
            f"-max_total_time={options.turn}",
            "-timeout=60",
            "-rss_limit_mb=2048",
            f"-artifact_prefix={found}/{reader}-{seed}-",
            "-max_len=4096",
            "-close_fd_mask=1",
            "-print_final_stats=1",
            "-ignore_ooms=0",
            f"-seed={seed}",
        ],
        found,
        f"{reader}-{seed}-",
    )
    runs = re.search(r"stat::number_of_executed_units:\s*(\d+)", text)
    return text, used, findings, int(runs.group(1)) if runs else 0


def change(reader, seed, options, found):
    """One turn of a mutator."""
    script, program = MUTATORS[reader]
    prefix = f"{reader}-{seed}"
    folder = os.path.join(found, prefix)
    os.makedirs(folder)
    text, used, _ = run(
        [
            sys.executable,
            os.path.join(HERE, script),
            f"--{program.replace('_', '-')}={getattr(options, program)}",
            f"--seconds={options.turn}",
            f"--seed={seed}",
            f"--keep={folder}",
        ],
        found,
        prefix,
    )
    findings = [os.path.join(prefix, name) for name in sorted(os.listdir(folder))]
    if not findings:
        os.rmdir(folder)
    passed = re.search(r"^(\d+) passed, (\d+) failed", text, re.MULTILINE)
    if not passed or int(passed.group(2)) and not findings:
        findings.append(f"{prefix}: {text.strip()[-300:]}")  # the script itself ended early
    return text, used, findings, sum(map(int, passed.groups())) if passed else 0


def turn(reader, seed, options, revision):
    """Fuzzes one reader for one turn; returns the line of the record."""
    found = options.log + ".findings"
    os.makedirs(found, exist_ok=True)
    way = change if reader in MUTATORS else fuzz
    text, used, findings, runs = way(reader, seed, options, found)
    if findings:
        with open(os.path.join(found, f"{reader}-{seed}.log"), "w", encoding="utf-8") as stream:
            stream.write(text[-20000:])
    return {
        "reader": reader,
        "seed": seed,
        "executions": runs,
        "cpu_s": round(used, 1),
        "commit": revision,
        "findings": findings,
    }


class Record:
    """The log, and which reader is next: the one with the least processor time, turns that are
    under way counted by their length."""

    def __init__(self, readers, options):
        self.options, self.lock = options, threading.Lock()
        lines = read(options.log)
        self.used = {
            reader: sum(line["cpu_s"] for line in lines if line["reader"] == reader)
            for reader in readers
        }
        self.turns = {reader: sum(line["reader"] == reader for line in lines) for reader in readers}

    def begin(self):
        """(reader, seed) of the next turn; None when all have had their time."""
        with self.lock:
            reader = min(self.used, key=self.used.get)
            if self.used[reader] >= self.options.seconds:
                return None
            self.used[reader] += self.options.turn
            self.turns[reader] += 1
            return reader, self.turns[reader]

    def end(self, line):
        with self.lock:
            self.used[line["reader"]] += line["cpu_s"] - self.options.turn
            with open(self.options.log, "a", encoding="utf-8") as stream:
                stream.write(json.dumps(line) + "\n")
            done = sum(min(used, self.options.seconds) for used in self.used.values())
            goal = self.options.seconds * len(self.used)
            print(f"{done:.0f} of {goal:.0f} s, {line}", flush=True)


def table(lines):
    """The record's sums as a table in Markdown."""
    sums = collections.OrderedDict()
    for line in lines:
        row = sums.setdefault((line["reader"], line["commit"]), [[], 0, 0.0, 0])
        row[0].append(line["seed"])
        row[1] += line["executions"]
        row[2] += line["cpu_s"]
        row[3] += len(line["findings"])
    print(
        "| reader | commit | seeds | executions | processor seconds | findings"
        " |\n|---|---|---|---|---|---|"
    )
    for (reader, revision), (seeds, runs, seconds, findings) in sorted(sums.items()):
        print(
            f"| {reader} | {revision} | {min(seeds)} to {max(seeds)} | {runs} | {seconds:.0f} |"
            f" {findings} |"
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("--table", metavar="LOG")
    parser.add_argument("--seconds", type=float, default=1800)
    parser.add_argument("--turn", type=int, default=120)
    parser.add_argument(
        "--commit", default="", help="what the programs were built from (default: this checkout)"
    )
    parser.add_argument("--tilec", default=os.path.join(BUILD, "tilec"))
    parser.add_argument("--tile-opt", default=os.path.join(BUILD, "tile-opt"))
    parser.add_argument("--jobs", type=int, default=1, help="turns at a time")
    parser.add_argument("programs", nargs="?")
    parser.add_argument("log", nargs="?")
    parser.add_argument("readers", nargs="*")
    options = parser.parse_args()
    if options.table:
        return table(read(options.table))
    if not options.programs or not options.log:
        parser.error("the folder of the programs and the file of the record are missing")
    options.log = os.path.abspath(options.log)
    readers = options.readers or sorted(
        [
            os.path.basename(path)[len("fuzz-") :]
            for path in glob.glob(os.path.join(options.programs, "fuzz-*"))
        ]
        + list(MUTATORS)
    )
    revision = options.commit or commit()
    record = Record(readers, options)

    def work(_):
        while chosen := record.begin():
            record.end(turn(*chosen, options, revision))

    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        list(pool.map(work, range(options.jobs)))
    return any(line["findings"] for line in read(options.log))


if __name__ == "__main__":
    sys.exit(main())
