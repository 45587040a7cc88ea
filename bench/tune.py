#!/usr/bin/env python3
"""How near `tilec tune` comes to the best configurations of matmul, and in which part of the time that trying all of them takes: on a
GPU, once exhaustively and once searching from scratch, over 8 shapes, from the same binaries. The space is that of examples/matmul's own
`tune` clause: some 350 configurations, 2800 measurements, about four minutes of an H200.

tune.py [--home DIR] [--work DIR] [--json FILE] [--budget S]: DIR is a release or a build folder; with --budget the exhaustive part
stops after S seconds, and shapes that it did not reach are left out. --precompile only makes the binaries: it needs no GPU.
"""
import argparse
import json
import math
import os
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SOURCE = os.path.join(ROOT, "examples", "matmul", "matmul.tile")
SHAPES = [(16, 8192, 8192), (128, 4096, 14336), (512, 4096, 4096), (1024, 8192, 2048), (2048, 2048, 2048), (4096, 4096, 4096),
          (8192, 8192, 512), (8192, 8192, 4096)]


def tune(home, target, work, *words):
    """Runs tilec tune in `work`; seconds it took."""
    command = [os.path.join(home, "bin", "tilec"), "tune", SOURCE, "-D", "T=f16", "--target", target, "--work", work, *words]
    begin = time.perf_counter()
    subprocess.run(command, check=True)
    return time.perf_counter() - begin


def shapeWords():
    return [word for m, n, k in SHAPES for word in ("--shape", f"M={m},N={n},K={k}")]


def readLog(work):
    """The measurements, as `tilec tune` logged them."""
    with open(os.path.join(work, "log.jsonl"), encoding="utf-8") as stream:
        return [json.loads(line) for line in stream.readlines()[1:]]


def asText(values):
    return ",".join(f"{name}={value}" for name, value in sorted(values.items()))


def normalized(text):
    """NAME=VALUE,... in the order of the names."""
    return asText(dict(item.split("=") for item in text.split(","))) if text else ""


def compare(result, exhaustive):
    """For each shape: the time of the search's choice and the best time, both as the exhaustive run measured them."""
    times, failed = {}, set()
    for line in exhaustive:
        key = normalized(line["shape"]), normalized(line["config"])
        if "ms" in line:
            times[key] = line["ms"]
        else:
            failed.add(normalized(line["config"]))
    rows = []
    for entry in result["entries"]:
        shape = asText(entry["shape"])
        here = {config: ms for (s, config), ms in times.items() if s == shape and config not in failed}
        if not here or asText(entry["config"]) not in here:
            continue
        best = min(here, key=here.get)
        rows.append({"shape": shape, "chosen": asText(entry["config"]), "best": best, "chosen_ms": here[asText(entry["config"])], "best_ms": here[best],
                     "measured": len(here)})
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--home", default=ROOT if os.path.exists(os.path.join(ROOT, "bin", "tilec")) else os.path.join(ROOT, "build"))
    parser.add_argument("--target", default="sm_90a")
    parser.add_argument("--work", help="where binaries and logs go, and are found (default: a new folder)")
    parser.add_argument("--precompile", action="store_true")
    parser.add_argument("-D", dest="define", action="append", default=[], metavar="NAME=VALUE", help="fix a parameter, as SPLIT=1")
    parser.add_argument("--budget", type=float, default=0)
    parser.add_argument("--json", metavar="FILE")
    options = parser.parse_args()
    work = options.work or tempfile.mkdtemp(prefix="tune-")
    ahead = os.path.join(work, "binaries")
    fixed = [word for define in options.define for word in ("-D", define)]
    compiling = tune(options.home, options.target, ahead, *fixed, "--precompile", "--timeout", "300")
    if options.precompile:
        return
    folders = {name: os.path.join(work, name) for name in ("exhaustive", "search")}
    for folder in folders.values():
        shutil.copytree(ahead, folder, dirs_exist_ok=True)
    chosen = os.path.join(work, "search.json")
    common = [*fixed, "--device", "cuda:0", "--keep", str(len(SHAPES)), *shapeWords()]
    searching = tune(options.home, options.target, folders["search"], *common, "--plot", os.path.join(work, "search.svg"), "-o", chosen)
    budget = ["--budget", str(options.budget)] if options.budget else []
    everything = tune(options.home, options.target, folders["exhaustive"], "--exhaustive", *budget, *common)
    with open(chosen, encoding="utf-8") as stream:
        rows = compare(json.load(stream), readLog(folders["exhaustive"]))
    quality = math.exp(sum(math.log(row["chosen_ms"] / row["best_ms"]) for row in rows) / len(rows)) if rows else float("nan")
    logs = {name: readLog(folder) for name, folder in folders.items()}
    report = {"kernel": "matmul", "fixed": options.define, "target": options.target, "shapes": rows, "quality": quality, "worst": max((row["chosen_ms"] / row["best_ms"] for row in rows), default=0),
              "compile_s": compiling, "search_s": searching, "exhaustive_s": everything, "time_ratio": searching / everything,
              "search_measurements": len(logs["search"]), "exhaustive_measurements": len(logs["exhaustive"]), "complete": not options.budget}
    for row in rows:
        print(f"{row['shape']}: {row['chosen_ms'] / row['best_ms']:.3f} of the best time ({row['chosen']}; best {row['best']}, {row['best_ms']:.4f} ms)")
    print(f"quality {quality:.4f} (geometric mean over {len(rows)} shapes), time {searching:.1f} s of {everything:.1f} s: {searching / everything:.3f}; "
          f"{report['search_measurements']} measurements of {report['exhaustive_measurements']}; compiling took {compiling:.1f} s")
    if options.json:
        with open(options.json, "w", encoding="utf-8") as stream:
            json.dump(report, stream, indent=1, sort_keys=True)
            stream.write("\n")


if __name__ == "__main__":
    sys.exit(main())
