"""Which variants of the Triton matrix products compete; shared by all families of products."""

from . import peers
from .lib import processors

# BM, BN, BK, warps, stages
POINTERS = [
    (128, 256, 64, 8, 3),
    (128, 256, 64, 8, 4),
    (128, 128, 64, 4, 4),
    (128, 128, 64, 8, 3),
    (256, 128, 64, 8, 3),
    (128, 128, 32, 4, 5),
]
# BM, BN, BK, warps, stages, halves, warp-specialised
TMA = [
    (128, 256, 64, 8, 3, False, False),
    (128, 256, 64, 8, 3, True, False),
    (128, 256, 64, 8, 4, True, False),
    (256, 128, 64, 8, 3, False, False),
    (128, 128, 64, 8, 4, False, False),
    (128, 128, 64, 4, 4, True, False),
    (128, 128, 128, 8, 3, True, False),
    (128, 256, 64, 4, 3, False, True),
    (128, 128, 64, 4, 4, False, True),
]
POINTERS_8BIT = [
    (128, 256, 128, 8, 3),
    (128, 256, 128, 8, 4),
    (128, 128, 128, 4, 4),
    (256, 128, 128, 8, 3),
    (128, 128, 64, 4, 4),
]
TMA_8BIT = [
    (128, 256, 128, 8, 3, False, False),
    (128, 256, 128, 8, 3, True, False),
    (128, 256, 128, 8, 4, True, False),
    (256, 128, 128, 8, 3, False, False),
    (128, 128, 128, 8, 4, False, False),
    (128, 128, 128, 4, 4, True, False),
    (128, 128, 256, 8, 3, True, False),
    (128, 256, 128, 4, 3, False, True),
]
SMALL_16 = [
    (16, 32, 256, 4, 4),
    (16, 32, 512, 4, 3),
    (16, 64, 128, 4, 5),
    (16, 64, 256, 4, 4),
    (16, 64, 256, 8, 3),
    (16, 128, 128, 4, 4),
]
SMALL_128 = [
    (64, 64, 128, 4, 4),
    (64, 64, 64, 4, 6),
    (128, 32, 128, 4, 4),
    (128, 64, 64, 4, 5),
    (128, 64, 128, 4, 4),
    (32, 128, 128, 4, 4),
]


def languageType(name):
    import triton.language as tl

    return {"f16": tl.float16, "bf16": tl.bfloat16, "f32": tl.float32, "i32": tl.int32}[name]


def pointers(m, n, k, transposed, table, act="", bias=False, acc="f32"):
    """{variant: launcher} of the kernel with pointers."""
    result = {}
    for bm, bn, bk, warps, stages in table:
        if k % bk:
            continue
        meta = {"BM": bm, "BN": bn, "BK": bk}

        def prepare(data, bm=bm, bn=bn):
            grid = (-(-m // bm) * -(-n // bn),)
            strides = (1, k) if transposed else (n, 1)
            return grid, (data["a"], data["b"], data["c"], data.get("bias"), m, n, k, *strides)

        launch = _typed("matmul_pointers", prepare, meta, warps, stages, act, bias, acc, None)
        result[peers.variantName(meta, warps, stages)] = launch
    return result


def tma(m, n, k, transposed, table, act="", bias=False, acc="f32", out="f16"):
    """{variant: launcher} of the persistent kernel with descriptors."""
    result = {}
    for bm, bn, bk, warps, stages, halves, specialised in table:
        if specialised:
            continue  # Triton 3.6: never ends on an H200
        meta = {"BM": bm, "BN": bn, "BK": bk, "HALVES": halves, "WS": specialised}

        def prepare(data, bm=bm, bn=bn, bk=bk, halves=halves):
            from triton.tools.tensor_descriptor import TensorDescriptor as Descriptor

            programs = min(processors(), -(-m // bm) * -(-n // bn))
            return (programs,), (
                Descriptor.from_tensor(data["a"], [bm, bk]),
                Descriptor.from_tensor(data["b"], [bn, bk] if transposed else [bk, bn]),
                Descriptor.from_tensor(data["c"], [bm, bn // 2 if halves else bn]),
                data["c"],
                data.get("bias"),
                m,
                n,
                k,
            )

        more = {"TRANSPOSED": transposed, "PROGRAMS": processors()}
        name = (
            peers.variantName(meta, warps, stages)
            .replace(",HALVES=False", "")
            .replace(",WS=False", "")
        )
        result[name] = _typed(
            "matmul_tma", prepare, {**meta, **more}, warps, stages, act, bias, acc, out
        )
    return result


def _typed(kernel, prepare, meta, warps, stages, act, bias, acc, out):
    """Triton's own types can be named only where Triton is there, so at the launch."""

    def launch(data, warmup=False):
        types = {"ACC": languageType(acc), **({"OUT": languageType(out)} if out else {})}
        return peers.launcher(
            "triton_matmul",
            kernel,
            prepare,
            {**meta, "GROUP": 8, "ACT": act, "BIAS": bias, **types},
            warps,
            stages,
        )(data, warmup)

    return launch
