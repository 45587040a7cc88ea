#!/usr/bin/env python3
"""Compile times of two versions in turns: every example of RELEASE, by its compiler and by ours.

compile_against.py RELEASE [--build BUILD] [--target sm_90a] [--repeats 5] [--json FILE]
[EXAMPLE...]: RELEASE is an unpacked release. Times are of the processor, user and system, of a
process that makes PTX of all of an example's instances: the least of the repeats, since other work
can but add to it. An example that has changed since is compiled as RELEASE has it, by both.
"""

import argparse
import glob
import math
import os
import subprocess
import sys

import resultfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
IN_ALL, EACH = 1.02, 1.1  # what may be more


def measure(tilec, source, target):
    """Milliseconds of processor time; None where the example is refused."""
    child = subprocess.Popen(
        [tilec, source, "--target", target, "--emit", "ptx", "-o", os.devnull],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    return None if child.returncode else 1e3 * (used.ru_utime + used.ru_stime)


def compare(tilecs, source, options):
    """The least time of each compiler; None where one of them refuses the example."""
    times = [[], []]
    for repeat in range(options.repeats):
        for which in (0, 1) if repeat % 2 else (1, 0):
            one = measure(tilecs[which], source, options.target)
            if one is None:
                return None
            times[which].append(one)
    return [min(each) for each in times]


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("release")
    parser.add_argument("--build", default=os.path.join(ROOT, "build"))
    parser.add_argument("--target", default="sm_90a")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("examples", nargs="*")
    options = parser.parse_intermixed_args()
    tilecs = [os.path.join(home, "bin", "tilec") for home in (options.release, options.build)]
    rows, refused = [], []
    for source in sorted(glob.glob(os.path.join(options.release, "examples", "*", "*.tile"))):
        name = os.path.splitext(os.path.basename(source))[0]
        if options.examples and name not in options.examples:
            continue
        found = compare(tilecs, source, options)
        if not found:
            refused.append(name)
            continue
        before, now = found
        rows.append({"example": name, "before_ms": round(before, 1), "ms": round(now, 1)})
        print(f"{name:28} {before:8.1f} ms {now:8.1f} ms {now / before:6.3f}", flush=True)
    if not rows:
        print("nothing was compiled by both")
        return 1
    ratios = [row["ms"] / row["before_ms"] for row in rows]
    whole = sum(row["ms"] for row in rows) / sum(row["before_ms"] for row in rows)
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
    print(
        f"{len(rows)} examples: {whole:.3f} in all (bar {IN_ALL}), geometric mean {mean:.3f}, most"
        f" {max(ratios):.3f} (bar {EACH})"
    )
    if refused:
        print("compiled by one of them or none:", ", ".join(refused))
    if options.json:
        resultfile.save(
            options.json,
            {
                "target": options.target,
                "repeats": options.repeats,
                "in_all": whole,
                "mean": mean,
                "most": max(ratios),
                "rows": rows,
                "refused": refused,
            },
            options.release,
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
