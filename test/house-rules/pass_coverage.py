#!/usr/bin/env python3
"""Which kernels each pass of the GPU pipeline changes: pass_coverage.py ROOT TILEC [--update].

Compiles every example and every kernel of bench/unseen to the GPU dialect, for a target with TMA
and for one without, and asks `--remarks=passes`. Fails if a pass changes the kernels of one file
alone, unless ALONE has a reason, or if docs/PassCoverage.md lacks a pass; with --update writes that
page.
"""

import argparse
import collections
import concurrent.futures
import glob
import os
import re
import subprocess
import sys
import textwrap

TARGETS = ["sm_90a", "sm_80"]
PAGE = os.path.join("docs", "PassCoverage.md")
MOST = 12  # names in a cell

# Files whose kernels need a value that nothing but a launch has.
BOUND = {"*awq*", "*gptq*"}

# Passes that change the kernels of one file or none, and why.
ALONE = {
    "tile-gpu-store-in-parts": "kernels that spill after all else, which only ptxas knows",
    "tile-gpu-defer-reductions": 'needs `fp("fast")` and rows that are read block by block',
    "tile-gpu-share-programs": "needs a contract that expects few programs, or rows that one block "
    "cannot keep",
    "tile-gpu-expand-tf32x3": "answers `precision: tf32x3`, which no file asks for by itself",
    "tile-gpu-fit-launch": "answers `occupancy` and `maxreg` beyond what a target has",
    "tile-gpu-cut-products": "needs products that begin a sum in each trip, of 256 columns",
    "tile-gpu-join-products": "needs products of one tile by several, of 128 columns or fewer each",
    "tile-gpu-multicast": "answers `cluster(2)`, which the cost model chooses of a `tune` clause",
    "tile-gpu-fetch-gathers": "needs `persistent`, and an operand that TMA cannot fetch beside one "
    "that it does",
    "tile-gpu-prefetch-coordinates": "needs `persistent`, and places that come from tiles",
    "tile-gpu-schedule-tiles-dynamically": "needs `persistent`, and programs of unequal length",
    "tile-gpu-spread-loads": "needs vectors that TMA cannot fetch, read behind a product",
    "tile-gpu-rescale-lazily": "needs factors that the source selects from 1 and something else",
    "tile-gpu-apply-loop-attributes": "answers `unroll(n)`, which no file asks for by itself",
}


def sources(root):
    """{name: file}; the kernels of bench/unseen in italics, as the page has them."""
    examples = sorted(glob.glob(os.path.join(root, "examples", "*", "*.tile")))
    unseen = sorted(glob.glob(os.path.join(root, "bench", "unseen", "kernels", "*.tile")))
    stem = lambda path: os.path.splitext(os.path.basename(path))[0]
    return {**{stem(p): p for p in examples}, **{f"*{stem(p)}*": p for p in unseen}}


def passes(root):
    """The passes of the pipeline that decide something, in order."""
    path = os.path.join(root, "passes", "Report", "Conditions.cpp")
    with open(path, encoding="utf-8") as file:
        return re.findall(r'\{"(tile-[a-z0-9-]+)",', file.read())


def ask(tilec, path, target):
    """Passes that changed a kernel of the file, or None where it is refused."""
    line = [tilec, path, "--target", target, "--remarks=passes", "--stop-after=gpu"]
    said = subprocess.run(line, capture_output=True, text=True, check=False)
    if said.returncode:
        return None
    lists = re.findall(r"remark: kernel '.*' was changed by (.*) \[R0602\]", said.stderr)
    return {name for each in lists for name in each.split(", ")}


def measure(tilec, root):
    """{pass: names of files, in order}, and the names that no target takes."""
    files = sources(root)
    jobs = [(name, target) for name in files for target in TARGETS]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        answers = list(pool.map(lambda job: ask(tilec, files[job[0]], job[1]), jobs))
    fired, taken = collections.defaultdict(list), set()
    for (name, _), answer in zip(jobs, answers):
        if answer is None:
            continue
        taken.add(name)
        for each in answer:
            if name not in fired[each]:
                fired[each].append(name)
    return fired, [name for name in files if name not in taken], len(files)


def page(order, fired, count):
    """The page, from what was measured."""
    head = f"""
        # Kernels that each pass changes

        Written by `test/house-rules/pass_coverage.py ROOT TILEC --update`: every example, and every
        kernel of `bench/unseen` (in italics), {count} files in all, compiled for
        {" and ".join(TARGETS)} with `--remarks=passes`. A test fails where a pass changes the
        kernels of one file alone and the last column does not say why.
        """
    columns = ["| pass | files | which | why so few |", "|---|---|---|---|"]
    lines = [textwrap.dedent(head).strip(), "", *columns]
    for name in order:
        names = fired[name]
        more = f" and {len(names) - MOST} more" if len(names) > MOST else ""
        which = ", ".join(names[:MOST]) + more
        lines.append(f"| `{name}` | {len(names)} | {which} | {ALONE.get(name, '')} |")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("root")
    parser.add_argument("tilec")
    parser.add_argument("--update", action="store_true")
    options = parser.parse_args()
    order = passes(options.root)
    fired, refused, count = measure(options.tilec, options.root)
    path = os.path.join(options.root, PAGE)
    if options.update:
        with open(path, "w", encoding="utf-8") as file:
            file.write(page(order, fired, count))
    with open(path, encoding="utf-8") as file:
        text = file.read()
    problems = [f"{name} is compiled for no target" for name in refused if name not in BOUND]
    for name in order:
        if len(fired[name]) < 2 and name not in ALONE:
            problems.append(f"{name} changes {' '.join(fired[name]) or 'nothing'} alone")
        if f"| `{name}` |" not in text:
            problems.append(f"{PAGE} lacks {name}: --update writes it")
    print("\n".join(problems) or f"{len(order)} passes, each changes two files or more")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
