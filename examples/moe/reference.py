"""The three kernels of a mixture of experts against NumPy in float64."""

import numpy
from case import Case, Input, Output, ROUNDING

CASES = [
    Case("M=1 P=1 E=1 D=8 F=8", kernel="moe_up", T="f16", K=1),
    Case("M=37 P=148 E=5 D=72 F=136", kernel="moe_up", T="bf16", K=4),
    Case("M=100 P=200 E=9 D=64 F=40", kernel="moe_up", T="f16", K=2, BM=32, BN=48, BK=32),
    Case("M=16 P=128 E=256 D=64 F=64", kernel="moe_up", T="f16"),
    Case("M=130 P=260 E=3 D=456 F=264", kernel="moe_up", T="bf16", K=2, BM=128, BN=128),
    Case("M=40 P=80 E=7 D=520 F=136", kernel="moe_up", T="f16", K=2, BM=64, BN=64),
    Case("P=1 E=1 D=8 F=8", kernel="moe_down", T="f16"),
    Case("P=148 E=5 D=136 F=72", kernel="moe_down", T="bf16"),
    Case("P=200 E=60 D=64 F=104", kernel="moe_down", T="f16", BM=16),
    Case("P=300 E=3 D=264 F=392", kernel="moe_down", T="bf16", BM=128, BN=256),
    Case("M=1 K=1 D=8", kernel="moe_sum", T="f16"),
    Case("M=37 K=4 D=1032", kernel="moe_sum", T="bf16"),
    Case("M=5 K=7 D=72", kernel="moe_sum", T="f16", BLOCK=48),
]


def offsets(random, shape, total):
    return numpy.concatenate(
        [[0], numpy.sort(random.integers(0, total + 1, shape[0] - 2)), [total]]
    )


def arguments(case):
    if case.kernel == "moe_sum":
        return {
            "part": Input(case.T, (case.M, case.K, case.D)),
            "y": Output(case.T, (case.M, case.D), atol=1e-5),
        }
    up = case.kernel == "moe_up"
    inner = case.D if up else case.F
    weight = Input(
        case.T,
        (case.E, inner, case.F if up else case.D),
        lambda random, shape: random.standard_normal(shape) * inner**-0.5,
    )
    order = Input("i32", (case.P,), lambda random, shape: random.permutation(case.P))
    offset = Input("i32", (case.E + 1,), lambda random, shape: offsets(random, shape, case.P))
    close = {"rtol": 1e-3, "atol": 2.0 * ROUNDING[case.T]}
    if up:
        return {
            "x": Input(case.T, (case.M, case.D)),
            "gate": weight,
            "up": weight,
            "order": order,
            "offset": offset,
            "h": Output(case.T, (case.P, case.F), **close),
        }
    return {
        "h": Input(case.T, (case.P, case.F)),
        "down": weight,
        "weight": Input("f32", (case.P,)),
        "order": order,
        "offset": offset,
        "part": Output(case.T, (case.P, case.D), **close),
    }


def reference(
    case,
    order=None,
    offset=None,
    x=None,
    gate=None,
    up=None,
    h=None,
    down=None,
    weight=None,
    part=None,
):
    if part is not None:
        return {"y": part.sum(axis=1)}
    expert = numpy.searchsorted(offset, numpy.arange(case.P), side="right") - 1
    if x is not None:
        rows = x[order // int(case.definitions.get("K", 8))]
        g, u = (numpy.einsum("pd,pdf->pf", rows, w[expert]) for w in (gate, up))
        return {"h": g / (1.0 + numpy.exp(-g)) * u}
    y = numpy.empty((case.P, case.D))
    y[order] = numpy.einsum("pf,pfd->pd", h, down[expert]) * weight[order][:, None]
    return {"part": y}
