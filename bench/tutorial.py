#!/usr/bin/env python3
"""What each step of docs/Tutorial.md gains in speed, on one card: the page's own kernels, as they
stand there and with one thing changed at a time.

Needs nothing but a build or an unpacked release (TILE_HOME, --home) and a GPU. Every row is a call
of `tilec run --time`, or several whose times are added; a rate counts what the algorithm moves or
computes at the least, whatever the kernel does. Takes about two minutes.

  tutorial.py                      measures, writes bench/results/tutorial.json
  tutorial.py --device cpu --quick small shapes, to see that everything runs; writes nothing
  tutorial.py --page               writes the tables of the records into docs/Tutorial.md
  tutorial.py --check              whether the page has them

The page's last table is of the examples that the steps lead to, from bench/results/gpu.json.
"""

import argparse
import json
import os
import platform
import re
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field

import resultfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PAGE = os.path.join(ROOT, "docs", "Tutorial.md")
EXAMPLES = os.path.join(ROOT, "bench", "results", "gpu.json")
# What the steps lead to: step, operation of bench/gpu.py, shape, dtype.
LEADS = (
    (1, "vector_add", "2^28", "f32"),
    (3, "softmax", "16384x8192", "f32"),
    (4, "matmul", "4096x4096x4096", "f16"),
    (4, "matmul", "8192x8192x8192", "f16"),
    (5, "attention", "B4 H32 S4096 D64 causal", "f16"),
    (5, "attention", "B4 H32 S4096 D128 causal", "f16"),
)
PEERS = {
    "compile": "torch.compile",
    "cublas": "cuBLAS",
    "cublaslt": "cuBLASLt",
    "cudnn": "cuDNN",
    "eager": "PyTorch",
    "triton": "Triton",
    "triton-tma": "Triton with TMA",
}
RECORD = os.path.join(ROOT, "bench", "results", "tutorial.json")
ALIGNED = ", N % 8 == 0"
GROUPED = "\n  with grouped(8)"


@dataclass
class Call:
    """One kernel of the page. `without` is text that its source loses, `options` are tilec's."""

    source: str
    shape: dict
    options: list = field(default_factory=list)
    without: str = ""


@dataclass
class Row:
    """One way to do a step's work. `work` is in bytes where `unit` is GB/s, else in operations."""

    step: int
    what: str
    calls: list
    work: float
    unit: str


def define(**values):
    return [word for name, value in values.items() for word in ("-D", f"{name}={value}")]


