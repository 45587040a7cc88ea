"""Several compilations at once over one cache folder, some of them killed: cache_race.py FOLDER."""

import glob
import os
import subprocess
import sys

folder = sys.argv[1]


def start(out):
    return subprocess.Popen(
        ["tilec", "v.tile", "--target", "sm_80", "-o", out, "--cache", "race"], cwd=folder
    )


# Killed ones leave nothing that a later call could take for an entry.
for round in range(3):
    killed = start("killed.ptx")
    try:
        killed.wait(timeout=0.02 * (round + 1))
    except subprocess.TimeoutExpired:
        killed.kill()
        killed.wait()
running = [start(f"r{i}.ptx") for i in range(4)]
assert all(each.wait() == 0 for each in running)
results = {open(os.path.join(folder, f"r{i}.ptx"), "rb").read() for i in range(4)}
assert len(results) == 1
last = subprocess.run(
    ["tilec", "v.tile", "--target", "sm_80", "-o", "r0.ptx", "--cache", "race", "--explain-cache"],
    cwd=folder,
    capture_output=True,
    text=True,
)
assert "hit" in last.stderr, last.stderr
assert {open(os.path.join(folder, "r0.ptx"), "rb").read()} == results
assert len(glob.glob(os.path.join(folder, "race", "*.entry"))) == 1
