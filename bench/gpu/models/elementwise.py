"""What memory bounds apart from norms: gated activations, Adam, rotary embeddings, transposition,
quantisation, embeddings, pooling, short filters.
"""

from .. import lib, pack, peers
from ..lib import empty, normal, torch
from ..untuned import Part, available, defaults
from .row import SIZES, arguments, compiled, inChunks, integers, memory, outputs

GATED = [
    (16384, 14336, "bf16"),  # Llama 3 8B
    (8192, 25600, "bf16"),  # Qwen 3 32B
    (4096, 11008, "f16"),
    (64, 14336, "bf16"),
    (4095, 2881, "bf16"),
]
ADAM = [124_439_808, 1 << 22, 10_000_019]  # GPT-2's weights; few; a prime
TRANSPOSE = [(8192, 8192, "bf16"), (4096, 4096, "f32"), (5000, 3001, "f16")]
# b, length, query heads, key heads, head size
ROTARY = [(4, 8192, 32, 8, 128, "bf16"), (1, 4096, 32, 8, 128, "bf16"), (64, 1, 32, 8, 128, "bf16")]
INT8 = [(16384, 4096, "bf16"), (8192, 14336, "bf16"), (4096, 5003, "f16")]
F8 = [(8192, 14336, "bf16"), (4096, 2048, "bf16")]
EMBEDDING = [(128256, 8192, 4096, "bf16"), (50257, 8192, 768, "f16"), (1000000, 65536, 64, "f32")]
DEQUANTIZE = [(8192, 8192, "bf16"), (14336, 4096, "f16")]


def _gated(m, n, dtype):
    def inputs(device):
        return {"x": normal((m, 2 * n), dtype, device), "y": empty((m, n), dtype, device)}

    def plain(x):
        return {"y": torch.nn.functional.silu(x[:, :n]) * x[:, n:]}

    def reference(data):
        return inChunks(lambda x: {"y": plain(x.double())["y"].float()}, m, 4096, data["x"])

    def liger(data):
        forward = pack.module("liger_kernel.ops.swiglu").swiglu_forward
        gate, up = data["x"][:, :n].contiguous(), data["x"][:, n:].contiguous()
        return lambda: {"y": forward(gate, up)[2]}

    def vllm(data):
        multiply, y = pack.library("vllm").silu_and_mul, torch.empty_like(data["y"])

        def call():
            multiply(y, data["x"])
            return {"y": y}

        return call

    part = Part("gated_activation", {"M": m, "N": n}, arguments("x y"), {"T": dtype})
    return memory(
        "elementwise",
        "gated_activation",
        f"{m}x{n}",
        dtype,
        3 * m * n * SIZES[dtype],
        inputs=inputs,
        reference=reference,
        contenders=lambda item: (
            defaults([part], outputs("y"))
            + [
                compiled(plain, ["x"]),
                pack.peer("liger", liger, warm=True),
                pack.peer("vllm", vllm),
            ]
        ),
    )


def _adam(n):
    """AdamW's step in f32, in place: `restore` puts back what it began with."""
    rate, b1, b2, eps, decay, step = 1e-3, 0.9, 0.999, 1e-8, 0.01, 10.0
    state = ("w", "m", "v")

    def inputs(device):
        data = {name: normal((n,), "f32", device) for name in ("w0", "g", "m0")}
        data["v0"] = normal((n,), "f32", device).square_()
        data.update({name: empty((n,), "f32", device) for name in state})
        data["step"] = torch.full((), step, device=device)
        if device != "meta":
            restore(data)
        return data

    def restore(data):
        for name in state:
            data[name].copy_(data[name + "0"])

    def formulas(w, g, m, v):
        mean = b1 * m + (1 - b1) * g
        square = b2 * v + (1 - b2) * g * g
        root = torch.sqrt(square / (1 - b2**step)) + eps
        return w - rate * (mean / (1 - b1**step) / root + decay * w), mean, square

    def reference(data):
        made = formulas(*(data[name].double() for name in ("w0", "g", "m0", "v0")))
        return {name: value.float() for name, value in zip(state, made)}

    def fused(data):
        lists = [[data[name]] for name in ("w", "g", "m", "v")]
        options = {
            "lr": rate,
            "beta1": b1,
            "beta2": b2,
            "weight_decay": decay,
            "eps": eps,
            "amsgrad": False,
            "maximize": False,
        }
        torch._fused_adamw_(*lists, [], [data["step"]], **options)
        return {name: data[name] for name in state}

    def inPlace(w, g, m, v):
        for old, new in zip((w, m, v), formulas(w, g, m, v)):
            old.copy_(new)
        return {"w": w, "m": m, "v": v}

    scalars = {"rate": rate, "b1t": b1**step, "b2t": b2**step}
    part = Part("adam", {"N": n}, arguments("w g m v", **scalars), {"T": "f32"})
    return memory(
        "elementwise",
        "adam",
        f"{n}",
        "f32",
        7 * 4 * n,
        inputs=inputs,
        restore=restore,
        reference=reference,
        contenders=lambda item: (
            defaults([part], outputs(*state))
            + [peers.eager("eager", fused), compiled(inPlace, ["w", "g", "m", "v"])]
        ),
    )