def rows(quick):
    """The rows of all steps, each step's first one being what the others are compared with."""
    n = 4096 if quick else 1 << 26
    m, k = (8, 256) if quick else (16384, 4096)
    side = 128 if quick else 4096
    heads, length, width = (1, 128, 64) if quick else (64, 4096, 64)
    vector, matrix = {"N": n}, {"M": m, "N": k}
    square = {"M": side, "N": side, "K": side}
    large = ["--with", "warps=8"] + define(BM=128, BN=256, BK=64)
    tokens = {"H": heads, "S": length}
    scale, f16 = ["--arg", "scale=0.125"], define(T="f16")
    products = 2.0 * side**3
    scores = 2.0 * heads * length * length * width  # half of 4 H S S D: the mask leaves half
    alone = [
        Call("matmul.tile", {"M": length, "N": length, "K": width}, f16),
        Call("softmax.tile", {"M": length, "N": length}),
        Call("matmul.tile", {"M": length, "N": width, "K": length}, f16),
    ]
    return [
        Row(1, "`add.tile`", [Call("add.tile", vector)], 12.0 * n, "GB/s"),
        Row(
            2,
            "`scale.tile` for f32, without `N % 8 == 0`",
            [Call("scale.tile", vector, define(T="f32"), ALIGNED)],
            8.0 * n,
            "GB/s",
        ),
        Row(2, "with it", [Call("scale.tile", vector, define(T="f32"))], 8.0 * n, "GB/s"),
        Row(2, "for f16: half of the bytes", [Call("scale.tile", vector, f16)], 4.0 * n, "GB/s"),
        Row(3, "`softmax.tile`", [Call("softmax.tile", matrix)], 8.0 * m * k, "GB/s"),
        Row(
            3,
            "blocks of 4096: one block a row",
            [Call("softmax.tile", matrix, define(BLOCK=4096))],
            8.0 * m * k,
            "GB/s",
        ),
        Row(
            3,
            "`rows.tile`: each row is read once",
            [Call("rows.tile", matrix, define(BLOCK=4096))],
            8.0 * m * k,
            "GB/s",
        ),
        Row(
            4,
            "`matmul.tile` without `N % 8 == 0`",
            [Call("matmul.tile", square, f16, ALIGNED)],
            products,
            "TFLOP/s",
        ),
        Row(4, "with it", [Call("matmul.tile", square, f16)], products, "TFLOP/s"),
        Row(
            4,
            "tiles of 128 x 256 x 64, 8 warps",
            [Call("matmul.tile", square, f16 + large)],
            products,
            "TFLOP/s",
        ),
        Row(
            4,
            "the same without `grouped(8)`",
            [Call("matmul.tile", square, f16 + large, GROUPED)],
            products,
            "TFLOP/s",
        ),
        Row(
            5,
            "steps 4, 3 and 4 one after the other, scores in memory",
            alone * heads,
            scores,
            "TFLOP/s",
        ),
        Row(
            5, "`attention.tile`", [Call("attention.tile", tokens, f16 + scale)], scores, "TFLOP/s"
        ),
        Row(
            5,
            "128 queries and 128 keys at a time, 8 warps",
            [
                Call(
                    "attention.tile",
                    tokens,
                    f16 + scale + ["--with", "warps=8"] + define(BM=128, BN=128),
                )
            ],
            scores,
            "TFLOP/s",
        ),
    ]


def sources():
    """The files of the page, by name."""
    with open(PAGE, encoding="utf-8") as file:
        return dict(re.findall(r"^```tile (\S+)\n(.*?)^```", file.read(), re.M | re.S))


def measure(tilec, folder, call, text, device, rounds):
    """Median milliseconds of one call."""
    if call.without not in text:
        raise RuntimeError(f"{call.source} has no {call.without!r}")
    path = os.path.join(folder, call.source)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text.replace(call.without, "") if call.without else text)
    shape = ",".join(f"{name}={value}" for name, value in call.shape.items())
    line = [tilec, "run", path, *call.options, "--random", shape, "--device", device, "--time"]
    times = []
    for _ in range(rounds):
        done = subprocess.run(line, capture_output=True, text=True)
        found = re.search(r": ([0-9.e+-]+) ms \(median", done.stdout)
        if done.returncode or not found:
            raise RuntimeError(f"{' '.join(line)}: {(done.stderr or done.stdout).strip()}")
        times.append(float(found[1]))
    return statistics.median(times)


def measureAll(options):
    tilec = os.path.join(options.home, "bin", "tilec")
    texts, record, known = sources(), [], {}
    with tempfile.TemporaryDirectory(prefix="tile-tutorial-") as folder:
        for row in rows(options.quick):
            milliseconds = 0.0
            for call in row.calls:
                key = repr(call)
                if key not in known:
                    known[key] = measure(
                        tilec, folder, call, texts[call.source], options.device, options.rounds
                    )
                milliseconds += known[key]
            scale = 1e6 if row.unit == "GB/s" else 1e9
            rate = row.work / milliseconds / scale
            record.append(
                {
                    "step": row.step,
                    "what": row.what,
                    "shape": row.calls[0].shape if len(row.calls) == 1 else {},
                    "launches": len(row.calls),
                    "ms": round(milliseconds, 6),
                    "rate": round(rate, 4),
                    "unit": row.unit,
                }
            )
            print(f"{row.step}  {milliseconds:10.4f} ms  {rate:9.1f} {row.unit:8} {row.what}")
    return record


