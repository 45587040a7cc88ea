"""Embedding against NumPy. Some numbers are out of range. Gradients are small integers, whose sums
every dtype holds.
"""

import numpy
from case import Case, Input, Output

CASES = [
    Case("V=1 N=1 L=1", kernel="embedding", T="f32"),
    Case("V=7 N=3 L=5", kernel="embedding", T="f16"),
    Case("V=1009 N=257 L=131", kernel="embedding", T="bf16"),
    Case("V=100 N=64 L=1000", kernel="embedding", T="f16", BT=8, BN=64),
    Case("V=50257 N=768 L=37", kernel="embedding", T="f32"),
    Case("V=31 N=1000 L=97", kernel="embedding", T="bf16", BT=12, BN=96),
    Case("V=1 N=1 L=1", kernel="embedding_backward", T="f32", D="f32"),
    Case("V=7 N=3 L=5", kernel="embedding_backward", T="f16", D="f32"),
    Case("V=101 N=257 L=131", kernel="embedding_backward", T="bf16", D="f32"),
    Case("V=100 N=64 L=999", kernel="embedding_backward", T="f16", D="f16", BT=8, BN=64),
    Case("V=64 N=100 L=333", kernel="embedding_backward", T="f32", D="bf16"),
    Case("V=31 N=1000 L=97", kernel="embedding_backward", T="bf16", D="f32", BT=12, BN=96),
    Case("V=1 N=64 L=100", kernel="embedding_backward", T="f16", D="f32"),
]


def arguments(case):
    def numbers(random, shape):
        id = random.integers(0, case.V, shape)
        if case.L >= 4:
            id[1], id[2], id[3] = case.V, -1, -(2**40)
        return id

    id = Input("i64", (case.L,), numbers)
    if case.kernel == "embedding_backward":
        g = Input(case.T, (case.L, case.N), lambda random, shape: random.integers(-3, 4, shape))
        return {
            "g": g,
            "id": id,
            "dw": Output(case.D, (case.V, case.N), rtol=None, atol=0, partial=True),
        }
    return {
        "w": Input(case.T, (case.V, case.N)),
        "id": id,
        "y": Output(case.T, (case.L, case.N), rtol=None, atol=0),
    }


def reference(case, id, w=None, g=None):
    inside = (id >= 0) & (id < case.V)
    if g is not None:
        dw = numpy.zeros((case.V, case.N))
        numpy.add.at(dw, id[inside], g[inside])
        return {"dw": dw}
    return {"y": numpy.where(inside[:, None], w[numpy.where(inside, id, 0)], 0.0)}
