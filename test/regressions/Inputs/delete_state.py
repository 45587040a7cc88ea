"""delete_state.py FILE.mlir WANTED...: deletes each of the attributes WANTED, which the kernel of
FILE must have, and demands that the passes to LLVM name it in an error.
"""

import re
import subprocess
import sys

with open(sys.argv[1], encoding="utf-8") as file:
    text = file.read()
for name in sys.argv[2:]:
    broken, count = re.subn(
        r"(tile\.kernel .*attributes \{.*?)(?:, "
        + name
        + r"|\b"
        + name
        + r",?)(?: = \d+ : i64)?(?=[,}])",
        r"\1",
        text,
    )
    assert count == 1, f"no {name} in {sys.argv[1]}"
    done = subprocess.run(
        ["tile-opt", "-", "--convert-tile-gpu-to-vector", "-o", "/dev/null"],
        input=broken,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1 and f"needs '{name}'" in done.stderr, (
        name,
        done.returncode,
        done.stderr,
    )
