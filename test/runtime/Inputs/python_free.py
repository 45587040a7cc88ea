"""Loads a package again and again; its code is mapped while a module is there, and at no other
time: python_free.py FILE.
"""

import gc
import sys

import numpy
import tile_compiler as tile


def mappings():
    """Executable mappings of this process by what they map."""
    with open("/proc/self/maps") as maps:
        return [line.split(maxsplit=5)[-1].strip() for line in maps if "x" in line.split()[1]]


def call():
    module = tile.load(sys.argv[1])
    x, y = numpy.ones((3, 5), "f4"), numpy.zeros((3, 1), "f4")
    module["row_mean"](x, y)
    assert (y == 1).all(), y
    return len(mappings())


call()
gc.collect()
before = len(mappings())
for _ in range(5):
    during = call()
    assert during > before, (during, before)
    gc.collect()
    assert len(mappings()) == before, (mappings(), before)
kept = tile.load(sys.argv[1])
x, y = numpy.ones((3, 5), "f4"), numpy.zeros((3, 1), "f4")
kernel = kept["row_mean"]
kernel(x, y)
del kept
gc.collect()
kernel(x, y)  # a kernel keeps its module
assert (y == 1).all() and len(mappings()) > before
