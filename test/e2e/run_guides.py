#!/usr/bin/env python3
"""Runs the commands and the blocks of Python of docs/guides/*.md as a user would, from an installed
copy of Tile; each must succeed and print what the guide shows. Those marked `# GPU` run with
--device cuda alone, and then with what stands before them; so do blocks that import PyTorch.
"""

import argparse
import ctypes
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import run_readme  # noqa: E402

ROOT = run_readme.ROOT


def commands(path):
    """[(command, [lines that it must print], whether it needs a GPU)] of one guide."""
    with open(path, encoding="utf-8") as stream:
        text = stream.read()
    gpu = [line.rstrip().endswith("# GPU") for line in text.splitlines() if line.startswith("$ ")]
    scripts = re.findall(r"^```python\n(.*?)^```", text, re.M | re.S)
    return [
        (command, lines, flag) for (command, lines), flag in zip(run_readme.commands(text), gpu)
    ] + [(f"python3 - <<'EOF'\n{script}EOF", [], "torch" in script) for script in scripts]


def driverFolder():
    """Where the loader finds libcuda.so.1, which need not be where a linker looks; "" where there
    is none.
    """
    try:
        ctypes.CDLL("libcuda.so.1")
    except OSError:
        return ""
    with open("/proc/self/maps", encoding="utf-8") as maps:
        return next(
            (os.path.dirname(line.split()[-1]) for line in maps if "libcuda.so" in line), ""
        )


def install(build, prefix):
    """A build folder as its users see it; a release already is."""
    if not os.path.exists(os.path.join(build, "CMakeCache.txt")):
        return os.path.abspath(build)
    subprocess.run(
        ["cmake", "--install", build, "--prefix", prefix], check=True, stdout=subprocess.DEVNULL
    )
    return prefix


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("guides", nargs="*", help="names of guides (all)")
    parser.add_argument(
        "--build",
        default=os.path.join(ROOT, "build"),
        help="the build folder, or an unpacked release",
    )
    parser.add_argument("--device", default="cpu", choices=["cpu", "cuda"])
    parser.add_argument("--python", default=sys.executable, help="for cuda: one that has PyTorch")
    options = parser.parse_args()
    folder = os.path.join(ROOT, "docs", "guides")
    guides = [name + ".md" for name in options.guides] or sorted(
        f for f in os.listdir(folder) if f.endswith(".md")
    )
    passed = failed = 0
    with tempfile.TemporaryDirectory(prefix="tile-guides-") as scratch:
        prefix = install(options.build, os.path.join(scratch, "prefix"))
        environment = dict(
            os.environ,
            TILE_PREFIX=prefix,
            PATH=os.path.join(prefix, "bin") + os.pathsep + os.environ["PATH"],
            PYTHONPATH=os.path.join(prefix, "python"),
            LD_LIBRARY_PATH=os.path.join(prefix, "lib"),
            XDG_CACHE_HOME=os.path.join(scratch, "cache"),
            PKG_CONFIG_PATH=os.path.join(prefix, "lib", "pkgconfig"),
        )
        environment.pop("TILE_RUNTIME_LIB", None)
        if options.device == "cuda":
            environment["LIBRARY_PATH"] = (
                driverFolder() + os.pathsep + environment.get("LIBRARY_PATH", "")
            )
        for guide in guides:
            work = os.path.join(scratch, guide)
            os.makedirs(work)
            for example in ("deploy", "softmax", "softmax_backward"):
                shutil.copytree(
                    os.path.join(ROOT, "examples", example), os.path.join(work, "examples", example)
                )
            absent = False
            for command, expected, needsGpu in commands(os.path.join(folder, guide)):
                if needsGpu and options.device == "cpu":
                    continue
                if "import jax" in command and importlib.util.find_spec("jax") is None:
                    print(f"left out, needs JAX: a block of {guide}")
                    continue
                missing = [
                    tool
                    for tool in ("cmake", "gcc", "g++", "pkg-config", "parallel")
                    if tool in command and not shutil.which(tool)
                ]
                builds = not re.match(r"(\w+=\S+ )*\./", command)
                absent = bool(missing) if builds else absent  # what was not built does not run
                if absent:
                    print(f"left out, there is no {', '.join(missing) or 'program'}: {command}")
                    continue
                command = (
                    command.replace("python3 ", options.python + " ", 1)
                    if command.startswith("python3 ")
                    else command
                )
                done = subprocess.run(
                    ["bash", "-c", command],
                    cwd=work,
                    capture_output=True,
                    text=True,
                    timeout=600,
                    env=environment,
                )
                missing = [line for line in expected if line not in done.stdout + done.stderr]
                if done.returncode or missing:
                    failed += 1
                    print(
                        f"FAIL {guide}: {command}\n    exit code {done.returncode}; not printed:"
                        f" {missing}\n    " + (done.stdout + done.stderr).strip()[-800:]
                    )
                else:
                    passed += 1
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
