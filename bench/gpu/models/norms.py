"""Norms and softmax of models' rows, forward and backward: a copy of as many bytes, torch.compile,
Liger, fla and vLLM beside them. Where two examples do the same, the better one counts.
"""

from .. import pack, peers
from ..items import Contender
from ..lib import empty, normal, torch
from ..untuned import Part, defaults
from .row import SIZES, arguments, compiled, inChunks, memory, outputs

EPS = 1e-5
PARTS = 264  # programs that share the rows of a backward pass

RMS = [
    (16384, 8192, "bf16"),
    (4096, 4096, "bf16"),
    (8192, 7168, "bf16"),
    (8192, 2880, "bf16"),
    (65536, 128, "bf16"),  # of each head, as Qwen 3 has it
    (16, 8192, "bf16"),
    (4096, 5003, "f16"),
]
LAYER = [
    (8192, 768, "f16"),
    (12608, 768, "f32"),
    (16384, 1600, "f16"),
    (8192, 12288, "bf16"),
    (4096, 1023, "f16"),
]
RESIDUAL = [
    (4096, 4096, "bf16"),
    (32768, 4096, "bf16"),
    (16384, 2880, "bf16"),
    (8192, 8192, "bf16"),
]
SOFTMAX = [
    (8192, 50257, "bf16"),
    (16384, 8192, "bf16"),
    (131072, 1024, "f16"),
    (4096, 65536, "f32"),
    (151296, 197, "f16"),  # ViT-B's scores
    (32768, 1000, "f32"),
]
LOG_SOFTMAX = [(8192, 50257, "bf16")]
HADAMARD = [(65536, 128, "bf16"), (16384, 4096, "f16")]
BACKWARD = [(16384, 4096, "bf16"), (8192, 768, "f16")]
SOFTMAX_BACKWARD = [(16384, 8192, "bf16"), (8192, 50257, "bf16")]


def _either(name, m, n, names, results, dtype):
    """The kernel for rows of any length, and where it takes them that for rows of one tile."""
    shape, found = {"M": m, "N": n}, []
    # Of rows that are not aligned, layer_norm_rows takes none.
    fits = n <= 16384 and (n % 8 == 0 or name != "layer_norm")
    both = [name] + ([name + "_rows"] if fits else [])
    for each in both:
        part = Part(each, shape, arguments(names), {"T": dtype})
        found += defaults([part], outputs(*results), each if len(both) > 1 else "")
    return found


def _rms(m, n, dtype):
    def inputs(device):
        return {
            "x": normal((m, n), dtype, device),
            "w": normal((n,), dtype, device),
            "y": empty((m, n), dtype, device),
        }

    def plain(x, w):
        return {"y": torch.nn.functional.rms_norm(x, [n], w, EPS)}

    def reference(data):
        w = data["w"].double()
        part = lambda x: {
            "y": (x.double() * torch.rsqrt(x.double().square().mean(1, True) + EPS) * w).float()
        }
        return inChunks(part, m, 8192, data["x"])

    def liger(data):
        forward = pack.module("liger_kernel.ops.rms_norm").rms_norm_forward
        return lambda: {"y": forward(data["x"], data["w"], EPS, 0.0, "llama", None)[0]}

    def vllm(data):
        norm, y = pack.library("vllm").rms_norm, torch.empty_like(data["x"])

        def call():
            norm(y, data["x"], data["w"], EPS)
            return {"y": y}

        return call

    def fla(data):
        norm = pack.module("fla.modules.norm.layernorm").rms_norm
        return lambda: {"y": norm(data["x"], data["w"], None, eps=EPS)}

    return memory(
        "norms",
        "rms_norm",
        f"{m}x{n}",
        dtype,
        2 * m * n * SIZES[dtype],
        inputs=inputs,
        reference=reference,
        contenders=lambda item: (
            _either("rms_norm", m, n, "x w y", ["y"], dtype)
            + [
                compiled(plain, ["x", "w"]),
                pack.peer("liger", liger, warm=True),
                pack.peer("vllm", vllm),
                pack.peer("fla", fla, warm=True),
            ]
        ),
    )


