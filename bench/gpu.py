#!/usr/bin/env python3
"""Our kernels beside PyTorch's libraries and tuned Triton on this machine's GPU, all in one
process.

Every result is checked against a reference in higher precision before it is timed. What crashes,
hangs or is wrong becomes a record with its reason, and the rest goes on: a watchdog starts the
measuring process again without it.
"""

import argparse
import ctypes
import json
import os
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import resultfile  # noqa: E402
from gpu import records, table  # noqa: E402
from gpu.paths import ROOT  # noqa: E402

EXAMPLES = """examples:
  python3 bench/gpu.py                                    everything, 15 to 20 minutes
  python3 bench/gpu.py --quick            one shape of each operation, about 4 minutes
  python3 bench/gpu.py --only matmul --item "8192x8192x8192" --who tile,cublas,triton
  python3 bench/gpu.py --only matmul --who tile \
      --variants "BM=128,BN=256,BK=64,stages=4;BM=128,BN=128,BK=64,warps=8"
  python3 bench/gpu.py --against tile-0.1.0-linux-x86_64  defaults of two versions in turns
  python3 bench/gpu.py --set models --part 1/6            rows of models, a sixth of them
  python3 bench/gpu.py --set models --check bench/results/models.json --json OUT/models.json
  python3 bench/gpu.py --list                             what there is to measure
  python3 bench/gpu.py --from bench/results/gpu.json --plot bench/results
TILE_HOME names an unpacked release or a build folder (this checkout's build/), TILE_PEERS a folder
of prebuilt kernels of others (gpu/pack.py)."""
LOST = 75  # exit code of a worker whose CUDA context is gone


