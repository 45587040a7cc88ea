"""Matrix products in f8e4m3 and int8, K innermost on both sides."""

from . import matmul, peers, triton_products
from .items import Bar, Item
from .lib import empty, normal, torch
from .ours import tiles

VARIANTS = [
    {"BM": 128, "BN": 256, "BK": 128},
    {"BM": 128, "BN": 128, "BK": 128},
    {"BM": 256, "BN": 128, "BK": 128},
    {"BM": 128, "BN": 256, "BK": 64},
    {"BM": 128, "BN": 256, "BK": 128, "stages": 3},
]


def _f8(m, n, k):
    def inputs(device):
        return {
            "a": normal((m, k), "f8e4m3", device),
            "b": normal((n, k), "f8e4m3", device),
            "c": empty((m, n), "f16", device),
            "one": torch.ones((), device=device),
        }

    def contenders(item):
        def scaled(fast):
            def function(data):
                return {
                    "c": torch._scaled_mm(
                        data["a"],
                        data["b"].T,
                        data["one"],
                        data["one"],
                        out_dtype=torch.float16,
                        use_fast_accum=fast,
                    )
                }

            return function

        outputs = lambda data: {"c": data["c"]}  # noqa: E731
        found = tiles(
            "matmul_f8",
            VARIANTS,
            lambda data: {key: data[key] for key in ("a", "b", "c")},
            outputs,
            fixed={"A": "f8e4m3", "B": "f8e4m3", "T": "f16"},
        )
        found += [
            peers.eager("cublaslt", scaled(True)),
            peers.eager("cublaslt-accurate", scaled(False)),
        ]
        found += peers.tritons(
            "triton",
            triton_products.pointers(m, n, k, True, triton_products.POINTERS_8BIT),
            outputs,
        )
        found += peers.tritons(
            "triton-tma", triton_products.tma(m, n, k, True, triton_products.TMA_8BIT), outputs
        )
        return found

    # The tensor core keeps about 14 bits of an f8 sum.
    return Item(
        "matmul_8bit",
        "matmul_f8",
        f"{m}x{n}x{k}",
        "f8e4m3",
        inputs=inputs,
        contenders=contenders,
        work=2.0 * m * n * k,
        reference=lambda data: {"c": matmul.product(data, True)},
        tolerance=1e-2,
        bars=[Bar(1.0, ("triton",)), Bar(0.95, ("cublaslt",), "cublaslt")],
        quick=True,
    )


def _int8(m, n, k):
    def inputs(device):

        def draw(rows):
            return torch.randint(-128, 128, (rows, k), dtype=torch.int8, device=device)

        return {"a": draw(m), "b": draw(n), "c": empty((m, n), "i32", device)}

    def contenders(item):
        outputs = lambda data: {"c": data["c"]}  # noqa: E731

        def library(data):
            return {"c": torch._int_mm(data["a"], data["b"].T, out=data["c"])}

        found = tiles(
            "matmul_int8",
            VARIANTS,
            lambda data: {key: data[key] for key in ("a", "b", "c")},
            outputs,
            fixed={"T": "i8"},
        )
        found.append(peers.eager("cublas", library))
        found += peers.tritons(
            "triton",
            triton_products.pointers(m, n, k, True, triton_products.POINTERS_8BIT, acc="i32"),
            outputs,
        )
        found += peers.tritons(
            "triton-tma",
            triton_products.tma(m, n, k, True, triton_products.TMA_8BIT, acc="i32", out="i32"),
            outputs,
        )
        return found

    return Item(
        "matmul_8bit",
        "matmul_int8",
        f"{m}x{n}x{k}",
        "i8",
        inputs=inputs,
        contenders=contenders,
        work=2.0 * m * n * k,
        unit="TOP/s",
        reference=lambda data: {"c": matmul.product(data, True)},
        bars=[Bar(1.0, ("triton",)), Bar(1.1, ("cublas",), "cublas")],
        quick=True,
    )


def items():
    return [_f8(8192, 8192, 8192), _int8(8192, 8192, 8192)]
