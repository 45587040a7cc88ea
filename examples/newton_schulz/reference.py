"""Steps of Newton and Schulz against NumPy in float64."""

from case import Case, Input, Output, ROUNDING, Scalar

CASES = [
    Case("B=1 M=8 K=8", kernel="newton_schulz_gram", T="f16"),
    Case("B=2 M=136 K=200", kernel="newton_schulz_gram", T="bf16"),
    Case(
        "B=1 M=136 K=136",
        {"alpha": -4.775, "beta": 2.0315},
        kernel="newton_schulz_gram",
        T="f16",
        KEEP="true",
    ),
    Case("B=1 M=72 K=40", kernel="newton_schulz_gram", T="f16", BM=48, BN=48, BK=16),
    Case("B=1 M=8 N=8", kernel="newton_schulz_step", T="f16"),
    Case("B=2 M=136 N=200", kernel="newton_schulz_step", T="bf16"),
    Case("B=1 M=72 N=104", {"a": -1.5}, kernel="newton_schulz_step", T="f16", BM=48, BN=48, BK=16),
]


def symmetric(random, shape):
    x = random.standard_normal(shape) * shape[-1] ** -0.5
    return (x + x.transpose(0, 2, 1)) / 2


def arguments(case):
    close = {"rtol": 1e-3, "atol": 4.0 * ROUNDING[case.T]}
    small = lambda random, shape: random.standard_normal(shape) * shape[-1] ** -0.5
    if case.kernel == "newton_schulz_gram":
        keep = case.definitions.get("KEEP") == "true"
        return {
            "x": Input(case.T, (case.B, case.M, case.K), symmetric if keep else small),
            "y": Output(case.T, (case.B, case.M, case.M), **close),
            "alpha": Scalar("f32", 0.0),
            "beta": Scalar("f32", 1.0),
        }
    return {
        "x": Input(case.T, (case.B, case.M, case.N)),
        "p": Input(case.T, (case.B, case.M, case.M), small),
        "y": Output(case.T, (case.B, case.M, case.N), **close),
        "a": Scalar("f32", 3.4445),
    }


def reference(case, x, alpha=0.0, beta=1.0, p=None, a=0.0):
    if p is not None:
        return {"y": a * x + p @ x}
    gram = beta * (x @ x.transpose(0, 2, 1))
    return {"y": gram + alpha * x if case.definitions.get("KEEP") == "true" else gram}
