"""Dense products of models: layers of Llama 3, Qwen 3, DeepSeek V3, gpt-oss, GPT-2, ViT and DLRM
with few and many rows; batched products; products of 8-bit floats and integers.
"""

from .. import cublaslt, matmul, pack, peers
from ..lib import empty, normal, torch
from ..untuned import Part, defaults
from .row import SIZES, arguments, compiled, integers, memory, outputs, row

# Columns and inner extent of a layer, its dtype, and numbers of rows
LAYERS = [
    (6144, 4096, "bf16", (1, 16, 4096)),  # Llama 3 8B: queries, keys and values
    (4096, 4096, "bf16", (1, 64, 8192)),  # output
    (28672, 4096, "bf16", (1, 16, 128, 1024, 8192)),  # gate and up
    (4096, 14336, "bf16", (1, 64, 256, 4096, 16384)),  # down
    (10240, 8192, "bf16", (4096,)),  # Llama 3 70B
    (8192, 28672, "bf16", (32, 2048)),
    (51200, 5120, "bf16", (8, 512)),  # Qwen 3 32B
    (5120, 25600, "bf16", (2048,)),
    (1536, 7168, "bf16", (128, 4096)),  # DeepSeek V3: compressed queries
    (576, 7168, "bf16", (4096,)),  # compressed keys and values
    (24576, 1536, "bf16", (4096,)),
    (256, 7168, "bf16", (4096,)),  # router
    (5120, 2880, "bf16", (64, 4096)),  # gpt-oss
    (32, 2880, "bf16", (4096,)),
    (2304, 768, "f16", (8192,)),  # GPT-2
    (50304, 768, "f16", (1024, 8192)),
    (3072, 768, "f16", (12608,)),  # ViT-B, 64 images of 197
    (768, 3072, "f16", (12608,)),
    (512, 256, "f16", (2048,)),  # DLRM
    (1024, 1024, "f16", (2048,)),
    (1000, 2048, "f16", (37,)),  # the last layer of ResNet-50, and odd rows
]
# Both matrices with their columns innermost
PLAIN = [
    (1536, 1536, 1536, "f16"),
    (4000, 4000, 4000, "bf16"),
    (1023, 2056, 3072, "f16"),
    (256, 256, 65536, "bf16"),
]
BATCHED = [
    (256, 32, 32, 64, "f16"),
    (2048, 27, 27, 64, "f16"),  # DLRM's interactions
    (128, 1024, 1024, 64, "f16"),  # scores
    (128, 1024, 64, 1024, "f16"),
    (64, 512, 512, 512, "bf16"),
    (8, 2048, 2048, 2048, "bf16"),
]
# Both of 8 bits: f8e4m3 with one scale, and i8
EIGHT = [(4096, 4096, 4096), (8192, 8192, 2048), (128, 8192, 8192), (16, 4096, 14336)]
# With bias, GELU and a residual
LINEAR = [(8192, 3072, 768, "f16"), (12608, 3072, 768, "f16"), (4096, 14336, 4096, "bf16")]
# A matrix times one vector
VECTOR = [(8192, 8192, "f16"), (28672, 4096, "bf16"), (50257, 768, "f16")]
SINGLE = [(2048, 2048, 2048), (1000, 1000, 1000)]


def _peers(dtype, transposed):
    second = (lambda data: data["b"].T) if transposed else (lambda data: data["b"])

    def library(data):
        torch.mm(data["a"], second(data), out=data["c"])
        return {"c": data["c"]}

    return [
        peers.blas("cublas", "cublas", library),
        peers.blas("cublaslt", "cublaslt", library),
        pack.peer("cublaslt-best", lambda data: cublaslt.best(data, dtype, transposed)),
    ]


def _layer(m, n, k, dtype, transposed=True):
    name = "matmul_nt" if transposed else "matmul"

    def contenders(item):
        part = Part(name, {"M": m, "N": n, "K": k}, arguments("a b c"), {"T": dtype})
        return defaults([part], outputs("c")) + _peers(dtype, transposed)

    few = m <= 64  # the weights come from memory, each once
    return row(
        "matmul",
        name,
        f"{m}x{n}x{k}",
        dtype,
        inputs=matmul._inputs(m, n, k, dtype, transposed, False),
        reference=lambda data: {"c": matmul.product(data, transposed)},
        contenders=contenders,
        work=float(SIZES[dtype] * (m * k + n * k + m * n)) if few else 2.0 * m * n * k,
        unit="GB/s" if few else "TFLOP/s",
        cold=few,
        reads=few,
        cost=2.5,
    )


def _batched(b, m, n, k, dtype):
    def inputs(device):
        return {
            "a": normal((b, m, k), dtype, device),
            "b": normal((b, k, n), dtype, device),
            "c": empty((b, m, n), dtype, device),
        }

    def library(data):
        torch.bmm(data["a"], data["b"], out=data["c"])
        return {"c": data["c"]}

    def contenders(item):
        shape = {"B": b, "M": m, "N": n, "K": k}
        part = Part("batched_matmul", shape, arguments("a b c"), {"T": dtype})
        return defaults([part], outputs("c")) + [
            peers.blas("cublas", "cublas", library),
            peers.blas("cublaslt", "cublaslt", library),
            pack.peer("cublaslt-best", lambda data: cublaslt.best(data, dtype, False)),
        ]

    return row(
        "batched",
        "batched_matmul",
        f"{b}x{m}x{n}x{k}",
        dtype,
        inputs=inputs,
        reference=lambda data: {"c": torch.bmm(data["a"].double(), data["b"].double()).float()},
        contenders=contenders,
        work=2.0 * b * m * n * k,
        cost=2.5,
    )


