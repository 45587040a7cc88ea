#!/usr/bin/env python3
"""What the cost model expects of a block against what is compiled: stages of loads that run ahead
and bytes of shared memory, over examples and configurations.

plans.py [--build BUILD] [--target sm_90a,sm_80] [--configurations N] [--json FILE] [EXAMPLE...]

Needs no GPU and no ptxas. Configurations are attributes beside what the model chooses itself:
warps, stages and occupancy in turns, 20 at most. Prints each kernel that differs, and sums.
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
# Compile-time parameters that the examples leave to a launch, as far as they have them.
LAUNCH = {"T": "f16", "D": 128}


def configurations(count):
    """Attributes for --with, the model's own choice first."""
    warps, stages = ("", "warps=4", "warps=8"), ("", "stages=2", "stages=3", "stages=4")
    choices = itertools.product(warps, stages, ("", "occupancy=2"))
    return [",".join(filter(None, each)) for each in choices][: min(count, 20)]


def definitions(path):
    """-D for what the file's kernels declare without a default."""
    with open(path, encoding="utf-8") as file:
        heads = re.findall(r"^kernel \w+\[(.*?)\]\(", file.read(), re.M | re.S)
    named = {
        name for head in heads for name in re.findall(r"(\w+): \w+(?: in \{[^}]*\})?(?! =)", head)
    }
    return [f"-D{name}={value}" for name, value in LAUNCH.items() if name in named]


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


def ask(tilec, example, target, attributes):
    """[(kernel, what the model expects, what is compiled)], stages and bytes each; None where the
    compiler refuses, or the model does."""
    path = os.path.join(ROOT, "examples", example, example + ".tile")
    line = [tilec, "explain", path, "--target", target, "--json", *definitions(path)]
    line += ["--with", attributes] if attributes else []
    said = subprocess.run(line, capture_output=True, text=True, check=False,
                          env={**os.environ, "TILE_PTXAS": "none"})  # fmt: skip
    if said.returncode:
        return []
    rows = []
    for kernel in json.loads(said.stdout)["kernels"]:
        estimate, memory = kernel["estimate"], kernel.get("shared_memory", {})
        if estimate["valid"] and "compiled" in kernel:
            rows.append({
                "example": example, "target": target, "with": attributes,
                "kernel": kernel["symbol"],
                "stages": [estimate["stages"], countStages(memory)],
                "shared_bytes": [estimate["shared_bytes"], kernel["compiled"]["shared_bytes"]],
            })  # fmt: skip
    return rows


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--build", default=os.path.join(ROOT, "build"))
    parser.add_argument("--target", default="sm_90a,sm_80")
    parser.add_argument("--configurations", type=int, default=20)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("examples", nargs="*")
    options = parser.parse_intermixed_args()
    tilec = os.path.join(options.build, "bin", "tilec")
    examples = options.examples or sorted(
        name for name in os.listdir(os.path.join(ROOT, "examples"))
        if os.path.exists(os.path.join(ROOT, "examples", name, name + ".tile"))
    )  # fmt: skip
    jobs = [(tilec, example, target, attributes) for example in examples
            for target in options.target.split(",")
            for attributes in configurations(options.configurations)]  # fmt: skip
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        rows = [row for answer in pool.map(lambda job: ask(*job), jobs) for row in answer]
    for row in rows:
        if row["stages"][0] != row["stages"][1]:
            title = " ".join(filter(None, (row["kernel"], row["target"], row["with"])))
            print(f"{title}: {row['stages'][0]} stages, and {row['stages'][1]} are compiled")
    for target in options.target.split(","):
        found = [row for row in rows if row["target"] == target]
        stages = sum(row["stages"][0] == row["stages"][1] for row in found)
        near = sum(abs(row["shared_bytes"][0] - row["shared_bytes"][1]) <= 1024 for row in found)
        print(f"{target}: stages of {stages} of {len(found)} kernels as compiled, bytes of {near}"
              " within 1 KiB")  # fmt: skip
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(rows, file, indent=1)
            file.write("\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
