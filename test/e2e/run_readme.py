#!/usr/bin/env python3
"""Runs the commands of README.md's `console` blocks, in order, in a copy of the examples; each must
succeed.

Lines that begin with `$ ` are commands. Those of ./dev are left out: they run this test. What a
block shows after a command must be printed by it, but for lines that are `...`.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def commands(text):
    """[(command, [lines that it must print])] of all console blocks."""
    found = []
    for block in re.findall(r"^```console\n(.*?)^```", text, re.M | re.S):
        for line in block.splitlines():
            if line.startswith("$ "):
                found.append((line[2:].split("   #")[0].strip(), []))
            elif found and line.strip() and line.strip() != "...":
                found[-1][1].append(line.strip())
    return found


def hasPtxas():
    ptxas = os.environ.get("TILE_PTXAS") or shutil.which("ptxas") or "/usr/local/cuda/bin/ptxas"
    return os.access(ptxas, os.X_OK)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", default=os.path.join(ROOT, "build"))
    options = parser.parse_args()
    binaries = os.path.abspath(os.path.join(options.build, "bin"))
    passed = failed = 0
    with open(os.path.join(ROOT, "README.md"), encoding="utf-8") as stream:
        found = commands(stream.read())
    with tempfile.TemporaryDirectory(prefix="tile-readme-") as folder:
        shutil.copytree(os.path.join(ROOT, "examples"), os.path.join(folder, "examples"))
        os.makedirs(os.path.join(folder, "build"))
        os.symlink(binaries, os.path.join(folder, "build", "bin"))
        for command, expected in found:
            if (
                "./dev" in command
                or (".cubin" in command and not hasPtxas())
                or "--device cuda" in command
            ):
                print(f"left out: {command}")
                continue
            command = re.sub(r"\bpython3\b", sys.executable, command)
            done = subprocess.run(
                ["bash", "-c", command], cwd=folder, capture_output=True, text=True, timeout=120
            )
            missing = [line for line in expected if line not in done.stdout + done.stderr]
            if done.returncode or missing:
                failed += 1
                print(
                    f"FAIL {command}\n    exit code {done.returncode}; not printed: {missing}\n   "
                    f" {done.stderr.strip()[:500]}"
                )
            else:
                passed += 1
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
