"""Release, wheel and Debian package hold the same bytes: check_same.py TREE WHEEL DEB SCRATCH. What
only one of them can have, metadata of its format, is listed here.
"""

import os
import re
import subprocess
import sys
import zipfile

# Of the release alone: for those who test and measure with it, and for those who change Tile.
RELEASE_ONLY = r"(bench|test)/|dev$|bin/tile-opt$|CONTRIBUTING\.md$"
WHEEL_ONLY = r"tile_compiler-[^/]*\.dist-info/"
LICENCES = ("LICENSE", "LICENSE.generated-code", "THIRD-PARTY-NOTICES")
LICENSES = ".dist-info/licenses/"  # in the wheel
COPYRIGHT = "usr/share/doc/tile-compiler/copyright"  # in the Debian package
DEB_ONLY = r"usr/share/(man/.*|doc/tile-compiler/(changelog\.gz|copyright))$"


def read(path):
    with open(path, "rb") as file:
        return file.read()


def below(folder):
    return {
        os.path.relpath(os.path.join(path, name), folder): read(os.path.join(path, name))
        for path, _, names in os.walk(folder)
        for name in names
    }


def asRelease(name):
    """Where the release has what the wheel or the Debian package has under this name."""
    for pattern, replacement in (
        (r"^tile_compiler/share/", ""),
        (r"^tile_compiler/(bin|lib|include)/", r"\1/"),
        (r"^tile_compiler/", "python/tile_compiler/"),
        (r"^usr/lib/python3/dist-packages/tile_compiler/(\w+\.abi3\.so)$", r"lib/\1"),
        (r"^usr/lib/python3/dist-packages/tile_compiler/", "python/tile_compiler/"),
        (r"^usr/share/doc/tile-compiler/", ""),
        (r"^usr/", ""),
    ):
        name, count = re.subn(pattern, replacement, name)
        if count:
            return name
    return name


def main(tree, wheel, deb, scratch):
    release = {
        name: data
        for name, data in below(tree).items()
        if not re.match(RELEASE_ONLY, name) and "__pycache__" not in name
    }
    licences = [release[name] for name in LICENCES]
    with zipfile.ZipFile(wheel) as archive:
        shown = {n.rpartition("/")[2]: archive.read(n) for n in archive.namelist() if LICENSES in n}
        assert [shown[name] for name in LICENCES] == licences, "the wheel's licences are others"
        ours = {
            asRelease(name): archive.read(name)
            for name in archive.namelist()
            if not re.match(WHEEL_ONLY, name)
        }
    subprocess.run(["dpkg-deb", "-x", deb, scratch], check=True)
    theirs = {
        asRelease(name): data
        for name, data in below(scratch).items()
        if not re.match(DEB_ONLY, name)
    }
    with open(os.path.join(scratch, COPYRIGHT), "rb") as file:
        found = file.read()
    assert all(text in found for text in licences), f"{COPYRIGHT} lacks a licence"
    versioned = (  # the wheel leaves out a name that no program looks for
        r"lib/libtile_runtime\.so\.\d+\.\d+"
    )
    for what, files in (("wheel", ours), ("Debian package", theirs)):
        missing = [
            name
            for name in release
            if name not in files and not (what == "wheel" and re.match(versioned, name))
        ]
        assert not missing, f"the {what} lacks {missing[:10]}"
        assert not files.keys() - release.keys(), (
            f"only the {what} has {sorted(files.keys() - release.keys())[:10]}"
        )
        wrong = [name for name, data in files.items() if data != release[name]]
        assert not wrong, f"the {what} has other bytes in {wrong[:10]}"
    pages = subprocess.run(
        [
            "git",
            "-C",
            os.path.dirname(os.path.abspath(__file__)),
            "ls-files",
            "--full-name",
            ":/docs",
        ],
        capture_output=True,
        text=True,
    ).stdout.split()
    absent = [page for page in pages if page.endswith(".md") and page not in release]
    assert not absent, f"the release lacks pages of the documentation: {absent}"
    print(
        f"the same {len(ours)} files in the wheel and {len(theirs)} in the Debian package as in the"
        f" release; {len(pages)} files of docs"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
