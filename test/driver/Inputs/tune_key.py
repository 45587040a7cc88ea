"""Which configuration of a package each shape takes: tune_key.py PACKAGE."""

import sys

import numpy
import tile_compiler as tile

kernel = tile.load(sys.argv[1], device="cpu")["which"]


def which(m, n):
    y = numpy.zeros((m, n), "f4")
    kernel(numpy.ones((m, n), "f4"), y)
    assert (y == y[0, 0]).all()
    return int(y[0, 0])


# What was tuned for, near by (by the logarithm; M by its next power of two), and far out.
expected = {
    (1, 64): 64,
    (100, 64): 128,
    (1, 1024): 512,
    (100, 1024): 128,
    (100, 16384): 256,
    (2, 64): 64,
    (8, 64): 64,
    (9, 64): 128,
    (1, 256): 64,
    (1, 257): 512,
    (8, 1000): 512,
    (128, 1): 128,
    (100, 4096): 128,
    (100, 4097): 256,
    (1000, 20000): 256,
    (1, 2048): 512,
    (100, 2048): 128,
}
found = {shape: which(*shape) for shape in expected}
assert found == expected, {
    shape: (found[shape], expected[shape]) for shape in expected if found[shape] != expected[shape]
}
print("each shape takes its configuration")
