#!/usr/bin/env python3
"""What the cost model expects of a block against what is compiled: stages of loads that run ahead,
bytes of shared memory, and registers of a thread, over examples and configurations.

plans.py [--build BUILD] [--target sm_90a,sm_80] [--configurations N] [--with ATTRIBUTES]
         [--registers] [--json FILE] [EXAMPLE or FILE.tile ...]

Needs no GPU; registers need ptxas, which takes most of the time. They are those of a thread that
computes: what setmaxnreg gives it, else what ptxas does. Configurations are attributes beside what
the model chooses itself: warps, stages and occupancy in turns, 48 at most. Prints each kernel that
differs in stages, with --all in anything, and sums.
"""

import argparse
import concurrent.futures
import itertools
import json
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# What compile-time parameters that the examples leave to a launch are, if they may.
DTYPE, NUMBER = "f16", "128"


def configurations(count):
    """Attributes for --with, the model's own choice first."""
    warps, stages = ("", "warps=4", "warps=8"), ("", "stages=2", "stages=3", "stages=4")
    choices = [
        *itertools.product(warps, stages, ("", "occupancy=2")),
        *itertools.product(warps, stages, ("occupancy=3", "occupancy=8")),
    ]
    return [",".join(filter(None, each)) for each in choices][:count]


def definitions(path):
    """-D for what the file's kernels declare without a default: of the values that all of them
    allow."""
    with open(path, encoding="utf-8") as file:
        heads = re.findall(r"^kernel \w+\[(.*?)\]\(", file.read(), re.M | re.S)
    allowed = {}
    for head in heads:
        for name, kind, listed in re.findall(
            r"(\w+): (\w+)(?: in \{([^}]*)\})?(?! =)(?=,|$)", head
        ):
            values = re.findall(r"[\w.]+", listed)
            known = allowed.setdefault(name, [kind, values])
            known[1] = [each for each in known[1] if each in values] if values else known[1]
    chosen = {}
    for name, (kind, values) in allowed.items():
        usual = DTYPE if kind == "dtype" else NUMBER
        chosen[name] = usual if usual in values or not values else values[0]
    return [f"-D{name}={value}" for name, value in chosen.items()]


def locate(example):
    """The file of an example, or the file itself."""
    is_file = example.endswith(".tile")
    return example if is_file else os.path.join(ROOT, "examples", example, example + ".tile")


def countStages(memory):
    """Slots of the deepest ring or of slots that threads copy to; 0 where nothing runs ahead."""
    most = 0
    for item in memory.get("items", []):
        parts = len(item.get("parts", []))
        if item["name"].startswith("slots of"):
            most = max(most, parts)
        elif item["name"].startswith("ring of") and "scalars" not in item["name"]:
            most = max(most, (parts - 1) // (item["name"].count(" and ") + 1))
    return most if most > 1 else 0


def ask(tilec, example, target, attributes, assembles):
    """Of each kernel what the model expects, and what is compiled; without a plan where the model
    refuses what the compiler does not; nothing where the compiler refuses."""
    path = locate(example)
    line = [tilec, "explain", path, "--target", target, "--json", *definitions(path)]
    line += ["--with", attributes] if attributes else []
    said = subprocess.run(line, capture_output=True, text=True, check=False,
                          env=os.environ if assembles else {**os.environ, "TILE_PTXAS": "none"},
                          )  # fmt: skip
    if said.returncode:
        return []
    rows = []
    for kernel in json.loads(said.stdout)["kernels"]:
        estimate, memory = kernel["estimate"], kernel.get("shared_memory", {})
        if "compiled" not in kernel:
            continue
        compiled = kernel["compiled"]
        row = {"example": example, "target": target, "with": attributes, "kernel": kernel["symbol"]}
        rows.append(row)
        if not estimate["valid"]:
            row["refused"] = estimate["reason"]
            continue
        row["stages"] = [estimate["stages"], countStages(memory)]
        row["shared_bytes"] = [estimate["shared_bytes"], compiled["shared_bytes"]]
        if "registers" in compiled:
            computing = compiled.get("computing_registers", compiled["registers"])
            row["registers"] = [estimate["given_registers"], computing]
            row["spill_bytes"] = compiled["spill_bytes"]
    return rows


def isNear(row, what):
    """Stages and bytes are equal, registers within 10%."""
    expected, compiled = row[what]
    return abs(expected - compiled) <= (compiled / 10 if what == "registers" else 0)


def describe(row, every):
    """What is compiled otherwise than expected, in words; empty if nothing is."""
    found = []
    for what in ("stages", "shared_bytes", "registers") if every else ("stages",):
        if what in row and not isNear(row, what):
            found.append(f"{row[what][0]} {what.replace('shared_', '')}, and {row[what][1]}")
    title = " ".join(filter(None, (row["kernel"], row["target"], row["with"])))
    return f"{title}: {'; '.join(found)} are compiled" if found else ""


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--build", default=os.path.join(ROOT, "build"))
    parser.add_argument("--target", default="sm_90a,sm_80")
    parser.add_argument("--configurations", type=int, default=20)
    parser.add_argument("--with", action="append", dest="attributes", metavar="ATTRIBUTES",
                        help="these instead, as warps=8,occupancy=2; repeatable")  # fmt: skip
    parser.add_argument("--registers", action="store_true", help="assemble, and compare these too")
    parser.add_argument("--all", action="store_true", help="list what differs in anything")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("examples", nargs="*")
    options = parser.parse_intermixed_args()
    tilec = os.path.join(options.build, "bin", "tilec")
    examples = options.examples or sorted(
        name for name in os.listdir(os.path.join(ROOT, "examples"))
        if os.path.exists(locate(name))
    )  # fmt: skip
    jobs = [(tilec, example, target, attributes) for example in examples
            for target in options.target.split(",")
            for attributes in options.attributes or configurations(options.configurations)
            ]  # fmt: skip
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        rows = [
            row
            for answer in pool.map(lambda job: ask(*job, options.registers), jobs)
            for row in answer
        ]
    for line in filter(None, (describe(row, options.all) for row in rows)):
        print(line)
    for example in examples:
        if not any(row["example"] == example for row in rows):
            print(f"{example}: nothing of it could be compiled")
    for target in options.target.split(","):
        every = [row for row in rows if row["target"] == target]
        found = [row for row in every if "refused" not in row]
        near = {what: sum(isNear(row, what) for row in found if what in row)
                for what in ("stages", "shared_bytes", "registers")}  # fmt: skip
        assembled = sum("registers" in row for row in found)
        print(f"{target}: stages of {near['stages']} of {len(found)} kernels as compiled, bytes of"
              f" {near['shared_bytes']}"
              + (f", {len(every) - len(found)} that the model refuses"
                 if len(every) > len(found) else "")
              + (f", registers of {near['registers']} of {assembled} within 10%"
                 if assembled else ""))  # fmt: skip
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(rows, file, indent=1)
            file.write("\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
