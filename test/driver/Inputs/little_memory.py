"""Compiles with less and less memory to have: each call ends well, with a message, or before the
program begins; none in an internal error. Arguments: tilec, a source."""

import resource
import subprocess
import sys

tilec, source = sys.argv[1:]
ended = lacking = 0
for size in range(200, 70, -10):  # MiB of addresses

    def limit(size=size):
        resource.setrlimit(resource.RLIMIT_AS, (size << 20, size << 20))

    call = [tilec, source, "--target", "sm_90a", "--emit", "ptx", "-o", "-", "--cache", "off"]
    done = subprocess.run(call, check=False, capture_output=True, text=True, preexec_fn=limit)
    if done.returncode == 0:
        ended += 1
    elif done.stderr == "tilec: error: out of memory\n" and done.returncode == 2:
        lacking += 1
    else:
        print(f"{size} MiB: code {done.returncode}: {done.stderr}")
print(f"{ended and 'some'} end, {lacking and 'some'} lack memory")
