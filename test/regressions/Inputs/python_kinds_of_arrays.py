"""Kinds of NumPy's arrays in a call of what `tile.compile` gives: python_kinds_of_arrays.py
FOLDER.
"""

import os
import sys
import unittest

import numpy
import tile_compiler as tile

FOLDER = sys.argv.pop()
SOURCE = """
kernel scale(x: in f32[M, N], y: out f32[M, N], a: f32) grid (i: M) {
  for n in blocks(N, 32) { y[i, n] = a * x[i, n]; }
}
"""


class Kinds(unittest.TestCase):
    def setUp(self):
        self.scale = tile.compile(SOURCE)
        self.x = numpy.arange(12, dtype="f4").reshape(3, 4)

    def testMappedFiles(self):
        path = os.path.join(FOLDER, "x.npy")
        numpy.save(path, self.x)
        y = self.scale(numpy.load(path, mmap_mode="r"), 2.0)
        self.assertTrue((y == 2 * self.x).all())
        mapped = numpy.load(path, mmap_mode="r+")
        self.scale(self.x, mapped, 3.0)
        self.assertTrue((mapped == 3 * self.x).all())

    def testMatricesAndRecords(self):
        for kind in (numpy.matrix, numpy.recarray):
            y = self.scale(self.x.view(kind), 2.0)
            self.assertTrue((numpy.asarray(y) == 2 * self.x).all())

    def testNumbers(self):
        self.assertTrue((self.scale(self.x, numpy.float32(2)) == 2 * self.x).all())
        with self.assertRaisesRegex(TypeError, "'x' is of type float32, expected a tensor"):
            self.scale(numpy.float32(2), 2.0)

    def testNoNumbers(self):
        for value, kind in (("2", "str"), (b"2", "bytes")):
            with self.assertRaisesRegex(TypeError, f"'a' is of type {kind}, expected a number"):
                self.scale(self.x, value)
        count = tile.compile("kernel c(x: in f32[N], y: out f32[N], n: i32) { y[0] = n as f32; }")
        with self.assertRaisesRegex(TypeError, r"'n' is an array of shape \[3, 4\], expected a"):
            count(self.x[0], self.x)

    def testMasks(self):
        masked = numpy.ma.masked_array(self.x)
        self.assertTrue((self.scale(masked, 2.0) == 2 * self.x).all())
        masked[1, 2] = numpy.ma.masked
        with self.assertRaisesRegex(tile.Error, "scale: 'x' has masked elements"):
            self.scale(masked, 2.0)


unittest.main()
