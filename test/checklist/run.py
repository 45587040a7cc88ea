#!/usr/bin/env python3
"""Tries every row of docs/Checklist.md: run.py [--build FOLDER] [ROW...].

Each row is one or a few calls of the compiler or of the Python module (over the fake driver of the
unit tests where a GPU would be needed), and prints its number, the verdict and one line of
evidence. Exits with 1 where a row fails.
"""

import argparse
import concurrent.futures
import os
import sys
import tempfile

import compiling  # noqa: F401
import messages  # noqa: F401
import shipping  # noqa: F401
import tuning  # noqa: F401
from harness import ROOT, ROWS, Failed, Try


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("rows", nargs="*", type=int, help="rows to try (all)")
    parser.add_argument("--build", default=os.path.join(ROOT, "build"), help="the build folder")
    options = parser.parse_args()
    options.build = os.path.abspath(options.build)
    if sorted(ROWS) != list(range(1, 101)):
        sys.exit(f"rows without a check: {sorted(set(range(1, 101)) - set(ROWS))}")

    def attempt(number):
        with tempfile.TemporaryDirectory(prefix="tile-checklist-") as folder:
            try:
                return True, str(ROWS[number](Try(options.build, folder))).replace(folder + "/", "")
            except Failed as failure:
                return False, str(failure).replace(folder + "/", "")
            except Exception as failure:  # a check that stumbles has not seen what it looks for
                return False, f"{type(failure).__name__}: {failure}"

    chosen = options.rows or sorted(ROWS)
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for number, (good, evidence) in zip(chosen, pool.map(attempt, chosen)):
            failed += not good
            print(
                f"{number:3} {'ok' if good else 'FAILED':7}{' '.join(evidence.split())[:200]}",
                flush=True,
            )
    print(f"{len(chosen) - failed} of {len(chosen)} rows hold")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
