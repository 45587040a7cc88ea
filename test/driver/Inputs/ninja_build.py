"""Builds three packages with ninja, at one job and at four, then again after a change:
ninja_build.py FOLDER SOURCE EXAMPLES.
"""

import os
import shutil
import subprocess
import sys

folder, source, examples = sys.argv[1:]
RULES = """rule tile
  command = tilec $in --target sm_80,cpu -Wno-W0751 -j2 -o $out -MD -MF $out.d
  depfile = $out.d
  deps = gcc
"""


def ninja(where, *options):
    done = subprocess.run(["ninja", "-C", where, *options], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


results = []
for jobs in ("1", "4"):
    where = os.path.join(folder, jobs)
    os.mkdir(where)
    shutil.copy(source, os.path.join(where, "variants.tile"))
    for name in ("saxpy", "row_sum"):
        shutil.copy(os.path.join(examples, name, name + ".tile"), where)
    with open(os.path.join(where, "build.ninja"), "w") as file:
        file.write(
            RULES
            + "".join(
                f"build {name}.tilepkg: tile {name}.tile\n"
                for name in ("variants", "saxpy", "row_sum")
            )
        )
    ninja(where, "-j", jobs)
    assert "no work to do" in ninja(where)
    results.append(
        [
            open(os.path.join(where, name + ".tilepkg"), "rb").read()
            for name in ("variants", "saxpy", "row_sum")
        ]
    )
    with open(os.path.join(where, "saxpy.tile"), "a") as file:
        file.write("// changed\n")
    assert "[1/1]" in ninja(where), "one package is built again"
assert results[0] == results[1]
