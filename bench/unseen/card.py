"""The part of run.py that needs a GPU: checks every case against NumPy, then times our kernels and
Triton's in turns.

A Triton version is a function of (case, tensors by name) in triton_*.py that gives the calls to
try, best guess first; the fastest one counts. Ours are the defaults. Times are medians over rounds
in which both take turns, each round one CUDA graph of some calls.
"""

import concurrent.futures
import importlib
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time

import numpy
import torch

import case as cases
import resultfile

TORCH = {
    "f16": torch.float16,
    "bf16": torch.bfloat16,
    "f32": torch.float32,
    "i32": torch.int32,
    "i64": torch.int64,
    "f64": torch.float64,
    "i8": torch.int8,
    "u8": torch.uint8,
    "i16": torch.int16,
    "u16": torch.uint16,
    "u32": torch.uint32,
    "bool": torch.bool,
    "f8e4m3": torch.float8_e4m3fn,
    "f8e5m2": torch.float8_e5m2,
    "u4": torch.uint8,
    "i4": torch.uint8,
}
FAMILIES = ("products", "attention", "weights", "rows")
ROUNDS = 7
GRAPH_MS = 4.0  # of calls in one graph
AGREE = 0.03  # largest error of Triton's result, relative to the norm of ours


def versions():
    """{kernel: function} of all Triton versions; empty where Triton is missing."""
    found = {}
    for family in FAMILIES:
        try:
            found.update(importlib.import_module("triton_" + family).VERSIONS)
        except ImportError as error:
            print(f"no Triton versions of {family}: {error}")
    return found


def toDevice(stored, dtype):
    if dtype == "bf16":
        return torch.from_numpy(stored.view(numpy.int16)).cuda().view(torch.bfloat16)
    if dtype in ("f8e4m3", "f8e5m2"):
        return torch.from_numpy(stored).cuda().view(TORCH[dtype])
    if dtype == "u32":
        return torch.from_numpy(stored.view(numpy.int32)).cuda().view(torch.uint32)
    return torch.from_numpy(stored).cuda()


def toStored(tensor, dtype):
    if dtype == "bf16":
        return tensor.view(torch.int16).cpu().numpy().view(numpy.uint16)
    return (tensor.view(torch.uint8) if dtype.startswith("f8") else tensor).cpu().numpy()


def tensorsOf(example, one, large):
    """(tensors and scalars by name, in the source's order; those written). Outputs start as ones in
    every bit."""
    values, written = {}, []
    for name, argument in example.arguments(one).items():
        if isinstance(argument, cases.Scalar):
            value = one.scalars.get(name, argument.value)
            if value is not None:
                values[name] = value
            continue
        if argument.reads and large and scaleOf(argument) is not None:
            made = torch.empty(argument.shape, dtype=torch.float32, device="cuda").normal_(
                0.0, scaleOf(argument)
            )
            values[name] = made.to(TORCH[argument.dtype])
        elif argument.reads:
            values[name] = toDevice(argument.data(one, name), argument.dtype)
        else:
            size = (
                int(numpy.prod(argument.shape, dtype=numpy.int64))
                * torch.empty(0, dtype=TORCH[argument.dtype]).element_size()
            )
            values[name] = (
                torch.full((size,), 255, dtype=torch.uint8, device="cuda")
                .view(TORCH[argument.dtype])
                .view(argument.shape)
            )
        if argument.writes:
            written.append(name)
    return values, written


def scaleOf(argument):
    """The deviation of normal numbers around 0, which the GPU makes itself; None for others."""
    if argument.dtype not in ("f16", "bf16", "f32", "f8e4m3", "f8e5m2"):
        return None
    return getattr(
        argument.values, "scale", 1.0 if argument.values.__qualname__.startswith("Input.") else None
    )


