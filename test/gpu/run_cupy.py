#!/usr/bin/env python3
"""Kernels on CuPy's arrays, on a GPU: run_cupy.py, with the module `tile_compiler` on PYTHONPATH.
Outputs that are made and given, dtypes, streams, views that are refused, and arrays that go on to
PyTorch by DLPack.
"""

import os
import sys
import unittest

import cupy

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
try:
    import tile_compiler as tile
except ImportError:
    sys.path.insert(0, os.path.join(ROOT, "python"))
    import tile_compiler as tile


class CuPy(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.softmax = tile.compile(os.path.join(ROOT, "examples", "softmax", "softmax.tile"))

    def expected(self, x):
        power = cupy.exp(x.astype("f4") - x.astype("f4").max(1, keepdims=True))
        return power / power.sum(1, keepdims=True)

    def testOutputs(self):
        for dtype, tolerance in (("f4", 1e-6), ("f2", 1e-3)):
            x = cupy.random.standard_normal((37, 1001)).astype(dtype)
            y = self.softmax(x)
            self.assertIsInstance(y, cupy.ndarray)
            self.assertEqual((y.dtype, y.shape), (x.dtype, x.shape))
            self.assertLess(float(abs(y.astype("f4") - self.expected(x)).max()), tolerance)
            given = cupy.zeros_like(x)
            self.assertIsNone(self.softmax(x, given))
            self.assertTrue(bool((given == y).all()))

    def testStream(self):
        stream = cupy.cuda.Stream(non_blocking=True)
        with stream:
            x = cupy.random.standard_normal((64, 4096)).astype("f4")
            for _ in range(20):
                x = x * 1.0
            y = cupy.empty_like(x)
            self.softmax(x, y, stream=stream)
        stream.synchronize()
        self.assertLess(float(abs(y - self.expected(x)).max()), 1e-6)

    def testRefused(self):
        x = cupy.ones((8, 16), "f4")
        self.assertRaises(tile.Error, lambda: self.softmax(x.T))
        self.assertRaises(tile.Error, lambda: self.softmax(x.astype("f8")))


if __name__ == "__main__":
    unittest.main()
