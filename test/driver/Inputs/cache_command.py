"""A cache command, and its use by tilec: hits, misses, failures, concurrent calls. cache_command.py
FOLDER, in which v.tile lies; as the command itself: cache_command.py STORE get|put NAME FILE.
"""

import os
import shutil
import subprocess
import sys
import time

STORE = {
    "get": lambda store, name, path: shutil.copy(os.path.join(store, name), path),
    "put": lambda store, name, path: (
        shutil.copy(path, os.path.join(store, f"{name}.{os.getpid()}")),
        os.replace(os.path.join(store, f"{name}.{os.getpid()}"), os.path.join(store, name)),
    ),
}
if len(sys.argv) == 5:
    store, verb, name, path = sys.argv[1:]
    with open(os.path.join(store, "..", "log"), "a") as log:
        log.write(f"{verb} {name}\n")
    try:
        STORE[verb](store, name, path)
    except FileNotFoundError:
        sys.exit(1)
    sys.exit(0)

folder = sys.argv[1]
os.chdir(folder)
os.mkdir("store")
command = f"{sys.executable} '{os.path.abspath(__file__)}' '{os.path.abspath('store')}'"


def compile(*words, command=command, source="v.tile", code=0):
    """What tilec says on standard error; the bytes that it wrote."""
    for name in ("v.ptx", "v.ptx.json"):
        if os.path.exists(name):
            os.remove(name)
    done = subprocess.run(
        ["tilec", source, "--target", "sm_80", "-o", "v.ptx", "--explain-cache", *words],
        capture_output=True,
        text=True,
        env={**os.environ, "TILE_CACHE_COMMAND": command},
    )
    assert done.returncode == code, done.stderr
    return done.stderr, code or open("v.ptx", "rb").read() + open("v.ptx.json", "rb").read()


def log():
    lines = open("log").read().splitlines() if os.path.exists("log") else []
    open("log", "w").close()
    return [line.split()[0] for line in lines]


# First nobody has it; then another machine, which has no folder of its own, gets it, with the same
# bytes.
text, first = compile()
assert (
    "miss: nothing of that name has been compiled before; nor does the cache command have it"
    in text
), text
assert log() == ["get", "put", "put"]
text, bytes = compile()
assert " by the cache command" in text and "hit" in text and bytes == first, text
assert log() == ["get", "get"]

# With a folder, too, what has come once is not asked for again.
assert " by the cache command" in compile("--cache", "near")[0] and log() == ["get", "get"]
text, bytes = compile("--cache", "near")
assert "hit" in text and "by the cache command" not in text and bytes == first and log() == [], text

# Another source, or other flags, are another result.
assert "miss" in compile("-O1")[0]
with open("w.tile", "w") as file:
    file.write(open("v.tile").read() + "// more\n")
assert "miss" in compile(source="w.tile")[0]
log()

# A damaged store costs a compilation.
for name in os.listdir("store"):
    if name.endswith(".entry"):
        with open(os.path.join("store", name), "r+b") as file:
            file.truncate(40)
text, bytes = compile()
assert "miss: its entry is damaged" in text and bytes == first, text
assert "by the cache command" in compile()[0]

# A command that fails is a warning, asked once; the result is there, and the folder keeps it.
for broken, says in (
    (f"{sys.executable} -c 'import sys; sys.exit(3)'", "get' ended with exit code 3"),
    ("/nothing/there", "'/nothing/there' is no program that can be run"),
    (f"{sys.executable} -c 'import os; os.abort()'", "get' failed: "),
):
    shutil.rmtree("far", ignore_errors=True)
    text, bytes = compile("--cache", "far", command=broken)
    assert (
        "warning: the cache command helps no more in this call" in text
        and says in text
        and text.count("warning") == 1
        and "[W0604]" in text
    ), text
    assert bytes == first
    assert "warning" not in compile("--cache", "far", "-Wno-W0604", command=broken)[0]
assert "hit" in compile("--cache", "far", command="/nothing/there")[0], (
    "the folder has it, and the command is not needed"
)
assert "error" in compile("-Werror", command="/nothing/there", code=1)[0] and not os.path.exists(
    "v.ptx"
)
# One that gets but cannot put.
text, bytes = compile("-O2", command=f"{sys.executable} -c 'import sys; sys.exit(1)'")
assert "put' ended with exit code 1" in text, text

# Many at once on an empty store: each has the right bytes, and the store serves the next.
shutil.rmtree("store")
os.mkdir("store")
running = [
    subprocess.Popen(
        ["tilec", "v.tile", "--target", "sm_80", "-o", f"r{i}.ptx", "--cache-command", command],
        stderr=subprocess.PIPE,
    )
    for i in range(4)
]
assert all(each.wait() == 0 and not each.stderr.read() for each in running)
assert len({open(f"r{i}.ptx", "rb").read() for i in range(4)}) == 1
assert "by the cache command" in compile()[0]
