#!/usr/bin/env python3
"""Examples as operators of PyTorch: run_torch_kernels.py [--device cpu | cuda], with the module
`tile` on PYTHONPATH.

torch.library.opcheck, torch.autograd.gradcheck, torch.vmap and torch.autocast on more than ten
kernels; gradients are by kernels where the examples have them, else by formulas of PyTorch's
operations.
"""

import argparse
import os
import sys
import unittest
import warnings

import torch

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
try:
    import tile_compiler as tile
except ImportError:
    sys.path.insert(0, os.path.join(ROOT, "python"))
    import tile_compiler as tile

DEVICE = "cpu"


def kernel(name, **constants):
    return tile.compile(
        os.path.join(ROOT, "examples", name, name + ".tile"), kernel=name, **constants
    )


def ops():
    return torch.ops.tilekernels


def dims(x, *axes):
    return x.sum(axes, keepdim=True)


def layerNorm(values, gradients):
    x, w, mean, rstd = (values[name] for name in ("x", "w", "mean", "rstd"))
    dy, n = gradients["y"], values["x"].shape[1]
    h = (x - mean[:, None]) * rstd[:, None]
    g = dy * w
    return {
        "x": rstd[:, None] * (g - dims(g, 1) / n - h * dims(g * h, 1) / n),
        "w": (dy * h).sum(0),
        "b": dy.sum(0),
    }


def rmsNorm(values, gradients):
    x, w, dy = values["x"], values["w"], gradients["y"]
    r = torch.rsqrt(
        (x * x).mean(1, keepdim=True) + (values["eps"] if values["eps"] is not None else 1e-5)
    )
    g = dy * w
    return {"x": r * (g - x * r * r * (g * x).mean(1, keepdim=True)), "w": (dy * x * r).sum(0)}


def gated(values, gradients):
    gate, value = values["x"].chunk(2, 1)
    dy, s = gradients["y"], torch.sigmoid(values["x"].chunk(2, 1)[0])
    return {"x": torch.cat([dy * value * s * (1 + gate * (1 - s)), dy * gate * s], 1)}


def crossEntropy(values, gradients):
    share = torch.exp(values["x"] - values["lse"][:, None])
    label = torch.nn.functional.one_hot(values["label"], share.shape[1])
    return {"x": (share - label) * gradients["loss"][:, None] + share * gradients["lse"][:, None]}


# Kernel: (backward, dimension of a batch, shapes of its tensors, what PyTorch computes)
KERNELS = {
    "softmax": ("softmax_backward", "M", [(5, 33)], lambda x: torch.softmax(x, 1)),
    "log_softmax": (
        lambda v, g: {"x": g["y"] - v["y"].exp() * dims(g["y"], 1)},
        "M",
        [(5, 33)],
        lambda x: torch.log_softmax(x, 1),
    ),
    "layer_norm": (
        layerNorm,
        "M",
        [(4, 30), (30,), (30,)],
        lambda x, w, b: (
            torch.layer_norm(x, (30,), w, b),
            x.mean(1),
            (x.var(1, unbiased=False) + 1e-5).rsqrt(),
        ),
    ),
    "rms_norm": (
        rmsNorm,
        "M",
        [(4, 30), (30,)],
        lambda x, w: torch.nn.functional.rms_norm(x, (30,), w, 1e-5),
    ),
    "rotary": (
        lambda v, g: {"x": ops().rotary(g["y"], v["cosine"], -v["sine"])},
        "B",
        [(2, 3, 2, 64), (3, 32), (3, 32)],
        None,
    ),
    "matmul_f32": (
        lambda v, g: {
            "a": ops().matmul_f32(g["c"], v["b"].t().contiguous()),
            "b": ops().matmul_f32(v["a"].t().contiguous(), g["c"]),
        },
        "M",
        [(6, 5), (5, 7)],
        lambda a, b: a @ b,
    ),
    "transpose": (lambda v, g: {"x": ops().transpose(g["y"])}, None, [(6, 9)], lambda x: x.t()),
    "vector_add": (
        lambda v, g: {"x": g["z"], "y": g["z"]},
        "N",
        [(40,), (40,)],
        lambda x, y: x + y,
    ),
    "row_sum": (
        lambda v, g: {"x": g["y"][:, None].expand_as(v["x"])},
        "M",
        [(4, 20)],
        lambda x: x.sum(1),
    ),
    "row_scale": (
        lambda v, g: {"x": g["y"] * v["s"][:, None], "s": (g["y"] * v["x"]).sum(1)},
        "M",
        [(5, 20), (5,)],
        lambda x, s: x * s[:, None],
    ),
    "matvec": (
        lambda v, g: {"a": torch.outer(g["y"], v["x"]), "x": v["a"].t() @ g["y"]},
        "M",
        [(6, 20), (20,)],
        lambda a, x: a @ x,
    ),
    "gated_activation": (
        gated,
        "M",
        [(4, 24)],
        lambda x: torch.nn.functional.silu(x[:, :12]) * x[:, 12:],
    ),
    "cross_entropy": (
        crossEntropy,
        "M",
        [(5, 21), "labels"],
        lambda x, label: (
            torch.nn.functional.cross_entropy(x, label, reduction="none"),
            torch.logsumexp(x, 1),
        ),
    ),
}


