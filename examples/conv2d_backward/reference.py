"""Gradients of a convolution against NumPy in float64: each place of the filter on its own."""

import numpy
from case import Case, Input, Output

INPUT, WEIGHT = "conv2d_backward_input", "conv2d_backward_weight"
CASES = [
    Case("N=1 H=1 W=1 C=8 F=8", kernel=INPUT, T="f16"),
    Case("N=2 H=7 W=19 C=40 F=72", kernel=INPUT, T="bf16"),
    Case("N=1 H=13 W=17 C=24 F=8", kernel=INPUT, T="f16", STRIDE=2),
    Case("N=2 H=8 W=16 C=64 F=64", kernel=INPUT, T="bf16", STRIDE=2, R=5),
    Case(
        "N=1 H=9 W=6 C=16 F=24",
        kernel=INPUT,
        T="f16",
        R=1,
        STRIDE=2,
        BM=16,
        BP=2,
        BQ=8,
        BF=16,
        BC=16,
    ),
    Case("N=19 H=3 W=5 C=64 F=64", kernel=INPUT, T="bf16", BM=128, BP=2, BQ=4, BC=64),
    Case("N=1 H=1 W=1 C=8 F=8", kernel=WEIGHT, T="f16"),
    Case("N=2 H=7 W=19 C=40 F=72", kernel=WEIGHT, T="bf16"),
    Case("N=1 H=13 W=17 C=24 F=8", kernel=WEIGHT, T="f16", STRIDE=2),
    Case("N=3 H=8 W=16 C=64 F=128", kernel=WEIGHT, T="bf16", R=5),
    Case("N=2 H=9 W=6 C=16 F=24", kernel=WEIGHT, T="f16", R=1, STRIDE=2, BP=2, BQ=8, BC=16, BF=16),
    Case("N=19 H=3 W=5 C=72 F=64", kernel=WEIGHT, T="f16", BN=16, BP=2, BQ=2, BC=128, BF=64),
    Case("N=5 H=7 W=7 C=200 F=136", kernel=WEIGHT, T="bf16", BN=64, BP=1, BQ=1, BC=192, BF=128),
]


def sizes(case):
    return int(case.definitions.get("R", 3)), int(case.definitions.get("STRIDE", 1))


def arguments(case):
    r, stride = sizes(case)
    image = (case.N, case.H, case.W, case.C)
    grown = Input(case.T, (case.N, -(-case.H // stride), -(-case.W // stride), case.F))
    weight = (r, r, case.C, case.F)
    if case.kernel == INPUT:
        # With a stride, only the caller's tensor says how large the image was.
        # Tensor cores add up a place's terms less exactly the more there are.
        terms = case.F * (-(-r // stride)) ** 2
        dx = Output(case.T, image, rtol=1e-5, atol=1e-4 + 1e-7 * terms, partial=True)
        return {"dy": grown, "w": Input(case.T, weight), "dx": dx}
    # Sums over all pixels, in parts.
    dw = Output("f32", weight, rtol=1e-5, atol=1e-4 + 1e-6 * case.N * case.H * case.W)
    return {"x": Input(case.T, image), "dy": grown, "dw": dw}


def reference(case, dy, w=None, x=None):
    r, stride = sizes(case)
    pad, (rows, columns) = (r - 1) // 2, dy.shape[1:3]
    padded = numpy.zeros((case.N, case.H + 2 * pad, case.W + 2 * pad, case.C))
    inner = (slice(None), slice(pad, pad + case.H), slice(pad, pad + case.W))
    if x is not None:
        padded[inner] = x
    dw = numpy.zeros((r, r, case.C, case.F))
    for i in range(r):
        for j in range(r):
            seen = (slice(None), slice(i, i + rows * stride, stride))
            seen = (*seen, slice(j, j + columns * stride, stride))
            if x is None:
                # What lies behind the image has no gradient.
                window = padded[seen]
                window += (dy @ w[i, j].T)[:, : window.shape[1], : window.shape[2]]
            else:
                window = padded[seen]
                here = dy[:, : window.shape[1], : window.shape[2]]
                dw[i, j] = numpy.einsum("npqc,npqf->cf", window, here)
    return {"dx": padded[inner]} if x is None else {"dw": dw}
