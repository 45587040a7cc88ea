#!/usr/bin/env python3
"""Cold compile times: a new tilec process for each measurement, medians, beside the goals."""
import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time

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


def hasPtxas():
    """Whether a cubin can be made here."""
    import shutil
    ptxas = os.environ.get("TILE_PTXAS") or shutil.which("ptxas") or "/usr/local/cuda/bin/ptxas"
    return os.access(ptxas, os.X_OK)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", default=os.path.join(ROOT, "build"))
    parser.add_argument("--repeats", type=int, default=15)
    parser.add_argument("--results", default=os.path.join(ROOT, "bench", "results"))
    options = parser.parse_args()
    tilec = os.path.join(options.build, "bin", "tilec")
    rows, failed = [], False
    with tempfile.TemporaryDirectory(prefix="tile-bench-") as folder:
        for name, example, definitions, kind, goal in JOBS:
            if kind == "cubin" and not hasPtxas():
                print(f"{name:36} skipped: no ptxas")
                continue
            line = [tilec, os.path.join(ROOT, "examples", example, example + ".tile"), "--target", "sm_90a",
                    "-o", os.path.join(folder, "out." + kind)]
            for definition in definitions:
                line += ["-D", definition]
            times = []
            for repeat in range(options.repeats + 1):
                begin = time.perf_counter()
                done = subprocess.run(line, capture_output=True, text=True)
                if repeat:                       # the first one brings the binary into memory
                    times.append((time.perf_counter() - begin) * 1e3)
                if done.returncode:
                    break
            if done.returncode:
                failed = True
                print(f"{name:36} FAILED: {(done.stderr.strip().splitlines() or ['no message'])[0]}")
                rows.append({"name": name, "failed": True})
                continue
            median = statistics.median(times)
            rows.append({"name": name, "ms": round(median, 2), "best": round(min(times), 2), "goal": goal})
            verdict = "" if goal is None else f"  goal {goal} ms: {'reached' if median < goal else 'missed'}"
            print(f"{name:36} {median:8.1f} ms (best {min(times):.1f}){verdict}", flush=True)
    os.makedirs(options.results, exist_ok=True)
    path = os.path.join(options.results, "compile_time.json")
    with open(path, "w", encoding="utf-8") as stream:
        json.dump({"machine": platform.machine(), "cores": os.cpu_count(), "repeats": options.repeats, "rows": rows},
                  stream, indent=1)
        stream.write("\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
