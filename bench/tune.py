#!/usr/bin/env python3
"""How near `tilec tune` comes to the best configurations of matmul, and in which part of the time
that trying all of them takes: on a GPU, once exhaustively and once searching from scratch, over 8
shapes, from the same binaries. The space is that of examples/matmul's own `tune` clause: some 350
configurations, 2800 measurements, about four minutes of an H200.

The two see other clocks, so what they found is timed once more, side by side in one process
(PyTorch): the choice of the search, that of the exhaustive run, and the three that were the best in
its log. A quality is the time of the search's choice over the least of these.

tune.py [--home DIR] [--work DIR] [--json FILE] [--budget S]: DIR is a release or a build folder;
with --budget the exhaustive part stops after S seconds, and shapes that it did not reach are left
out. --precompile only makes the binaries: it needs no GPU.
"""

import argparse
import concurrent.futures
import json
import math
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import resultfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SOURCE = os.path.join(ROOT, "examples", "matmul", "matmul.tile")
FULL = 2  # the effort of what the exhaustive run measures alone
SHAPES = [
    (16, 8192, 8192),
    (128, 4096, 14336),
    (512, 4096, 4096),
    (1024, 8192, 2048),
    (2048, 2048, 2048),
    (4096, 4096, 4096),
    (8192, 8192, 512),
    (8192, 8192, 4096),
]


def tune(home, target, work, *words):
    """Runs tilec tune in `work`; seconds it took."""
    command = [
        os.path.join(home, "bin", "tilec"),
        "tune",
        SOURCE,
        "-D",
        "T=f16",
        "--target",
        target,
        "--work",
        work,
        *words,
    ]
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


def contenders(searched, exhaustive, lines):
    """For each shape that both have: the search's choice, the exhaustive run's, and the best three
    of its log, each measured alone.
    """
    times, failed = {}, set()
    for line in lines:
        if "ms" in line and line["effort"] == FULL:
            times[normalized(line["shape"]), normalized(line["config"])] = line["ms"]
        elif "ms" not in line:
            failed.add(normalized(line["config"]))
    best = {asText(entry["shape"]): asText(entry["config"]) for entry in exhaustive["entries"]}
    rows = []
    for entry in searched["entries"]:
        shape, chosen = asText(entry["shape"]), asText(entry["config"])
        alone = {
            config: ms for (s, config), ms in times.items() if s == shape and config not in failed
        }
        if shape in best and alone:
            rows.append(
                {
                    "shape": shape,
                    "chosen": chosen,
                    "exhaustive": best[shape],
                    "measured": len(alone),
                    "extents": entry["shape"],
                    "configs": list(
                        dict.fromkeys([chosen, best[shape], *sorted(alone, key=alone.get)[:3]])
                    ),
                }
            )
    return rows


def timeSideBySide(rows, home, target, fixed, folder):
    """Adds what each contender takes, in turns with the others of its shape."""
    for path in (
        os.path.join(home, "python"),
        os.path.join(ROOT, "python"),
        os.path.join(ROOT, "bench"),
    ):
        sys.path.insert(0, path)
    import tile_compiler as tile
    import torch
    from gpu import timing

    names = list(dict.fromkeys(config for row in rows for config in row["configs"]))
    paths = {config: os.path.join(folder, f"contender-{i}.cubin") for i, config in enumerate(names)}

    def build(config):
        subprocess.run(
            [
                os.path.join(home, "bin", "tilec"),
                SOURCE,
                "-D",
                "T=f16",
                *fixed,
                "--config",
                config,
                "--target",
                target,
                "-o",
                paths[config],
            ],
            check=True,
        )

    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        list(pool.map(build, names))
    for row in rows:
        m, n, k = (row["extents"][name] for name in "MNK")
        a, b = (
            torch.randn(m, k, device="cuda", dtype=torch.float16),
            torch.randn(k, n, device="cuda", dtype=torch.float16),
        )
        c = torch.empty(m, n, device="cuda", dtype=torch.float16)
        kernels = {config: tile.load(paths[config])["matmul"] for config in row["configs"]}
        timers = {
            config: timing.Warm(lambda kernel=kernel: kernel(a, b, c), 8.0)
            for config, kernel in kernels.items()
        }
        timing.heat(timers, 0.1)
        times = {
            config: statistics.median(each) for config, each in timing.inTurns(timers, 9).items()
        }
        best = min(times, key=times.get)
        row.update(
            {
                "times": times,
                "best": best,
                "best_ms": times[best],
                "chosen_ms": times[row["chosen"]],
                "exhaustive_ms": times[row["exhaustive"]],
            }
        )
        del row["extents"], row["configs"]


