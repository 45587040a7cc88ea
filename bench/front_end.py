#!/usr/bin/env python3
"""How long the front end takes for a file of 1,000 lines, made of the examples: parsing, checking
and formatting in process, and each request to the language server. `ms` is the median,
`longest_ms` the longest, by the clock; `processor_ms` is the longest by the server's processor
time, which other work on the machine changes less. `load_before` is the machine's load average.

front_end.py [--build DIR] [--repeats 100] [--results DIR]

Needs front-end-bench, which is built on request: ninja -C build front-end-bench.
"""

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile

import resultfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "test", "lsp"))

import features


def inProcess(build, path, repeats):
    """The rows of front-end-bench."""
    program = os.path.join(build, "bin", "front-end-bench")
    if not os.path.exists(program):
        raise SystemExit(f"{program} is missing: ninja -C {build} front-end-bench")
    done = subprocess.run([program, path, str(repeats)], capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(done.stderr)
    return json.loads(done.stdout)


def requests(build, folder):
    """A row for each request, asked of the language server as its test does."""
    session = features.Session(os.path.join(build, "bin", "tilec"), folder, "utf-16")
    features.check_large(session, os.path.join(ROOT, "examples"))
    rows = []
    for method, times in sorted(session.client.latencies.items()):
        clock, processor = ([1e3 * each for each in column] for column in zip(*times))
        rows.append(
            {
                "what": method,
                "times": len(times),
                "ms": round(statistics.median(clock), 2),
                "longest_ms": round(max(clock), 2),
                "processor_ms": round(max(processor), 2),
            }
        )
    session.client.end()
    return rows


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--build", default=os.path.join(ROOT, "build"))
    parser.add_argument("--repeats", type=int, default=100)
    parser.add_argument("--results", default=os.path.join(ROOT, "bench", "results"))
    options = parser.parse_args()
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory(prefix="tile-front-end-") as folder:
        path = os.path.join(folder, "thousand.tile")
        text = features.lsp.thousand_lines(os.path.join(ROOT, "examples"))
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        record = {
            "machine": platform.machine(),
            "cores": os.cpu_count(),
            "load_before": round(load, 2),
            "lines": text.count("\n") + 1,
            "in_process": inProcess(options.build, path, options.repeats),
            "language_server": requests(options.build, os.path.join(folder, "server")),
        }
    for row in record["in_process"]:
        print(f"{row['what']:36} first {row['first_ms']:7.2f} ms, then {row['ms']:7.2f} ms")
    for row in record["language_server"]:
        print(
            f"{row['what']:36} {row['times']:3} times, median {row['ms']:7.2f} ms, longest"
            f" {row['longest_ms']:7.2f} ms, of the processor {row['processor_ms']:7.2f} ms"
        )
    resultfile.save(os.path.join(options.results, "front_end.json"), record)


if __name__ == "__main__":
    main()