def checkCase(kernel, example, one):
    """None where the GPU agrees with NumPy, else what is wrong."""
    arguments, _, expected = cases.prepare(example, one)
    values, _ = tensorsOf(example, one, False)
    kernel(**values)
    torch.cuda.synchronize()
    for key, right in expected.items():
        wrong = arguments[key].mismatch(toStored(values[key], arguments[key].dtype), right)
        if wrong:
            return f"{key}: {wrong}"
    return None


def graphOf(call):
    """(graph, calls in it)."""
    for _ in range(3):
        call()
    torch.cuda.synchronize()
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    begin.record()
    call()
    call()
    end.record()
    end.synchronize()
    count = max(2, min(200, round(GRAPH_MS / max(begin.elapsed_time(end) / 2, 1e-3))))
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        call()
        stream.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, stream=stream):
            for _ in range(count):
                call()
    return graph, count


def inTurns(calls):
    """Milliseconds of each call, all rounds: the calls take turns in changing order."""
    graphs = [graphOf(call) for call in calls]
    times, draw = [[] for _ in calls], random.Random(0)
    for turn in range(ROUNDS + 2):
        order = list(range(len(calls)))
        draw.shuffle(order)
        for index in order:
            graph, count = graphs[index]
            begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            begin.record()
            graph.replay()
            end.record()
            end.synchronize()
            if turn >= 2:
                times[index].append(begin.elapsed_time(end) / count)
    return times


def agreement(ours, theirs):
    """The largest difference relative to the norm of ours, over the outputs that both have."""
    worst = 0.0
    for name, value in theirs.items():
        a, b = ours[name].double(), value.double()
        worst = max(worst, float((a - b).norm() / a.norm().clamp(min=1e-30)))
    return worst


class Timed:
    """One shape: our call and Triton's, with tensors of their own for what they write."""

    def __init__(self, name, kernel, triton, example, one, quick):
        self.name, self.example, self.one, self.record = name, example, one, {"shape": one.name}
        self.values, self.written = tensorsOf(example, one, True)
        self.theirs = {
            key: value.clone() if key in self.written else value
            for key, value in self.values.items()
        }
        self.calls = [lambda: kernel(**self.values)]
        if triton:
            self.calls += triton(one, self.theirs)[: 1 if quick else None]

    def warm(self):
        """Triton compiles at the first call. What fails here fails again when it is timed."""
        for call in self.calls[1:]:
            try:
                call()
            except Exception:  # noqa: BLE001
                pass

    def measure(self):
        """The record: our median, Triton's, and their ratio."""
        record = self.record
        changed = any(
            isinstance(argument, cases.InOut)
            for argument in self.example.arguments(self.one).values()
        )
        if len(self.calls) > 1 and not changed:
            self.calls[0]()
            self.calls[1]()
            torch.cuda.synchronize()
            ours, theirs = (
                {n: each[n] for n in self.written} for each in (self.values, self.theirs)
            )
            record["differs"] = agreement(ours, theirs)
            if not record["differs"] <= AGREE:
                record["failed"] = "Triton's numbers differ"
        medians = [statistics.median(each) for each in inTurns(self.calls)]
        record["ms"] = medians[0]
        if len(medians) > 1:
            record["triton_ms"] = min(medians[1:])
            record["ratio"] = record["triton_ms"] / record["ms"]


