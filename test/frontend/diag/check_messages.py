#!/usr/bin/env python3
"""Checks the messages that one code has for several mistakes: every section of Inputs/messages.txt
is
  === CODE RULES
  a source (without `kernel` or `fn`: statements, put into the kernel below)
  ---
  what tilec says about it, to the letter
--update writes what it says anew: read the difference.
"""

import argparse
import concurrent.futures
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
HEAD = (
    "kernel k[B: int = 64](x: in f32[M, N], v: in f32[N], q: in i32[N], y: inout f32[M, N]) grid"
    " (i: M) {\n  let n = block(0, B);\n"
)


def says(tilec, source):
    """What tilec writes to standard error."""
    text = (
        source
        if re.search(r"^(kernel|fn|const|import) ?\w", source, re.M)
        else HEAD + source + "}\n"
    )
    with tempfile.TemporaryDirectory(prefix="tile-messages-") as folder:
        with open(os.path.join(folder, "a.tile"), "w", encoding="utf-8") as file:
            file.write(text)
        return subprocess.run(
            [tilec, "a.tile", "--emit=tile", "-o", "-"],
            cwd=folder,
            stderr=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            text=True,
            timeout=60,
            env={**os.environ, "NO_COLOR": "1"},
        ).stderr


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--build", default=os.path.join(ROOT, "build"))
    parser.add_argument("--update", action="store_true", help="write what is said anew")
    options = parser.parse_args()
    tilec = os.path.abspath(os.path.join(options.build, "bin", "tilec"))
    path = os.path.join(HERE, "Inputs", "messages.txt")
    with open(path, encoding="utf-8") as file:
        preface, *sections = re.split(r"^=== ", file.read(), flags=re.M)
    parts = []
    for section in sections:
        head, rest = section.split("\n", 1)
        source, _, expected = rest.partition("---\n")
        parts.append((head, source, expected))
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        found = list(pool.map(lambda part: says(tilec, part[1]), parts))
    for (head, source, expected), said in zip(parts, found):
        code = head.split()[0]
        wrong = f"[{code}]" not in said or (said != expected and not options.update)
        failed += wrong
        if wrong:
            print(f"{head}\n{source}expected\n{expected}\nfound\n{said}")
    if options.update:
        with open(path, "w", encoding="utf-8") as file:
            file.write(
                preface
                + "".join(
                    f"=== {head}\n{source}---\n{said}"
                    for (head, source, _), said in zip(parts, found)
                )
            )
    print(f"{len(parts) - failed} messages pass, {failed} failed")
    return 1 if failed or not parts else 0


if __name__ == "__main__":
    sys.exit(main())