def _layer(m, n, dtype):
    def inputs(device):
        return {
            "x": normal((m, n), dtype, device),
            "w": normal((n,), dtype, device),
            "b": normal((n,), dtype, device),
            "y": empty((m, n), dtype, device),
            "mean": empty((m,), "f32", device),
            "rstd": empty((m,), "f32", device),
        }

    def plain(x, w, b):
        return {"y": torch.nn.functional.layer_norm(x, [n], w, b, EPS)}

    def reference(data):
        w, b = data["w"].double(), data["b"].double()
        norm = torch.nn.functional.layer_norm
        return inChunks(
            lambda x: {"y": norm(x.double(), [n], w, b, EPS).float()}, m, 8192, data["x"]
        )

    def liger(data):
        forward = pack.module("liger_kernel.ops.layer_norm").layer_norm_forward
        return lambda: {"y": forward(data["x"], data["w"], data["b"], EPS)[0]}

    def fla(data):
        norm = pack.module("fla.modules.norm.layernorm").layer_norm
        return lambda: {"y": norm(data["x"], data["w"], data["b"], eps=EPS)}

    return memory(
        "norms",
        "layer_norm",
        f"{m}x{n}",
        dtype,
        2 * m * n * SIZES[dtype] + 8 * m,
        inputs=inputs,
        reference=reference,
        contenders=lambda item: (
            _either("layer_norm", m, n, "x w b y mean rstd", ["y"], dtype)
            + [
                peers.eager("eager", lambda data: plain(data["x"], data["w"], data["b"])),
                compiled(plain, ["x", "w", "b"]),
                pack.peer("liger", liger, warm=True),
                pack.peer("fla", fla, warm=True),
            ]
        ),
    )


def _residual(m, n, dtype):
    def inputs(device):
        data = {name: normal((m, n), dtype, device) for name in ("x", "residual")}
        data.update({name: empty((m, n), dtype, device) for name in ("h", "y")})
        return {**data, "w": normal((n,), dtype, device)}

    def plain(x, residual, w):
        h = x + residual
        return {"h": h, "y": torch.nn.functional.rms_norm(h, [n], w, EPS)}

    def reference(data):
        w = data["w"].double()

        def part(x, residual):
            h = x.double() + residual.double()
            y = h * torch.rsqrt(h.square().mean(1, True) + EPS) * w
            return {"h": h.float(), "y": y.float()}

        return inChunks(part, m, 8192, data["x"], data["residual"])

    def liger(data):
        module = pack.module("liger_kernel.ops.fused_add_rms_norm")
        forward, names = module.fused_add_rms_norm_forward, ("x", "residual", "w")
        tensors = [data[name] for name in names]
        return lambda: dict(zip(("y", "h"), forward(*tensors, EPS, 0.0, "llama")[:2]))

    def vllm(data):
        norm = pack.library("vllm").fused_add_rms_norm
        y, h = data["x"].clone(), data["residual"].clone()

        def call():  # in place
            norm(y, h, data["w"], EPS)
            return {"y": y, "h": h}

        def restore(data):
            y.copy_(data["x"])
            h.copy_(data["residual"])

        call.restore = restore
        return call

    def contenders(item):
        # A row has to fit into the kernel's tile, of 4096 if nothing is said.
        fixed = {"T": dtype} | ({"BLOCK": 1 << (n - 1).bit_length()} if n > 4096 else {})
        part = Part("rms_norm_residual", {"M": m, "N": n}, arguments("x residual w h y"), fixed)
        return defaults([part], outputs("h", "y")) + [
            compiled(plain, ["x", "residual", "w"]),
            pack.peer("liger", liger, warm=True),
            pack.peer("vllm", vllm),
        ]

    return memory(
        "norms",
        "rms_norm_residual",
        f"{m}x{n}",
        dtype,
        4 * m * n * SIZES[dtype],
        inputs=inputs,
        reference=reference,
        contenders=contenders,
    )


