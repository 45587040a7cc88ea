#!/usr/bin/env python3
"""What `print` writes on a GPU is what it writes on the CPU, in another order; a failed `assert` is
the launch's error.

run_debug.py [BUILD]: the build folder, or an unpacked release. Exit code 0 if all agrees.
"""

import os
import subprocess
import sys
import tempfile

import numpy

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SOURCE = os.path.join(ROOT, "test", "e2e", "Inputs", "debug.tile")


def run(tilec, folder, kernel, device, *flags):
    """(exit code, lines of standard error) of one run of `kernel`."""
    call = [
        tilec,
        "run",
        SOURCE,
        "--kernel",
        kernel,
        "--device",
        device,
        "--arg",
        f"x={folder}/x.npy",
        "--out",
        f"y={folder}/y.npy",
        *flags,
    ]
    done = subprocess.run(
        call, capture_output=True, text=True, timeout=120, env={**os.environ, "NO_COLOR": "1"}
    )
    return done.returncode, done.stdout.splitlines() + done.stderr.splitlines()


def main():
    build = sys.argv[1] if len(sys.argv) > 1 else os.path.join(ROOT, "build")
    tilec, problems = os.path.join(build, "bin", "tilec"), []
    with tempfile.TemporaryDirectory(prefix="tile-debug-") as folder:
        x = numpy.random.default_rng(0).standard_normal(1000).astype(numpy.float32)
        numpy.save(os.path.join(folder, "x.npy"), x)
        cpu, cuda = (run(tilec, folder, "show", device, "-g") for device in ("cpu", "cuda"))
        # Sums may differ in their last digits: only the lines of elements are compared.
        elements = [sorted(line for line in lines if " x is " in line) for _, lines in (cpu, cuda)]
        if cpu[0] or cuda[0] or elements[0] != elements[1] or len(elements[0]) != 1002:
            problems.append(
                f"print: exit codes {cpu[0]} and {cuda[0]}, {len(elements[0])} and"
                f" {len(elements[1])} lines of elements"
            )
            problems += sorted(set(elements[0]) ^ set(elements[1]))[:6] + cuda[1][-3:]
        for device in ("cpu", "cuda"):
            code, lines = run(tilec, folder, "check", device)
            if code:
                problems.append(f"assert without -g on {device}: exit code {code}: {lines[-1:]}")
        numpy.save(os.path.join(folder, "x.npy"), numpy.full(10, 9.0, numpy.float32))
        code, lines = run(tilec, folder, "check", "cuda", "-g")
        text = "\n".join(lines)
        if code == 0 or "x is too large" not in text or "assert" not in text:
            problems.append(f"assert: exit code {code}: {text}")
    print("\n".join(problems + [f"{len(problems)} problems"]))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
