#!/usr/bin/env python3
"""Time of a build by ninja in which each of many variants is an edge of its own: 24 cubins of
matmul, softmax and layer_norm for sm_90a, at one job, two and more. Medians over cold builds in new
folders; then a build with nothing to do, one after a change of one source, and one with the compile
cache warm. Every run must write the same bytes. Needs ninja and ptxas, no GPU. `load_before` in the
record is the machine's load average before the first build: times of a machine with other work to
do say little.

ninja.py [--build DIR] [--jobs 1,2,4] [--repeats 3] [--results DIR]
"""

import argparse
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

# kernel -> the edges' definitions
EDGES = {
    "matmul": [
        f"T={dtype} BM={m} BN={n} BK={k}"
        for dtype in ("f16", "bf16")
        for m, n in ((64, 64), (128, 64), (128, 128), (128, 256))
        for k in (32, 64)
    ],
    "softmax": [f"T={dtype} BLOCK={block}" for dtype in ("f16", "f32") for block in (1024, 4096)],
    "layer_norm": [
        f"T={dtype} BLOCK={block}" for dtype in ("f16", "f32") for block in (1024, 4096)
    ],
}


def writeBuild(folder, tilec):
    """A build.ninja with an edge for each variant; the sources are copied, so that one can be
    changed.
    """
    lines = [
        "rule tile",
        f"  command = {tilec} $in --target sm_90a $flags -o $out -MD -MF $out.d",
        "  depfile = $out.d",
        "  deps = gcc",
    ]
    outputs = []
    for kernel, variants in EDGES.items():
        shutil.copy(os.path.join(ROOT, "examples", kernel, kernel + ".tile"), folder)
        for number, definitions in enumerate(variants):
            output = f"{kernel}-{number}.cubin"
            flags = " ".join("-D " + definition for definition in definitions.split())
            lines += [f"build {output}: tile {kernel}.tile", f"  flags = {flags}"]
            outputs.append(output)
    with open(os.path.join(folder, "build.ninja"), "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")
    return outputs


def ninja(folder, jobs, environment=None):
    """Seconds of one run, and what it said."""
    begin = time.perf_counter()
    done = subprocess.run(
        ["ninja", "-C", folder, "-j", str(jobs)],
        capture_output=True,
        text=True,
        env={**os.environ, **(environment or {})},
    )
    elapsed = time.perf_counter() - begin
    if done.returncode:
        raise SystemExit(done.stdout + done.stderr)
    return elapsed, done.stdout


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--build", default=os.path.join(ROOT, "build"))
    parser.add_argument("--jobs", default=f"1,2,{max(4, os.cpu_count())}")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--results", default=os.path.join(ROOT, "bench", "results"))
    options = parser.parse_args()
    tilec = os.path.join(os.path.abspath(options.build), "bin", "tilec")
    load = os.getloadavg()[0]
    jobs = [int(each) for each in options.jobs.split(",")]
    cold = {count: [] for count in jobs}
    nothing, change, warm, first = [], [], [], None
    with tempfile.TemporaryDirectory(prefix="tile-ninja-") as top:
        for repeat in range(options.repeats):
            for count in jobs:  # in turns, so that all meet the same machine
                folder = os.path.join(top, f"{repeat}-{count}")
                os.mkdir(folder)
                outputs = writeBuild(folder, tilec)
                cold[count].append(ninja(folder, count)[0])
                files = {name: open(os.path.join(folder, name), "rb").read() for name in outputs}
                first = first or files
                assert files == first, "the bytes of a build depend on its jobs or its folder"
            elapsed, said = ninja(folder, jobs[-1])
            assert "no work to do" in said, said
            nothing.append(elapsed)
            with open(os.path.join(folder, "softmax.tile"), "a", encoding="utf-8") as file:
                file.write("// changed\n")
            elapsed, said = ninja(folder, jobs[-1])
            assert f"[{len(EDGES['softmax'])}/{len(EDGES['softmax'])}]" in said, said
            change.append(elapsed)
            cache = {"TILE_CACHE": os.path.join(top, "cache")}
            for _ in range(2):  # the first fills it
                shutil.rmtree(folder)
                os.mkdir(folder)
                writeBuild(folder, tilec)
                elapsed = ninja(folder, jobs[-1], cache)[0]
            warm.append(elapsed)
            shutil.rmtree(folder)
    edges = sum(len(variants) for variants in EDGES.values())
    rows = [
        {
            "what": "cold",
            "jobs": count,
            "edges": edges,
            "s": round(statistics.median(cold[count]), 2),
            "all_s": [round(s, 2) for s in cold[count]],
        }
        for count in jobs
    ]
    rows += [
        {"what": what, "jobs": jobs[-1], "edges": count, "s": round(statistics.median(times), 3)}
        for what, count, times in (
            ("nothing to do", 0, nothing),
            ("one source changed", len(EDGES["softmax"]), change),
            ("cache warm", edges, warm),
        )
    ]
    for row in rows:
        print(f"{row['what']:20} -j {row['jobs']:<3} {row['edges']:3} edges  {row['s']:8.2f} s")
    resultfile.save(
        os.path.join(options.results, "ninja.json"),
        {
            "machine": platform.machine(),
            "cores": os.cpu_count(),
            "load_before": round(load, 2),
            "repeats": options.repeats,
            "rows": rows,
        },
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
