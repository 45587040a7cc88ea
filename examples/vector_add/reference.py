"""Vector add against NumPy. The sum of two numbers is exact in float64, so only one rounding may
differ.
"""

from case import Case, Input, Output

CASES = [
    Case("N=1", T="f32"),
    Case("N=7", T="f16"),
    Case("N=2048", T="f32"),
    Case("N=2049", T="bf16"),
    Case("N=65537", T="f32"),
    Case("N=1000003", T="f16"),
    Case("N=4194304", T="f32"),
    Case("N=131", T="f32", BLOCK=32),
    Case("N=10007", T="f32", BLOCK=1000),
]


def arguments(case):
    shape = (case.N,)
    return {
        "x": Input(case.T, shape),
        "y": Input(case.T, shape),
        "z": Output(case.T, shape, rtol=0, atol=1e-7),
    }


def reference(case, x, y):
    return {"z": x + y}
