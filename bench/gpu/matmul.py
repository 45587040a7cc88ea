"""Matrix products in f16 and bf16: square, short in K, few rows, B transposed, and with bias and
GELU fused.
"""

from . import peers, triton_products
from .items import Bar, Item
from .lib import empty, normal, torch
from .ours import declares, tiles

# Where there is no more than one program for each multiprocessor, a loop over programs costs a
# little and gains nothing.
ONCE = {"persistent": None, "grouped": None}
LARGE = [
    {"BM": 128, "BN": 256, "BK": 64},
    {"BM": 128, "BN": 128, "BK": 64},
    {"BM": 256, "BN": 128, "BK": 64},
    {"BM": 128, "BN": 256, "BK": 64, "warps": 8, "stages": 4},
    {"BM": 128, "BN": 128, "BK": 64, "warps": 8, "stages": 4},
    {"BM": 128, "BN": 256, "BK": 64, "warps": 8},
    {"BM": 128, "BN": 192, "BK": 64, "warps": 8},
    {"BM": 128, "BN": 256, "BK": 64, "warps": 8, "cluster": 2},
    {"BM": 128, "BN": 256, "BK": 64, "warps": 8, "stages": 4, **ONCE},
    {"BM": 128, "BN": 128, "BK": 64, "warps": 8, "stages": 6},
]
FEW_16 = [
    {"BM": 16, "BN": 32, "BK": 256},
    {"BM": 16, "BN": 64, "BK": 128},
    {"BM": 16, "BN": 64, "BK": 256},
    {"BM": 16, "BN": 128, "BK": 128},
    {"BM": 64, "BN": 64, "BK": 128},
    {"BM": 64, "BN": 128, "BK": 64},
    {"BM": 16, "BN": 64, "BK": 128, **ONCE},
    {"BM": 16, "BN": 64, "BK": 256, **ONCE},
]
FEW_128 = [
    {"BM": 128, "BN": 64, "BK": 64},
    {"BM": 128, "BN": 64, "BK": 128},
    {"BM": 128, "BN": 32, "BK": 128},
    {"BM": 64, "BN": 64, "BK": 128},
    {"BM": 64, "BN": 128, "BK": 64},
    {"BM": 128, "BN": 128, "BK": 64},
]

SPLIT = [
    {"BM": bm, "BN": bn, "BK": 128, "SPLIT": split}
    for bm in (16, 64, 128)
    for bn in (64, 128)
    for split in (2, 4, 8)
]
SPLIT += [
    {"BM": 128, "BN": 256, "BK": 64, "warps": 8, "stages": 4, "SPLIT": split} for split in (4, 8)
]
SPLIT += [
    {"BM": 128, "BN": 128, "BK": 64, "warps": 8, "stages": 5, "SPLIT": split} for split in (2, 4, 8)
]
SPLIT += [
    {"BM": 128, "BN": 64, "BK": 128, "SPLIT": 2, **ONCE},
    {"BM": 64, "BN": 128, "BK": 128, "SPLIT": 2, "persistent": None},
]
# The exact GELU costs a long polynomial; cuBLASLt's is an approximation, and so is ours with
# fp("fast").
FUSED = LARGE + [
    {"BM": 128, "BN": 256, "BK": 64, "fp": "fast"},
    {"BM": 128, "BN": 256, "BK": 64, "warps": 8, "stages": 4, "fp": "fast"},
    {"BM": 256, "BN": 128, "BK": 64, "fp": "fast"},
]


def _inputs(m, n, k, dtype, transposed, bias):
    def inputs(device):
        data = {
            "a": normal((m, k), dtype, device),
            "b": normal((n, k) if transposed else (k, n), dtype, device),
            "c": empty((m, n), dtype, device),
        }
        if bias:
            # Of the products' size, so that a bias that is left out shows.
            data["bias"] = normal((n,), "f32", device, k**0.5)
            data["bias16"] = data["bias"].to(data["a"].dtype)
            data["bias"] = data["bias16"].float()
        return data

    return inputs


def product(data, transposed):
    """A · B in float64, some rows at a time."""
    b = data["b"].double()
    b = b.T if transposed else b
    result = torch.empty((data["a"].shape[0], b.shape[1]), dtype=torch.float32, device=b.device)
    for begin in range(0, result.shape[0], 4096):
        result[begin : begin + 4096] = data["a"][begin : begin + 4096].double() @ b
    return result