def _f8(m, n, k):
    def inputs(device):
        return {
            "a": normal((m, k), "f8e4m3", device),
            "b": normal((n, k), "f8e4m3", device),
            "c": empty((m, n), "bf16", device),
            "one": torch.ones((), device=device),
        }

    def library(fast):
        def function(data):
            one, second = data["one"], data["b"].T
            more = {"out_dtype": torch.bfloat16, "use_fast_accum": fast}
            return {"c": torch._scaled_mm(data["a"], second, one, one, **more)}

        return function

    def contenders(item):
        part = Part("matmul_f8", {"M": m, "N": n, "K": k}, arguments("a b c"), {"T": "bf16"})
        return defaults([part], outputs("c")) + [
            peers.eager("cublaslt", library(True)),
            peers.eager("cublaslt-accurate", library(False)),
        ]

    return row(
        "matmul_8bit",
        "matmul_f8",
        f"{m}x{n}x{k}",
        "f8e4m3",
        inputs=inputs,
        reference=lambda data: {"c": matmul.product(data, True)},
        contenders=contenders,
        work=2.0 * m * n * k,
        tolerance=2e-2,
        cost=2.5,
    )


def _int8(m, n, k):
    def inputs(device):
        return {
            "a": integers(-128, 128, (m, k), "i8", device),
            "b": integers(-128, 128, (n, k), "i8", device),
            "c": empty((m, n), "i32", device),
        }

    def library(data):
        return {"c": torch._int_mm(data["a"], data["b"].T, out=data["c"])}

    def contenders(item):
        part = Part("matmul_int8", {"M": m, "N": n, "K": k}, arguments("a b c"), {"T": "i8"})
        return defaults([part], outputs("c")) + [peers.eager("cublas", library)]

    return row(
        "matmul_8bit",
        "matmul_int8",
        f"{m}x{n}x{k}",
        "i8",
        inputs=inputs,
        reference=lambda data: {"c": matmul.product(data, True)},
        contenders=contenders,
        work=2.0 * m * n * k,
        unit="TOP/s",
        tolerance=0.0,
        cost=2.0,
    )


def _linear(m, n, k, dtype):
    def inputs(device):
        return {
            "x": normal((m, k), dtype, device),
            "w": normal((n, k), dtype, device, k**-0.5),
            "bias": normal((n,), dtype, device),
            "residual": normal((m, n), dtype, device),
            "y": empty((m, n), dtype, device),
        }

    def plain(x, w, bias, residual):
        return {"y": torch.nn.functional.gelu(x @ w.T + bias) + residual}

    names = ("x", "w", "bias", "residual")

    def reference(data):
        x, w, bias, residual = (data[name].double() for name in names)
        return {"y": plain(x, w, bias, residual)["y"].float()}

    shape = {"M": m, "N": n, "K": k}
    part = Part("linear", shape, arguments("x w bias residual y"), {"T": dtype})
    return row(
        "matmul",
        "linear",
        f"{m}x{n}x{k}",
        dtype,
        inputs=inputs,
        reference=reference,
        contenders=lambda item: (
            defaults([part], outputs("y"))
            + [
                peers.eager("eager", lambda data: plain(*(data[name] for name in names))),
                compiled(plain, list(names)),
            ]
        ),
        work=2.0 * m * n * k,
        cost=5.0,
    )


def _vector(m, n, dtype):
    def inputs(device):
        return {
            "a": normal((m, n), dtype, device),
            "x": normal((n,), dtype, device),
            "y": empty((m,), "f32", device),
        }

    part = Part("matvec", {"M": m, "N": n}, arguments("a x y"), {"T": dtype})
    return memory(
        "matmul",
        "matvec",
        f"{m}x{n}",
        dtype,
        m * n * SIZES[dtype],
        inputs=inputs,
        reference=lambda data: {"y": (data["a"].double() @ data["x"].double()).float()},
        contenders=lambda item: (
            defaults([part], outputs("y"))
            + [peers.eager("eager", lambda data: {"y": torch.mv(data["a"], data["x"])})]
        ),
        reads=True,
        cost=3.0,
    )


def _single(m, n, k):
    """IEEE f32: nobody may round to tf32."""

    def inputs(device):
        return {
            "a": normal((m, k), "f32", device),
            "b": normal((k, n), "f32", device),
            "c": empty((m, n), "f32", device),
        }

    def library(data):
        torch.mm(data["a"], data["b"], out=data["c"])
        return {"c": data["c"]}

    part = Part("matmul_f32", {"M": m, "N": n, "K": k}, arguments("a b c"))
    return row(
        "matmul",
        "matmul_f32",
        f"{m}x{n}x{k}",
        "f32",
        inputs=inputs,
        reference=lambda data: {"c": matmul.product(data, False)},
        contenders=lambda item: (
            defaults([part], outputs("c"))
            + [peers.blas("cublas", "cublas", library), peers.blas("cublaslt", "cublaslt", library)]
        ),
        work=2.0 * m * n * k,
        cost=3.0,
    )


def items():
    found = [_layer(m, n, k, dtype) for n, k, dtype, rows in LAYERS for m in rows]
    found += [_layer(m, n, k, dtype, transposed=False) for m, n, k, dtype in PLAIN]
    found += [_linear(*each) for each in LINEAR] + [_vector(*each) for each in VECTOR]
    found += [_single(*each) for each in SINGLE]
    found += [_batched(*each) for each in BATCHED]
    found += [_f8(*each) for each in EIGHT]
    # PyTorch's product of integers wants more than 16 rows.
    return found + [_int8(*each) for each in EIGHT if each[0] > 16]
