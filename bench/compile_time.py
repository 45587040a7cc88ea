#!/usr/bin/env python3
"""Cold compile times: a new tilec process for each measurement, medians, beside the goals.

With --triton also the same tiles through Triton, in turns with ours: a new process each with an
empty cache, the time of its compilation alone, without that of its imports; ours is the whole
process. Needs no GPU.
"""

import argparse
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import resultfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

# (name, example, definitions, kind, goal in ms)
JOBS = [
    ("softmax f32 to PTX", "softmax", ["T=f32", "BLOCK=1024"], "ptx", 100),
    ("softmax f32 to cubin", "softmax", ["T=f32", "BLOCK=1024"], "cubin", 250),
    ("softmax, three dtypes, to PTX", "softmax", ["BLOCK=1024"], "ptx", None),
    ("softmax, three dtypes, to cubin", "softmax", ["BLOCK=1024"], "cubin", None),
    ("matmul f16 128x256x64 to PTX", "matmul", ["T=f16"], "ptx", None),
    ("matmul f16 128x256x64 to cubin", "matmul", ["T=f16"], "cubin", 500),
    ("attention f16 to cubin", "attention", ["T=f16", "D=64"], "cubin", None),
]

# (kernel, definitions, attributes): the tiles that compile_time_triton.py compiles. Code grows with
# the elements of a thread, so the number of warps is part of it; and Triton divides, adds and takes
# powers as fp("fast") does, which the other kernels ask for.
TRITON_JOBS = [
    ("softmax", ["T=f32", "BLOCK=1024"], "warps=4,fp=fast"),
    ("softmax_rows", ["T=f32", "ROWS=1", "BLOCK=1024"], "warps=4"),
    ("layer_norm", ["T=f16", "BLOCK=4096"], "warps=8,fp=fast"),
    ("layer_norm_rows", ["T=f16", "ROWS=1", "BLOCK=4096"], "warps=8"),
    ("matmul", ["T=f16", "BM=128", "BN=256", "BK=64"], "warps=8"),
    ("attention", ["T=f16", "D=128", "BM=128", "BN=128", "CAUSAL=true"], "warps=8"),
]
TRITON_GOAL = 1 / 3  # of Triton's time


def findPtxas():
    """The assembler that tilec would take, or None."""
    path = os.environ.get("TILE_PTXAS") or shutil.which("ptxas") or "/usr/local/cuda/bin/ptxas"
    return path if os.access(path, os.X_OK) else None


def command(tilec, example, definitions, output, attributes=None):
    line = [
        tilec,
        os.path.join(ROOT, "examples", example, example + ".tile"),
        "--target",
        "sm_90a",
        "-o",
        output,
    ]
    if attributes:
        line += ["--with", attributes]
    for definition in definitions:
        line += ["-D", definition]
    return line


def besideTriton(tilec, python, repeats, folder):
    """Rows with both times. Triton assembles with our ptxas, so that the compilers alone are
    compared.
    """
    rows = []
    environment = {
        **os.environ,
        "TRITON_CACHE_DIR": os.path.join(folder, "cache"),
        "TRITON_PTXAS_PATH": findPtxas(),
    }
    for name, definitions, attributes in TRITON_JOBS:
        ours, theirs, imports, version = [], [], [], ""
        try:
            for repeat in range(repeats + 1):
                begin = time.perf_counter()
                subprocess.run(
                    command(
                        tilec, name, definitions, os.path.join(folder, "out.cubin"), attributes
                    ),
                    check=True,
                    capture_output=True,
                )
                elapsed = (time.perf_counter() - begin) * 1e3
                shutil.rmtree(environment["TRITON_CACHE_DIR"], ignore_errors=True)
                script = os.path.join(ROOT, "bench", "compile_time_triton.py")
                done = subprocess.run(
                    [python, script, name.removesuffix("_rows")],
                    check=True,
                    capture_output=True,
                    text=True,
                    env=environment,
                )
                result = json.loads(done.stdout.strip().splitlines()[-1])
                if repeat:  # the first one brings the files into memory
                    ours.append(elapsed)
                    theirs.append(result["compile_ms"])
                    imports.append(result["import_ms"])
                    version = result["version"]
        except subprocess.CalledProcessError as error:
            why = (str(error.stderr or "").strip().splitlines() or ["no message"])[-1]
            print(f"{name:15} beside Triton FAILED: {why}")
            rows.append({"name": name, "failed": True})
            continue
        own, other = statistics.median(ours), statistics.median(theirs)
        rows.append(
            {
                "name": name,
                "definitions": definitions,
                "with": attributes,
                "ms": round(own, 2),
                "triton_ms": round(other, 2),
                "triton_import_ms": round(statistics.median(imports), 2),
                "ratio": round(own / other, 3),
                "goal": round(TRITON_GOAL, 3),
                "triton": version,
            }
        )
        print(
            f"{name:15} {own:7.1f} ms, Triton {other:7.1f} ms: {own / other:5.3f} of its time, goal"
            f" {TRITON_GOAL:.3f}: {'reached' if own < TRITON_GOAL * other else 'missed'}",
            flush=True,
        )
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", default=os.path.join(ROOT, "build"))
    parser.add_argument("--repeats", type=int, default=15)
    parser.add_argument("--results", default=os.path.join(ROOT, "bench", "results"))
    parser.add_argument(
        "--triton",
        nargs="?",
        const=sys.executable,
        metavar="PYTHON",
        help="compare with Triton, in this Python or the one named",
    )
    options = parser.parse_args()
    tilec = os.path.join(options.build, "bin", "tilec")
    rows, failed = [], False
    with tempfile.TemporaryDirectory(prefix="tile-bench-") as folder:
        for name, example, definitions, kind, goal in JOBS:
            if kind == "cubin" and not findPtxas():
                print(f"{name:36} skipped: no ptxas")
                continue
            line = command(tilec, example, definitions, os.path.join(folder, "out." + kind))
            times = []
            for repeat in range(options.repeats + 1):
                begin = time.perf_counter()
                done = subprocess.run(line, capture_output=True, text=True)
                if repeat:  # the first one brings the binary into memory
                    times.append((time.perf_counter() - begin) * 1e3)
                if done.returncode:
                    break
            if done.returncode:
                failed = True
                print(
                    f"{name:36} FAILED: {(done.stderr.strip().splitlines() or ['no message'])[0]}"
                )
                rows.append({"name": name, "failed": True})
                continue
            median = statistics.median(times)
            rows.append(
                {"name": name, "ms": round(median, 2), "best": round(min(times), 2), "goal": goal}
            )
            verdict = (
                ""
                if goal is None
                else f"  goal {goal} ms: {'reached' if median < goal else 'missed'}"
            )
            print(f"{name:36} {median:8.1f} ms (best {min(times):.1f}){verdict}", flush=True)
        beside = (
            besideTriton(tilec, options.triton, options.repeats, folder)
            if options.triton and findPtxas()
            else []
        )
        failed |= any("failed" in row for row in beside)
    path = os.path.join(options.results, "compile_time.json")
    resultfile.save(
        path,
        {
            "machine": platform.machine(),
            "cores": os.cpu_count(),
            "repeats": options.repeats,
            "rows": rows,
            **({"beside_triton": beside} if beside else {}),
        },
    )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
