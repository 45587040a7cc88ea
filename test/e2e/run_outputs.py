#!/usr/bin/env python3
"""What tilec writes for every example: each kind of output, silently, the same bytes twice, of a
size that does not depend on the tile's, with line info that leads back to the source and no path of
this machine.
"""

import argparse
import concurrent.futures
import os
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "examples"))
import case as cases  # noqa: E402


def definitions(name):
    """One instance of each example: what its first case says; of a dtype that is then still open,
    f32 or f16.
    """
    case = cases.module(name).CASES[0]
    chosen = {key: str(value) for key, value in case.definitions.items()}
    with open(os.path.join(ROOT, "examples", name, name + ".tile")) as stream:
        text = stream.read()
    if "T: dtype" in text and "T" not in chosen:
        chosen["T"] = "f32" if re.search(r"T: dtype in \{[^}]*f32", text) else "f16"
    if re.search(r"\bD: int", text):
        chosen.setdefault("D", "64")
    return [f"{key}={value}" for key, value in chosen.items()]


class Compiler:
    """tilec, in a folder that holds a copy of the examples."""

    def __init__(self, tilec, folder):
        self.tilec, self.folder = tilec, folder

    def __call__(self, name, out, defines, *more):
        """The bytes written; raises AssertionError where tilec fails or says anything but that
        registers spill.
        """
        line = [self.tilec, f"examples/{name}/{name}.tile", "-Wno-W0606", "-o", out, *more]
        for define in defines:
            line += ["-D", define]
        done = subprocess.run(
            line, cwd=self.folder, capture_output=True, text=True, errors="replace", timeout=180
        )
        assert done.returncode == 0, f"exit code {done.returncode}: " + "\n    ".join(
            done.stderr.splitlines()[:4]
        )
        assert not done.stdout and not done.stderr, (
            f"not silent: {(done.stdout + done.stderr)[:300]}"
        )
        with open(os.path.join(self.folder, out), "rb") as stream:
            data = stream.read()
        assert data, "an empty file"
        return data


def outputTest(compiler, name, kind, target):
    """Twice the same bytes, which look like what was asked for."""
    out = f"{name}-{target}.{kind}"
    options = [f"--emit={kind}", "--target", target]
    first = compiler(name, out, definitions(name), *options)
    again = compiler(name, out, definitions(name), *options)
    assert first == again, "the second run wrote other bytes"
    assert ROOT.encode() not in first and compiler.folder.encode() not in first, (
        "a path of this machine is in the output"
    )
    text = first.decode(errors="replace")
    if kind == "cubin":
        assert first.startswith(b"\x7fELF"), "no ELF file"
    elif kind == "ptx":
        assert re.search(r"^\.target " + target, text, re.M), "no .target of that name"
        assert ".visible .entry" in text, "no entry"
        assert ".loc" in text and f"{name}.tile" in text, "no line info that leads to the source"
    elif kind == "tile":
        assert "tile.kernel" in text, "no tile.kernel"
    elif kind == "llvm":
        assert "define" in text, "no function"
    if kind in ("ptx", "cubin"):
        assert os.path.exists(os.path.join(compiler.folder, out + ".json")), "no manifest"


def operations(text):
    """How many lines of a module define or are an operation."""
    return len(
        [line for line in text.splitlines() if re.match(r"\s+(%\S+.*=|[a-z_]+\.[a-z_.]+)", line)]
    )


def sizeTest(compiler, name, kind, small, large):
    """As many operations for large tiles as for small ones, but for a few."""
    counts = [
        operations(
            compiler(
                name,
                f"{name}-size{index}.{kind}",
                definitions(name) + sizes,
                f"--emit={kind}",
                "--target",
                "sm_90a",
            ).decode()
        )
        for index, sizes in enumerate((small, large))
    ]
    assert counts[0] > 5, f"only {counts[0]} operations"
    assert counts[1] <= 1.5 * counts[0] + 16, (
        f"{counts[0]} operations for {small}, {counts[1]} for {large}"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", default=os.path.join(ROOT, "build"))
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    tilec = os.path.abspath(os.path.join(options.build, "bin", "tilec"))
    ptxas = os.environ.get("TILE_PTXAS") or shutil.which("ptxas") or "/usr/local/cuda/bin/ptxas"
    kinds = ["ast", "tile", "tile-opt", "gpu", "llvm", "ptx"] + (
        ["cubin"] if os.access(ptxas, os.X_OK) else []
    )
    if "cubin" not in kinds:
        print("left out: cubins, since there is no ptxas")
    with tempfile.TemporaryDirectory(prefix="tile-outputs-") as folder:
        shutil.copytree(os.path.join(ROOT, "examples"), os.path.join(folder, "examples"))
        compiler = Compiler(tilec, folder)
        tests = [
            (
                f"{name} to {kind} for {target}",
                lambda n=name, k=kind, t=target: outputTest(compiler, n, k, t),
            )
            for name in cases.names()
            for kind in kinds
            for target in ("sm_90a", "sm_80")
            if target == "sm_90a" or kind in ("gpu", "ptx", "cubin")
        ]
        for kind in ("tile", "tile-opt", "gpu"):
            tests += [
                (
                    f"size of {name}'s {kind} stage",
                    lambda n=name, k=kind, s=small, l=large: sizeTest(compiler, n, k, s, l),
                )
                for name, small, large in (
                    ("matmul", ["BM=32", "BN=32", "BK=32"], ["BM=256", "BN=128", "BK=64"]),
                    # Blocks of 32 columns keep no tiles for the second loop.
                    ("softmax", ["BLOCK=256"], ["BLOCK=8192"]),
                    ("transpose", ["BM=32", "BN=32"], ["BM=256", "BN=256"]),
                )
            ]

        def run(test):
            try:
                return test[1]()
            except (AssertionError, subprocess.TimeoutExpired) as error:
                return str(error)

        failed = 0
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            for (name, _), wrong in zip(tests, pool.map(run, tests)):
                if wrong:
                    failed += 1
                    print(f"FAIL {name}\n    {wrong}", flush=True)
    print(f"{len(tests) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
