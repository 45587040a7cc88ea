"""Kernels called from JAX: python_jax.py SOURCE."""

import os
import sys
import unittest

import jax
import jax.numpy
import numpy
import tile_compiler as tile

ROOT = sys.argv.pop()
SCALE = """kernel scale[T: dtype in {f16, bf16, f32}](x: in T[M, N], y: out T[M, N], a: f32 = 2.0)
  where M in 1..=4096, N in 1..=4096 grid (row: M)
{ for n in blocks(N, 64) { y[row, n] = (a * (x[row, n] as f32)) as T; } }
"""
COUNT = """kernel count(s: inout f32[N], before: out f32[N]) where N in 1..=4096 grid (i: N)
{ before[i] = s[i]; s[i] = s[i] + 1.0; }
"""


class Jax(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scale = tile.compile(SCALE)

    def testJit(self):
        function = jax.jit(lambda x: self.scale(x + 1.0, a=3.0) - 1.0)
        for shape in ((3, 4), (1, 1), (7, 129)):
            x = jax.numpy.arange(float(numpy.prod(shape)), dtype="float32").reshape(shape)
            numpy.testing.assert_array_equal(function(x), 3 * (numpy.asarray(x) + 1) - 1)
        for dtype in ("float16", "bfloat16"):
            found = function(jax.numpy.ones((2, 5), dtype))
            self.assertEqual((found.dtype.name, found.shape), (dtype, (2, 5)))
            self.assertTrue((found == 5).all())
        self.assertIn("tile_launch", function.lower(x).as_text())

    def testEager(self):
        x = jax.numpy.ones((2, 3))
        self.assertTrue((self.scale(x) == 2).all())
        self.assertTrue((x == 1).all())

    def testVmap(self):
        x = jax.numpy.arange(24.0).reshape(2, 3, 4)
        numpy.testing.assert_array_equal(jax.vmap(self.scale)(x), 2 * x)
        numpy.testing.assert_array_equal(
            jax.jit(jax.vmap(self.scale, in_axes=2, out_axes=1))(x), 2 * x.transpose(0, 2, 1)
        )

    def testWritten(self):
        s = jax.numpy.ones(5)
        after, before = jax.jit(tile.compile(COUNT))(s)
        self.assertTrue((after == 2).all() and (before == 1).all() and (s == 1).all())

    def testWrongCalls(self):
        x = jax.numpy.ones((2, 3))
        self.assertRaisesRegex(
            TypeError,
            "scale: 'y' is an output, which JAX makes: leave it out",
            lambda: self.scale(x, x),
        )
        self.assertRaisesRegex(
            TypeError,
            "scale: 'a' is a number that JAX traces",
            lambda: jax.jit(self.scale)(x, a=2.0),
        )
        self.assertRaisesRegex(
            tile.Error, "no instance takes", lambda: jax.jit(self.scale)(x.astype("int32"))
        )
        with self.assertRaisesRegex(
            Exception, "M = 5000"
        ):  # a contract that is checked when it runs, or when it is traced
            jax.block_until_ready(jax.jit(self.scale)(jax.numpy.ones((5000, 3))))

    def testGradient(self):
        forward = tile.compile(os.path.join(ROOT, "examples", "softmax", "softmax.tile"))
        backward = tile.compile(
            os.path.join(ROOT, "examples", "softmax_backward", "softmax_backward.tile")
        )

        @jax.custom_vjp
        def softmax(x):
            return forward(x)

        softmax.defvjp(lambda x: (forward(x),) * 2, lambda y, dy: (backward(y, dy),))
        x = jax.random.normal(jax.random.key(0), (5, 33))
        weight = jax.random.normal(jax.random.key(1), (5, 33))
        ours = jax.grad(lambda x: (softmax(x) * weight).sum())(x)
        theirs = jax.grad(lambda x: (jax.nn.softmax(x, 1) * weight).sum())(x)
        numpy.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-6)


if __name__ == "__main__":
    unittest.main()
