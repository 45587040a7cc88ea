"""What a dtype does not have must be refused, with a message of the type rules and not "not supported yet"."""
import os
import re
import subprocess
import tempfile

import coverage
from formats import NIBBLES
from harness import loadedDtype


def check(settings):
    """(refused as they should be, not refused)."""
    good = bad = 0
    for operation, dtype, text in coverage.refused():
        held, cast = loadedDtype(dtype)
        source = ["fn keepFirst(a, b) { return a; }", "kernel k(" + ", ".join(f"in_{n}: in {'bool' if n == 'm' else held}[4, 4]" for n in "abcm") + ") {"]
        for name in "abcm":
            source.append(f"  let {name} = in_{name}[0, at(0, 4)]{'' if name == 'm' else cast};")
            source += [f"  let {q}{rank} = {('m' if name == 'm' else name)}{'' if rank == 1 else '[None, :]' if rank == 2 else '[None, None, :]'};"
                       for q in {"a": "x", "b": "y", "m": "m"}.get(name, "") for rank in (1, 2, 3)]
        source += [f"  let r = {text};", "}"]
        with tempfile.TemporaryDirectory(prefix="tile-refusal-") as folder:
            path = os.path.join(folder, "k.tile")
            with open(path, "w", encoding="utf-8") as file:
                file.write("\n".join(source))
            done = subprocess.run([settings.tilec, path, "--emit", "tile"], capture_output=True, text=True, timeout=60)
        code = re.search(r"error: .*\[(E\d+)\]|error\[(E\d+)\]", done.stderr)
        wrong = "accepted" if done.returncode == 0 else None if done.returncode == 1 and "not supported yet" not in done.stderr else done.stderr[:300]
        if wrong:
            print(f"FAIL {operation} of {dtype} ({text}) should be refused: {wrong}")
        good, bad = good + (not wrong), bad + bool(wrong)
    return good, bad
