"""Window and sinks."""

import numpy as np

from case import Case, Input, Output, ROUNDING, Scalar

CASES = [
    Case("H=1 G=1 S=1 D=64", {"window": 1, "sinks": 0}, T="f16"),
    Case("H=2 G=1 S=150 D=64", {"window": 40, "sinks": 4}, T="bf16"),
    Case("H=4 G=2 S=201 D=128", {"window": 64, "sinks": 70}, T="f16"),
    Case("H=1 G=1 S=97 D=64", {"window": 300, "sinks": 5}, T="f16"),
    Case("H=2 G=2 S=170 D=64", {"window": 33, "sinks": 3}, T="f16", BM=32, BN=96),
]
TIMED = [Case("H=32 G=8 S=8192 D=64", {"window": 1024, "sinks": 4}, T="f16")]


def arguments(case):
    few = (case.G, case.S, case.D)
    return {
        "q": Input(case.T, (case.H, case.S, case.D)),
        "k": Input(case.T, few),
        "v": Input(case.T, few),
        "sink": Input("f32", (case.H,)),
        "o": Output(case.T, (case.H, case.S, case.D), rtol=1e-3, atol=4 * ROUNDING[case.T]),
        "window": Scalar("i32"),
        "sinks": Scalar("i32"),
        "scale": Scalar("f32", case.D**-0.5),
    }


def reference(case, q, k, v, sink, window, sinks, scale):
    k, v = (np.repeat(x, case.H // case.G, axis=0) for x in (k, v))
    far = np.arange(case.S)[:, None] - np.arange(case.S)
    seen = (far >= 0) & ((far < window) | (np.arange(case.S) < sinks))
    s = np.where(seen, q @ k.transpose(0, 2, 1) * scale, -np.inf)
    top = np.maximum(s.max(axis=2), sink[:, None])[..., None]
    e = np.exp(s - top)
    return {"o": e @ v / (e.sum(axis=2, keepdims=True) + np.exp(sink[:, None, None] - top))}
