"""What a dtype does not have must be refused, with a message of the type rules and not "not
supported yet".
"""

import os
import re
import subprocess
import tempfile

import coverage
from harness import loadedDtype


def kernelText(number, dtype, text):
    """One kernel, on one line, that writes the refused expression down."""
    held, cast = loadedDtype(dtype)
    words = [
        f"kernel k{number}("
        + ", ".join(f"in_{n}: in {'bool' if n == 'm' else held}[4, 4]" for n in "abcm")
        + ") {"
    ]
    for name in "abcm":
        words.append(f"let {name} = in_{name}[0, at(0, 4)]{'' if name == 'm' else cast};")
        operand = {"a": "x", "b": "y", "m": "m"}.get(name)
        words += [
            f"let {operand}{rank} = {name}[{'None, ' * (rank - 1)}:];"
            for rank in (1, 2, 3)
            if operand
        ]
    return " ".join(words + [f"let r = {text};", "}"])


def check(settings):
    """(refused as they should be, not refused). The front end alone runs, once for all kernels."""
    cases = list(coverage.refused())
    prelude = ["fn keepFirst(a, b) { return a; }", "fn keepLast(a, b) { return b; }"]
    lines = prelude + [
        kernelText(number, dtype, text) for number, (_, dtype, text) in enumerate(cases)
    ]
    with tempfile.TemporaryDirectory(prefix="tile-refusals-") as folder:
        path = os.path.join(folder, "k.tile")
        with open(path, "w", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")
        done = subprocess.run(
            [settings.tilec, path, "--emit", "tile", "-o", os.devnull, "--error-limit", "0"],
            capture_output=True,
            text=True,
            timeout=300,
        )
    messages = {}
    for match in re.finditer(r"k\.tile:(\d+):\d+: error: (.*)", done.stderr):
        messages.setdefault(int(match[1]), match[2])
    good = bad = 0
    for line, (operation, dtype, text) in enumerate(cases, len(prelude) + 1):
        message = messages.get(line, "accepted")
        wrong = message == "accepted" or "not supported yet" in message or "[E0501]" in message
        if wrong:
            print(f"FAIL {operation} of {dtype} ({text}) should be refused: {message}")
        good, bad = good + (not wrong), bad + wrong
    return good, bad
