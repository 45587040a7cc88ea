#!/usr/bin/env python3
"""Runs tile-fuzz from the project's own kernels as the first inputs, with limits for each input: 10
s (--limit) and 1 GB.

  run.py [--build FOLDER] [--seconds N] [--stage STAGE] [--target TARGET] [--corpus FOLDER]
  [--random N]

Configure with -DTILE_FUZZ=ON and build tile-fuzz first (CMakeLists.txt). Inputs that fail stay in
the corpus folder's `failed`.
"""

import argparse
import glob
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SOURCES = (
    "examples/*/*.tile",
    "test/gpu/agree/*.tile",
    "test/gpu/Inputs/*.tile",
    "test/frontend/**/*.tile",
    "test/e2e/Inputs/*.tile",
    "test/fuzz/Inputs/*.tile",
    "library/std/*.tile",
)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("--build", default=os.path.join(ROOT, "build"))
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument(
        "--stage", default="tile-opt", help="the last stage: ast, tile, tile-opt, gpu, llvm"
    )
    parser.add_argument("--target", default="sm_90a")
    parser.add_argument("--corpus", help="where inputs are kept (BUILD/fuzz)")
    parser.add_argument(
        "--random", type=int, default=30, help="how many random kernels join the first inputs"
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--limit",
        type=int,
        default=10,
        help="seconds of the clock for one input; more where others use the machine too",
    )
    options = parser.parse_args()
    corpus = options.corpus or os.path.join(options.build, "fuzz")
    failed = os.path.join(corpus, "failed")
    first = os.path.join(corpus, "first")
    for folder in (failed, first, os.path.join(corpus, "grown")):
        os.makedirs(folder, exist_ok=True)
    for pattern in SOURCES:
        for path in glob.glob(os.path.join(ROOT, pattern), recursive=True):
            with (
                open(path, "rb") as source,
                open(
                    os.path.join(first, os.path.relpath(path, ROOT).replace("/", "-")), "wb"
                ) as copy,
            ):
                copy.write(source.read())
    sys.path.insert(0, os.path.join(ROOT, "test", "random"))
    import program
    import statements

    for seed in range(options.random):
        with open(os.path.join(first, f"random-{seed}.tile"), "w", encoding="utf-8") as file:
            file.write(program.programText(statements.Kernel(seed, 0.5).program))
    environment = dict(os.environ, TILE_FUZZ_STAGE=options.stage, TILE_FUZZ_TARGET=options.target)
    return subprocess.run(
        [
            os.path.join(options.build, "bin", "tile-fuzz"),
            os.path.join(corpus, "grown"),
            first,
            f"-timeout={options.limit}",
            "-rss_limit_mb=1024",
            f"-max_total_time={options.seconds}",
            "-max_len=6000",
            f"-seed={options.seed}",
            f"-artifact_prefix={failed}/",
            "-close_fd_mask=3",
            "-reload=0",
            "-print_final_stats=1",
        ],
        env=environment,
    ).returncode


if __name__ == "__main__":
    sys.exit(main())
