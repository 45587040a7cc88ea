#!/usr/bin/env python3
"""Kernels as operators of PyTorch: run_torch_op.py [--device cpu | cuda], with the module
`tile_compiler` on PYTHONPATH.

Schema, fake kernels and gradients by torch.library.opcheck and against PyTorch's own; one graph
under torch.compile; on GPUs CUDA graphs, streams and, where there are two, devices.
"""

import argparse
import os
import sys
import unittest

import torch

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
try:
    import tile_compiler as tile
except ImportError:
    sys.path.insert(0, os.path.join(ROOT, "python"))
    import tile_compiler as tile

DEVICE = "cpu"
SPLIT = """
/// Rows of x times a, their sums, and x itself counted up.
kernel split(x: in f32[M, N], count: inout i32[M], scaled: out f32[2 * M, N], sums: out f32[M],
             a: f32 = 2.0, plus: i32 = 1)
  where M in 1..=4096, N in 1..=64
  grid (row: M)
{
  let n = block(0, 64);
  let v = x[row, n];
  scaled[row, n] = v * a;
  scaled[row + M, n] = v;
  sums[row] = sum(v);
  count[row] = count[row] + plus;
}
"""


def compileExample(name, **constants):
    return tile.compile(os.path.join(ROOT, "examples", name, name + ".tile"), **constants)


def makeSoftmax():
    return compileExample("softmax").torch_op(
        "tiletest::softmax", backward=compileExample("softmax_backward")
    )


