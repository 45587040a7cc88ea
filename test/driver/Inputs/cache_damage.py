"""Damages every entry of a compile cache in several ways; the compiler must compile again:
cache_damage.py FOLDER.
"""

import glob
import os
import subprocess
import sys

folder = sys.argv[1]
cache = os.path.join(folder, "damaged")
command = [
    "tilec",
    "v.tile",
    "--target",
    "sm_80",
    "-o",
    "d.ptx",
    "--cache",
    "damaged",
    "--explain-cache",
]


def compileOnce():
    run = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return open(os.path.join(folder, "d.ptx"), "rb").read(), run.stderr


good, _ = compileOnce()
for name, damage in {
    "cut": lambda b: b[: len(b) // 2],
    "empty": lambda b: b"",
    "flipped": lambda b: b[:200] + bytes([b[200] ^ 1]) + b[201:],
    "other": lambda b: b"nonsense" * 99,
}.items():
    entries = glob.glob(os.path.join(cache, "*.entry"))
    assert len(entries) == 1, entries
    for path in entries:
        content = open(path, "rb").read()
        open(path, "wb").write(damage(content))
    again, messages = compileOnce()
    assert again == good, name
    assert "its entry is damaged" in messages, (name, messages)
    again, messages = compileOnce()
    assert again == good and "hit" in messages, (name, messages)
for path in glob.glob(os.path.join(cache, "*.deps")):
    open(path, "w").write("no hash at all\n\n\0")
again, messages = compileOnce()
assert again == good and "miss" in messages, messages
assert not glob.glob(os.path.join(cache, "*.tmp")), "temporary files are left"
