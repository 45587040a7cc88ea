"""Packs a release's folder as a Debian package: deb.py TREE VERSION OUTPUT-FOLDER [COMPRESSION]
prints the package's path. COMPRESSION is a word of dpkg-deb -Z: xz unless said, none for a quick
look.

The files are those of the release and of the wheel, in the places that Debian has for them. The
same files give the same bytes: of one date, with one set of modes and owners.
"""

import gzip
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile

NAME, DATE = "tile-compiler", 946684800  # 2000-01-01
MAINTAINER = "The Tile developers <tile@example.invalid>"
CONTROL = """Package: {name}
Version: {version}
Architecture: {architecture}
Maintainer: {maintainer}
Installed-Size: {size}
Depends: libc6 (>= 2.28)
Recommends: python3 (>= 3.9)
Suggests: python3-numpy
Section: devel
Priority: optional
Description: language and compiler for GPU kernels
 Kernels say what one program does to tiles of tensors; contracts of shapes are
 exploited by the compiler and checked by the launcher. This package has the
 compiler tilec, the runtime library with its headers, the module tile for
 Python, and the documentation.
"""
CHANGELOG = """{name} ({version}) stable; urgency=medium

  * See /usr/share/doc/{name}/CHANGELOG.md.

 -- {maintainer}  Sat, 01 Jan 2000 00:00:00 +0000
"""
# Licences stand in one file, as Debian wants it.
LICENCES = ("LICENSE", "LICENSE.generated-code", "THIRD-PARTY-NOTICES")


def below(tree, folder):
    """Paths of a folder's files and links, relative to the tree."""
    for path, folders, names in os.walk(os.path.join(tree, folder)):
        folders[:] = sorted(one for one in folders if one != "__pycache__")
        for name in sorted(names):
            yield os.path.relpath(os.path.join(path, name), tree)


def collect(tree):
    """{path in the package: path in the tree}."""
    files = {"usr/bin/tilec": "bin/tilec"}
    module = "usr/lib/python3/dist-packages/tile_compiler/"
    files.update(
        (module + path[len("python/tile_compiler/") :], path)
        for path in below(tree, "python/tile_compiler")
    )
    for path in below(tree, "lib"):  # the module in C belongs beside its package
        files[module + os.path.basename(path) if path.endswith(".abi3.so") else f"usr/{path}"] = (
            path
        )
    files.update((f"usr/{path}", path) for path in below(tree, "include"))
    for folder in ("docs", "editors", "examples", "library", "manifest", "formats"):
        files.update((f"usr/share/doc/{NAME}/{path}", path) for path in below(tree, folder))
    files.update(
        (f"usr/share/doc/{NAME}/{name}", name) for name in (*LICENCES, "README.md", "CHANGELOG.md")
    )
    return files


def compress(text):
    return gzip.compress(text.encode(), 9, mtime=0)


def readText(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def architectureOf(path):
    """Debian's name of the processor that a program is for."""
    with open(path, "rb") as file:
        return {62: "amd64", 183: "arm64"}[int.from_bytes(file.read(20)[18:20], "little")]


def fill(root, tree, version):
    """Writes the package's files into `root`."""
    contents = {
        f"usr/share/doc/{NAME}/changelog.gz": compress(
            CHANGELOG.format(name=NAME, version=version, maintainer=MAINTAINER)
        ),
        f"usr/share/doc/{NAME}/copyright": (
            "\n\n".join(readText(os.path.join(tree, name)) for name in LICENCES).encode()
        ),
    }
    manual = subprocess.run(
        [os.path.join(tree, "bin", "tilec"), "help", "man"], capture_output=True, text=True
    )
    if manual.returncode == 0:
        contents["usr/share/man/man1/tilec.1.gz"] = compress(manual.stdout)
    for target, source in collect(tree).items():
        place = os.path.join(root, target)
        os.makedirs(os.path.dirname(place), exist_ok=True)
        shutil.copy2(os.path.join(tree, source), place, follow_symlinks=False)
    for target, content in contents.items():
        place = os.path.join(root, target)
        os.makedirs(os.path.dirname(place), exist_ok=True)
        with open(place, "wb") as file:
            file.write(content)


def settle(root):
    """Modes that do not depend on who packs; returns MD5 sums of the files and their size in
    KiB.
    """
    sums, size = "", 0
    for folder, folders, names in os.walk(root):
        folders.sort()
        os.chmod(folder, 0o755)
        for name in sorted(names):
            path = os.path.join(folder, name)
            if os.path.islink(path):
                continue
            with open(path, "rb") as file:
                data = file.read()
            isProgram = data.startswith(b"\x7fELF") and os.path.basename(folder) == "bin"
            os.chmod(path, 0o755 if isProgram else 0o644)
            sums += f"{hashlib.md5(data).hexdigest()}  {os.path.relpath(path, root)}\n"
            size += (len(data) + 1023) // 1024
    return sums, size


def main(tree, version, output, compression="xz"):
    architecture = architectureOf(os.path.join(tree, "bin", "tilec"))
    os.makedirs(output, exist_ok=True)
    package = os.path.join(output, f"{NAME}_{version}_{architecture}.deb")
    with tempfile.TemporaryDirectory(prefix="tile-deb-") as root:
        fill(root, tree, version)
        sums, size = settle(root)
        control = {
            "control": CONTROL.format(
                name=NAME,
                version=version,
                architecture=architecture,
                maintainer=MAINTAINER,
                size=size,
            ),
            "md5sums": sums,
            "triggers": "activate-noawait ldconfig\n",
            "shlibs": f"libtile_runtime 0 {NAME} (>= {version})\n",
        }
        os.makedirs(os.path.join(root, "DEBIAN"))
        for name, text in control.items():
            with open(os.path.join(root, "DEBIAN", name), "w", encoding="utf-8") as file:
                file.write(text)
            os.chmod(os.path.join(root, "DEBIAN", name), 0o644)
        subprocess.run(
            ["dpkg-deb", "--root-owner-group", f"-Z{compression}", "--build", root, package],
            check=True,
            stdout=subprocess.DEVNULL,
            env=dict(os.environ, SOURCE_DATE_EPOCH=str(DATE)),
        )
    print(package)
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
