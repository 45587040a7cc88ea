"""full_temporary.py SOURCE FOLDER: makes a package where no file may grow, and where the folder of
temporary files is not there.
"""

import os
import resource
import signal
import subprocess
import sys

source, folder = sys.argv[1:]
os.mkdir(os.path.join(folder, "tmp"))


def limit():
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))


for name, prepare in (("tmp", limit), ("nowhere", None)):
    # Through a pipe: what it says is no file.
    done = subprocess.run(
        ["tilec", source, "--target", "cpu", "-o", os.path.join(folder, "k.tilepkg")],
        capture_output=True,
        text=True,
        preexec_fn=prepare,
        env=dict(os.environ, TMPDIR=os.path.join(folder, name)),
    )
    print(done.stderr + "status", done.returncode)
print("left", os.listdir(os.path.join(folder, "tmp")))
