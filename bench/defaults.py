#!/usr/bin/env python3
"""What the default configurations are worth: each kernel as `tilec` builds it without tuning, for
each of several shapes, beside the best configuration known, in one process on this machine's GPU.

The default is `tilec FILE --shape SHAPE`: no tile sizes, no --config; the cost model chooses
(docs/CostModel.md). It competes with the configurations that bench/gpu lists as worth trying, the
model's first four, and every n-th of the kernel's `tune` clause, so that there are about
--candidates of these. What is wrong or does not compile takes no part, and is named. Everything is
compiled first, in parallel; every result is checked before it is timed. Ratios are the best time
over the default's: 1 is as good as tuned.

--known FILE takes the candidates from an earlier result instead, the best few of each shape: that
is quick. --check FILE needs no GPU and compiles nothing: it asks the model again and takes the time
of its choice from an earlier result, where it was measured.
"""

import argparse
import concurrent.futures
import hashlib
import json
import math
import os
import statistics
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from gpu.paths import ROOT, TILEC  # noqa: E402
import resultfile  # noqa: E402

EXAMPLES = """examples:
  python3 bench/defaults.py --compile-only --binaries /tmp/defaults     needs no GPU
  python3 bench/defaults.py --binaries /tmp/defaults                    about 3 minutes of a GPU
  python3 bench/defaults.py --families rows,attention --candidates 8
  python3 bench/defaults.py --known bench/results/defaults.json         under a minute of a GPU
  python3 bench/defaults.py --drawn 1 --json OUT/drawn_defaults.json    60 shapes nobody chose
  python3 bench/defaults.py --check bench/results/defaults.json         4 s, no GPU
TILE_HOME names an unpacked release or a build folder (this checkout's build/)."""
GOAL_EACH, GOAL_MEAN = 0.85, 0.93


def parse():
    parser = argparse.ArgumentParser(
        description=__doc__, epilog=EXAMPLES, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--families",
        default="",
        metavar="NAMES",
        help="families or kernels, as in rows,matmul (all)",
    )
    parser.add_argument(
        "--drawn",
        type=int,
        metavar="SEED",
        help="shapes drawn at random, as bench/gpu.py --set drawn has them, instead of the known",
    )
    parser.add_argument("--count", type=int, default=60, metavar="N", help="how many of them (60)")
    parser.add_argument(
        "--gpu",
        metavar="CARD",
        help="whose figures the cost model takes (this machine's, where --target is for it)",
    )
    parser.add_argument(
        "--candidates",
        type=int,
        default=12,
        metavar="N",
        help="members of the `tune` clause to try (12)",
    )
    parser.add_argument(
        "--binaries",
        default=os.path.join(ROOT, "build", "defaults"),
        metavar="DIR",
        help="where binaries are kept",
    )
    parser.add_argument(
        "--compile-only", action="store_true", help="compile and stop: needs no GPU"
    )
    parser.add_argument("--target", default="sm_90a", help="what tilec compiles for (sm_90a)")
    parser.add_argument(
        "--ptx",
        action="store_true",
        help="let the driver assemble: for --target sm_80 on a newer GPU",
    )
    parser.add_argument("--jobs", type=int, default=0, help="compilations at a time (processors)")
    parser.add_argument(
        "--budget",
        type=float,
        default=0,
        metavar="S",
        help="start no further shape after so many seconds",
    )
    parser.add_argument(
        "--json",
        default=os.path.join(ROOT, "bench", "results", "defaults.json"),
        metavar="FILE",
        help=(
            "where results go; shapes that were measured anew are replaced"
            " (bench/results/defaults.json)"
        ),
    )
    parser.add_argument("--plot", metavar="FILE", help="draw the ratios into this .png")
    parser.add_argument("--list", action="store_true", help="list the kernels and shapes")
    parser.add_argument(
        "--known",
        action="append",
        default=[],
        metavar="FILE",
        help="compete with the best of these results only",
    )
    parser.add_argument(
        "--check",
        action="append",
        default=[],
        metavar="FILE",
        help=(
            "what the model chooses now, by the times of these results; exit code 1 below the goals"
        ),
    )
    return parser.parse_args()


def text(config):
    return ",".join(f"{name}={value}" for name, value in sorted(config.items()))


def source(case):
    return os.path.join(ROOT, "examples", case.example, case.example + ".tile")


def command(case, options, *more):
    line = [TILEC, *more[:1], source(case), "--kernel", case.kernel, "--color", "never", *more[1:]]
    line += ["--gpu", options.gpu] if options.gpu else []
    for name, value in case.fixed.items():
        line += ["-D", f"{name}={value}"]
    return [word for word in line if word]


