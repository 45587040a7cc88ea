"""Products with weights of 4 bits, one scale and zero point for 128 of them: one, few and many
rows.
"""

from . import peers
from .items import Bar, Contender, Item
from .lib import empty, normal, torch
from .ours import declares, tiles

G = 128
# kernel, BM, BN, BK, swapped, warps, stages
FEW = [
    ("matmul_w4", 16, 32, 128, False, 4, 5),
    ("matmul_w4", 16, 64, 128, False, 4, 5),
    ("matmul_w4", 16, 64, 128, True, 4, 5),
    ("matmul_w4", 16, 128, 128, True, 4, 4),
    ("matmul_w4", 16, 64, 128, True, 4, 8),
    ("matmul_w4_joined", 16, 32, 128, False, 4, 5),
    ("matmul_w4_joined", 16, 64, 128, False, 4, 5),
    ("matmul_w4_joined", 16, 64, 128, True, 4, 5),
    ("matmul_w4_joined", 16, 128, 128, True, 4, 4),
]
MANY = [
    ("matmul_w4_joined", 128, 128, 64, False, 8, 4),
    ("matmul_w4_joined", 128, 64, 64, False, 4, 4),
    ("matmul_w4_joined", 128, 128, 64, True, 8, 4),
    ("matmul_w4_joined", 64, 128, 128, True, 4, 4),
    ("matmul_w4_joined", 128, 128, 128, True, 8, 3),
    ("matmul_w4_joined", 256, 64, 64, True, 4, 4),
    ("matmul_w4_joined", 256, 128, 64, True, 8, 3),
    ("matmul_w4", 128, 64, 128, True, 4, 3),
    ("matmul_w4", 64, 128, 128, False, 4, 4),
]
# BN, BK, warps, stages
VECTOR = [
    (4, 1024, 4, 1),
    (8, 1024, 4, 1),
    (4, 2048, 4, 2),
    (8, 1024, 4, 3),
    (16, 512, 4, 3),
    (2, 4096, 4, 1),
    (4, 4096, 8, 1),
]
TILES_FEW = [
    {"BM": 16, "BN": bn, "BK": bk}
    for bn, bk in ((32, 128), (64, 128), (128, 128), (64, 64), (128, 64))
] + [{"BM": 64, "BN": 64, "BK": 128}]
TILES_SPLIT = [
    {"BM": 16, "BN": bn, "BK": 128, "SPLIT": split}
    for bn, split in ((64, 2), (64, 4), (128, 4), (128, 8))
]
TILES_ONE = [
    {"BN": bn, "BK": bk, "warps": warps}
    for bn, bk, warps in (
        (16, 2048, 4),
        (16, 1024, 4),
        (8, 2048, 4),
        (16, 4096, 8),
        (8, 1024, 4),
        (8, 1024, 2),
        (4, 2048, 4),
        (4, 1024, 4),
    )
]
TILES_MANY = [
    {"BM": bm, "BN": bn, "BK": bk}
    for bm, bn, bk in (
        (128, 128, 64),
        (128, 64, 64),
        (64, 128, 64),
        (256, 64, 64),
        (256, 128, 64),
        (128, 128, 128),
        (64, 128, 128),
    )
]


def dequantised(data):
    """The weights in float64, [N, K]."""
    packed = data["w"]
    weights = torch.stack((packed & 15, packed >> 4), 2).reshape(packed.shape[0], -1).double()
    parts = weights.view(packed.shape[0], -1, G)
    return (
        (parts - data["zero"].double()[:, :, None]) * data["scale"].double()[:, :, None]
    ).reshape(weights.shape)


def _item(m, n, k, dtype="f16"):
    few = m <= 16

    def inputs(device):
        data = {
            "x": normal((m, k), dtype, device),
            "w": torch.randint(0, 256, (n, k // 2), dtype=torch.uint8, device=device),
            "scale": (torch.rand((n, k // G), device=device) * 0.02 + 0.01).half(),
            "zero": torch.randint(0, 16, (n, k // G), device=device).half(),
            "y": empty((m, n), dtype, device),
        }
        return data

    def reference(data):
        return {"y": (data["x"].double() @ dequantised(data).T).float()}

    def contenders(item):
        outputs = lambda data: {"y": data["y"]}  # noqa: E731

        def unpacked(data):
            weights = dequantised(data).to(data["x"].dtype).T

            def call():
                torch.mm(data["x"], weights, out=data["y"])
                return {"y": data["y"]}

            return call

        variants = (TILES_FEW + TILES_SPLIT * declares("matmul_w4", "SPLIT")) if few else TILES_MANY
        found = tiles(
            "matmul_w4",
            variants,
            lambda data: {key: data[key] for key in ("x", "w", "scale", "zero", "y")},
            outputs,
            fixed={"T": dtype},
        )
        if m == 1:
            found += tiles(
                "matvec_w4",
                TILES_ONE,
                lambda data: {key: data[key] for key in ("x", "w", "scale", "zero", "y")},
                outputs,
                fixed={"T": dtype},
            )
        found.append(
            Contender("cublas-f16", unpacked)
        )  # for comparison: the same product with weights of 16 bits
        launchers = {}
        for kernel, bm, bn, bk, swap, warps, stages in FEW if few else MANY:
            meta = {"BM": bm, "BN": bn, "BK": bk, "SWAP": swap}

            def prepare(data, bm=bm, bn=bn):
                return (-(-m // bm) * (n // bn),), (
                    *(data[key] for key in ("x", "w", "scale", "zero", "y")),
                    m,
                    n,
                    k,
                )

            name = peers.variantName(meta, warps, stages) + (
                ",joined" if kernel.endswith("joined") else ""
            )
            launchers[name] = peers.launcher(
                "triton_w4", kernel, prepare, {**meta, "G": G, "GROUP": 8}, warps, stages
            )
        for bn, bk, warps, stages in VECTOR if m == 1 else []:
            meta = {"BN": bn, "BK": bk, "STAGES": stages}

            def prepareVector(data, bn=bn):
                return (n // bn,), (*(data[key] for key in ("x", "w", "scale", "zero", "y")), n, k)

            launchers["vector," + peers.variantName(meta, warps, stages)] = peers.launcher(
                "triton_w4", "vector_w4", prepareVector, {**meta, "G": G}, warps, stages
            )
        return found + peers.tritons("triton", launchers, outputs)

    moved = n * k // 2 + 2 * n * (k // G) * 2 + 2 * m * (n + k)
    return Item(
        "matmul_w4",
        "matmul_w4",
        f"{m}x{n}x{k}",
        dtype,
        inputs=inputs,
        reference=reference,
        contenders=contenders,
        work=float(moved) if few else 2.0 * m * n * k,
        unit="GB/s" if few else "TFLOP/s",
        cold=few,
        reads=few,
        bars=[Bar(1.0, ("triton",))],
        quick=m in (16, 256),
        tolerance=4e-3,
    )


def items():
    return [_item(m, 8192, 8192) for m in (1, 16, 256)]
