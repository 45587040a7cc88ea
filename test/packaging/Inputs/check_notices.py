"""Licences and notices: check_notices.py FOLDER BUILD. Every archive that is linked into the
compiler and the runtime library must have its section in FOLDER/THIRD-PARTY-NOTICES, and no section
may be of something else.
"""

import fnmatch
import os
import re
import subprocess
import sys


def linked(build):
    """Names of the archives on the link lines of tilec and libtile_runtime, without those of the
    project.
    """
    names = set()
    for target in ("bin/tilec", "lib/libtile_runtime.so"):
        line = subprocess.run(
            ["ninja", "-C", build, "-t", "commands", target],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        line = "\n".join(one for one in line.splitlines() if f" -o {target}" in one)
        for word in line.split():
            match = re.fullmatch(r"(?:-l:|.*/)?(lib\w[\w.+-]*\.a)", word)
            if match and not match[1].startswith("libTile"):
                names.add(match[1])
        names |= {"libstdc++.a", "libgcc.a"} if "-static-libstdc++" in line else set()
    return names


def main(folder, build):
    texts = {}
    for name, opening in (
        ("LICENSE", "Apache License"),
        ("LICENSE.generated-code", "Licence of the code that the compiler puts"),
        ("THIRD-PARTY-NOTICES", "Notices of what is linked"),
    ):
        with open(os.path.join(folder, name), encoding="utf-8") as file:
            texts[name] = file.read()
        assert opening in texts[name][:400], f"{name} opens otherwise"
    assert "---- LLVM Exceptions to the Apache 2.0 License ----" in texts["LICENSE"]
    patterns = [
        word
        for line in re.findall(r"^Linked as: (.*)$", texts["THIRD-PARTY-NOTICES"], re.MULTILINE)
        for word in line.split()
    ]
    names = linked(build)
    assert len(names) > 100, f"found only {sorted(names)} on the link lines"
    missing = sorted(
        name
        for name in names
        if not any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)
    )
    assert not missing, f"THIRD-PARTY-NOTICES says nothing of {missing}"
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
