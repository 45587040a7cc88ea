"""Kernels of a package on NumPy's arrays: python_cpu.py PACKAGE, compiled from
examples/deploy/kernels.tile for the CPU.
"""

import sys
import unittest

import numpy
import tile_compiler as tile

PACKAGE = sys.argv.pop()


class OnTheCpu(unittest.TestCase):
    def setUp(self):
        self.module = tile.load(PACKAGE, device="cpu")
        self.x = numpy.random.default_rng(1).random((37, 1000), "f4")

    def raises(self, text, call):
        with self.assertRaises(tile.Error) as caught:
            call()
        self.assertIn(text, str(caught.exception))

    def testModule(self):
        self.assertEqual((self.module.target, self.module.device), ("cpu", "cpu"))
        self.assertEqual(list(self.module), ["saxpy", "row_mean"])
        self.assertRaises(ValueError, lambda: tile.load(PACKAGE, device="tpu"))

    def testOutputs(self):
        kernel = self.module["row_mean"]
        self.assertEqual(kernel.outputs(self.x), {"mean": ("f32", (37, 1))})
        self.assertEqual(kernel.outputs(x=self.x), {"mean": ("f32", (37, 1))})
        self.assertEqual(self.module["saxpy"].outputs(self.x[0]), {})  # y is inout
        self.raises(
            "dimension 0 of 'mean' does not follow from the arguments that are given: 'M' has no"
            " value",
            lambda: kernel.outputs(),
        )
        self.assertRaises(TypeError, lambda: kernel.outputs(z=self.x))

    def testRun(self):
        mean = numpy.empty((37, 1), "f4")
        self.module["row_mean"](self.x, mean)
        numpy.testing.assert_allclose(mean[:, 0], self.x.mean(axis=1), rtol=1e-5)
        y = numpy.ones(1000, "f4")
        self.module["saxpy"](a=3, y=y, x=self.x[5])
        numpy.testing.assert_allclose(y, 3 * self.x[5] + 1, rtol=1e-6)

    def testWrongCalls(self):
        kernel, mean = self.module["row_mean"], numpy.empty((37, 1), "f4")
        self.raises(
            "'x' expects a tensor of f32, found f64", lambda: kernel(self.x.astype("f8"), mean)
        )
        self.raises(
            "'mean' has M = 36 in dimension 0, but 'x' has M = 37",
            lambda: kernel(self.x, mean[:36]),
        )
        self.raises("stride 1 of 'x' is 2, expected 1", lambda: kernel(self.x[:, ::2], mean))
        self.raises(
            "'mean' is written and overlaps 'x'",
            lambda: kernel(
                self.x.reshape(-1)[: 37 * 999].reshape(37, 999),
                self.x.reshape(-1)[64 : 64 + 37].reshape(37, 1),
            ),
        )
        self.raises("'x' expects a tensor of f32, found a scalar", lambda: kernel(1.0, mean))

        class OnDevice:
            __cuda_array_interface__ = {
                "data": (4096, False),
                "typestr": "<f4",
                "shape": (37, 1000),
                "version": 3,
            }

        self.raises(
            "'x' is on the CUDA device, expected an array in host memory: this code is for the CPU",
            lambda: kernel(OnDevice(), mean),
        )

    @unittest.skipUnless(tile._library.native, "there is no tile_native for this Python")
    def testQuickly(self):
        """NumPy's arrays never enter Python code, unless they are what the module in C does not
        know.
        """
        slow = []
        kernel, prepared = self.module["row_mean"], None
        before = tile.Kernel._slowCall
        tile.Kernel._slowCall = lambda *values, **named: (slow.append(1), before(*values, **named))[
            1
        ]
        try:
            for x in (self.x, self.x[3:9], self.x[:0], self.x[:1]):
                mean = numpy.full((x.shape[0], 1), 7, "f4")
                kernel(x, mean)
                numpy.testing.assert_allclose(mean[:, 0], x.mean(axis=1), rtol=1e-5)
                prepared = kernel.prepare(x, mean)
                mean[:] = 0
                prepared(x, mean)
                numpy.testing.assert_allclose(mean[:, 0], x.mean(axis=1), rtol=1e-5)
            mean = numpy.zeros((37, 1), "f4")
            self.raises("stride 1 of 'x' is 2, expected 1", lambda: kernel(self.x[:, ::2], mean))
            self.raises("stride 0 of 'x' is -1000", lambda: kernel(self.x[::-1], mean))
            self.raises("'mean' has M = 36", lambda: kernel(self.x, numpy.zeros((36, 1), "f4")))
            self.assertEqual(slow, [])
            mean = numpy.zeros((37, 1), "f4")
            kernel(x=self.x, mean=mean)
            kernel(self.x, mean, check=False)
            self.assertEqual(slow, [])
            mean.setflags(write=False)
            self.raises(
                "'mean' is written by the kernel, but the array given is read-only",
                lambda: kernel(self.x, mean),
            )
            self.assertEqual(slow, [1])
            self.x.setflags(write=False)
            kernel(self.x, numpy.zeros((37, 1), "f4"))
            self.assertEqual(slow, [1])
            self.raises(
                "row_mean: 'x'", lambda: kernel(self.x.astype("f8"), numpy.zeros((37, 1), "f4"))
            )
            self.assertRaises(
                TypeError, lambda: kernel(self.x.astype(">f4"), numpy.zeros((37, 1), "f4"))
            )
            self.raises(
                "'x' expects a tensor of f32, found a scalar",
                lambda: kernel(3, numpy.zeros((37, 1), "f4")),
            )
        finally:
            tile.Kernel._slowCall = before


if __name__ == "__main__":
    unittest.main()
