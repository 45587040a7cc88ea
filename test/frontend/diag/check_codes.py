#!/usr/bin/env python3
"""Checks every diagnostic of frontend/Diag/Diagnostics.def against its example in
frontend/Diag/Examples.

CODE.tile is a wrong program, CODE.txt begins with lines
  Rules: S1.7, T4.1      the rules of docs/Language.md that the code stands for
  Call: tilec CODE.tile --emit=tile -o -
  Data: x.npy f64[4]     a file of zeros that the call reads (may be missing)
  Bytes: ...             instead of CODE.tile: its one line, with escapes such as \\xff
  Reason: ...            instead of Call: why no program can show it, and what tests it then
and goes on with what the call writes to standard error, to the letter: message, range, notes.
`tilec --explain CODE` must show all of that. --update writes the texts anew: read the difference.
"""

import argparse
import concurrent.futures
import os
import re
import shlex
import subprocess
import sys
import tempfile

import numpy

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
EXAMPLES = os.path.join(ROOT, "frontend", "Diag", "Examples")
HEAD = re.compile(r"(Rules|Call|Data|Bytes|Reason): (.*)\n")


def codes():
    """The codes of the catalogue, in its order, with their severities."""
    with open(os.path.join(ROOT, "frontend", "Diag", "Diagnostics.def"), encoding="utf-8") as file:
        return re.findall(r"^DIAG\((\w+), (\w+),", file.read(), re.M)


def read(code):
    """(what the head says, the text after it) of an example."""
    with open(os.path.join(EXAMPLES, code + ".txt"), encoding="utf-8") as file:
        text = file.read()
    head = {}
    while match := HEAD.match(text):
        head[match[1]] = match[2].strip()
        text = text[match.end() :]
    return head, text


def says(tilec, code, head):
    """What the example's call writes to standard error."""
    with tempfile.TemporaryDirectory(prefix="tile-code-") as folder:
        if "Bytes" in head:
            content = head["Bytes"].encode().decode("unicode_escape").encode("latin-1") + b"\n"
        else:
            with open(os.path.join(EXAMPLES, code + ".tile"), "rb") as source:
                content = source.read()
        with open(os.path.join(folder, code + ".tile"), "wb") as copy:
            copy.write(content)
        if "Data" in head:
            name, dtype, shape = re.match(r"(\S+) ([a-z])[a-z]*(\d+\[.*\])", head["Data"]).groups()
            bits, shape = shape.split("[")
            numpy.save(
                os.path.join(folder, name),
                numpy.zeros(
                    [int(n) for n in shape.rstrip("]").split(",") if n], f"<{dtype}{int(bits) // 8}"
                ),
            )
        words = shlex.split(head["Call"])
        assert words[0] == "tilec"
        done = subprocess.run(
            [tilec, *words[1:]],
            cwd=folder,
            capture_output=True,
            timeout=60,
            env={**os.environ, "NO_COLOR": "1"},
        )
        return done.stderr.decode("utf-8", "replace").replace("\ufffd", "?")


def check(tilec, code, update):
    """What is wrong with a code's example, or None."""
    try:
        head, expected = read(code)
    except OSError:
        return (
            f"no frontend/Diag/Examples/{code}.txt (and .tile): an example shows what the code"
            " means; see check_codes.py"
        )
    if not head.get("Rules"):
        return "'Rules:' names no rule of docs/Language.md"
    if "Reason" in head:
        return None
    found = says(tilec, code, head)
    if f"[{code}]" not in found:
        return f"'{head['Call']}' does not show it:\n{found}"
    if found != expected and update:
        with open(os.path.join(EXAMPLES, code + ".txt"), "w", encoding="utf-8") as file:
            file.write("".join(f"{key}: {value}\n" for key, value in head.items()) + found)
    elif found != expected:
        return f"expected\n{expected}\nfound\n{found}"
    if not update:
        shown = subprocess.run(
            [tilec, "--explain", code], capture_output=True, text=True, timeout=60
        ).stdout
        if head["Rules"] not in shown:
            return "--explain does not show its rules"
    return None


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--build", default=os.path.join(ROOT, "build"))
    parser.add_argument("--update", action="store_true", help="write the texts anew")
    parser.add_argument("codes", nargs="*", help="only these")
    options = parser.parse_args()
    tilec = os.path.abspath(os.path.join(options.build, "bin", "tilec"))
    catalogue = codes()
    known = {code for _, code in catalogue}
    wrong = [
        (name, "no such code in Diagnostics.def")
        for name in sorted({os.path.splitext(name)[0] for name in os.listdir(EXAMPLES)} - known)
    ]
    chosen = [entry for entry in catalogue if not options.codes or entry[1] in options.codes]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for (_, code), problem in zip(
            chosen, pool.map(lambda entry: check(tilec, entry[1], options.update), chosen)
        ):
            if problem:
                wrong.append((code, problem))
    for code, problem in wrong:
        print(f"{code}: {problem}")
    print(f"{len(chosen) - len(wrong)} codes pass, {len(wrong)} failed")
    return 1 if wrong or not chosen else 0


if __name__ == "__main__":
    sys.exit(main())
