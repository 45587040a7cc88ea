"""u64_from_python.py PACKAGE: every value of u64 passes from Python, what is outside is an
error.
"""

import sys

import numpy
import tile_compiler as tile

kernel = tile.load(sys.argv[1], device="cpu")["k"]
z = numpy.zeros(2, "u8")
for value in (0, 2**63 - 1, 2**63, 2**64 - 1, numpy.uint64(2**64 - 1)):
    kernel(value, z)
    assert z.tolist() == [int(value), int(value) // 2], (value, z)
for value in (-1, 2**64):
    try:
        kernel(value, z)
    except (tile.Error, OverflowError, ValueError) as error:
        assert str(value) in str(error), error
    else:
        raise AssertionError(value)
