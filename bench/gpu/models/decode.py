"""Decoding: one query a sequence against its cache of keys and values, in one piece or in pages."""

import math

from .. import pack
from ..items import Contender
from ..lib import empty, normal, torch
from ..untuned import Part, defaults
from .attention import flash3, swapped
from .row import SIZES, arguments, memory, outputs

# b, length, query heads, key heads, head size, dtype
PLAIN = [
    (1, 1024, 32, 8, 128, "bf16"),
    (1, 8192, 32, 8, 128, "bf16"),
    (1, 32768, 32, 8, 128, "bf16"),
    (1, 131072, 32, 8, 128, "bf16"),
    (8, 8192, 32, 8, 128, "bf16"),
    (16, 4096, 32, 8, 128, "f16"),
    (32, 8192, 32, 8, 128, "bf16"),
    (64, 8192, 32, 8, 128, "bf16"),
    (128, 1024, 32, 8, 128, "bf16"),
    (128, 4096, 32, 8, 128, "bf16"),
    (4, 131072, 32, 8, 128, "bf16"),
    (16, 8192, 64, 8, 128, "bf16"),  # Llama 3 70B
    (8, 32768, 32, 4, 128, "bf16"),  # Qwen 3 30B
    (16, 8192, 32, 32, 128, "f16"),
    (32, 4096, 64, 8, 64, "bf16"),  # gpt-oss
    (7, 4999, 32, 8, 128, "bf16"),
]
# and the tokens of a page
PAGED = [
    (1, 32768, 32, 8, 128, "bf16", 16),
    (4, 8192, 32, 8, 128, "bf16", 16),
    (16, 4096, 32, 8, 128, "bf16", 16),
    (64, 4096, 32, 8, 128, "bf16", 16),
    (64, 8192, 32, 8, 128, "bf16", 16),
    (64, 8192, 32, 8, 128, "bf16", 64),
    (128, 1024, 64, 8, 128, "bf16", 16),
    (32, 4096, 64, 8, 64, "bf16", 16),
]
TOLERANCE = {"f16": 4e-3, "bf16": 2e-2}


def _attend(q, k, v, scale):
    """[B, heads, D] of a query a sequence in float32; k and v are [B, G, L, D]."""
    b, h, d = q.shape
    g, result = k.shape[1], torch.empty(q.shape, dtype=torch.float32, device=q.device)
    for one in range(b):
        queries = q[one].float().view(g, h // g, d)
        s = torch.softmax(queries @ k[one].float().transpose(1, 2) * scale, -1)
        result[one] = (s @ v[one].float()).view(h, d)
    return result


def _plain(b, length, h, g, d, dtype):
    scale = 1.0 / math.sqrt(d)

    def inputs(device):
        data = {
            "q": normal((b, h, d), dtype, device),
            "k": normal((b, g, length, d), dtype, device),
            "v": normal((b, g, length, d), dtype, device),
            "length": torch.full((b,), length, dtype=torch.int32, device=device),
            "o": empty((b, h, d), dtype, device),
        }
        return data

    def library(variant, splits):
        def build(data):
            # Its own layout, the length before the heads.
            k, v = (each.contiguous() for each in swapped(data, "kv"))
            more = {"num_splits": splits, "seqused_k": data["length"], "max_seqlen_k": length}
            forward = flash3(variant, data["q"][:, None], k, v, scale, False, **more)
            return lambda: {"o": forward()[0][:, 0]}

        return pack.peer("fa3", build, f"{variant},splits={splits or 'its choice'}")

    def cudnn(data):
        from torch.nn.attention import SDPBackend, sdpa_kernel

        q, k, v = data["q"][:, :, None], data["k"], data["v"]

        def call():
            with sdpa_kernel(SDPBackend.CUDNN_ATTENTION), torch.no_grad():
                o = torch.nn.functional.scaled_dot_product_attention(
                    q, k, v, scale=scale, enable_gqa=g != h
                )
            return {"o": o[:, :, 0]}

        return call

    def contenders(item):
        part = Part(
            "attention_decode",
            {"B": b, "G": g, "L": length},
            arguments("q k v length o", scale=scale),
            {"T": dtype, "D": d, "R": h // g},
        )
        found = defaults([part], outputs("o"))
        found += [library("fa3", 0), library("fa3-cu13", 0)]
        return found + [Contender("cudnn", cudnn)]

    size = SIZES[dtype]
    return memory(
        "decode",
        "attention_decode",
        f"B{b} L{length} H{h} G{g} D{d}",
        dtype,
        2 * b * g * length * d * size + 2 * b * h * d * size,
        inputs=inputs,
        reference=lambda data: {"o": _attend(data["q"], data["k"], data["v"], scale)},
        contenders=contenders,
        tolerance=TOLERANCE[dtype],
        reads=True,
        cost=3.0,
    )


def _paged(b, length, h, g, d, dtype, page):
    scale, pages = 1.0 / math.sqrt(d), -(-length // page)

    def inputs(device):
        cache = (b * pages, page, g, d)
        order = (
            torch.empty(b * pages, device=device)
            if device == "meta"
            else torch.randperm(b * pages, device=device)
        )
        return {
            "q": normal((b, g, h // g, d), dtype, device),
            "kc": normal(cache, dtype, device),
            "vc": normal(cache, dtype, device),
            "table": order.to(torch.int32).view(b, pages),
            "len": torch.full((b,), length, dtype=torch.int32, device=device),
            "o": empty((b, g, h // g, d), dtype, device),
        }

    def reference(data):
        dense = [
            data[name][data["table"].long()].reshape(b, pages * page, g, d)[:, :length]
            for name in ("kc", "vc")
        ]
        k, v = (each.transpose(1, 2) for each in dense)
        o = _attend(data["q"].reshape(b, h, d), k, v, scale)
        return {"o": o.view(b, g, h // g, d)}

    def library(variant):
        def build(data):
            more = {
                "num_splits": 0,
                "page_table": data["table"],
                "seqused_k": data["len"],
                "max_seqlen_k": length,
            }
            q = data["q"].reshape(b, 1, h, d)
            forward = flash3(variant, q, data["kc"], data["vc"], scale, False, **more)
            return lambda: {"o": forward()[0].view(b, g, h // g, d)}

        return pack.peer("fa3", build, variant)

    def contenders(item):
        part = Part(
            "paged_attention",
            {"B": b, "G": g, "P": b * pages, "TP": pages},
            arguments("q kc vc table len o", scale=scale),
            {"T": dtype, "D": d, "PAGE": page, "R": h // g},
        )
        return defaults([part], outputs("o")) + [library("fa3"), library("fa3-cu13")]

    size = SIZES[dtype]
    return memory(
        "decode",
        "paged_attention",
        f"B{b} L{length} H{h} G{g} D{d} PAGE{page}",
        dtype,
        2 * b * g * pages * page * d * size + 2 * b * h * d * size,
        inputs=inputs,
        reference=reference,
        contenders=contenders,
        tolerance=TOLERANCE[dtype],
        reads=True,
        cost=3.0,
    )


def items():
    return [_plain(*each) for each in PLAIN] + [_paged(*each) for each in PAGED]