def mean(ratios):
    return math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else float("nan")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--home",
        default=(
            ROOT
            if os.path.exists(os.path.join(ROOT, "bin", "tilec"))
            else os.path.join(ROOT, "build")
        ),
    )
    parser.add_argument("--target", default="sm_90a")
    parser.add_argument(
        "--work", help="where binaries and logs go, and are found (default: a new folder)"
    )
    parser.add_argument("--precompile", action="store_true")
    parser.add_argument(
        "-D",
        dest="define",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="fix a parameter, as SPLIT=1",
    )
    parser.add_argument("--budget", type=float, default=0)
    parser.add_argument("--json", metavar="FILE")
    options = parser.parse_args()
    work = options.work or tempfile.mkdtemp(prefix="tune-")
    ahead = os.path.join(work, "binaries")
    fixed = [word for define in options.define for word in ("-D", define)]
    compiling = tune(
        options.home, options.target, ahead, *fixed, "--precompile", "--timeout", "300"
    )
    if options.precompile:
        return
    folders = {name: os.path.join(work, name) for name in ("exhaustive", "search")}
    for folder in folders.values():
        shutil.copytree(ahead, folder, dirs_exist_ok=True)
    results = {name: os.path.join(work, name + ".json") for name in folders}
    common = [*fixed, "--device", "cuda:0", "--keep", str(len(SHAPES)), *shapeWords()]
    searching = tune(
        options.home,
        options.target,
        folders["search"],
        *common,
        "--plot",
        os.path.join(work, "search.svg"),
        "-o",
        results["search"],
    )
    budget = ["--budget", str(options.budget)] if options.budget else []
    everything = tune(
        options.home,
        options.target,
        folders["exhaustive"],
        "--exhaustive",
        *budget,
        *common,
        "-o",
        results["exhaustive"],
    )
    logs = {name: readLog(folder) for name, folder in folders.items()}
    found = {}
    for name, path in results.items():
        with open(path, encoding="utf-8") as stream:
            found[name] = json.load(stream)
    rows = contenders(found["search"], found["exhaustive"], logs["exhaustive"])
    timeSideBySide(rows, options.home, options.target, fixed, work)
    lost = [row["chosen_ms"] / row["best_ms"] for row in rows]
    quality, exhaustive = mean(lost), mean([row["exhaustive_ms"] / row["best_ms"] for row in rows])
    report = {
        "kernel": "matmul",
        "fixed": options.define,
        "target": options.target,
        "shapes": rows,
        "quality": quality,
        "worst": max(lost, default=0),
        "exhaustive_quality": exhaustive,
        "compile_s": compiling,
        "search_s": searching,
        "exhaustive_s": everything,
        "time_ratio": searching / everything,
        "search_measurements": len(logs["search"]),
        "exhaustive_measurements": len(logs["exhaustive"]),
        "complete": not options.budget,
    }
    for row in rows:
        print(
            f"{row['shape']}: {row['chosen_ms'] / row['best_ms']:.3f} of the best time"
            f" ({row['chosen']}; best {row['best']}, {row['best_ms']:.4f} ms); exhaustive"
            f" {row['exhaustive_ms'] / row['best_ms']:.3f} ({row['exhaustive']})"
        )
    print(
        f"quality {quality:.4f}, at worst {max(lost, default=0):.4f}; of the exhaustive run"
        f" {exhaustive:.4f} (geometric means over {len(rows)} shapes); time {searching:.1f} s of"
        f" {everything:.1f} s: {searching / everything:.3f}; {report['search_measurements']}"
        f" measurements of {report['exhaustive_measurements']}; compiling took {compiling:.1f} s"
    )
    if options.json:
        resultfile.save(options.json, report, sort=True)


if __name__ == "__main__":
    sys.exit(main())
