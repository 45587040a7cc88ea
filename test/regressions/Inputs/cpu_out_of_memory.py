"""Launches a kernel for the CPU, whose tiles find no memory."""

import numpy
import tile_compiler as tile

x, y = numpy.ones(4096, "f8"), numpy.full(16, 3, "f8")
try:
    tile.load("k.tilepkg", device="cpu")["middle"](x, y)
except tile.Error:
    assert (y == 3).all()
    raise
