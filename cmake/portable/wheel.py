"""Packs a release's folder as a wheel: wheel.py TREE VERSION OUTPUT-FOLDER prints the wheel's path.

The same files give the same bytes: sorted, of one date, with one set of modes. Below the
module lies a prefix with bin, lib, include and share, so that CMake finds the package there, too.
"""

import base64
import hashlib
import os
import re
import subprocess
import sys
import zipfile

NAME, PLATFORM = "tile-compiler", "py3-none-manylinux_2_28_"
MODULE = "tile_compiler"  # PyPI's `tile` is another project's
MACHINES = {62: "x86_64", 183: "aarch64"}  # by the number in the head of a program
OBJDUMP = "/usr/lib/llvm-22/bin/llvm-objdump"
NEWEST_GLIBC = (2, 28)
LICENCES = ("LICENSE", "LICENSE.generated-code", "THIRD-PARTY-NOTICES")
METADATA = """Metadata-Version: 2.4
Name: {name}
Version: {version}
Summary: Tile: a language and compiler for GPU kernels, with its runtime
Description-Content-Type: text/markdown
License-Expression: Apache-2.0 WITH LLVM-exception
{licences}
Requires-Python: >=3.9
Classifier: Programming Language :: Python :: 3
Classifier: Operating System :: POSIX :: Linux
Provides-Extra: ptxas
Requires-Dist: nvidia-cuda-nvcc; extra == "ptxas"

{readme}"""


def below(tree, folder):
    """Paths of a folder's files, relative to the tree."""
    for path, folders, names in os.walk(os.path.join(tree, folder)):
        folders[:] = [one for one in folders if one != "__pycache__"]
        for name in names:
            yield os.path.relpath(os.path.join(path, name), tree)


def collect(tree):
    """{path in the wheel: path in the tree}."""
    files = {path[len("python/") :]: path for path in below(tree, f"python/{MODULE}")}
    files[f"{MODULE}/bin/tilec"] = "bin/tilec"
    for path in below(tree, "lib"):
        if not re.search(
            r"\.so\.\d+\.\d+", path
        ):  # of the library's names, those that programs look for
            files[f"{MODULE}/{path}"] = path
    files.update((f"{MODULE}/{path}", path) for path in below(tree, "include"))
    for folder in ("docs", "editors", "examples", "library", "manifest", "formats"):
        files.update((f"{MODULE}/share/{path}", path) for path in below(tree, folder))
    files.update(
        (f"{MODULE}/share/{name}", name) for name in (*LICENCES, "README.md", "CHANGELOG.md")
    )
    return files


def checkPortable(path):
    """Raises where a binary needs a C library newer than the tag says, or a library that not every
    machine has.
    """
    symbols = subprocess.run(
        [OBJDUMP, "-T", path], capture_output=True, text=True, check=True
    ).stdout
    newest = max(
        [tuple(map(int, found.split("."))) for found in re.findall(r"GLIBC_([0-9.]+)", symbols)],
        default=(0,),
    )
    assert newest <= NEWEST_GLIBC, f"{path} needs glibc {newest}"
    needed = re.findall(
        r"NEEDED +(\S+)",
        subprocess.run([OBJDUMP, "-p", path], capture_output=True, text=True, check=True).stdout,
    )
    known = r"(lib(c|m|dl|pthread|rt)\.so|ld-linux|libtile_runtime)"
    assert all(re.match(known, one) for one in needed), f"{path} needs {needed}"


def main(tree, version, output):
    info = f"{NAME.replace('-', '_')}-{version}.dist-info"
    contents = {}
    for target, source in collect(tree).items():
        path = os.path.join(tree, source)
        with open(path, "rb") as file:
            contents[target] = file.read()
        if contents[target].startswith(b"\x7fELF"):
            checkPortable(path)
    machine = int.from_bytes(contents[f"{MODULE}/bin/tilec"][18:20], "little")
    tag = PLATFORM + MACHINES[machine]
    with open(os.path.join(tree, "README.md"), encoding="utf-8") as file:
        contents[f"{info}/METADATA"] = METADATA.format(
            name=NAME,
            version=version,
            readme=file.read(),
            licences="\n".join(f"License-File: {name}" for name in LICENCES),
        ).encode()
    contents[f"{info}/WHEEL"] = (
        f"Wheel-Version: 1.0\nGenerator: tile\nRoot-Is-Purelib: false\nTag: {tag}\n".encode()
    )
    contents[f"{info}/entry_points.txt"] = (
        f"[console_scripts]\ntilec = {MODULE}._main:main\n".encode()
    )
    for name in LICENCES:
        contents[f"{info}/licenses/{name}"] = contents[f"{MODULE}/share/{name}"]
    record = ""
    for path, data in sorted(contents.items()):
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        record += f"{path},sha256={digest},{len(data)}\n"
    contents[f"{info}/RECORD"] = f"{record}{info}/RECORD,,\n".encode()
    wheel = os.path.join(output, f"{NAME.replace('-', '_')}-{version}-{tag}.whl")
    os.makedirs(output, exist_ok=True)
    # Metadata last, as the format recommends.
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive:
        for path, data in sorted(
            contents.items(), key=lambda one: (one[0].startswith(info), one[0])
        ):
            entry = zipfile.ZipInfo(path, (2000, 1, 1, 0, 0, 0))
            isProgram = data.startswith(b"\x7fELF") or path == f"{MODULE}/bin/tilec"
            entry.external_attr = (0o100755 if isProgram else 0o100644) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, data)
    print(wheel)
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
