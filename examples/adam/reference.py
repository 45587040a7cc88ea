"""One step of Adam against NumPy in float64, with the scalars as f32 holds them."""

import numpy
from case import Case, InOut, Input, Scalar

STEP = {"rate": 1e-3, "b1t": 0.9**3, "b2t": 0.999**3}
CASES = [
    Case("N=1", STEP, T="f32"),
    Case("N=1024", STEP, T="f16"),
    Case("N=100003", STEP, T="bf16"),
    Case("N=77", {**STEP, "decay": 0.0}, T="f32", BLOCK=64),
    Case("N=5000", {**STEP, "rate": 0.5, "b1": 0.5, "b2": 0.75}, T="f32"),
]


class Positive(InOut):
    def __init__(self, dtype, shape):
        super().__init__(dtype, shape, rtol=1e-5, atol=1e-6)
        self.values = lambda random, shape: random.random(shape)


def arguments(case):
    shape = (case.N,)
    return {
        "w": InOut("f32", shape, rtol=1e-5, atol=1e-5),
        "g": Input(case.T, shape),
        "m": InOut("f32", shape),
        "v": Positive("f32", shape),
        "rate": Scalar("f32"),
        "b1": Scalar("f32"),
        "b2": Scalar("f32"),
        "b1t": Scalar("f32"),
        "b2t": Scalar("f32"),
        "eps": Scalar("f32"),
        "decay": Scalar("f32"),
    }


def reference(case, w, g, m, v, rate, b1t, b2t, b1=0.9, b2=0.999, eps=1e-8, decay=0.01):
    rate, b1t, b2t, b1, b2, eps, decay = (
        float(numpy.float32(s)) for s in (rate, b1t, b2t, b1, b2, eps, decay)
    )
    m = b1 * m + (1.0 - b1) * g
    v = b2 * v + (1.0 - b2) * g * g
    step = m / (1.0 - b1t) / (numpy.sqrt(v / (1.0 - b2t)) + eps)
    return {"w": w - rate * (step + decay * w), "m": m, "v": v}