def run(line):
    from gpu.ours import ptxas

    return subprocess.run(
        line, capture_output=True, text=True, timeout=180, env={**os.environ, **ptxas()}
    )


def explain(case, options):
    """What the model chose, and all there is to choose from, best first."""
    done = run(
        command(
            case,
            options,
            "explain",
            "--json",
            "--stop-after=tile",
            "--target",
            options.target,
            "--shape",
            case.shape,
        )
    )
    if done.returncode:
        raise RuntimeError(done.stderr.strip().splitlines()[0])
    return runningVersion(json.loads(done.stdout)["kernels"], case.extents)["candidates"]


def runningVersion(kernels, extents):
    """Of the versions of a kernel that `explain` lists, in the order in which a launch tries them,
    the one that takes a call with these extents: a variant whose facts rule an extent out keeps its
    own `opt` instead."""
    for kernel in kernels:
        if all(kernel["shape"].get(name, value) == value for name, value in extents.items()):
            return kernel
    return kernels[-1]


def competitors(case, candidates, count):
    """Configurations to measure beside the default, each once."""
    found = [dict(each) for each in case.variants]
    found += [each["config"] for each in candidates if "ms" in each][:4]
    ordered = sorted((each["config"] for each in candidates), key=text)
    found += ordered[:: max(1, -(-len(ordered) // count))]
    result = {}
    for each in found:
        config = {name: str(value) for name, value in each.items()}
        result.setdefault(text(config), config)
    return result


def binary(case, config, options):
    """Path of the compiled kernel; the default is the configuration None."""
    what = case.shape if config is None else text(config)
    key = repr(
        (
            case.example,
            case.kernel,
            sorted(case.fixed.items()),
            what,
            config is None,
            options.target,
            options.gpu,
            os.path.getmtime(TILEC),
            os.path.getmtime(source(case)),
        )
    )
    name = f"{case.kernel}-{hashlib.sha1(key.encode()).hexdigest()[:14]}"
    return os.path.join(options.binaries, f"{name}.{'ptx' if options.ptx else 'cubin'}")


def compileOne(case, config, options):
    """(path, what went wrong)"""
    path = binary(case, config, options)
    if not os.path.exists(path + ".json"):
        more = ["--shape", case.shape] if config is None else ["--config", text(config)]
        done = run(command(case, options, "", "--target", options.target, "-o", path, *more))
        if done.returncode:
            lines = [line for line in done.stderr.splitlines() if "error" in line]
            return path, (lines or ["exit code " + str(done.returncode)])[0]
    with open(path + ".json", encoding="utf-8") as stream:
        launch = json.load(stream)["kernels"][0].get("launch", {})
    spilled = launch.get("spill_bytes", 0)
    return path, f"spills {spilled} bytes" if spilled > 64 and config is not None else ""


def identify(kernel, fixed, shape):
    return (
        kernel,
        json.dumps({name: str(value) for name, value in fixed.items()}, sort_keys=True),
        shape,
    )


def readResults(paths):
    """Records by kernel, definitions and shape; later files replace earlier ones."""
    found = {}
    for path in paths:
        with open(path, encoding="utf-8") as stream:
            for record in json.load(stream)["records"]:
                if "tried" in record:
                    found[identify(record["kernel"], record["fixed"], record["shape"])] = record
    return found


def bestKnown(record, count=4):
    """The best configurations of a record, as competitors() gives them."""
    names = [record["chosen"] if name == "default" else name for name in record["tried"]][:count]
    return {name: dict(item.split("=") for item in name.split(",")) for name in names if name}


def check(chosen, options):
    """The model's choices by what was measured earlier. A configuration that leaves a name out has
    no time under its full name: such choices are listed as not measured.
    """
    records = readResults(options.check)
    with concurrent.futures.ThreadPoolExecutor(
        options.jobs or len(os.sched_getaffinity(0))
    ) as pool:
        spaces = list(pool.map(lambda case: explain(case, options), chosen))
    ratios, unknown = [], 0
    for case, candidates in zip(chosen, spaces):
        record = records.get(identify(case.kernel, case.fixed, case.shape))
        if not record or not candidates:
            continue
        times = dict(record["tried"])
        times.setdefault(record["chosen"], times.get("default", math.inf))
        choice, best = text(candidates[0]["config"]), min(times, key=times.get)
        if choice not in times:
            unknown += 1
            print(f"{case.name:64}     ?  {choice}; best {times[best]:.4f} ms {best}")
            continue
        ratios.append(times[best] / times[choice])
        print(
            f"{case.name:64} {ratios[-1]:.3f}  {choice}"
            + (f"; best {best}" if ratios[-1] < 0.95 else "")
        )
    low = sum(ratio < GOAL_EACH for ratio in ratios)
    print(
        f"{len(ratios)} choices that were measured, {unknown} not: mean {mean(ratios):.4f}, least"
        f" {min(ratios, default=0):.4f}, {low} below {GOAL_EACH}"
    )
    return 1 if low or not ratios or mean(ratios) < GOAL_MEAN else 0


def prepare(chosen, options):
    """Compiles everything: a list of (case, {name: path}, {name: what went wrong}, the model's
    choice).
    """
    os.makedirs(options.binaries, exist_ok=True)
    jobs = options.jobs or len(os.sched_getaffinity(0))
    plans, seen = [], {}
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        spaces = list(pool.map(lambda case: explain(case, options), chosen))
        records = readResults(options.known)
        for case, candidates in zip(chosen, spaces):
            record = records.get(identify(case.kernel, case.fixed, case.shape))
            every = {
                "default": None,
                **(
                    bestKnown(record)
                    if record
                    else competitors(case, candidates, options.candidates)
                ),
            }
            waiting = {}
            for name, config in every.items():
                path = binary(case, config, options)
                if path not in seen:
                    seen[path] = pool.submit(compileOne, case, config, options)
                waiting[name] = seen[path]
            plans.append((case, waiting, candidates[0]["config"] if candidates else {}))
        result = []
        for case, waiting, choice in plans:
            done = {name: each.result() for name, each in waiting.items()}
            result.append(
                (
                    case,
                    {name: path for name, (path, why) in done.items() if not why},
                    {name: why for name, (path, why) in done.items() if why},
                    choice,
                )
            )
    return result


def measure(case, paths, failed, choice):
    """The record of one shape."""
    import tile_compiler as tile
    import torch
    from gpu import check, defaults, timing

    item, data, expected = defaults.inputs(case)
    values = case.values(data)
    results = {name: data[name] for name in case.outputs or expected}
    calls = {}
    for name, path in paths.items():
        try:
            launch = tile.load(path)[case.kernel]
            call = lambda launch=launch: launch(**values)  # noqa: E731
            check.poison(results)
            if item.restore:
                item.restore(data)
            call()
            torch.cuda.synchronize()
            wrong, _ = check.mismatch(results, expected, item.tolerance)
            if wrong:
                failed[name] = "wrong: " + wrong
            else:
                calls[name] = call
        except tile.Error as error:
            failed[name] = str(error).splitlines()[0][:200]
    record = {
        "family": case.family,
        "kernel": case.kernel,
        "fixed": case.fixed,
        "shape": case.shape,
        "chosen": text(choice),
        "failed": failed,
    }
    if "default" not in calls:
        return record
    # What is far behind is not timed with care.
    rough = {name: timing.rough(call) for name, call in calls.items()}
    limit = max(2.0 * min(rough.values()), 0.1)
    kept = [name for name in calls if name == "default" or rough[name] <= limit]
    timers = {name: timing.timer(item, calls[name], 1.5) for name in kept}
    times = timing.inTurns(timers, 3)
    # The best few and the default once more, longer: the rest was only to find them.
    first = {name: statistics.median(each) for name, each in times.items()}
    finalists = sorted(first, key=first.get)[:3]
    finalists += ["default"] if "default" not in finalists else []
    timers = {name: timing.timer(item, calls[name], 4.0) for name in finalists}
    final = {name: statistics.median(each) for name, each in timing.inTurns(timers, 5).items()}
    best = min(final, key=final.get)
    record.update(
        {
            "default_ms": round(final["default"], 6),
            "best_ms": round(final[best], 6),
            "best": best,
            "ratio": round(final[best] / final["default"], 4),
            "tried": {
                name: round(ms, 6) for name, ms in sorted(first.items(), key=lambda pair: pair[1])
            },
        }
    )
    return record


def mean(ratios):
    return math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else float("nan")


def table(records):
    """One line for each kernel, and the whole."""
    lines = [f"{'kernel':26} shapes  mean   least  where"]
    kernels = {}
    for record in records:
        kernels.setdefault(record["kernel"], []).append(record)
    for kernel, members in kernels.items():
        known = [r for r in members if "ratio" in r]
        if not known:
            lines.append(f"{kernel:26} {0:6}  none of the defaults ran")
            continue
        least = min(known, key=lambda r: r["ratio"])
        lines.append(
            f"{kernel:26} {len(known):6}  {mean([r['ratio'] for r in known]):.3f} "
            f" {least['ratio']:.3f}  {least['shape']}: {least['chosen']}, best {least['best']}"
        )
    ratios = [r["ratio"] for r in records if "ratio" in r]
    if ratios:
        lines.append(
            f"{'all':26} {len(ratios):6}  {mean(ratios):.3f}  {min(ratios):.3f}  goal: {GOAL_MEAN}"
            f" and {GOAL_EACH}; {sum(r < GOAL_EACH for r in ratios)} below"
        )
    return "\n".join(lines)


def save(path, records, machine):
    """Replaces the records of the shapes that were measured."""
    old = {"records": []}
    try:
        with open(path, encoding="utf-8") as stream:
            old = json.load(stream)
    except (OSError, ValueError):
        pass
    key = lambda r: (r["kernel"], json.dumps(r["fixed"], sort_keys=True), r["shape"])  # noqa: E731
    fresh = {key(record) for record in records}
    merged = [record for record in old["records"] if key(record) not in fresh] + records
    resultfile.save(path, {"machine": machine, "records": merged})
    return merged


def draw(records, path):
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    kernels = {}
    for record in records:
        if "ratio" in record:
            kernels.setdefault(record["kernel"], []).append(record["ratio"])
    figure, axes = pyplot.subplots(figsize=(9, 0.35 * len(kernels) + 1.2))
    for row, (kernel, ratios) in enumerate(reversed(list(kernels.items()))):
        axes.plot(ratios, [row] * len(ratios), "o", color="#d62728", alpha=0.6)
        axes.plot([mean(ratios)], [row], "|", color="black", markersize=14)
    axes.set_yticks(range(len(kernels)), list(reversed(list(kernels))))
    axes.axvline(GOAL_EACH, color="grey", linestyle=":")
    axes.set_xlim(right=1.02)
    axes.set_xlabel(
        "speed of the default over that of the best configuration known, each shape; bars:"
        " geometric mean"
    )
    figure.tight_layout()
    figure.savefig(path, dpi=120)


def drawnCases(options):
    from gpu import defaults_drawn

    return defaults_drawn.cases(options.drawn, options.count)


def main():
    options = parse()
    from gpu import defaults

    wanted = [name for name in options.families.split(",") if name]
    every = defaults.cases() if options.drawn is None else drawnCases(options)
    chosen = [
        case for case in every if not wanted or case.family in wanted or case.kernel in wanted
    ]
    if not chosen:
        sys.exit(
            f"defaults.py: there is no '{options.families}'; there are "
            + ", ".join(sorted({case.family for case in every} | {case.kernel for case in every}))
        )
    if options.list:
        print("\n".join(case.name for case in chosen))
        return 0
    if options.check:
        return check(chosen, options)
    begin = time.time()
    plans = prepare(chosen, options)
    print(
        f"{len(plans)} shapes, {sum(len(paths) for _, paths, _, _ in plans)} builds in"
        f" {time.time() - begin:.0f} s",
        flush=True,
    )
    broken = [(case, failed["default"]) for case, _, failed, _ in plans if "default" in failed]
    for case, why in broken:
        print(f"{case.name}: the default does not compile: {why}")
    if options.compile_only:
        return 1 if broken else 0
    import torch

    if not torch.cuda.is_available():
        sys.exit("defaults.py: PyTorch sees no GPU (--compile-only needs none)")
    from gpu import records as machine

    torch.backends.cuda.matmul.allow_tf32 = False
    begin, found = time.time(), []
    for case, paths, failed, choice in plans:
        if options.budget and time.time() - begin > options.budget:
            print("the budget is spent", flush=True)
            break
        record = measure(case, paths, failed, choice)
        found.append(record)
        print(
            f"{case.name:64} "
            + (
                f"{record['ratio']:.3f}  {record['default_ms']:.4f} ms {record['chosen']}; best"
                f" {record['best_ms']:.4f} ms {record['best']}"
                if "ratio" in record
                else f"no default: {record['failed'].get('default')}"
            ),
            flush=True,
        )
        torch.cuda.empty_cache()
    print(f"measured in {time.time() - begin:.0f} s\n\n{table(found)}")
    merged = save(options.json, found, machine.machine())
    if options.plot:
        draw(merged, options.plot)
    return 0 if all("ratio" in record for record in found) else 1


if __name__ == "__main__":
    sys.exit(main())
