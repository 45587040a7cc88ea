#!/usr/bin/env python3
"""Deletes each error that launch/core returns, one at a time, and says which tests notice.

  mutations.py [--build FOLDER] [--only TEXT]

A deletion has to change what test/deploy/Inputs/wrong_calls.py prints in both ways of launching: by
generated C, whose text of the core is patched and compiled again, and by the runtime library from
Python, which is linked again with the patched file. Prints a line for each: file, line, error, C,
Python. Exit code 1 where one is not noticed. For people: it takes some minutes. Needs a build of
tilec, tile_runtime and TileFakeCuda.
"""

import argparse
import concurrent.futures
import os
import re
import shlex
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CORE = os.path.join(ROOT, "launch", "core")
FILES = ("Check.c", "Memory.c", "Select.c", "Fill.c", "Map.c", "Start.c")
ERROR = re.compile(
    r"return [^;]*?\b(?:tk_fail|tk_dim_error|tk_stride_error|TILE_ERROR_\w+)\b[^;]*;"
)
CALLS = os.path.join(ROOT, "test", "deploy", "Inputs", "wrong_calls.py")
FAKE = os.path.join(ROOT, "test", "unit", "runtime", "FakeCuda.c")
# Binaries: name, arguments of tilec, what wrong_calls.py does with it, functions that its driver
# lacks.
BINARIES = (
    ("checks", ["test/deploy/Inputs/checks.tile"], [], []),
    (
        "var",
        [
            "examples/softmax/softmax.tile",
            "-D",
            "BLOCK=1024",
            "--target",
            "sm_80",
            "--variant",
            "short:N=1..=1024:512",
        ],
        ["variant"],
        [],
    ),
    ("mm", ["examples/matmul/matmul.tile", "-D", "T=f16", "--config", "cluster=2"], ["driver"], []),
    ("mm", None, ["driver"], ["cuPointerGetAttribute", "cuTensorMapEncodeTiled"]),
    ("mm", None, ["driver"], ["cuLaunchKernelEx"]),
)


def run(command, **named):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, **named).stdout


def delete(text, match):
    """The text without that return; where a function ends with it, it returns that all is well."""
    isLast = text[match.end() :].startswith("\n}")
    return text[: match.start()] + ("return TILE_OK;" if isLast else ";") + text[match.end() :]


class Bench:
    """Compiles and runs the wrong calls, as they are and with a change to a file of the core."""

    def __init__(self, build, folder):
        self.build, self.folder = build, folder
        for name, arguments, _, _ in BINARIES:
            for suffix in ("c", "ptx") if arguments else ():
                run(
                    [os.path.join(build, "bin", "tilec")]
                    + arguments
                    + ["--emit=ptx", "-o", f"{folder}/{name}.{suffix}"],
                    cwd=ROOT,
                )
        for number, (_, _, _, lacking) in enumerate(BINARIES):
            run(
                ["cc", "-shared", "-fPIC", "-w"]
                + [f"-D{name}=without_{name}" for name in lacking]
                + [FAKE, "-o", f"{folder}/driver{number}.so"]
            )
        commands = run(
            ["ninja", "-C", build, "-t", "commands", "tile_runtime"], cwd=ROOT
        ).splitlines()
        self.compile = {
            each: next(line for line in commands if f"-c {CORE}/{each}" in line) for each in FILES
        }
        self.link = next(
            line for line in reversed(commands) if " -shared " in line and "libtile_runtime" in line
        )

    def call(self, arguments, number, environment):
        """What the calls print; how the program ended where it did not come to its end."""
        done = subprocess.run(
            [sys.executable, CALLS] + arguments + BINARIES[number][2],
            capture_output=True,
            text=True,
            timeout=300,
            env=dict(os.environ, TILE_LIBCUDA=f"{self.folder}/driver{number}.so", **environment),
            check=False,
        )
        return done.stdout + (f"ended with {done.returncode}" if done.returncode else "")

    def byC(self, name="", old="", new=""):
        results = []
        with tempfile.TemporaryDirectory() as folder:
            for number, (binary, arguments, _, _) in enumerate(BINARIES):
                if arguments:
                    with open(f"{self.folder}/{binary}.c", encoding="utf-8") as stream:
                        text = stream.read()
                    if old:
                        assert text.count(old) == 1, (
                            f"generated C does not carry {name} as it is: build first"
                        )
                        text = text.replace(old, new)
                    with open(f"{folder}/{binary}.c", "w", encoding="utf-8") as stream:
                        stream.write(text)
                    run(
                        [
                            "cc",
                            "-std=c11",
                            "-w",
                            "-shared",
                            "-fPIC",
                            f"{folder}/{binary}.c",
                            "-o",
                            f"{folder}/{binary}.so",
                        ]
                    )
                results.append(self.call([f"{folder}/{binary}.so", binary], number, {}))
        return results

    def byPython(self, name="", old="", new=""):
        with tempfile.TemporaryDirectory() as folder:
            library = f"{folder}/libtile_runtime.so"
            link = re.sub(r"-o lib/libtile_runtime\S*", f"-o {library}", self.link).split(" && ")[1]
            if name:
                with open(f"{folder}/{name}", "w", encoding="utf-8") as stream:
                    stream.write(new)
                command = self.compile[name].replace(f"-c {CORE}/{name}", f"-c {folder}/{name}")
                made = re.search(r"-o (\S+\.o)", command).group(1)
                command = re.sub(r"-M[TF] \S+|-MD", "", command).replace(made, f"{folder}/{name}.o")
                run(shlex.split(command) + ["-w"], cwd=self.build)
                link = link.replace(made, f"{folder}/{name}.o")
            run(shlex.split(link), cwd=self.build)
            return [
                self.call([f"{self.folder}/{binary}.ptx"], number, {"TILE_RUNTIME_LIB": library})
                for number, (binary, _, _, _) in enumerate(BINARIES)
            ]


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("--build", default=os.path.join(ROOT, "build"))
    parser.add_argument(
        "--only", default="", help="deletions whose line in the output has this text"
    )
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args()
    sites = []
    for name in FILES:
        with open(os.path.join(CORE, name), encoding="utf-8") as stream:
            text = stream.read()
        for match in ERROR.finditer(text):
            place = f"{name}:{text.count(chr(10), 0, match.start()) + 1}"
            sites.append((place, name, text, delete(text, match), " ".join(match.group(0).split())))
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(os.path.abspath(options.build), folder)
        right = bench.byC(), bench.byPython()
        assert right[0] == right[1], "generated C and the library differ before anything is deleted"

        def check(site):
            place, name, text, mutant, what = site
            # Includes of the core are left out of generated C.
            old, new = (
                re.sub(r'#include "(launch/core|runtime/include)/[^\n]*\n', "", each)
                for each in (text, mutant)
            )
            return (
                place,
                what,
                bench.byC(name, old, new) != right[0],
                bench.byPython(name, text, mutant) != right[1],
            )

        chosen = [site for site in sites if options.only in f"{site[0]} {site[4]}"]
        missed = 0
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            for place, what, inC, inPython in pool.map(check, chosen):
                missed += not inC or not inPython
                print(
                    f"{place:14} {'C' if inC else '-'} {'Python' if inPython else '-':6}  {what}",
                    flush=True,
                )
    print(f"{len(chosen)} errors deleted one at a time, {missed} not noticed")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
