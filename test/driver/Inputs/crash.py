"""Provokes each kind of internal error and looks at what is left behind: crash.py, in a folder with
v.tile, tmp and none.
"""

import glob
import os
import re
import subprocess
import zipfile


def call(*words, tmp="tmp", code=70):
    done = subprocess.run(
        ["tilec", "v.tile", "--target", "sm_80", "-o", "v.ptx", *words],
        capture_output=True,
        text=True,
        env={**os.environ, "TMPDIR": os.path.abspath(tmp)},
    )
    assert done.returncode == code, (words, done.returncode, done.stderr)
    assert not os.path.exists("v.ptx"), "an output is there although the call failed"
    return done.stderr


for how, says in (
    ("memory", "tilec: internal error: bad memory access"),
    ("fatal", "tilec: internal error: asked for by --debug-crash"),
    ("exception", "tilec: internal error: asked for by --debug-crash"),
    ("verifier", "error: 'tile.kernel' op"),
):
    text = call("--debug-crash", how)
    assert text.count(says) == 1, text
    path = re.search(
        r"tilec: wrote '(.*/tmp/tile-repro-[0-9a-f]{12}\.zip)'; look through it before you pass"
        r" it on",
        text,
    ).group(1)
    assert glob.glob("tmp/*") == [os.path.relpath(path)], os.listdir("tmp")
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None
        assert (
            archive.read("command.txt").decode()
            == f"tilec 'v.tile' '--target' 'sm_80' '-o' 'v.ptx' '--debug-crash' '{how}'\n"
        ), archive.read("command.txt")
        assert says in archive.read("messages.txt").decode()
        assert archive.read("source/v.tile") == open("v.tile", "rb").read()
        assert (
            "stages/v.mlir" in archive.namelist() or "stages/v.tile.mlir" in archive.namelist()
        ), archive.namelist()
    # The same mistake again has the same name.
    assert f"tilec: wrote '{path}'" in call("--debug-crash", how)
    os.remove(path)

# Where --repro says; with several at once, too.
assert "tilec: wrote 'mine.zip'" in call("--debug-crash", "memory", "--repro", "mine.zip")
assert zipfile.is_zipfile("mine.zip") and not os.listdir("tmp")
# Which of them comes first differs from call to call: the others wait until it has packed.
for how in ("memory", "fatal", "exception") * 6:
    text = call("--target", "sm_80,sm_90a", "-j2", "-o", "v.tilepkg", "--debug-crash", how)
    assert text.count("tilec: internal error") == text.count("tilec: wrote") == 1, text
    assert len(os.listdir("tmp")) == 1, os.listdir("tmp")
    os.remove(glob.glob("tmp/*")[0])

# Where nothing can be written, it says so and how to go on; a source from standard input cannot be
# had again.
os.chmod("none", 0)
os.rmdir("none")
text = call("--debug-crash", "fatal", tmp="none")
assert "--repro FILE.zip packs both" in text and "wrote" not in text, text
piped = subprocess.run(
    ["tilec", "-", "--target", "sm_80", "--emit=ptx", "-o", "-", "--debug-crash", "fatal"],
    input=open("v.tile").read(),
    capture_output=True,
    text=True,
)
assert piped.returncode == 70 and "--repro FILE.zip packs both" in piped.stderr, piped
