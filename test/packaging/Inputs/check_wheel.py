"""What a wheel holds: check_wheel.py WHEEL."""

import base64
import hashlib
import os
import sys
import zipfile

# Besides these: whatever else a release has in the same folders.
FILES = (
    "tile_compiler/__init__.py",
    "tile_compiler/__init__.pyi",
    "tile_compiler/py.typed",
    "tile_compiler/bin/tilec",
    "tile_compiler/lib/libtile_runtime.so",
    "tile_compiler/include/tile_runtime.h",
    "tile_compiler/lib/cmake/Tile/TileConfig.cmake",
    "tile_compiler/share/docs/Tutorial.md",
    "tile_compiler/share/docs/guides/python.md",
    "tile_compiler/share/library/std/norms.tile",
    "tile_compiler/share/README.md",
)
LICENCES = ("LICENSE", "LICENSE.generated-code", "THIRD-PARTY-NOTICES")


def main(path):
    name, version, tags = os.path.basename(path)[: -len(".whl")].split("-", 2)
    info = f"{name}-{version}.dist-info"
    with zipfile.ZipFile(path) as wheel:
        names = wheel.namelist()
        missing = [
            one
            for one in (*FILES, *(f"{info}/licenses/{one}" for one in LICENCES))
            if one not in names
        ]
        assert not missing, f"the wheel lacks {missing}"
        # `tile` would be the folder of another project of PyPI, too.
        assert {one.partition("/")[0] for one in names} == {"tile_compiler", info}, "other folders"
        assert wheel.read(f"{info}/licenses/LICENSE").lstrip().startswith(b"Apache License")
        assert f"Tag: {tags}\n".encode() in wheel.read(f"{info}/WHEEL") and "manylinux_2_28" in tags
        assert b"License-Expression: Apache-2.0 WITH LLVM-exception\n" in wheel.read(
            f"{info}/METADATA"
        )
        recorded = [
            line.rsplit(",", 2) for line in wheel.read(f"{info}/RECORD").decode().splitlines()
        ]
        assert sorted(one[0] for one in recorded) == sorted(names), "RECORD lists other files"
        for file, digest, size in recorded:
            data = wheel.read(file)
            found = (
                "sha256="
                + base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            )
            assert file.endswith("RECORD") or (found, str(len(data))) == (digest, size), (
                f"RECORD is wrong on {file}"
            )
        assert wheel.getinfo("tile_compiler/bin/tilec").external_attr >> 16 & 0o111, (
            "tilec is no program"
        )
    assert os.path.getsize(path) < 60_000_000
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
