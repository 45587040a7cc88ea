"""pairs_at_once.py SOURCE FOLDER: calls with one -o at once leave the files of one of them, and a
killed one leaves no other file.
"""

import os
import signal
import subprocess
import sys

source, folder = sys.argv[1:]
os.chdir(folder)
for round in range(12):
    calls = [
        subprocess.Popen(["tilec", source, "-D", f"BLOCK={block}", "--emit=ptx", "-o", "race.ptx"])
        for block in (64, 4096, 64, 4096)
    ]
    assert not any([call.wait() for call in calls])
    subprocess.run(["tilec", "inspect", "race.ptx"], check=True, stdout=subprocess.DEVNULL)

# The call has written its files under other names, and waits for somebody to read the depfile.
for number in (signal.SIGINT, signal.SIGTERM):
    os.mkfifo("wait.d")
    call = subprocess.Popen(
        ["tilec", source, "--emit=ptx", "-o", "killed.ptx", "-MD", "-MF", "wait.d"],
        preexec_fn=lambda: signal.signal(number, signal.SIG_DFL),
    )  # ignored in a shell's background
    while sum(name.startswith("killed.ptx") for name in os.listdir(".")) < 2:
        assert call.poll() is None, "the call has ended before its files were there"
    call.send_signal(number)
    assert call.wait() == -number, call.returncode
    os.remove("wait.d")
    left = [name for name in os.listdir(".") if name.startswith("killed")]
    assert not left, left