class Kernels(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        for name, (backward, batch, _, _) in KERNELS.items():
            backward = kernel(backward) if isinstance(backward, str) else backward
            kernel(name).torch_op(
                f"tilekernels::{name}", backward=backward, batch=batch, autocast=torch.bfloat16
            )

    def inputs(self, name, *batch):
        generator = torch.Generator("cpu").manual_seed(7)
        made = []
        for shape in KERNELS[name][2]:
            if shape == "labels":
                made.append(torch.randint(0, 21, (*batch, 5), generator=generator).to(DEVICE))
            else:
                made.append(torch.randn((*batch, *shape), generator=generator).to(DEVICE))
        return made

    def each(self, check):
        for name in KERNELS:
            with self.subTest(kernel=name):
                check(name, getattr(ops(), name))

    def testForward(self):
        def check(name, op):
            if KERNELS[name][3]:
                torch.testing.assert_close(
                    op(*self.inputs(name)),
                    KERNELS[name][3](*self.inputs(name)),
                    rtol=1e-4,
                    atol=1e-5,
                )

        self.each(check)

    def testOpcheck(self):
        def check(name, op):
            inputs = [x.requires_grad_(x.is_floating_point()) for x in self.inputs(name)]
            torch.library.opcheck(op, inputs, rtol=1e-4, atol=1e-4)

        self.each(check)

    def testGradcheck(self):
        def check(name, op):
            inputs = [
                x.requires_grad_(x.is_floating_point() and not (name == "rotary" and i))
                for i, x in enumerate(self.inputs(name))
            ]

            # layer_norm's gradients are those of y alone: the statistics are for the backward pass.
            def chosen(*inputs):
                found = op(*inputs)
                return found[0] if name == "layer_norm" else found

            # In single precision: differences over 0.02 are good to three digits.
            warnings.filterwarnings("ignore", "Input #. requires gradient and is not a double")
            self.assertTrue(
                torch.autograd.gradcheck(chosen, inputs, eps=1e-2, atol=5e-3, rtol=5e-3)
            )

        self.each(check)

    def testVmap(self):
        def check(name, op):
            inputs = self.inputs(name, 3)
            places = (0,) + tuple(None if name == "rotary" else 0 for _ in inputs[1:])
            inputs = [x if place == 0 else x[0] for x, place in zip(inputs, places)]
            found = torch.vmap(op, places)(*inputs)
            rows = [
                op(*(x[i] if place == 0 else x for x, place in zip(inputs, places)))
                for i in range(3)
            ]
            expected = (
                tuple(map(torch.stack, zip(*rows)))
                if isinstance(rows[0], tuple)
                else torch.stack(rows)
            )
            torch.testing.assert_close(found, expected)

        self.each(check)

    def testVmapIsOneLaunch(self):
        """With a dimension of batches, and tensors without it that are not batched, there is one
        launch for the whole batch.
        """
        softmax, rms = kernel("softmax"), kernel("rms_norm")
        launches = []
        counted = [
            type(
                "Counted",
                (type(one),),
                {
                    "__call__": lambda self, *a, **n: (
                        launches.append(1),
                        tile.Function.__call__(self, *a, **n),
                    )[1]
                },
            )
            for one in (softmax, rms)
        ]
        softmax.__class__, rms.__class__ = counted
        one = softmax.torch_op("tilekernels::softmax_counted", batch="M")
        two = rms.torch_op("tilekernels::rms_counted", batch="M")
        three = softmax.torch_op("tilekernels::softmax_each")
        x, w = torch.randn(2, 3, 4, 33, device=DEVICE), torch.randn(33, device=DEVICE)
        torch.testing.assert_close(torch.vmap(torch.vmap(one))(x), torch.softmax(x, 3))
        self.assertEqual(len(launches), 1)
        torch.testing.assert_close(
            torch.vmap(one, 2, 1)(x[0]), torch.vmap(lambda x: torch.softmax(x, 1), 2, 1)(x[0])
        )
        self.assertEqual(len(launches), 2)
        torch.vmap(two, (0, None))(x[0], w)
        self.assertEqual(len(launches), 3)
        torch.testing.assert_close(torch.vmap(three)(x[0]), torch.softmax(x[0], 2))
        self.assertEqual(len(launches), 6)
        self.assertRaisesRegex(
            ValueError,
            "softmax has no dimension 'Q' for 'batch'; there are M, N",
            lambda: softmax.torch_op("tilekernels::wrong", batch="Q"),
        )

    def testViews(self):
        """An operator takes views that the kernel itself refuses: transposed, strided, misaligned;
        also where it writes.
        """
        x = torch.randn(9, 33, device=DEVICE)
        for view in (x.t(), x[1:], x[:, 1:], x[::2], x.expand(9, 33)):
            torch.testing.assert_close(ops().softmax(view), torch.softmax(view, 1))
        self.assertRaises(tile.Error, lambda: kernel("softmax")(x.t()))
        saxpy = kernel("saxpy").torch_op("tilekernels::saxpy")
        y = torch.ones(9, 33, device=DEVICE)
        saxpy(2.0, x[:, 3], y[:, 5])
        expected = torch.ones_like(y)
        expected[:, 5] += 2.0 * x[:, 3]
        torch.testing.assert_close(y, expected)

    def testNegatedViews(self):
        """What PyTorch negates when it reads it is refused: its memory holds other numbers."""
        copy = tile.compile(
            "kernel copy(x: in f32[N; s], y: out f32[N]) where N in 1..=64, align(x, 4)\n"
            "  grid (i: N) { y[i] = x[i]; }"
        )
        number = torch.complex(torch.ones(4), torch.arange(4.0)).to(DEVICE)
        for _ in range(2):  # before and after a call that native.c keeps
            with self.assertRaisesRegex(tile.Error, "pass x.resolve_neg"):
                copy(number.conj().imag)
            self.assertEqual(copy(number.imag).tolist(), [0, 1, 2, 3])
        found = copy(number.conj().imag.resolve_neg())
        self.assertEqual(found.tolist(), [0, -1, -2, -3])

    def testKeys(self):
        """What tells calls apart, in C, knows tensors and parameters; subclasses, whose memory may
        be no memory, go the way through Python."""
        keyOf = tile._library.native.keyOf
        x = torch.ones(3, 4, device=DEVICE)
        if not hasattr(torch.Tensor, "__dlpack_c_exchange_api__"):  # of an older PyTorch
            self.assertIsNone(keyOf((x,), 0))
            return
        other = [x.half(), x[0], x.to(torch.float8_e4m3fn), x.to(torch.float8_e5m2), x.bfloat16()]
        keys = {keyOf((value,), 0) for value in [x, *other]}
        self.assertEqual(len(keys), 6)
        self.assertEqual({type(key) for key in keys}, {bytes})
        self.assertEqual(keyOf((x,), 0), keyOf((x.T,), 0))
        self.assertNotEqual(keyOf((x,), 1), keyOf((x.T,), 1))
        self.assertIsInstance(keyOf((torch.nn.Parameter(x), 2), 0), bytes)
        with torch._subclasses.FakeTensorMode():
            fake = torch.ones(3, 4, device=DEVICE)
        self.assertIsNone(keyOf((fake,), 0))

    def testAutocast(self):
        x = torch.randn(5, 33, device=DEVICE)
        with torch.autocast(DEVICE, torch.bfloat16):
            found = ops().softmax(x)
        self.assertEqual(found.dtype, torch.bfloat16)
        torch.testing.assert_close(found, torch.softmax(x.bfloat16(), 1), rtol=2e-2, atol=1e-3)
        self.assertEqual(ops().softmax(x).dtype, torch.float32)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="cpu", choices=["cpu", "cuda"])
    options, rest = parser.parse_known_args()
    DEVICE = options.device
    unittest.main(argv=[sys.argv[0], *rest])
