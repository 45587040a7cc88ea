"""Attention of models, forward and backward, beside FlashAttention-3 and cuDNN."""

import math

from .. import attention, attention_backward, pack
from ..untuned import Part, accepts, defaults
from ..lib import empty, normal, torch
from .row import arguments, outputs, row

# b, query heads, key heads, length, head size, dtype, causal
FORWARD = [
    *((4, 32, 32, 4096, 128, dtype, c) for dtype in ("f16", "bf16") for c in (False, True)),
    (1, 32, 32, 16384, 128, "bf16", False),
    (1, 32, 32, 16384, 128, "bf16", True),
    (1, 32, 8, 32768, 128, "bf16", True),  # Llama 3 8B, Mixtral
    (2, 32, 8, 8192, 128, "bf16", True),
    (2, 32, 8, 8192, 128, "f16", False),
    (8, 32, 8, 2048, 128, "bf16", True),
    (16, 32, 8, 1024, 128, "bf16", True),
    (32, 32, 8, 512, 128, "bf16", True),
    (1, 64, 8, 8192, 128, "bf16", True),  # Llama 3 70B
    (2, 32, 4, 4096, 128, "bf16", True),  # Qwen 3 30B
    (4, 16, 16, 4093, 128, "bf16", True),  # a prime length
    (4, 32, 32, 4096, 64, "f16", False),
    (4, 32, 32, 4096, 64, "f16", True),
    (4, 32, 32, 4096, 64, "bf16", True),
    (1, 16, 16, 32768, 64, "bf16", False),
    (4, 64, 8, 4096, 64, "bf16", True),  # gpt-oss
    (16, 12, 12, 1024, 64, "f16", True),  # GPT-2
    (64, 12, 12, 197, 64, "f16", False),  # ViT-B, 196 patches and a class
    (4, 16, 16, 4096, 256, "f16", False),
    (4, 16, 16, 4096, 256, "f16", True),
    (4, 16, 16, 4096, 256, "bf16", False),
    (4, 16, 16, 4096, 256, "bf16", True),
    (2, 16, 8, 8192, 256, "bf16", True),
]
BACKWARD = [
    *((4, 32, 32, 4096, 128, dtype, c) for dtype in ("f16", "bf16") for c in (False, True)),
    (1, 32, 32, 16384, 128, "bf16", True),
    (2, 32, 8, 8192, 128, "bf16", True),
    (8, 32, 32, 2048, 128, "bf16", False),
    (8, 32, 8, 2048, 128, "bf16", True),
    (16, 32, 8, 1024, 128, "bf16", True),
    (2, 16, 16, 4092, 128, "bf16", True),
    (4, 32, 32, 4096, 64, "f16", False),
    (4, 32, 32, 4096, 64, "f16", True),
    (4, 32, 32, 4096, 64, "bf16", True),
    (4, 64, 8, 4096, 64, "bf16", True),
    (16, 12, 12, 1024, 64, "f16", True),
    (32, 16, 16, 512, 64, "f16", False),
    (4, 16, 16, 4096, 256, "bf16", True),
]
# Of gradients, where the formulas in float32 round p and ds nowhere.
TOLERANCE = {"f16": 1e-2, "bf16": 4e-2}


def swapped(data, names):
    """Tensors as FlashAttention has them, the length before the heads: views, nothing is moved."""
    return [data[name].transpose(1, 2) for name in names]


def flash3(operation, q, k, v, scale, causal, **more):
    """FlashAttention-3's forward of one of the pack's two builds, as a call that returns a list."""
    namespace = pack.library(operation)
    if operation == "fa3":
        return lambda: namespace.fwd(q, k, v, softmax_scale=scale, is_causal=causal, **more)
    given = {
        "softmax_scale": scale,
        "is_causal": causal,
        "window_size_left": -1,
        "window_size_right": -1,
        "softcap": 0.0,
        "is_rotary_interleaved": True,
        "num_splits": 1,
        "sm_margin": 0,
        "cp_world_size": 1,
        "cp_rank": 0,
    }
    return pack.filled(namespace.fwd, (q, k, v), **{**given, **more})


def _flash3(variant, scale, causal):
    def build(data):
        forward = flash3(variant, *swapped(data, "qkv"), scale, causal)
        return lambda: {"o": forward()[0].transpose(1, 2)}

    return pack.peer("fa3", build, variant)


def _name(b, h, g, s, d, causal):
    heads = f"H{h}" if g == h else f"H{h} G{g}"
    return f"B{b} {heads} S{s} D{d} {'causal' if causal else 'full'}"


