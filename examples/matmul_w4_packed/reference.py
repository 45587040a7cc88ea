"""Products with packed weights against NumPy in float64."""

import numpy
from case import Case, Input, Output, ROUNDING

AWQ = [0, 2, 4, 6, 1, 3, 5, 7]  # the column that stands at each place of a word
GPTQ = list(range(8))
FP4 = numpy.array([0, 0.5, 1, 1.5, 2, 3, 4, 6, 0, -0.5, -1, -1.5, -2, -3, -4, -6])

CASES = [
    Case("M=1 K=32 N=8", kernel="matmul_awq", T="f16", GROUP=32),
    Case("M=33 K=96 N=72", kernel="matmul_awq", T="bf16", GROUP=32),
    Case("M=20 K=256 N=136", kernel="matmul_awq", T="f16"),
    Case("M=70 K=128 N=48", kernel="matmul_awq", T="f16", BM=48, BN=48, BK=16),
    Case("M=1 K=32 N=8", kernel="matmul_gptq", T="f16", GROUP=32),
    Case("M=33 K=96 N=72", kernel="matmul_gptq", T="bf16", GROUP=32),
    Case("M=20 K=256 N=136", kernel="matmul_gptq", T="f16"),
    Case("M=70 K=128 N=48", kernel="matmul_gptq", T="f16", BM=48, BN=48, BK=16),
    Case("M=150 K=384 N=264", kernel="matmul_gptq", T="bf16", BM=128, BN=128, BK=64),
    Case("M=264 K=256 N=160", kernel="matmul_gptq", T="f16", BM=256, BN=128, BK=64),
    Case("M=264 K=384 N=160", kernel="matmul_gptq", T="bf16", BM=256, BN=128, BK=128),
    Case("M=1 K=32 N=1", kernel="matmul_mxfp4", T="f16"),
    Case("M=33 K=96 N=71", kernel="matmul_mxfp4", T="bf16"),
    Case("M=70 K=160 N=130", kernel="matmul_mxfp4", T="f16", BM=48, BN=48, BK=96),
]


def group(case):
    return int(case.definitions.get("GROUP", 128))


def arguments(case):
    a = Input(
        case.T, (case.M, case.K), lambda random, shape: random.standard_normal(shape) * case.K**-0.5
    )
    c = Output(case.T, (case.M, case.N), rtol=2e-3, atol=16.0 * ROUNDING[case.T])
    if case.kernel == "matmul_mxfp4":
        return {
            "a": a,
            "q": Input("u4", (case.N, case.K), lambda random, shape: random.integers(0, 16, shape)),
            "scale": Input(
                "u8", (case.N, case.K // 32), lambda random, shape: random.integers(122, 129, shape)
            ),
            "c": c,
        }
    words, groups = lambda random, shape: random.integers(0, 2**32, shape), case.K // group(case)
    packed = (case.K, case.N // 8) if case.kernel == "matmul_awq" else (case.K // 8, case.N)
    return {
        "a": a,
        "q": Input("u32", packed, words),
        "zero": Input("u32", (groups, case.N // 8), words),
        "scale": Input(
            case.T, (groups, case.N), lambda random, shape: random.uniform(0.1, 0.2, shape)
        ),
        "c": c,
    }


def columns(words, order):
    """The codes of words that hold eight columns each."""
    codes = numpy.zeros(words.shape + (8,))
    for place, column in enumerate(order):
        codes[..., column] = words >> numpy.uint32(4 * place) & numpy.uint32(15)
    return codes.reshape(words.shape[0], -1)


def reference(case, a, q, scale, zero=None):
    if zero is None:
        return {"c": a @ (FP4[q] * numpy.repeat(2.0 ** (scale - 127.0), 32, axis=1)).T}
    awq = case.kernel == "matmul_awq"
    codes = columns(q, AWQ) if awq else columns(numpy.ascontiguousarray(q.T), GPTQ).T
    zeros = columns(zero, AWQ) if awq else columns(zero, GPTQ) + 1
    return {
        "c": (
            a
            @ (
                (codes - numpy.repeat(zeros, group(case), axis=0))
                * numpy.repeat(scale, group(case), axis=0)
            )
        )
    }
