"""What the rows of the checklist are tried with: a folder for each, commands, programs in
Python.
"""

import json
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
ROWS = {}

TWO = """kernel add(x: in f32[N], y: in f32[N], z: out f32[N])
  where N in 1..=65536 opt 1024
  grid (i: cdiv(N, 256))
{
  let n = block(i, 256);
  z[n] = x[n] + y[n];
}

kernel twice(x: in f32[N], y: out f32[N])
  where N in 1..=65536 opt 1024
  grid (i: cdiv(N, 256))
{
  let n = block(i, 256);
  y[n] = x[n] + x[n];
}
"""
HEAD = "(x: in f32[N], y: out f32[N]) where N in 1..=65536 opt 1024 grid (i: cdiv(N, 256)) "
BODY = "{ let n = block(i, 256); y[n] = x[n]; }\n"


class Failed(Exception):
    pass


def row(number):
    def add(function):
        ROWS[number] = function
        return function

    return add


class Try:
    """A folder for one row, and the commands that a row runs in it."""

    def __init__(self, build, folder):
        self.build, self.folder = build, folder
        self.compiler = os.path.join(build, "bin", "tilec")

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as file:
            file.write(text)
        return name

    def run(self, *words, code=0, env=None, stdin=None):
        done = subprocess.run(
            [str(word) for word in words],
            cwd=self.folder,
            capture_output=True,
            text=True,
            input=stdin,
            env={**os.environ, "NO_COLOR": "1", **(env or {})},
        )
        out = done.stdout + done.stderr
        if done.returncode != code:
            raise Failed(
                f"exit code {done.returncode}, expected {code}: {' '.join(map(str, words[1:]))}:"
                f" {out.strip()[:300]}"
            )
        return out

    def tilec(self, *words, code=0, env=None, stdin=None):
        return self.run(self.compiler, *words, code=code, env=env, stdin=stdin)

    def refuse(self, text, *words, code=1):
        out = self.tilec(*words, code=code)
        if text not in out:
            raise Failed(f"'{text}' is not in: {out.strip()[:300]}")
        return next(line.strip() for line in out.splitlines() if text.splitlines()[0][:20] in line)

    def python(self, text, fake=False):
        """A program with the module `tile_compiler` and NumPy; what it prints."""
        env = {
            "TILE_RUNTIME_LIB": os.path.join(self.build, "lib", "libtile_runtime.so"),
            "PYTHONPATH": os.path.join(ROOT, "python"),
        }
        if fake:
            env["TILE_LIBCUDA"] = os.path.join(self.build, "lib", "libTileFakeCuda.so")
        return self.run(
            sys.executable, "-c", "import numpy, tile_compiler as tile, os, sys\n" + text, env=env
        )

    def read(self, name):
        with open(os.path.join(self.folder, name), errors="replace") as file:
            return file.read()

    def manifest(self, name):
        return json.loads(self.read(name))["kernels"]


def want(condition, evidence):
    if not condition:
        raise Failed("not so: " + evidence)
    return evidence


def example(name):
    return os.path.join(ROOT, "examples", name, name + ".tile")


def error(number, source, text, *options):
    """A row that is an error of the source."""

    @row(number)
    def check(t):
        t.write("k.tile", source)
        return t.refuse(text, "k.tile", "--emit=tile", "-o", "-", *options)


def wrongCall(number, program, text, source=TWO):
    """A row that is an error of a launch."""

    @row(number)
    def check(t):
        t.write("k.tile", source)
        t.tilec("k.tile", "--target", "cpu", "-o", "k.tilepkg")
        out = t.python(f"""
k = tile.load("k.tilepkg")
a = lambda *shape, dtype="f4": numpy.zeros(shape, dtype)
try:
    {program}
except (tile.Error, TypeError) as e:
    print(e)
else:
    raise SystemExit("it was taken")""")
        return want(text in out, out.strip())
