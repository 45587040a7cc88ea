#!/usr/bin/env python3
"""Scratch memory on a GPU, by scratch.c: graphs side by side, launches that grow, streams and
graphs that come and go.

scratch.py [--home DIR] [--target sm_90a]: DIR is a release or a build folder. Needs a GPU and gcc.
"""

import os
import subprocess
import sys
import tempfile

import home

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def main():
    options = home.parse(__doc__)
    library = os.path.join(options.home, "lib")
    include = os.path.join(ROOT, "runtime", "include")
    include = include if os.path.isdir(include) else os.path.join(options.home, "include")
    with tempfile.TemporaryDirectory(prefix="tile-scratch-") as folder:
        binary, program = os.path.join(folder, "split.cubin"), os.path.join(folder, "scratch")
        subprocess.run(
            [
                os.path.join(options.home, "bin", "tilec"),
                os.path.join(ROOT, "examples", "matmul_split", "matmul_split.tile"),
                "-D",
                "T=f16",
                "--target",
                options.target,
                "-o",
                binary,
            ],
            check=True,
        )
        subprocess.run(
            [
                "gcc",
                "-O1",
                "-I",
                include,
                os.path.join(ROOT, "test", "gpu", "scratch.c"),
                "-o",
                program,
                "-L",
                library,
                "-ltile_runtime",
                "-ldl",
                "-Wl,-rpath," + library,
            ],
            check=True,
        )
        return subprocess.run([program, binary], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
