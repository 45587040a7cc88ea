#!/usr/bin/env python3
"""The kernels that the bench measures, in the configurations that won on a card
(bench/results/gpu.json), keep everything in registers: no spills, no local memory, and no word of
ptxas that products of wgmma wait for each other. Needs ptxas, no GPU.
"""

import argparse
import concurrent.futures
import json
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "bench"))


def winners(records, items):
    """Of each item of ours the contender that won; where it is not tried any more the first that
    is.
    """
    won = {
        (each["op"], each["shape"], each["dtype"]): each["variant"]
        for each in records
        if each["who"] == "tile" and "ms" in each
    }
    for item in items:
        ours = [each for each in item.contenders(item) if each.who == "tile" and each.compile]
        best = [each for each in ours if each.variant == won.get((item.op, item.shape, item.dtype))]
        for contender in best or ours[:1]:
            yield item, contender


def check(tilec, binary):
    """What is wrong with a compiled variant."""
    path = binary.compile()
    if "warning" in binary.notes:
        return binary.notes["warning"]
    if binary.notes["spill_bytes"]:
        return f"spills {binary.notes['spill_bytes']} bytes"
    source = path.replace(".cubin", ".tile")  # where attributes were changed
    words = (
        [source, "-I", os.path.join(ROOT, "examples", binary.name)]
        if os.path.exists(source)
        else [os.path.join(ROOT, "examples", binary.name, binary.name + ".tile")]
    )
    words += ["--kernel", binary.kernel, "--target", "sm_90a", "--emit", "ptx", "-o", "-"]
    for key, value in binary.definitions.items():
        words += ["-D", f"{key}={value}"]
    text = subprocess.run(
        [tilec, *words], capture_output=True, text=True, timeout=120, check=True
    ).stdout
    return (
        "uses local memory"
        if re.search(r"^\s*\.local\b|\b(ld|st)\.local\b", text, re.MULTILINE)
        else ""
    )


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tilec", default=os.path.join(ROOT, "build", "bin", "tilec"))
    parser.add_argument("ops", nargs="*", help="operations, as in softmax (all)")
    options = parser.parse_args()
    os.environ.setdefault("TILE_HOME", os.path.dirname(os.path.dirname(options.tilec)))
    from gpu import families, ours

    ours.TILEC = options.tilec
    with open(os.path.join(ROOT, "bench", "results", "gpu.json"), encoding="utf-8") as stream:
        records = json.load(stream)["records"]
    items = [item for item in families.items() if not options.ops or item.op in options.ops]
    names = {}  # of binaries: some items share one
    for item, contender in winners(records, items):
        known = set(ours.Binary.made.values())
        contender.compile(None)
        for binary in ours.Binary.made.values():
            if binary not in known:
                names[binary] = f"{item.name} [{contender.variant}] {binary.kernel}"
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for (binary, name), wrong in zip(
            names.items(), pool.map(lambda each: check(options.tilec, each), names)
        ):
            print(f"{name}: {wrong or 'good'}", flush=True)
            failed += bool(wrong)
    print(f"{len(names) - failed} good, {failed} wrong")
    return 1 if failed or not names else 0


if __name__ == "__main__":
    sys.exit(main())
