#!/usr/bin/env python3
"""What the cost model picks compiles without spills and within the limits it states: the choice for
every example with a `tune` clause, and every n-th candidate that it calls usable. Needs ptxas.

The estimates of registers and shared memory are compared with what ptxas and the passes say: a
candidate that is called usable and spills, or does not compile, is a failure.
"""

import argparse
import json
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FIXED = {
    "matmul_f8": ["-DA=f8e4m3"],
    "attention": ["-DT=f16"],
    "attention_backward": ["-DT=f16", "-DD=128"],
}
# Where S is no multiple of 4, vectors of a row come by ordinary loads, and that costs a few
# registers more than there are.
# Three consumers have 160 registers: what a program keeps over its loop, once a program.
SPILLS_OF = {"attention_backward_T_f16_D_128": 8, "attention_T_f16_D_64": 76}


def tuned(names):
    """Examples whose kernels have a `tune` clause."""
    for name in sorted(os.listdir(os.path.join(ROOT, "examples"))):
        path = os.path.join(ROOT, "examples", name, name + ".tile")
        if os.path.exists(path) and (not names or name in names):
            with open(path, encoding="utf-8") as stream:
                if re.search(r"^\s*tune\b", stream.read(), re.MULTILINE):
                    yield name, path


def explain(tilec, path, words):
    done = subprocess.run(
        [tilec, "explain", path, "--json", *words], capture_output=True, text=True, timeout=300
    )
    if done.returncode:
        return [], (done.stderr.strip().splitlines() or ["no message"])[0]
    return json.loads(done.stdout)["kernels"], ""


def check(kernel):
    """What is wrong with a kernel that the model calls usable."""
    compiled, estimate = kernel["compiled"], kernel["estimate"]
    if compiled["spill_bytes"] > SPILLS_OF.get(kernel["symbol"], 0):
        return (
            f"spills {compiled['spill_bytes']} bytes; the model: {estimate['registers']} registers"
            f" of {estimate['register_limit']}"
        )
    if compiled["threads"] != estimate["threads"]:
        return f"{compiled['threads']} threads, the model: {estimate['threads']}"
    if compiled["shared_bytes"] > 227 * 1024:
        return f"{compiled['shared_bytes']} bytes of shared memory"
    return ""


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tilec", default=os.path.join(ROOT, "build", "bin", "tilec"))
    parser.add_argument(
        "--sample",
        type=int,
        default=2,
        metavar="N",
        help="candidates of each kernel beside its choice (2)",
    )
    parser.add_argument("names", nargs="*", help="examples (all)")
    options = parser.parse_args()
    failed = passed = 0
    for name, path in tuned(options.names):
        words = FIXED.get(name, [])
        kernels, why = explain(options.tilec, path, words)
        if why:
            print(f"{name}: {why}")
            failed += 1
        seen = set()
        for kernel in kernels:
            base = re.sub(r"_(T|D|A)_\w+$", "", kernel["symbol"])
            if not kernel["candidates"]:
                continue
            wrong = check(kernel)
            print(
                f"{kernel['symbol']}: {wrong}" if wrong else f"{kernel['symbol']}: good", flush=True
            )
            failed, passed = failed + bool(wrong), passed + (not wrong)
            if base in seen:
                continue
            seen.add(base)
            usable = [each["config"] for each in kernel["candidates"] if "ms" in each]
            shape = ",".join(f"{key}={value}" for key, value in kernel["shape"].items())
            # A configuration may suit one of several head sizes alone.
            size = re.search(r"_D_(\d+)", kernel["symbol"])
            one = [f"-DD={size[1]}"] if size and not any("-DD=" in word for word in words) else []
            for config in usable[1 :: max(1, len(usable) // options.sample)][: options.sample]:
                text = ",".join(f"{key}={value}" for key, value in sorted(config.items()))
                source = next(each for each in [base, name] if each)
                more, why = explain(
                    options.tilec,
                    path,
                    words + one + ["--kernel", source, "--config", text, "--shape", shape],
                )
                for each in more[:1]:
                    wrong = check(each)
                    print(f"{each['symbol']} {text}: {wrong or 'good'}", flush=True)
                    failed, passed = failed + bool(wrong), passed + (not wrong)
                if why:
                    print(f"{base} {text}: {why}")
                    failed += 1
    print(f"{passed} good, {failed} wrong")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