class TorchOp(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.softmax = staticmethod(makeSoftmax())

    def rows(self, *shape):
        return torch.randn(shape, device=DEVICE, generator=torch.Generator(DEVICE).manual_seed(1))

    def testForward(self):
        x = self.rows(7, 300)
        torch.testing.assert_close(self.softmax(x), torch.softmax(x, 1))
        torch.testing.assert_close(
            torch.ops.tiletest.softmax(x.half()), torch.softmax(x.half(), 1), rtol=2e-3, atol=1e-5
        )

    def testSchema(self):
        self.assertEqual(
            str(torch.ops.tiletest.softmax.default._schema), "tiletest::softmax(Tensor x) -> Tensor"
        )

    def testOpcheck(self):
        torch.library.opcheck(self.softmax, (self.rows(5, 33),))
        torch.library.opcheck(self.softmax, (self.rows(5, 33).requires_grad_(),))

    def testGradient(self):
        x, weight = self.rows(6, 100), self.rows(6, 100)
        ours, theirs = x.clone().requires_grad_(), x.clone().requires_grad_()
        (self.softmax(ours) * weight).sum().backward()
        (torch.softmax(theirs, 1) * weight).sum().backward()
        torch.testing.assert_close(ours.grad, theirs.grad, rtol=1e-4, atol=1e-6)
        ours.grad = None
        self.softmax(ours).sum().backward()  # the gradient is one number, expanded
        torch.testing.assert_close(ours.grad, torch.zeros_like(x), rtol=0, atol=1e-5)

    def testGradientByFunction(self):
        scale = tile.compile(
            "kernel scale(x: in f32[N], y: out f32[N], a: f32) where N in 1..=4096 grid (i: N) {"
            " y[i] = a * x[i]; }"
        )
        plain = scale.torch_op("tiletest::scale_plain")
        op = scale.torch_op(
            "tiletest::scale",
            backward=lambda values, gradients: {"x": plain(gradients["y"], values["a"])},
        )
        x = self.rows(100).requires_grad_()
        op(x, 3.0).sum().backward()
        torch.testing.assert_close(x.grad, torch.full_like(x, 3.0))

    def testWrongPairs(self):
        self.assertRaisesRegex(
            ValueError,
            "is neither an argument nor an output of softmax",
            lambda: compileExample("softmax").torch_op(
                "tiletest::wrong", backward=tile.compile(SPLIT)
            ),
        )
        self.assertRaisesRegex(
            ValueError,
            "split writes count in place",
            lambda: tile.compile(SPLIT).torch_op(
                "tiletest::inplace", backward=compileExample("softmax_backward")
            ),
        )

    def testCompiled(self):
        x = self.rows(8, 64).requires_grad_()

        def block(x):
            return self.softmax(torch.relu(x) * 2.0) + self.softmax(x)

        expected = block(x)
        (gradient,) = torch.autograd.grad(expected.square().sum(), x)
        compiled = torch.compile(
            block,
            fullgraph=True,
            dynamic=True,
            backend="aot_eager" if DEVICE == "cpu" else "inductor",
        )
        found = compiled(x)
        torch.testing.assert_close(found, expected)
        torch.testing.assert_close(
            torch.autograd.grad(found.square().sum(), x)[0], gradient, rtol=1e-4, atol=1e-6
        )
        graphs = torch._dynamo.utils.counters["stats"]["unique_graphs"]
        for rows in (3, 9, 21, 40):
            other = self.rows(rows, 64 + rows)
            torch.testing.assert_close(compiled(other.requires_grad_()), block(other))
        self.assertEqual(
            torch._dynamo.utils.counters["stats"]["unique_graphs"], graphs
        )  # sizes are symbols: no other graph
        self.assertFalse(torch._dynamo.utils.counters["graph_break"])

    def needsGpus(self, count=1):
        if DEVICE != "cuda" or torch.cuda.device_count() < count:
            self.skipTest(f"needs --device cuda and {count} of them")

    def testCudaGraph(self):
        self.needsGpus()
        x = self.rows(16, 300)
        self.softmax(x)  # loads the code, which a capture cannot
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            y = self.softmax(torch.relu(x))
        for factor in (2.0, -3.0):
            x.mul_(factor)
            graph.replay()
            torch.testing.assert_close(y, torch.softmax(torch.relu(x), 1))

    def testCompiledCudaGraph(self):
        self.needsGpus()
        skips = torch._dynamo.utils.counters["inductor"]
        before = skips["cudagraph_skips"]
        block = torch.compile(
            lambda x: self.softmax(torch.relu(x) * 2.0),
            fullgraph=True,
            dynamic=False,
            mode="reduce-overhead",
        )
        for factor in (1.0, 2.0, -3.0, 4.0):  # warms up, is captured, is replayed
            torch.compiler.cudagraph_mark_step_begin()
            x = (self.rows(8, 64) * factor).requires_grad_()
            found, expected = block(x), torch.softmax(torch.relu(x) * 2.0, 1)
            torch.testing.assert_close(found, expected)
            (gradient,) = torch.autograd.grad(found.square().sum(), x)
            (wanted,) = torch.autograd.grad(expected.square().sum(), x)
            torch.testing.assert_close(gradient, wanted, rtol=1e-4, atol=1e-6)
        self.assertEqual(skips["cudagraph_skips"], before)

    def testStreams(self):
        self.needsGpus()
        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream):
            x = self.rows(64, 4096)
            for _ in range(20):
                x = x * 1.0
            y = self.softmax(x)
            expected = torch.softmax(x, 1)
        stream.synchronize()
        torch.testing.assert_close(y, expected)

    def testDevices(self):
        self.needsGpus(2)
        x = self.rows(9, 100)
        there = x.to("cuda:1")
        self.softmax(x)
        y = self.softmax(there)  # while cuda:0 is the current device
        self.assertEqual((y.device, torch.cuda.current_device()), (there.device, 0))
        torch.testing.assert_close(y, torch.softmax(there, 1))

    def testOutputsAndMutation(self):
        op = tile.compile(SPLIT).torch_op("tiletest::split")
        self.assertEqual(
            str(op.default._schema),
            "tiletest::split(Tensor x, Tensor(a!) count, float a=2., SymInt plus=1) -> (Tensor,"
            " Tensor)",
        )
        x, count = self.rows(5, 40), torch.zeros(5, dtype=torch.int32, device=DEVICE)
        scaled, sums = op(x, count, 3.0)
        torch.testing.assert_close(scaled, torch.cat([3 * x, x]))
        torch.testing.assert_close(sums, x.sum(1))
        self.assertEqual(count.tolist(), [1] * 5)
        torch.library.opcheck(op, (x, count), {"plus": 2})
        with torch._subclasses.FakeTensorMode() as mode:
            fake = op(mode.from_tensor(x), mode.from_tensor(count))
        self.assertEqual([tuple(one.shape) for one in fake], [(10, 40), (5,)])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="cpu", choices=["cpu", "cuda"])
    options, rest = parser.parse_known_args()
    DEVICE = options.device
    unittest.main(argv=[sys.argv[0], *rest])
