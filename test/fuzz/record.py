#!/usr/bin/env python3
"""Fuzzes readers of files for long, in turns, and keeps a record: record.py PROGRAMS LOG [--seconds
CPU] [--turn SECONDS] [READER...].

PROGRAMS holds the targets that `test/sanitize/run.py address` builds (a copy of them, where the
build tree changes meanwhile). Each reader gets turns till it has used --seconds of processor time.
LOG holds one line of JSON for each turn: reader, seed, executions, processor seconds, the commit of
the sources, findings (files that a sanitizer, a limit of time or of memory complained of; they stay
in LOG.findings). What is in LOG already counts, so that the script may be stopped at any time.
`record.py --table LOG` prints the sums as a table.
"""

import argparse
import collections
import glob
import json
import os
import re
import resource
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))


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


def turn(reader, seed, options, revision):
    """Fuzzes one reader for one turn; returns the line of the record."""
    grown, found = os.path.join(options.log + ".grown", reader), options.log + ".findings"
    os.makedirs(grown, exist_ok=True)
    os.makedirs(found, exist_ok=True)
    before = set(os.listdir(found))
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    with tempfile.TemporaryFile("w+", errors="replace") as messages:
        subprocess.run(
            [
                os.path.join(options.programs, f"fuzz-{reader}"),
                grown,
                os.path.join(HERE, "corpus", reader),
                f"-max_total_time={options.turn}",
                "-timeout=60",
                "-rss_limit_mb=2048",
                f"-artifact_prefix={found}/{reader}-",
                "-max_len=4096",
                "-close_fd_mask=1",
                "-print_final_stats=1",
                "-ignore_ooms=0",
                f"-seed={seed}",
            ],
            stdout=subprocess.DEVNULL,
            stderr=messages,
            check=False,
        )
        messages.seek(0)
        text = messages.read()
    now = resource.getrusage(resource.RUSAGE_CHILDREN)
    runs = re.search(r"stat::number_of_executed_units:\s*(\d+)", text)
    findings = sorted(set(os.listdir(found)) - before)
    for name in findings:
        with open(os.path.join(found, name + ".log"), "w", encoding="utf-8") as stream:
            stream.write(text[-20000:])
    return {
        "reader": reader,
        "seed": seed,
        "executions": int(runs.group(1)) if runs else 0,
        "cpu_s": round(now.ru_utime + now.ru_stime - used.ru_utime - used.ru_stime, 1),
        "commit": revision,
        "findings": findings,
    }


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
        os.path.basename(path)[len("fuzz-") :]
        for path in glob.glob(os.path.join(options.programs, "fuzz-*"))
    )
    revision = options.commit or commit()
    while True:
        lines = read(options.log)
        used = {
            each: sum(line["cpu_s"] for line in lines if line["reader"] == each) for each in readers
        }
        reader = min(readers, key=lambda each: used[each])
        if used[reader] >= options.seconds:
            break
        line = turn(reader, 1 + sum(each["reader"] == reader for each in lines), options, revision)
        with open(options.log, "a", encoding="utf-8") as stream:
            stream.write(json.dumps(line) + "\n")
        print(json.dumps(line), flush=True)
    failed = [line for line in read(options.log) if line["findings"]]
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
