"""The wheel for 64-bit ARM under qemu's emulation of programs: check_aarch64.py WHEEL ROOT TILEC
WORK. WHEEL is the unpacked wheel, ROOT a root folder for the emulated programs (its C library and
Python), TILEC this machine's compiler, WORK a folder that is made.
"""

import glob
import os
import re
import subprocess
import sys

QEMU = "qemu-aarch64-static"
HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
SECONDS = 1200  # for one call: emulation takes ten times as long, on a loaded machine more
TOGETHER = 8  # files in one call: code of the compiler that was translated once serves them all
CASES = 2  # of each example

# What Python does with the emulated wheel: the module in C is there, and a kernel compiled to a
# package runs on the emulated CPU. Without NumPy, whose wheel would be another one to fetch.
PROGRAM = """
import array, platform, sys
assert platform.machine() == "aarch64"
sys.path.insert(0, sys.argv[1])
import tile_compiler as tile
from tile_compiler import _library
assert _library.native is not None, "the module in C is not loaded"
class Vector:
    def __init__(self, values):
        self.values = array.array("f", values)
        data = (self.values.buffer_info()[0], False)
        self.__array_interface__ = dict(shape=(len(values),), typestr="<f4", data=data, version=3)
kernel = tile.compile('''
kernel twice(x: in f32[N], y: out f32[N]) grid (i: cdiv(N, 64)) {
  let n = block(i, 64);
  y[n] = x[n] * 2.0;
}
''')
x, y = Vector(range(1000)), Vector([0] * 1000)
kernel(x, y)
assert list(y.values) == [2.0 * value for value in x.values]
print("right")
"""


def run(words, **more):
    done = subprocess.run(words, capture_output=True, text=True, timeout=SECONDS, **more)
    assert done.returncode == 0, f"{' '.join(words)}: {done.stderr.strip() or done.stdout.strip()}"
    return done.stdout


def comparePtx(emulated, native):
    """Every example, as it stands, for a GPU of each kind of matrix instructions."""
    files = sorted(glob.glob(os.path.join(SOURCE, "examples", "*", "*.tile")))
    for target in ("sm_80", "sm_90a"):
        for at in range(0, len(files), TOGETHER):
            words = [*files[at : at + TOGETHER], "--target", target, "--emit=ptx"]
            here, there = run([native, *words]), run([emulated, *words])
            assert here == there and here, f"other PTX for {target} of one of {words[:-3]}"
            print(f"{target}: {at + len(words) - 3} of {len(files)} the same", flush=True)
    return len(files)


def main(wheel, root, native, work):
    os.makedirs(os.path.join(work, "bin"))
    os.chmod(os.path.join(wheel, "tile_compiler", "bin", "tilec"), 0o755)
    emulated = os.path.join(work, "bin", "tilec")
    program = os.path.join(os.path.abspath(wheel), "tile_compiler", "bin", "tilec")
    with open(emulated, "w", encoding="utf-8") as file:
        file.write(f'#!/bin/sh\nexec {QEMU} -L {os.path.abspath(root)} {program} "$@"\n')
    os.chmod(emulated, 0o755)

    print(f"the same PTX of {comparePtx(emulated, native)} examples", flush=True)

    examples = os.path.join(SOURCE, "test", "e2e", "run_examples.py")
    words = [sys.executable, examples, "--build", work, "--timeout", str(SECONDS)]
    words += ["--first", str(CASES), "--jobs", "1"]
    said = subprocess.run(words, capture_output=True, text=True)
    count = re.search(r"^(\d+) passed, 0 failed$", said.stdout, re.MULTILINE)
    assert said.returncode == 0 and count, said.stdout + said.stderr
    print(f"{count.group(1)} cases right on the emulated CPU")

    python = glob.glob(os.path.join(root, "usr", "bin", "python3.[0-9]*"))[0]
    settings = {"TILEC": emulated, "XDG_CACHE_HOME": os.path.join(work, "cache")}
    words = [QEMU, "-L", root, "-E", f"PYTHONHOME={os.path.join(root, 'usr')}", python]
    said = run([*words, "-c", PROGRAM, wheel], env={**os.environ, **settings})
    print(f"Python and its module in C: {said.strip()}")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