def run(options, chosen, runner):
    """Checks and times the chosen kernels, writes the result file, and gives the number of
    failures."""
    os.environ["TILE_HOME"] = options.home
    sys.path.insert(
        0,
        (
            os.path.join(options.home, "python")
            if os.path.isdir(os.path.join(options.home, "python"))
            else os.path.join(runner.ROOT, "python")
        ),
    )
    import tile_compiler as tile

    major, minor = torch.cuda.get_device_capability()
    target = {(9, 0): "sm_90a", (10, 0): "sm_100a"}.get((major, minor), f"sm_{major}{minor}")
    tilec = os.path.join(options.home, "bin", "tilec")
    triton = versions()
    result = {
        "device": torch.cuda.get_device_name(),
        "target": target,
        "torch": torch.__version__,
        "quick": options.quick,
        "tilec": (
            subprocess.run([tilec, "--version"], capture_output=True, text=True).stdout.split("\n")[
                0
            ]
        ),
        "checks": [],
        "times": [],
    }
    failures = 0
    with tempfile.TemporaryDirectory(prefix="tile-unseen-") as folder:
        wanted = {}
        for name in chosen:
            example = runner.module(name)
            checks = example.CASES[1:2] if options.quick else example.CASES
            wanted[name] = (example, checks, example.TIMED[: 1 if options.quick else None])
        plans = {}
        for name, (_, checks, timed) in wanted.items():
            for one in [*checks, *timed]:
                fixed = tuple(sorted(runner.definitions(name, one).items()))
                plans.setdefault((name, fixed), os.path.join(folder, f"{len(plans)}.cubin"))
        begin = time.time()
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            said = dict(
                zip(
                    plans,
                    pool.map(
                        lambda k: runner.compileOne(tilec, k[0], dict(k[1]), target, plans[k]),
                        plans,
                    ),
                )
            )
        print(f"compiled {len(plans)} in {time.time() - begin:.1f} s", flush=True)

        def load(name, one):
            key = (name, tuple(sorted(runner.definitions(name, one).items())))
            if said[key][0].startswith("exit"):
                raise RuntimeError(said[key][0])
            return tile.load(plans[key])[name]

        jobs = []
        for name, (example, checks, timed) in wanted.items():
            for one in checks:
                try:
                    wrong = checkCase(load(name, one), example, one)
                except Exception as error:  # noqa: BLE001: one failing case must not end the run
                    wrong = f"{type(error).__name__}: {error}"
                failures += bool(wrong)
                result["checks"].append(
                    {"kernel": name, "case": one.name, **({"why": wrong} if wrong else {})}
                )
                if wrong:
                    print(f"FAIL {name} [{one.name}]\n    {wrong}", flush=True)
            for one in timed:
                try:
                    jobs.append(
                        Timed(name, load(name, one), triton.get(name), example, one, options.quick)
                    )
                except Exception as error:  # noqa: BLE001
                    failures += 1
                    why = f"{type(error).__name__}: {error}"[:500]
                    result["times"].append({"kernel": name, "shape": one.name, "failed": why})
                    print(f"FAIL {name} [{one.name}]\n    {why}", flush=True)
        with concurrent.futures.ThreadPoolExecutor(min(8, options.jobs)) as pool:
            list(pool.map(Timed.warm, jobs))
        torch.cuda.synchronize()
        print(f"ready to time after {time.time() - begin:.1f} s", flush=True)
        while jobs:
            job = jobs.pop(0)
            try:
                job.measure()
            except Exception as error:  # noqa: BLE001
                job.record["failed"] = f"{type(error).__name__}: {error}"[:500]
            result["times"].append({"kernel": job.name, **job.record})
            print(line(job.name, job.record), flush=True)
            failures += "failed" in job.record
    ratios = [r["ratio"] for r in result["times"] if "ratio" in r and "failed" not in r]
    if ratios:
        result["mean"], result["least"] = statistics.geometric_mean(ratios), min(ratios)
        print(
            f"{len(ratios)} beside Triton: mean {result['mean']:.2f}, least {result['least']:.2f}"
        )
    resultfile.save(options.json, result)
    print(f"{failures} failed; results: {options.json}")
    return failures


def line(name, record):
    if "ms" not in record:
        return f"{name:22} {record['shape']:40} {record['failed']}"
    ratio = f"{record['triton_ms']:9.4f} {record['ratio']:6.2f}" if "ratio" in record else ""
    return (
        f"{name:22} {record['shape']:40} {record['ms']:9.4f} ms {ratio} {record.get('failed', '')}"
    )
