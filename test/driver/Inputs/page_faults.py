"""Pages that a command takes for the first time, the least of eight runs: page_faults.py COMMAND..."""

import os
import subprocess
import sys

MOST = 1500


def main(command):
    counts = []
    for _ in range(8):
        child = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        assert child.returncode == 0, f"{command[0]} ended with {child.returncode}"
        counts.append(used.ru_minflt)
    print(f"at most {MOST} pages" if min(counts) <= MOST else f"{min(counts)} pages")
    return 0


sys.exit(main(sys.argv[1:]))
