"""Loads p.tilepkg, signed with one.key, from Python: with that key alone."""

import tile_compiler as tile

one, two = (open(name + ".pub").read() for name in ("one", "two"))
assert "saxpy" in tile.load("p.tilepkg", key=one)
assert "saxpy" in tile.load("p.tilepkg", key=one.split("\n")[1], device="cpu")
for path, key, message in (
    ("p.tilepkg", two, "it is signed with the key"),
    ("p.tilepkg", "", "is no public key of minisign"),
    ("q.tilepkg", one, "not of the hashed kind"),
    ("one.pub", one, "only packages are signed"),
):
    try:
        tile.load(path, key=key)
    except tile.Error as error:
        assert message in str(error), error
    else:
        raise AssertionError(path)