def deviceName(device):
    if device == "cpu":
        return f"the CPU ({platform.machine()})"
    call = ["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"]
    return subprocess.run(call, capture_output=True, text=True, check=True).stdout.split("\n")[0]


def digits(number):
    return f"{number:.{max(0, 2 - len(str(int(number))))}f}" if number < 100 else f"{number:.0f}"


def table(record, step):
    """The table of one step: times, rates, and how much faster than its first row."""
    chosen = [row for row in record["rows"] if row["step"] == step]
    gains = len(chosen) > 1
    lines = [
        f"What this step gains on one {record['device']} (`bench/results/tutorial.json`):",
        "",
        "| | ms | rate |" + (" times as fast |" if gains else ""),
        "|---|---|---|" + ("---|" if gains else ""),
    ]
    for row in chosen:
        gain = f" {chosen[0]['ms'] / row['ms']:.2f} |" if gains else ""
        lines.append(
            f"| {row['what']} | {row['ms']:.3f} | {digits(row['rate'])} {row['unit']} |{gain}"
        )
    return "\n".join(lines) + "\n"


def examplesTable():
    """The rates of the examples of LEADS, with the fastest of their peers."""
    with open(EXAMPLES, encoding="utf-8") as file:
        record = json.load(file)
    lines = [
        f"On one {record['machine']['gpu']} (`bench/results/gpu.json`):",
        "",
        "| step | example | shape | rate | fastest peer | ratio |",
        "|---|---|---|---|---|---|",
    ]
    for step, *item in LEADS:
        rates = {}
        for each in record["records"]:
            if [each[key] for key in ("op", "shape", "dtype")] == item and "rate" in each:
                rates[each["who"]] = max(each["rate"], rates.get(each["who"], 0))
        peers = [who for who in rates if who not in ("tile", "copy") and "plain" not in who]
        who = max(peers, key=rates.get)
        unit = "GB/s" if item[0] in ("vector_add", "softmax") else "TFLOP/s"
        cells = (
            step,
            f"`examples/{item[0]}`",
            f"{item[1]} {item[2]}",
            f"{digits(rates['tile'])} {unit}",
            f"{digits(rates[who])} ({PEERS.get(who, who)})",
            f"{rates['tile'] / rates[who]:.2f}",
        )
        lines.append(f"| {' | '.join(map(str, cells))} |")
    return "\n".join(lines) + "\n"


def filled(page, record):
    """The page with the records' tables between its marks; without a record of the steps, those of
    the steps as they are.
    """

    def fill(mark):
        if mark[2] != "0" and not record:
            return mark[0]
        made = table(record, int(mark[2])) if mark[2] != "0" else examplesTable()
        return f"{mark[1]}\n\n{made}\n{mark[3]}"

    return re.sub(r"(<!-- speed (\d) -->)\n.*?(<!-- end of speed -->)", fill, page, flags=re.S)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--home", default=os.environ.get("TILE_HOME") or os.path.join(ROOT, "build")
    )
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--rounds", type=int, default=3, help="processes of each call")
    parser.add_argument("--quick", action="store_true", help="small shapes, one round")
    parser.add_argument("--json", help="where the record goes (bench/results/tutorial.json)")
    parser.add_argument("--page", action="store_true", help="fill docs/Tutorial.md")
    parser.add_argument("--check", action="store_true", help="compare docs/Tutorial.md")
    options = parser.parse_args()
    if options.page or options.check:
        path, record = options.json or RECORD, None
        if options.json or os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                record = json.load(file)
        with open(PAGE, encoding="utf-8") as file:
            page = file.read()
        if options.page:
            with open(PAGE, "w", encoding="utf-8") as file:
                file.write(filled(page, record))
        elif filled(page, record) != page:
            print("docs/Tutorial.md differs from the record: bench/tutorial.py --page")
            return 1
        return 0
    if options.quick:
        options.rounds = 1
    record = {"device": deviceName(options.device), "rows": measureAll(options)}
    path = options.json or (None if options.quick else RECORD)
    if path:
        resultfile.save(path, record)
    return 0


if __name__ == "__main__":
    sys.exit(main())
