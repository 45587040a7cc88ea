"""Runs a script by every CPython from 3.9 on that PATH or ~/.pyenv has: python_versions.py
SCRIPT.
"""

import glob
import os
import shutil
import subprocess
import sys

WANTED = ("3.9", "3.10", "3.11", "3.12", "3.13", "3.13t", "3.14", "3.14t")


def find(version):
    """A program of that version that starts, or None."""
    pyenv = sorted(
        glob.glob(
            os.path.expanduser(f"~/.pyenv/versions/{version.rstrip('t')}.*/bin/python{version}")
        )
    )
    for path in [shutil.which(f"python{version}")] + pyenv:
        if path and subprocess.run([path, "-c", ""], capture_output=True).returncode == 0:
            return path
    return None


def main(script):
    ran = {}
    for version in WANTED:
        path = find(version)
        if path:
            done = subprocess.run([path, script], capture_output=True, text=True)
            if done.returncode:
                print(f"{version} failed:\n{done.stdout}{done.stderr}")
                return 1
            ran[version] = done.stdout.strip()
            assert ran[version].startswith(version + ":") or ran[version].startswith(
                version + ","
            ), ran[version]
            isQuick = (
                "t" not in version and version != "3.9" and not os.environ.get("TILE_NO_NATIVE")
            )
            assert ran[version].endswith(": with tile_native") == isQuick, ran[version]
            print(ran[version])
    print(f"ran: {len(ran)}")
    print("absent:", ", ".join(version for version in WANTED if version not in ran) or "none")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