def _item(m, n, k, dtype="f16", transposed=False, table=LARGE, triton=None, bars=(), quick=False):
    name = "matmul_nt" if transposed else "matmul"

    def contenders(item):
        second = (lambda data: data["b"].T) if transposed else (lambda data: data["b"])

        def library(data):
            torch.mm(data["a"], second(data), out=data["c"])
            return {"c": data["c"]}

        outputs = lambda data: {"c": data["c"]}  # noqa: E731
        variants = table + (SPLIT if m <= 128 and declares(name, "SPLIT") else [])
        found = tiles(
            name,
            variants,
            lambda data: {key: data[key] for key in ("a", "b", "c")},
            outputs,
            fixed={"T": dtype},
        )
        found += [
            peers.blas("cublas", "cublas", library),
            peers.blas("cublaslt", "cublaslt", library),
        ]
        # It chooses between cuBLAS and Triton, after half a minute for each shape.
        found.append(
            peers.compiled(
                (lambda a, b: {"c": a @ b.T}) if transposed else (lambda a, b: {"c": a @ b}),
                ["a", "b"],
                optional=True,
            )
        )
        found += peers.tritons(
            "triton",
            triton_products.pointers(m, n, k, transposed, triton or triton_products.POINTERS),
            outputs,
        )
        if m >= 1024:
            found += peers.tritons(
                "triton-tma",
                triton_products.tma(m, n, k, transposed, triton_products.TMA, out=dtype),
                outputs,
            )
        return found

    return Item(
        "matmul",
        name,
        f"{m}x{n}x{k}",
        dtype,
        inputs=_inputs(m, n, k, dtype, transposed, False),
        reference=lambda data: {"c": product(data, transposed)},
        contenders=contenders,
        work=2.0 * m * n * k,
        bars=bars,
        quick=quick,
    )


def _fused(m, n, k, dtype):
    def contenders(item):
        def epilogue(data):
            return {
                "tanh": torch.ops.aten._addmm_activation(
                    data["bias16"], data["a"], data["b"], use_gelu=True
                )
            }

        def plain(data):
            torch.mm(data["a"], data["b"], out=data["c"])
            return {"plain": data["c"]}

        def python(a, b, bias):
            return {"c": torch.nn.functional.gelu(a @ b + bias)}

        outputs = lambda data: {"c": data["c"]}  # noqa: E731
        found = tiles(
            "matmul",
            FUSED,
            lambda data: {key: data[key] for key in ("a", "b", "bias", "c")},
            outputs,
            fixed={"T": dtype, "BIAS": "true", "ACT": "gelu"},
        )
        found += tiles(
            "matmul",
            LARGE,
            lambda data: {key: data[key] for key in ("a", "b", "c")},
            lambda data: {"plain": data["c"]},
            fixed={"T": dtype},
            who="tile-plain",
        )
        found += [
            peers.blas("cublas-plain", "cublas", plain),
            peers.eager("cublaslt", epilogue),
            peers.eager("eager", lambda data: python(data["a"], data["b"], data["bias16"])),
            peers.compiled(python, ["a", "b", "bias16"]),
        ]
        found += peers.tritons(
            "triton",
            triton_products.pointers(m, n, k, False, triton_products.POINTERS, "gelu", True),
            outputs,
        )
        found += peers.tritons(
            "triton-tma",
            triton_products.tma(m, n, k, False, triton_products.TMA, "gelu", True, out=dtype),
            outputs,
        )
        return found

    def reference(data):
        plain = product(data, False)
        sums = plain + data["bias"]
        # cuBLASLt's GELU is the one with tanh.
        return {
            "c": torch.nn.functional.gelu(sums),
            "tanh": torch.nn.functional.gelu(sums, approximate="tanh"),
            "plain": plain,
        }

    return Item(
        "matmul",
        "matmul_bias_gelu",
        f"{m}x{n}x{k}",
        dtype,
        inputs=_inputs(m, n, k, dtype, False, True),
        reference=reference,
        contenders=contenders,
        work=2.0 * m * n * k,
        bars=[
            Bar(0.95, ("tile-plain",), "our plain matmul"),
            Bar(1.0, ("cublaslt", "compile"), "cuBLASLt, compile"),
        ],
        quick=True,
    )


def items():
    bars = lambda: [Bar(1.0, ("cublas", "cublaslt"), "cublas"), Bar(1.0, ("triton",))]  # noqa: E731
    found = []
    for dtype in ("f16", "bf16"):
        for transposed in (False, True):
            for m, n, k in (
                (8192, 8192, 8192),
                (4096, 4096, 4096),
                (2048, 2048, 2048),
                (8192, 8192, 512),
            ):
                found.append(
                    _item(
                        m,
                        n,
                        k,
                        dtype,
                        transposed,
                        bars=bars(),
                        quick=dtype == "f16" and not transposed and k in (8192, 4096),
                    )
                )
    few = lambda: [Bar(1.1, ("cublas",)), Bar(1.0, ("cublaslt",))]  # noqa: E731
    found.append(
        _item(16, 8192, 8192, table=FEW_16, triton=triton_products.SMALL_16, bars=few(), quick=True)
    )
    found.append(
        _item(
            128,
            4096,
            14336,
            table=FEW_128,
            triton=triton_products.SMALL_128,
            bars=few(),
            quick=True,
        )
    )
    found.append(_fused(8192, 8192, 8192, "f16"))
    return found
