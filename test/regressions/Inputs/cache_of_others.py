"""cache_of_others.py FOLDER: what a compile cache may say, who may write to it, and which files a
hit depends on.
"""

import glob
import hashlib
import os
import stat
import subprocess
import sys
import zipfile

os.chdir(sys.argv[1])
open("k.tile", "w").write(
    'import "scale.tile";\n'
    "kernel k(x: in f32[N], y: out f32[N]) grid (i: cdiv(N, 64)) {\n  let n = block(i, 64);\n"
    "  y[n] = x[n] * FACTOR;\n}\n"
)
for folder in ("first", "second"):
    os.mkdir(folder)
open("second/scale.tile", "w").write("const FACTOR = 2.0;\n")
CALL = [
    "tilec",
    "k.tile",
    "--target",
    "sm_90a",
    "--emit",
    "ptx",
    "-I",
    "first",
    "-I",
    "second",
    "--cache",
    "c",
    "-o",
    "k.ptx",
]


def compile(expected, code=0):
    done = subprocess.run(CALL + ["--explain-cache"], capture_output=True, text=True)
    assert done.returncode == code, done
    assert expected in done.stderr, done.stderr
    return done.stderr


def change(edit):
    """Writes the entry anew."""
    with zipfile.ZipFile(path) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    edit(files)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)


compile("miss: nothing of that name")
compile("hit")
(path,) = glob.glob("c/*.entry")
good = open(path, "rb").read()
ptx = open("k.ptx", "rb").read()


def more(files):
    files["out.sh"] = b"#!/bin/sh\n"
    files["names"] += hashlib.sha256(files["out.sh"]).hexdigest().encode() + b" out.sh\n"


def short(files):
    files.clear()
    files.update(names=b"a\n", a=b"x")


def other(files):
    files["out"] = files["out"].replace(b"ret;", b"trap;")


for edit in (more, short, other):
    open(path, "wb").write(good)
    change(edit)
    compile("miss: its entry is damaged")
    assert open("k.ptx", "rb").read() == ptx and not os.path.exists("k.ptx.sh"), edit

# Files and folders to which everybody can write are nobody's.
compile("hit")
os.chmod(path, 0o666)
compile("miss: its entry was removed")
os.chmod("c", 0o777)
assert "hit" not in compile(
    "warning: the cache folder 'c' is not used: everybody can write to it: chmod o-w [W0610]"
)
os.chmod("c", 0o755)
compile("hit")
assert not stat.S_IMODE(os.stat(glob.glob("c/*.entry")[0]).st_mode) & 0o022

# -I first comes before -I second.
open("first/scale.tile", "w").write("const FACTOR = 3.0;\n")
compile("miss: 'first/scale.tile', where it looked for an import in vain, is there now")
assert open("k.ptx", "rb").read() != ptx
compile("hit")