def _forward(b, h, g, s, d, dtype, causal):
    scale = 1.0 / math.sqrt(d)
    fixed = {"T": dtype, "D": d, "CAUSAL": str(causal).lower()}
    shape = {"B": b, "H": h, "G": g, "S": s, "L": s}

    def inputs(device):
        return {
            "q": normal((b, h, s, d), dtype, device),
            "k": normal((b, g, s, d), dtype, device),
            "v": normal((b, g, s, d), dtype, device),
            "o": empty((b, h, s, d), dtype, device),
            "lse": empty((b, h, s), "f32", device),
        }

    def contenders(item):
        part = Part("attention", shape, arguments("q k v o lse", scale=scale), fixed)
        found = defaults([part], outputs("o", "lse"))
        found += [_flash3(name, scale, causal) for name in ("fa3", "fa3-cu13")]
        found.append(attention._library("cudnn", "CUDNN_ATTENTION", causal, g != h))
        return found

    return row(
        "attention",
        "attention",
        _name(b, h, g, s, d, causal),
        dtype,
        inputs=inputs,
        reference=lambda data: dict(zip(("o", "lse"), attention.reference(data, causal, scale))),
        contenders=contenders,
        work=4.0 * b * h * s * s * d * (0.5 if causal else 1.0),
        tolerance={"f16": 3e-3, "bf16": 2e-2}[dtype],
        cost=3.5,
    )


def _flash3Backward(scale, causal):
    def build(data):
        q, k, v, do = swapped(data, ("q", "k", "v", "do"))
        o, lse = flash3("fa3", q, k, v, scale, causal)()[:2]
        gradients = [torch.empty_like(each) for each in (q, k, v)]
        backward = pack.library("fa3").bwd

        def call():
            backward(do, q, k, v, o, lse, *gradients, softmax_scale=scale, is_causal=causal)
            return {name: g.transpose(1, 2) for name, g in zip(("dq", "dk", "dv"), gradients)}

        return call

    return pack.peer("fa3", build)


def _backward(b, h, g, s, d, dtype, causal):
    scale = 1.0 / math.sqrt(d)
    name = "attention_backward"
    small = {"T": dtype, "D": d}
    heads = {"B": b, "H": h, "S": s}
    rows = {**heads, "P": attention_backward.padded(s)}

    def inputs(device):
        q, keys = (b, h, s, d), (b, g, s, d)
        data = {key: normal(q, dtype, device) for key in ("q", "do")}
        data.update({key: normal(keys, dtype, device) for key in ("k", "v")})
        data.update({key: empty(q, dtype, device) for key in ("o", "dq")})
        data.update({key: empty(keys, dtype, device) for key in ("dk", "dv")})
        data["lse"] = empty((b, h, s), "f32", device)
        data.update({key: empty((b, h, rows["P"]), "f32", device) for key in ("rows", "delta")})
        data["sums"] = empty(q, "f32", device)
        if device != "meta":
            o, lse = attention.reference(data, causal, scale)
            data["o"].copy_(o)
            data["lse"].copy_(lse)
        return data

    def reference(data):
        return dict(zip(("dq", "dk", "dv"), attention_backward.gradients(data, causal, scale)))

    def contenders(item):
        parts = [
            Part(name, rows, arguments("o do lse rows delta"), small, name + "_delta"),
            Part(
                name,
                {**rows, "G": g, "L": s},
                arguments("q k v do lse=rows delta dq=sums dk dv", scale=scale),
                {**small, "CAUSAL": str(causal).lower()},
            ),
            Part(name, heads, arguments("sums dq", scale=scale), small, name + "_cast"),
        ]
        found = defaults(parts, outputs("dq", "dk", "dv"))
        found.append(_flash3Backward(scale, causal))
        if g == h:
            found.append(attention_backward._library("cudnn", causal, scale))
        else:
            found.append(attention_backward._autograd(causal, scale, grouped=True))
        return found

    return row(
        "attention_backward",
        "attention_backward",
        _name(b, h, g, s, d, causal),
        dtype,
        inputs=inputs,
        reference=reference,
        contenders=contenders,
        work=10.0 * b * h * s * s * d * (0.5 if causal else 1.0),
        tolerance=TOLERANCE[dtype],
        cost=5.0,
    )


def items():
    """Head sizes that an example does not take are left out."""
    found = [_forward(*each) for each in FORWARD if accepts("attention", "D", each[4])]
    return found + [
        _backward(*each) for each in BACKWARD if accepts("attention_backward", "D", each[4])
    ]