def parse(arguments):
    parser = argparse.ArgumentParser(
        description=__doc__, epilog=EXAMPLES, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--set",
        choices=("tuned", "models", "drawn", "older", "copies", "all"),
        default="tuned",
        help=(
            "tuned: few shapes, our best variants and Triton's; models: many shapes of models, our"
            " defaults and the strongest peers; drawn: the same with shapes drawn at random; older:"
            " code for sm_80 on a newer card, beside the same sources for the card itself; copies:"
            " gathered rows, pages and convolutions; all: the first two (tuned)"
        ),
    )
    parser.add_argument("--seed", type=int, default=0, help="of --set drawn (0)")
    parser.add_argument("--count", type=int, default=60, metavar="N", help="rows it draws (60)")
    parser.add_argument(
        "--part", metavar="N/M", help="the N-th of M parts that take about as long as each other"
    )
    parser.add_argument(
        "--only",
        default="",
        metavar="NAMES",
        help="families or operations, as in matmul,softmax (all)",
    )
    parser.add_argument(
        "--item",
        action="append",
        default=[],
        metavar="TEXT",
        help="only items whose name holds this text; may be given several times",
    )
    parser.add_argument(
        "--who", default="", metavar="NAMES", help="contenders, as in tile,cublas,triton (all)"
    )
    parser.add_argument(
        "--quick", action="store_true", help="one shape of each operation, fewer rounds"
    )
    parser.add_argument(
        "--rounds", type=int, help="rounds of measuring (9, of models 7, with --quick 5)"
    )
    parser.add_argument(
        "--batch",
        type=float,
        default=20.0,
        metavar="MS",
        help="milliseconds between two events (20)",
    )
    parser.add_argument(
        "--heat",
        type=float,
        default=0.3,
        metavar="S",
        help="seconds of warm-up before each item (0.3)",
    )
    parser.add_argument(
        "--budget",
        type=float,
        default=0.0,
        metavar="S",
        help="start no further item after so many seconds",
    )
    parser.add_argument(
        "--variants",
        default="",
        metavar="LIST",
        help="our variants instead of the items' own (see examples)",
    )
    parser.add_argument(
        "--against",
        metavar="RELEASE",
        help=(
            "time the defaults of this compiler and of that unpacked release in "
            "turns, instead of peers; ends with the geometric mean of the ratios"
        ),
    )
    parser.add_argument(
        "--examples",
        action="append",
        default=[],
        metavar="DIR",
        help="look here for .tile files first",
    )
    parser.add_argument("--target", help="what tilec compiles for (sm_90a; with --set older sm_80)")
    parser.add_argument(
        "--gpu",
        metavar="CARD",
        help="whose figures the cost model takes (this machine's, with --ptx or its own --target)",
    )
    parser.add_argument(
        "--ptx",
        action="store_true",
        help="let the driver assemble: for --target sm_80 on a newer GPU",
    )
    parser.add_argument("--jobs", type=int, default=0, help="compilations at a time (processors)")
    parser.add_argument(
        "--json",
        metavar="FILE",
        help=(
            "where records go; those that were measured anew are replaced (bench/results/gpu.json;"
            " of other sets SET.json)"
        ),
    )
    parser.add_argument(
        "--check",
        metavar="FILE",
        help=(
            "at the end, or with --from instead of measuring: which of our rows have lost more than"
            " 3 percent against this record; exit code 1 if any has"
        ),
    )
    parser.add_argument("--plot", metavar="DIR", help="draw plots into this folder")
    parser.add_argument(
        "--from",
        dest="source",
        action="append",
        default=[],
        metavar="FILE",
        help=(
            "measure nothing: table and plots of this file; several, as parts leave them, are"
            " joined and written to --json, where an item that two have is that of the last"
        ),
    )
    parser.add_argument(
        "--list", action="store_true", help="list the items and contenders, measure nothing"
    )
    parser.add_argument(
        "--dry-run",
        action="store_true",
        help="compile what can be compiled without a GPU, measure nothing",
    )
    parser.add_argument(
        "--verbose", action="store_true", help="print variants and failures as they come"
    )
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    parser.add_argument("--warm", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    options.untuned = options.set in ("models", "drawn", "older", "copies")
    options.rounds = options.rounds or (5 if options.quick else 7 if options.untuned else 9)
    options.jobs = options.jobs or len(os.sched_getaffinity(0))
    name = f"{options.set}.json" if options.untuned else "gpu.json"
    if len(options.source) > 1 and not options.json:
        sys.exit("gpu.py: several --from are joined into the file of --json, which is missing")
    options.json = options.json or os.path.join(ROOT, "bench", "results", name)
    options.who = [name for name in options.who.split(",") if name]
    if options.against:
        options.who = ["tile", "against"]
    older = options.set == "older"
    options.target = options.target or ("sm_80" if older else "sm_90a")
    options.ptx = options.ptx or older
    return options


def select(options):
    """The items that the options choose."""
    from gpu import families

    wanted = [name for name in options.only.split(",") if name]
    sets = families.SETS if options.set == "all" else (options.set,)
    every = [item for name in sets for item in families.items(name, options.seed, options.count)]
    known = {item.family for item in every} | {item.op for item in every}
    unknown = [name for name in wanted if name not in known]
    if unknown:
        sys.exit(f"gpu.py: there is no '{unknown[0]}'; --only takes {', '.join(sorted(known))}")
    chosen = [
        item
        for item in every
        if (not wanted or item.family in wanted or item.op in wanted)
        and (not options.quick or item.quick)
        and all(text in item.name for text in options.item)
    ]
    if options.part:
        from gpu import parts

        chosen = parts.of(chosen, options.part)
    if options.against:
        from gpu.items import Bar

        for item in chosen:
            item.bars = [Bar(0.97, ["against"], "the release")]
    return chosen


def card():
    """The driver's name of this machine's GPU, None without one. Code for an older target runs
    here, so its configurations are chosen for this card, as where a program compiles when it runs.
    """
    from gpu.lib import torch

    return torch.cuda.get_device_name() if torch and torch.cuda.is_available() else None


def prepare(options):
    """Tells our side what the options say."""
    from gpu import pack
    from gpu.ours import Native, Release, Settings, parseVariants

    pack.prepare()
    Settings.target = options.target
    Settings.gpu = options.gpu or (card() if options.ptx and not options.against else None)
    Settings.format = "ptx" if options.ptx else "cubin"
    Settings.examples = [os.path.abspath(path) for path in options.examples] + Settings.examples
    Settings.variants = (
        parseVariants(options.variants) if options.variants else [{}] if options.against else None
    )
    Settings.against = Release(options.against) if options.against else None
    if options.set == "older" and not Settings.against:
        Settings.against = Native("sm_90a")


class State:
    """What the worker and its watchdog tell each other, as files in a folder."""

    def __init__(self, folder):
        self.folder = folder
        self.begun = time.time()

    def path(self, name):
        return os.path.join(self.folder, name)

    def read(self, name, default):
        try:
            with open(self.path(name), encoding="utf-8") as stream:
                return json.load(stream)
        except (OSError, ValueError):
            return default

    def write(self, name, value):
        with open(self.path(name + ".new"), "w", encoding="utf-8") as stream:
            json.dump(value, stream)
        os.replace(self.path(name + ".new"), self.path(name))

    def tail(self, name, lines=15):
        with open(self.path(name), encoding="utf-8", errors="replace") as stream:
            return "\n".join(stream.read().strip().splitlines()[-lines:])

    def progress(self, item, contender, seconds):
        """What is about to be done, and when it is too late."""
        self.write(
            "progress",
            {
                "item": item and item.name,
                "contender": contender and contender.name,
                "deadline": time.time() + seconds,
                "seconds": seconds,
            },
        )

    def finish(self, item, found):
        done = self.read("done", [])
        done.append(records.ofItem(item, found))
        self.write("done", done)


def work(options):
    """The measuring process."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG: no worker outlives its watchdog
    state = State(options.worker)
    state.progress(None, None, 300.0)
    prepare(options)
    import torch
    from gpu import contest, ours

    ours.Settings.folder = state.path("binaries")
    os.makedirs(ours.Settings.folder, exist_ok=True)
    if not torch.cuda.is_available():
        sys.exit("gpu.py: PyTorch sees no GPU (--list and --dry-run need none)")
    torch.backends.cuda.matmul.allow_tf32 = False
    done = {entry["item"] for entry in state.read("done", [])}
    skip = {(item, contender): why for item, contender, why in state.read("skip", [])}
    items = [item for item in select(options) if item.name not in done]
    if not done:
        state.write("machine", records.machine())
        print(
            ", ".join(f"{key} {value}" for key, value in state.read("machine", {}).items()),
            flush=True,
        )
    run = contest.Contest(options, state.progress, skip)
    begin = time.time()
    state.progress(None, None, 900.0)
    torch.zeros(1, device="cuda")
    failures = run.compileAll(items, state.read("one by one", False))
    state.progress(None, None, 300.0)
    print(
        f"compiled for {len(items)} items in {time.time() - begin:.1f} s, {len(failures)} failures",
        flush=True,
    )
    warm(options, state, run, items)
    for item in items:
        if options.budget and time.time() - state.read("begun", begin) > options.budget:
            print(
                f"the budget of {options.budget:.0f} s is spent: {item.name} and what follows is"
                " left out",
                flush=True,
            )
            break
        if (item.name, None) in skip:
            state.finish(item, [{"who": "tile", "variant": "", "failed": skip[(item.name, None)]}])
            continue
        started = time.time()
        try:
            found = run.run(item, failures)
        except contest.ContextLost as lost:
            bad = lost.args[1][-1]
            name = f"{bad['who']}[{bad['variant']}]" if bad["variant"] else bad["who"]
            state.write("skip", state.read("skip", []) + [(item.name, name, lost.args[0])])
            sys.exit(LOST)
        except Exception as error:  # noqa: BLE001: an item that cannot be set up is recorded
            # A capture that failed leaves PyTorch's generator inside of it: a new process has
            # another.
            again = state.read("again", [])
            if "graph capture" in str(error) and item.name not in again:
                state.write("again", again + [item.name])
                sys.exit(LOST)
            found = [{"who": "tile", "variant": "", "failed": "item: " + contest.brief(error)}]
            print(f"{item.name}: {contest.brief(error)}", flush=True)
        state.finish(item, found)
        print(
            table.line(records.ofItem(item, found)) + f"   ({time.time() - started:.1f} s)",
            flush=True,
        )
        torch.cuda.empty_cache()
        if "CUDA error" in str(found[-1].get("failed", "")) if found else False:
            sys.exit(LOST)
    return 0


def warm(options, state, run, items):
    """Lets the compilers of peers run side by side, once for all workers of this run."""
    from gpu import warmup

    some = warmup.wanted(run, items)
    if not some or state.read("warmed", False):
        return
    state.write("warmed", True)
    begin, limit = time.time(), 200.0
    state.progress(None, None, limit + 60.0)
    command = [sys.executable, os.path.abspath(__file__), *sys.argv[1:]]
    whole = warmup.start(command, some, options.jobs, limit)
    print(
        f"compilers of peers for {len(some)} items: {time.time() - begin:.1f} s"
        + ("" if whole else ", ended at the limit"),
        flush=True,
    )


def watch(options, arguments):
    """Starts workers until all items are done; what kills or hangs one is left out of the next."""
    with tempfile.TemporaryDirectory(prefix="tile-gpu-bench-") as folder:
        state = State(folder)
        state.write("begun", time.time())
        run, saved, code = time.strftime("%Y-%m-%d %H:%M:%S"), [], 0

        def save():
            """Writes what there is so far: the run may be cut off."""
            done = state.read("done", [])
            if len(done) > len(saved):
                saved[:] = done
                records.merge(options.json, state.read("machine", {}), done, run, options.against)

        for _ in range(25):
            state.progress(None, None, 300.0)
            with open(
                state.path("stderr"), "wb"
            ) as log:  # Triton and Inductor fill pages with what they try
                worker = subprocess.Popen(
                    [sys.executable, os.path.abspath(__file__), *arguments, "--worker", folder],
                    preexec_fn=os.setpgrp,
                    stderr=log,
                )
            why = wait(worker, state, save)
            if not why and worker.returncode == 0:
                break
            last = state.read("progress", {})
            if worker.returncode == LOST:
                continue
            if not last.get("item"):
                if why is None and worker.returncode < 0 and not state.read("one by one", False):
                    print(
                        "a compilation took the process down; now one by one, to see which",
                        flush=True,
                    )
                    state.write("one by one", True)
                    continue
                code = 1  # no item is to blame: there is no point in going on
                print(
                    "the measuring process ended:"
                    f" {why or worker.returncode}\n{state.tail('stderr')}",
                    flush=True,
                )
                break
            why = why or f"crash: exit code {worker.returncode}: {state.tail('stderr', 1)}"
            print(
                f"{last['item']}, {last['contender'] or 'measuring'}: {why}; starting again"
                " without it",
                flush=True,
            )
            state.write("skip", state.read("skip", []) + [(last["item"], last["contender"], why)])
        save()
        done = saved
    if not done:
        print("nothing was measured", flush=True)
        return code or 1
    # Lines of models have been printed as they came; a log may keep its end alone.
    print("\n" + (table.brief(done) if options.untuned else table.render(done)), flush=True)
    if options.against:
        print(table.summary(done), flush=True)
    print(f"records: {os.path.relpath(options.json)}", flush=True)
    if options.plot:
        draw(options.json, options.plot)
    fallen = check(options, done) if options.check else 0
    return code or (1 if records.failures(done) or fallen else 0)


def check(options, entries):
    """Prints which rows have lost against the record of --check; how many."""
    from gpu import compare

    with open(options.check, encoding="utf-8") as stream:
        text, fallen = compare.against(entries, records.grouped(json.load(stream)))
    print(text, flush=True)
    return fallen


def wait(worker, state, save):
    """None if the worker ended by itself, else why it was stopped."""
    try:
        while True:
            try:
                worker.wait(0.5)
                return None
            except subprocess.TimeoutExpired:
                save()
                last = state.read("progress", {})
                if time.time() > last.get("deadline", float("inf")):
                    os.killpg(worker.pid, signal.SIGKILL)
                    worker.wait()
                    return f"hang: no end after {last['seconds']:.0f} s"
    except BaseException:
        os.killpg(worker.pid, signal.SIGKILL)
        worker.wait()
        raise


def draw(source, folder):
    from gpu import plots

    with open(source, encoding="utf-8") as stream:
        result = json.load(stream)
    try:
        for path in plots.draw(result, folder):
            print("plot: " + os.path.relpath(path))
    except ImportError as error:
        print(f"no plots: {error}")


def show(options):
    """--list and --dry-run."""
    prepare(options)
    items = select(options)
    if options.list:
        for item in items:
            names = {}
            for contender in item.contenders(item):
                names[contender.who] = names.get(contender.who, 0) + 1
            print(
                f"{item.name:50} "
                + ", ".join(f"{who} ({n})" if n > 1 else who for who, n in names.items())
                + "".join(f"; {bar.ratio} of {bar.label}" for bar in item.bars)
            )
        return 0
    from gpu import contest, lib, offline

    if not lib.torch:
        sys.exit("gpu.py: --dry-run needs PyTorch (pip install torch); --list does not")
    offline.hopper()
    begin = time.time()
    run = contest.Contest(options, None, {})
    with open(os.devnull, "w", encoding="utf-8") as nothing:
        os.dup2(nothing.fileno(), 2)  # Triton prints the whole module when it fails
    failures = run.compileAll(items)
    for (item, contender), why in sorted(failures.items()):
        print(f"{item}, {contender}: {why}")
    ours = [
        (item, contender)
        for item in items
        for contender in run.chosen(item)
        if hasattr(contender, "parts") and (item.name, contender.name) not in failures
    ]
    for item, contender in ours:
        why = offline.refused(item, contender)
        if why:
            failures[(item.name, contender.name)] = why
            print(f"{item.name}, {contender.name}: {why}")
    if ours:
        print(f"{len(ours)} launches of ours checked against their contracts")
    spilled = {}
    for item, contender in ours:
        for part in contender.parts:
            bytes = part.binary().notes.get("spill_bytes", 0)
            if bytes:
                spilled.setdefault((part.kernel, bytes), []).append(item.name)
    for (kernel, bytes), names in sorted(spilled.items()):
        print(f"{kernel} spills {bytes} bytes: {names[0]}, {len(names)} in all")
    count = sum(bool(contender.compile) for item in items for contender in run.chosen(item))
    print(
        f"{len(items)} items, {count} kernels in {time.time() - begin:.0f} s, {len(failures)} fail"
        " to compile"
    )
    return 1 if failures else 0


def main():
    arguments = sys.argv[1:]
    options = parse(arguments)
    if options.source:
        found = records.joined(options.source)
        if len(options.source) > 1:
            resultfile.save(options.json, found)
        entries = records.grouped(found)
        short = options.check or options.untuned
        print(table.families(entries) if short else table.render(entries))
        if options.plot:
            draw(options.json if len(options.source) > 1 else options.source[0], options.plot)
        return 1 if options.check and check(options, entries) else 0
    if options.list or options.dry_run:
        return show(options)
    if options.warm:
        from gpu import contest, warmup

        ctypes.CDLL(None).prctl(1, signal.SIGKILL)
        prepare(options)
        return warmup.work(contest.Contest(options, None, {}), select(options), options.warm)
    if options.worker:
        return work(options)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    return watch(options, arguments)


if __name__ == "__main__":
    sys.exit(main())