def _softmax(m, n, dtype):
    def inputs(device):
        return {"x": normal((m, n), dtype, device), "y": empty((m, n), dtype, device)}

    def reference(data):
        part = lambda x: {"y": torch.softmax(x.double(), 1).float()}
        return inChunks(part, m, 4096, data["x"])

    def liger(data):
        function = pack.module("liger_kernel.ops.softmax").LigerSoftmaxFunction
        return lambda: {"y": function.apply(data["x"])}

    return memory(
        "norms",
        "softmax",
        f"{m}x{n}",
        dtype,
        2 * m * n * SIZES[dtype],
        inputs=inputs,
        reference=reference,
        contenders=lambda item: (
            _either("softmax", m, n, "x y", ["y"], dtype)
            + [
                peers.eager(
                    "eager", lambda data: {"y": torch.softmax(data["x"], 1, out=data["y"])}
                ),
                compiled(lambda x: {"y": torch.softmax(x, 1)}, ["x"]),
                pack.peer("liger", liger, warm=True),
            ]
        ),
    )


def _softmaxBackward(m, n, dtype):
    def inputs(device):
        x = normal((m, n), dtype, device)
        return {
            "y": x if device == "meta" else torch.softmax(x, 1),
            "dy": normal((m, n), dtype, device),
            "dx": empty((m, n), dtype, device),
        }

    def plain(y, dy):
        p, g = y.float(), dy.float()
        return {"dx": (p * (g - (p * g).sum(1, keepdim=True))).to(y.dtype)}

    def reference(data):
        def part(y, dy):
            y, dy = y.double(), dy.double()
            return {"dx": (y * (dy - (y * dy).sum(1, keepdim=True))).float()}

        return inChunks(part, m, 4096, data["y"], data["dy"])

    part = Part("softmax_backward", {"M": m, "N": n}, arguments("y dy dx"), {"T": dtype})
    return memory(
        "norms",
        "softmax_backward",
        f"{m}x{n}",
        dtype,
        3 * m * n * SIZES[dtype],
        inputs=inputs,
        reference=reference,
        contenders=lambda item: (
            defaults([part], outputs("dx"))
            + [
                peers.eager(
                    "eager",
                    lambda data: {
                        "dx": torch.ops.aten._softmax_backward_data(
                            data["dy"], data["y"], 1, data["y"].dtype
                        )
                    },
                ),
                compiled(plain, ["y", "dy"]),
            ]
        ),
    )


def _backward(m, n, dtype, rms):
    """Gradients of x, of the weight and, of layer norm, of the bias."""
    name = "rms_norm" if rms else "layer_norm"
    results = ["dx", "dw"] + ([] if rms else ["db"])

    def inputs(device):
        data = {key: normal((m, n), dtype, device) for key in ("x", "dy")}
        data["w"] = normal((n,), dtype, device)
        data["dx"] = empty((m, n), dtype, device)
        data.update({key: empty((n,), dtype, device) for key in ("dw", "db")})
        data.update({key: empty((PARTS, n), "f32", device) for key in ("part", "part2")})
        return data

    def norm(x, w, b):
        functional = torch.nn.functional
        return (
            functional.rms_norm(x, [n], w, EPS) if rms else functional.layer_norm(x, [n], w, b, EPS)
        )

    def gradients(function, data, kind=None):
        x, w, dy = (data[key] if kind is None else data[key].to(kind) for key in ("x", "w", "dy"))
        leaves = [x.detach().requires_grad_(), w.detach().requires_grad_()]
        bias = torch.zeros_like(w).requires_grad_()
        y = function(*leaves, bias)
        wanted = leaves + ([] if rms else [bias])
        return lambda: dict(zip(results, torch.autograd.grad(y, wanted, dy, retain_graph=True)))

    def autograd(who, made):
        def build(data):
            call = gradients(made(), data)
            call.noGraph = "autograd"
            return call

        return Contender(who, build, patience=120.0, warm=who == "compile")

    def compiledNorm():
        torch._dynamo.reset()
        return torch.compile(norm, dynamic=False)

    def contenders(item):
        if rms:
            first = arguments("x w dy dx part")
            second = Part("rms_norm_backward", {"P": PARTS, "N": n}, arguments("part dw"))
        else:
            first = arguments("x w dy dx dw_part=part db_part=part2")
            second = Part(
                "layer_norm_backward",
                {"P": PARTS, "N": n},
                arguments("dw_part=part db_part=part2 dw db"),
            )
        second.fixed, second.kernel = {"T": dtype}, name + "_weight"
        shape = {"M": m, "N": n, "P": PARTS}
        parts = [Part(name + "_backward", shape, first, {"T": dtype}), second]
        return defaults(parts, outputs(*results)) + [
            autograd("eager", lambda: norm),
            autograd("compile", compiledNorm),
        ]

    return memory(
        "norms",
        name + "_backward",
        f"{m}x{n}",
        dtype,
        3 * m * n * SIZES[dtype],
        inputs=inputs,
        reference=lambda data: {
            key: value.float() for key, value in gradients(norm, data, torch.float64)().items()
        },
        contenders=contenders,
        tolerance={"f16": 1e-2, "bf16": 4e-2}[dtype],
        cost=8.0,
    )


