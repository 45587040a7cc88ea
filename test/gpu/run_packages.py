"""Packages on a GPU: variants by M, code by device, PTX where there is no cubin, pinned variants;
numbers against PyTorch.

With --bench: the decode and prefill variants of one package beside builds for exactly these shapes.
TILE_HOME: a build or a release.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile

import torch

HOME = os.environ.get("TILE_HOME", "build")
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(
    0,
    (
        os.path.join(HOME, "python")
        if os.path.isdir(os.path.join(HOME, "python"))
        else os.path.join(ROOT, "python")
    ),
)
import tile_compiler as tile  # noqa: E402

MATMUL = os.path.join(ROOT, "examples", "matmul", "matmul.tile")
VARIANTS = [
    "--variant",
    "decode:M=1..=16:8,BM=64,BN=64",
    "--variant",
    "prefill:M=17..=65536:4096,K%64",
]
passed = failed = 0


def expect(good, what):
    global passed, failed
    passed, failed = passed + bool(good), failed + (not good)
    if not good:
        print("FAILED", what)


def build(folder, name, *options):
    path = os.path.join(folder, name + ".tilepkg")
    subprocess.run(
        [
            os.path.join(HOME, "bin", "tilec"),
            MATMUL,
            "-D",
            "T=f16",
            *options,
            "-Wno-W0751",
            "-o",
            path,
        ],
        check=True,
    )
    return path


def product(m, n, k, seed=0):
    torch.manual_seed(seed)
    a = torch.randn(m, k, device="cuda", dtype=torch.float16)
    b = torch.randn(k, n, device="cuda", dtype=torch.float16)
    return a, b, torch.empty(m, n, device="cuda", dtype=torch.float16)


def isRight(kernel, m, n, k):
    a, b, c = product(m, n, k)
    kernel(a, b, c)
    want = a.float() @ b.float()
    return bool(((c.float() - want).abs() <= 2e-3 * want.abs() + 2e-2 * k**0.5 / 16).all())


def message(call):
    try:
        call()
    except tile.Error as error:
        return str(error)
    return ""


def check(folder):
    path = build(folder, "all", "--target", "sm_80,sm_90a,cpu", *VARIANTS)
    module = tile.load(path)
    os.remove(path)  # not needed any more
    kernel = module["matmul"]
    for m in (1, 8, 16, 17, 64, 100, 129, 1000):
        for k in (320, 72):  # 72 is no multiple of 64: the generic variant
            expect(isRight(kernel, m, 512, k), f"matmul {m} x 512 x {k}")
    decode = module["matmul:decode"]
    expect(isRight(decode, 16, 256, 128), "the pinned variant")
    text = message(lambda: decode(*product(17, 256, 128)))
    expect("M = 17" in text, f"a pinned variant out of its range: {text}")
    expect(
        isRight(tile.load(build(folder, "ptx", "--target", "sm_80"))["matmul"], 100, 256, 128),
        "PTX of an older target",
    )
    major, minor = torch.cuda.get_device_capability()
    foreign = "sm_100a" if (major, minor) != (10, 0) else "sm_90a"
    text = message(
        lambda: tile.load(build(folder, "foreign", "--target", foreign))["matmul"](
            *product(8, 64, 64)
        )
    )
    expect(
        f"is compiled for {foreign}, but the device is sm_{major}{minor}" in text,
        f"a foreign target: {text}",
    )
    text = message(
        lambda: tile.load(
            build(folder, "few", "--target", f"sm_80,sm_90a", "--no-generic", *VARIANTS)
        )["matmul"](*product(17, 64, 72))
    )
    expect("no variant takes" in text and "K%64" in text, f"no variant: {text}")


def milliseconds(call, rounds=20, calls=50):
    times = []
    for _ in range(rounds):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        for _ in range(calls):
            call()
        end.record()
        torch.cuda.synchronize()
        times.append(begin.elapsed_time(end) / calls)
    return statistics.median(times)


def bench(folder):
    """Graphs of 50 launches, so that the host's time does not count."""
    package = tile.load(build(folder, "bench", "--target", "sm_90a", *VARIANTS))
    for m, define in ((8, ["-D", "BM=64", "-D", "BN=64"]), (4096, [])):
        exact = tile.load(
            build(
                folder,
                f"exact{m}",
                "--target",
                "sm_90a",
                "--arg",
                f"M={m}",
                "--arg",
                "N=4096",
                "--arg",
                "K=4096",
                *define,
            )
        )
        a, b, c = product(m, 4096, 4096)
        times = []
        for kernel in (package["matmul"], exact["matmul"]):
            kernel(a, b, c)
            torch.cuda.synchronize()
            stream = torch.cuda.Stream()
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph, stream=stream):
                for _ in range(50):
                    kernel(a, b, c)
            times.append(milliseconds(graph.replay, 20, 4) / 50)
        print(
            f"M = {m}: package {times[0] * 1000:.2f} us, build for the shape {times[1] * 1000:.2f}"
            f" us, ratio {times[0] / times[1]:.3f}"
        )


parser = argparse.ArgumentParser(
    description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
)
parser.add_argument("--bench", action="store_true")
options = parser.parse_args()
with tempfile.TemporaryDirectory() as folder:
    check(folder)
    if options.bench:
        bench(folder)
print(f"{passed} passed, {failed} failed")
sys.exit(failed > 0)