def _transpose(m, n, dtype):
    def inputs(device):
        return {"x": normal((m, n), dtype, device), "y": empty((n, m), dtype, device)}

    part = Part("transpose", {"M": m, "N": n}, arguments("x y"), {"T": dtype})
    return memory(
        "elementwise",
        "transpose",
        f"{m}x{n}",
        dtype,
        2 * m * n * SIZES[dtype],
        inputs=inputs,
        reference=lambda data: {"y": data["x"].T.contiguous()},
        contenders=lambda item: (
            defaults([part], outputs("y"))
            + [
                peers.eager("eager", lambda data: {"y": data["y"].copy_(data["x"].T)}),
                compiled(lambda x: {"y": x.T.contiguous()}, ["x"]),
            ]
        ),
    )


def _rotary(b, s, h, g, d, dtype):
    """Queries and keys, one launch of ours for each."""

    def inputs(device):
        place = torch.arange(s, device=device).float()[:, None]
        rates = 10000.0 ** -(torch.arange(0, d, 2, device=device).float() / d)
        data = {
            "q": normal((b, s, h, d), dtype, device),
            "k": normal((b, s, g, d), dtype, device),
            "cosine": torch.cos(place * rates).contiguous(),
            "sine": torch.sin(place * rates).contiguous(),
            "yq": empty((b, s, h, d), dtype, device),
            "yk": empty((b, s, g, d), dtype, device),
        }
        return data

    def turn(x, cosine, sine):
        u, v = x[..., : d // 2], x[..., d // 2 :]
        c, z = cosine[:, None, :], sine[:, None, :]
        return torch.cat((u * c - v * z, u * z + v * c), -1)

    def plain(q, k, cosine, sine):
        return {
            "yq": turn(q.float(), cosine, sine).to(q.dtype),
            "yk": turn(k.float(), cosine, sine).to(k.dtype),
        }

    def reference(data):
        c, z = data["cosine"].double(), data["sine"].double()
        pairs = (("yq", "q"), ("yk", "k"))
        return {y: turn(data[x].double(), c, z).float() for y, x in pairs}

    def fla(data):
        embed = pack.module("fla.modules.rotary.ops").rotary_embedding
        angles = [data[name].to(data["q"].dtype) for name in ("cosine", "sine")]
        return lambda: {"y" + name: embed(data[name], *angles) for name in "qk"}

    def liger(data):
        forward = pack.module("liger_kernel.ops.rope").rope_forward
        kind = data["q"].dtype
        q, k = (data[name].clone().transpose(1, 2) for name in "qk")
        wide = [torch.cat((data[n], data[n]), -1)[None].to(kind) for n in ("cosine", "sine")]

        def call():  # in place
            made = forward(q, k, *wide)
            return {"yq": made[0].transpose(1, 2), "yk": made[1].transpose(1, 2)}

        def restore(data):
            q.copy_(data["q"].transpose(1, 2))
            k.copy_(data["k"].transpose(1, 2))

        call.restore = restore
        return call

    def contenders(item):
        fixed = {"T": dtype, "D": d, "PAIRS": "false"}
        parts = [
            Part(
                "rotary",
                {"B": b, "S": s, "H": heads},
                arguments(f"x={name} cosine sine y=y{name}"),
                fixed,
            )
            for name, heads in (("q", h), ("k", g))
        ]
        return defaults(parts, outputs("yq", "yk")) + [
            compiled(plain, ["q", "k", "cosine", "sine"]),
            pack.peer("fla", fla, warm=True),
            pack.peer("liger", liger, warm=True),
        ]

    return memory(
        "elementwise",
        "rotary",
        f"B{b} S{s} H{h} G{g} D{d}",
        dtype,
        2 * b * s * (h + g) * d * SIZES[dtype],
        inputs=inputs,
        reference=reference,
        contenders=contenders,
    )


def _int8(m, n, dtype):
    def inputs(device):
        return {
            "x": normal((m, n), dtype, device),
            "q": empty((m, n), "i8", device),
            "scale": empty((m,), "f32", device),
        }

    def plain(x):
        scale = x.abs().amax(1).to(torch.float32) / 127.0
        q = torch.round(x.to(torch.float32) / scale[:, None])
        return {"q": q.to(torch.int8), "scale": scale}

    def vllm(data):
        quantize = pack.library("vllm").dynamic_scaled_int8_quant
        q = torch.empty_like(data["q"])
        scale = torch.empty((m, 1), device=lib.DEVICE)

        def call():
            quantize(q, data["x"], scale, None)
            return {"q": q, "scale": scale[:, 0]}

        return call

    part = Part("quantize_int8", {"M": m, "N": n}, arguments("x q scale"), {"T": dtype})
    return memory(
        "elementwise",
        "quantize_int8",
        f"{m}x{n}",
        dtype,
        m * n * (SIZES[dtype] + 1) + 4 * m,
        inputs=inputs,
        reference=lambda data: inChunks(plain, m, 4096, data["x"]),
        contenders=lambda item: (
            defaults([part], outputs("q", "scale"))
            + [compiled(plain, ["x"]), pack.peer("vllm", vllm)]
        ),
        tolerance=5e-3,  # numbers halfway between two round either way
    )


def _f8(m, n, dtype):
    """silu(gate) * value in 8-bit floats, a scale for 128 of a row (bench/unseen/kernels)."""
    g = n // 128

    def inputs(device):
        return {
            "x": normal((m, 2, g, 128), dtype, device),
            "q": empty((m, g, 128), "f8e4m3", device),
            "scale": empty((m, g), "f32", device),
        }

    def plain(x):
        h = torch.nn.functional.silu(x[:, 0].float()) * x[:, 1].float()
        scale = h.abs().amax(-1) / 448.0
        return {"q": (h / scale[..., None]).to(torch.float8_e4m3fn), "scale": scale}

    def vllm(data):
        quantize = pack.library("vllm").silu_and_mul_per_block_quant
        q = torch.empty((m, n), dtype=torch.float8_e4m3fn, device=lib.DEVICE)
        scale = torch.empty((m, g), device=lib.DEVICE)
        x = data["x"].view(m, 2 * n)

        def call():
            quantize(q, x, scale, 128)
            return {"q": q.view(m, g, 128), "scale": scale}

        return call

    part = Part("swiglu_quant", {"M": m, "G": g}, arguments("x q scale"), {"T": dtype})
    return memory(
        "elementwise",
        "swiglu_quant",
        f"{m}x{n}",
        dtype,
        m * n * (2 * SIZES[dtype] + 1) + 4 * m * g,
        inputs=inputs,
        reference=lambda data: inChunks(plain, m, 4096, data["x"]),
        contenders=lambda item: (
            defaults([part], outputs("q", "scale"))
            + [compiled(plain, ["x"]), pack.peer("vllm", vllm)]
        ),
        tolerance=3e-2,
    )


def _embedding(v, length, n, dtype):
    def inputs(device):
        return {
            "w": normal((v, n), dtype, device),
            "id": integers(0, v, (length,), "i64", device),
            "y": empty((length, n), dtype, device),
        }

    def plain(w, id):
        return {"y": torch.nn.functional.embedding(id, w)}

    part = Part("embedding", {"V": v, "N": n, "L": length}, arguments("w id y"), {"T": dtype})
    return memory(
        "elementwise",
        "embedding",
        f"{v}x{n} {length}",
        dtype,
        2 * length * n * SIZES[dtype] + 8 * length,
        inputs=inputs,
        reference=lambda data: plain(data["w"], data["id"]),
        contenders=lambda item: (
            defaults([part], outputs("y"))
            + [
                peers.eager("eager", lambda data: plain(data["w"], data["id"])),
                compiled(plain, ["w", "id"]),
            ]
        ),
    )


def _nf4(m, n, dtype):
    """Weights in NormalFloat, 64 of them with one scale."""

    def inputs(device):
        data = {
            "q": integers(0, 256, (m, n // 2), "u8", device),
            "scale": normal((m, n // 64), "f32", device),
            "y": empty((m, n), dtype, device),
        }
        data["table"] = torch.tensor(NF4, device=device)
        return data

    def plain(q, scale, table):
        codes = torch.stack((q & 15, q >> 4), 2).reshape(q.shape[0], -1).long()
        values = table[codes].view(q.shape[0], -1, 64) * scale[:, :, None]
        return {"y": values.view(codes.shape).to(lib.torchType(dtype))}

    part = Part("nf4_dequantize", {"M": m, "N": n}, arguments("q scale y"), {"T": dtype})
    return memory(
        "elementwise",
        "nf4_dequantize",
        f"{m}x{n}",
        dtype,
        m * n // 2 + 4 * m * n // 64 + m * n * SIZES[dtype],
        inputs=inputs,
        reference=lambda data: plain(data["q"], data["scale"], data["table"]),
        contenders=lambda item: (
            defaults([part], outputs("y")) + [compiled(plain, ["q", "scale", "table"])]
        ),
    )


# The 16 quantiles of NormalFloat.
NF4 = [
    -1.0,
    -0.6961928009986877,
    -0.5250730514526367,
    -0.39491748809814453,
    -0.28444138169288635,
    -0.18477343022823334,
    -0.09105003625154495,
    0.0,
    0.07958029955625534,
    0.16093020141124725,
    0.24611230194568634,
    0.33791524171829224,
    0.44070982933044434,
    0.5626170039176941,
    0.7229568362236023,
    1.0,
]


def items():
    found = [_gated(*each) for each in GATED] + [_adam(n) for n in ADAM]
    found += [_transpose(*each) for each in TRANSPOSE] + [_rotary(*each) for each in ROTARY]
    found += [_int8(*each) for each in INT8]
    found += [_f8(*each) for each in F8] if available("swiglu_quant") else []
    found += [_embedding(*each) for each in EMBEDDING]
    return found + [_nf4(*each) for each in DEQUANTIZE]
