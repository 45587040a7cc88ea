"""Links what a build folder has linked again, against an older C library.

relink.py BUILD SYSROOT TARGET OUTPUT [OPTION...]

TARGET is a target of ninja, as "bin/tilec"; the options go to the link as well. The objects and
archives stay the same; only startup code and libc come from SYSROOT (sysroot.sh), and what that
lacks from glibc_compat.c and glibc_math.c.
"""

import glob
import os
import shlex
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))


def linkLine(build, target):
    """The words of the command that links a target, without ccache and what stands around it."""
    lines = subprocess.run(
        ["ninja", "-C", build, "-t", "commands", target], capture_output=True, text=True, check=True
    ).stdout
    # Of a library the target is a link to the file that has its version, too.
    words = next(
        words
        for words in map(shlex.split, reversed(lines.splitlines()))
        if "-o" in words and words[words.index("-o") + 1].startswith(target)
    )
    first = next(i for i, word in enumerate(words) if "clang" in os.path.basename(word))
    last = next((i for i, word in enumerate(words) if word == "&&" and i > first), len(words))
    return words[first:last]


def valueOf(words, option, otherwise):
    """The value of an option of the link line; what stands last holds."""
    values = [word[len(option) + 1 :] for word in words if word.startswith(option + "=")]
    return values[-1] if values else otherwise


def main(build, sysroot, target, output, *options):
    build, sysroot, output = map(os.path.abspath, (build, sysroot, output))
    words = linkLine(build, target)
    words[words.index("-o") + 1] = output
    # What is linked may be for another machine, with a root of its own.
    machine = os.uname().machine
    triple = valueOf(words, "--target", f"{machine}-linux-gnu")
    root = valueOf(words, "--sysroot", "/")
    libraries = os.path.join(root, "usr/lib")
    # The newest GCC there, whose archives the objects were made for; of the sysroot comes libc
    # alone.
    gcc = max(
        glob.glob(f"{libraries}/gcc/{triple}/*/libstdc++.a"),
        key=lambda path: int(path.split("/")[-2]),
    )
    with tempfile.TemporaryDirectory(prefix="tile-relink-") as folder:
        objects = []
        for name, flags in (("glibc_compat", []), ("glibc_math", ["-fno-builtin"])):
            objects.append(os.path.join(folder, name + ".o"))
            subprocess.run(
                [
                    words[0].replace("clang++", "clang"),
                    "-O2",
                    "-fPIC",
                    "-c",
                    f"--target={triple}",
                    f"--sysroot={root}",
                    *flags,
                    os.path.join(HERE, name + ".c"),
                    "-o",
                    objects[-1],
                ],
                check=True,
            )
        # Archives that lie beside this machine's libc, where a -L would find that first.
        for word in list(words):
            if word.startswith("-l:"):
                found = next(
                    path
                    for path in (f"{libraries}/{triple}/{word[3:]}", f"{libraries}/{word[3:]}")
                    if os.path.exists(path)
                )
                words[words.index(word)] = found
        extra = [
            f"--sysroot={sysroot}",
            "--gcc-install-dir=" + os.path.dirname(gcc),
            *objects,
            *options,
        ]
        place = words.index("-o")
        subprocess.run(
            words[:place] + extra + words[place:] + ["-lpthread", "-ldl"], cwd=build, check=True
        )
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
