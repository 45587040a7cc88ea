"""Mean and variance of rows."""

from case import Case, Input, Output

CASES = [
    Case("M=1 N=1", T="f32"),
    Case("M=5 N=513", T="f16"),
    Case("M=3 N=2000", T="bf16"),
    Case("M=4 N=300", T="f32", BLOCK=96),
]
TIMED = [Case("M=4096 N=8192", T="f16")]


def arguments(case):
    return {
        "x": Input(
            case.T, (case.M, case.N), lambda random, shape: random.standard_normal(shape) + 20.0
        ),
        "mean_": Output("f32", (case.M,), rtol=1e-5),
        "var_": Output("f32", (case.M,), rtol=1e-4, atol=1e-5),
    }


def reference(case, x):
    return {"mean_": x.mean(axis=1), "var_": x.var(axis=1)}
