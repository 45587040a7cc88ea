"""Looks for lines of `tilec COMMAND --help` that are wider than a terminal, apart from examples."""

import subprocess

COMMANDS = ("", "run", "tune", "explain", "debug", "check", "fix", "fmt", "inspect", "link")

wide = 0
for command in COMMANDS:
    call = ["tilec", *([command] if command else []), "--help"]
    page = subprocess.run(call, stdout=subprocess.PIPE, text=True, check=True, timeout=60).stdout
    lines = [line for line in page.split("\nEXAMPLES:")[0].splitlines() if len(line) > 100]
    wide += bool(lines)
    for line in lines:
        print(" ".join(call) + ":", line)
print(f"{len(COMMANDS)} pages, {wide} too wide")