def _logSoftmax(m, n, dtype):
    def inputs(device):
        return {"x": normal((m, n), dtype, device), "y": empty((m, n), dtype, device)}

    def plain(x):
        return {"y": torch.log_softmax(x, 1)}

    def reference(data):
        return inChunks(lambda x: {"y": plain(x.double())["y"].float()}, m, 4096, data["x"])

    part = Part("log_softmax", {"M": m, "N": n}, arguments("x y"), {"T": dtype})
    return memory(
        "norms",
        "log_softmax",
        f"{m}x{n}",
        dtype,
        2 * m * n * SIZES[dtype],
        inputs=inputs,
        reference=reference,
        contenders=lambda item: (
            defaults([part], outputs("y"))
            + [peers.eager("eager", lambda data: plain(data["x"])), compiled(plain, ["x"])]
        ),
    )


def _hadamard(m, n, dtype):
    """The Walsh-Hadamard transform of rows, beside a product with its matrix."""

    def inputs(device):
        matrix = torch.ones((1, 1), device=device)
        while matrix.shape[0] < n:
            above = torch.cat((matrix, matrix), 1)
            matrix = torch.cat((above, torch.cat((matrix, -matrix), 1)), 0)
        data = {"x": normal((m, n), dtype, device), "y": empty((m, n), dtype, device)}
        return {**data, "matrix": (matrix * n**-0.5).to(data["x"].dtype), "exact": matrix}

    def reference(data):
        return {"y": (data["x"].double() @ data["exact"].double() * n**-0.5).float()}

    part = Part("hadamard", {"M": m}, arguments("x y"), {"T": dtype, "N": n}, "hadamard_rows")
    return memory(
        "norms",
        "hadamard_rows",
        f"{m}x{n}",
        dtype,
        2 * m * n * SIZES[dtype],
        inputs=inputs,
        reference=reference,
        contenders=lambda item: (
            defaults([part], outputs("y"))
            + [peers.eager("cublas", lambda data: {"y": torch.mm(data["x"], data["matrix"])})]
        ),
        cost=3.0,
    )


def items():
    found = [_rms(*each) for each in RMS] + [_layer(*each) for each in LAYER]
    found += [_residual(*each) for each in RESIDUAL] + [_softmax(*each) for each in SOFTMAX]
    found += [_logSoftmax(*each) for each in LOG_SOFTMAX]
    found += [_hadamard(*each) for each in HADAMARD]
    found += [_softmaxBackward(*each) for each in SOFTMAX_BACKWARD]
    return found + [_backward(*each, rms) for rms in (True, False) for each in BACKWARD]
