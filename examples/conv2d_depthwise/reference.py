"""Depthwise convolution and its gradients against NumPy in float64."""

import numpy
from case import Case, Input, Output

CASES = [
    Case("B=1 H=1 W=1 C=1", kernel="conv2d_depthwise", T="f32"),
    Case("B=2 H=5 W=17 C=131", kernel="conv2d_depthwise", T="f16"),
    Case("B=1 H=9 W=20 C=64", kernel="conv2d_depthwise", T="bf16", R=5, TURN="true"),
    Case("B=1 H=7 W=7 C=33", kernel="conv2d_depthwise", T="f32", R=7, BW=4, BC=32),
    Case("B=1 H=1 W=1 C=1", kernel="conv2d_depthwise_weight", T="f32"),
    Case("B=2 H=13 W=17 C=67", kernel="conv2d_depthwise_weight", T="f16"),
    Case("B=1 H=9 W=20 C=64", kernel="conv2d_depthwise_weight", T="bf16", R=5, HS=4),
    Case("B=3 H=8 W=5 C=40", kernel="conv2d_depthwise_weight", T="f32", BC=24),
]


def taps(case):
    return int(case.definitions.get("R", 3))


def arguments(case):
    shape, r = (case.B, case.H, case.W, case.C), taps(case)
    if case.kernel == "conv2d_depthwise":
        return {
            "x": Input(case.T, shape),
            "k": Input(case.T, (r, r, case.C)),
            "y": Output(case.T, shape, atol=2e-5),
        }
    return {
        "x": Input(case.T, shape),
        "dy": Input(case.T, shape),
        "dk": Output("f32", (r, r, case.C), rtol=1e-4, atol=1e-3),
    }


def reference(case, x, k=None, dy=None):
    r = taps(case)
    padded = numpy.pad(x, ((0, 0), (r // 2, r // 2), (r // 2, r // 2), (0, 0)))
    shifted = [[padded[:, u : u + case.H, v : v + case.W] for v in range(r)] for u in range(r)]
    if dy is not None:
        return {
            "dk": numpy.array(
                [[(dy * part).sum(axis=(0, 1, 2)) for part in row] for row in shifted]
            )
        }
    k = k[::-1, ::-1] if case.definitions.get("TURN") == "true" else k
    return {"y": sum(shifted[u][v] * k[u, v] for u in range(r) for v in range(r))}
