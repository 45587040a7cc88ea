"""Arrays in host memory that a call must refuse: python_arguments.py PACKAGE, of
examples/deploy/kernels.tile for the CPU.
"""

import sys
import unittest

import numpy
import tile_compiler as tile

PACKAGE = sys.argv.pop()


class Dlpack:
    """An array that speaks nothing but DLPack, of the version asked for."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **named):
        return self.array.__dlpack__(**named)

    def __dlpack_device__(self):
        return (1, 0)


class Arguments(unittest.TestCase):
    def setUp(self):
        module = tile.load(PACKAGE, device="cpu")
        self.saxpy, self.mean = module["saxpy"], module["row_mean"]
        self.x = numpy.arange(64, dtype="f4")

    def raises(self, kind, text, call):
        with self.assertRaises(kind) as caught:
            call()
        self.assertIn(text, str(caught.exception))

    def testReadOnly(self):
        text = bytes(4 * 64)
        frozen = numpy.frombuffer(text, "f4")
        self.raises(
            tile.Error,
            "saxpy: 'y' is written by the kernel, but the array given is read-only",
            lambda: self.saxpy(a=1.0, x=self.x, y=frozen),
        )
        self.assertEqual(text, bytes(4 * 64))
        y = numpy.ones(64, "f4")
        self.saxpy(a=1.0, x=frozen, y=y)  # to be read it is good
        self.assertTrue((y == 1).all())
        prepared = self.saxpy.prepare(self.x, y, 1.0)
        self.raises(tile.Error, "is read-only", lambda: prepared(self.x, frozen, 1.0))
        self.raises(
            tile.Error, "is read-only", lambda: self.saxpy(self.x, frozen, 1.0, check=False)
        )

    def testReadOnlyByDlpack(self):
        frozen = numpy.zeros(64, "f4")
        frozen.flags.writeable = False
        # NumPy before 2.1 exports no read-only array at all.
        self.raises(tile.Error, "'y' ", lambda: self.saxpy(self.x, Dlpack(frozen), 1.0))
        self.assertTrue((frozen == 0).all())
        y = numpy.zeros(64, "f4")
        self.saxpy(Dlpack(self.x), Dlpack(y), 1.0)
        self.assertTrue((y == self.x).all())

    def testBigEndian(self):
        for dtype in (">f4", ">f2", ">i8"):
            self.raises(
                TypeError,
                f"saxpy: 'x' is big-endian (type '{dtype}')",
                lambda: self.saxpy(numpy.zeros(64, dtype), self.x.copy(), 1.0),
            )
        self.raises(
            Exception,
            "'x' ",
            lambda: self.saxpy(Dlpack(numpy.zeros(64, ">f4")), self.x.copy(), 1.0),
        )

    def testNone(self):
        self.raises(
            TypeError,
            "saxpy: 'y' is None, expected a tensor of f32: anything with __array_interface__ or"
            " __dlpack__",
            lambda: self.saxpy(self.x, None, 1.0),
        )
        self.raises(
            TypeError,
            "saxpy: 'x' is of type str, expected a tensor of f32",
            lambda: self.saxpy("x", self.x, 1.0),
        )
        self.raises(
            TypeError,
            "saxpy: 'a' is None, expected a number of f32",
            lambda: self.saxpy(self.x, self.x, None),
        )

    def testPrepared(self):
        x, mean = numpy.ones((32, 16), "f4"), numpy.zeros((32, 1), "f4")
        prepared = self.mean.prepare(x, mean)
        prepared(x, mean)
        behind = numpy.zeros((32, 1), "f4")
        self.raises(
            tile.Error,
            "row_mean: 'mean' has shape [4, 1], but was prepared with [32, 1]",
            lambda: prepared(x, behind[:4]),
        )
        self.raises(tile.Error, "'x' has shape [16, 32]", lambda: prepared(x.reshape(16, 32), mean))
        self.raises(
            tile.Error,
            "'x' has strides [32, 1], but was prepared with [16, 1]",
            lambda: prepared(numpy.ones((32, 32), "f4")[:, :16], mean),
        )
        self.raises(tile.Error, "'x' has dtype f64", lambda: prepared(x.astype("f8"), mean))
        self.assertTrue((behind == 0).all())


if __name__ == "__main__":
    unittest.main()
