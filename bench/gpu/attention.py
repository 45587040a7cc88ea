"""Attention forward: full and causal, head sizes 64 and 128, grouped keys and values."""

import math

from . import peers, triton_products
from .items import Bar, Contender, Item
from .lib import empty, normal, torch
from .ours import tiles

PLAIN = {"persistent": None, "grouped": None}
VARIANTS = [
    {"BM": 128, "BN": 128},
    {"BM": 128, "BN": 64},
    {"BM": 128, "BN": 128, "warps": 8},
    {"BM": 128, "BN": 128, "grouped": None},
    {"BM": 128, "BN": 128, **PLAIN},
    {"BM": 128, "BN": 128, "stages": 2, **PLAIN},
    {"BM": 64, "BN": 128, "warps": 4, "occupancy": 2},
    {"BM": 64, "BN": 128, "warps": 4, "occupancy": 2, "persistent": None},
    {"BM": 64, "BN": 128, "warps": 4, "occupancy": 2, **PLAIN},
    {"BM": 64, "BN": 64, "warps": 4, "occupancy": 2, **PLAIN},
]
# BM, BN, warps, stages, warp-specialised
TRITON = [
    (128, 128, 8, 2, False),
    (128, 128, 8, 3, False),
    (128, 64, 8, 3, False),
    (128, 64, 4, 3, False),
    (64, 64, 4, 3, False),
    (64, 128, 4, 3, False),
    (128, 128, 4, 2, True),
    (128, 64, 4, 3, True),
    (64, 128, 4, 3, True),
]


def reference(data, causal, scale):
    """(o, lse) in float32 with IEEE products, one head at a time."""
    q, k, v = data["q"], data["k"], data["v"]
    o = torch.empty(q.shape, dtype=torch.float32, device=q.device)
    lse = torch.empty(q.shape[:3], dtype=torch.float32, device=q.device)
    group = q.shape[1] // k.shape[1]
    for b in range(q.shape[0]):
        for h in range(q.shape[1]):
            kt, vt = k[b, h // group].float(), v[b, h // group].float()
            for begin in range(0, q.shape[2], 4096):
                s = (q[b, h, begin : begin + 4096].float() @ kt.T) * scale
                if causal:
                    rows = (
                        torch.arange(begin, begin + s.shape[0], device=s.device)[:, None]
                        + k.shape[2]
                        - q.shape[2]
                    )
                    s.masked_fill_(rows < torch.arange(k.shape[2], device=s.device), -math.inf)
                lse[b, h, begin : begin + 4096] = torch.logsumexp(s, 1)
                o[b, h, begin : begin + 4096] = torch.softmax(s, 1) @ vt
    return o, lse


def _library(who, backend, causal, grouped, expand=False):
    def build(data):
        from torch.nn.attention import SDPBackend, sdpa_kernel

        q, k, v = data["q"], data["k"], data["v"]
        if expand:
            k, v = (x.repeat_interleave(q.shape[1] // x.shape[1], 1) for x in (k, v))

        def call():
            with sdpa_kernel(getattr(SDPBackend, backend)), torch.no_grad():
                return {
                    "o": torch.nn.functional.scaled_dot_product_attention(
                        q, k, v, is_causal=causal, enable_gqa=grouped and not expand
                    )
                }

        return call

    return Contender(who, build)


def _bars(d, dtype, grouped):
    """More is asked of what peers tune most: f16, D 128, as many heads of keys as of queries."""
    return (
        [Bar(1.0)]
        if d != 128 or dtype != "f16" or grouped
        else [Bar(1.05, ("cudnn",), "cudnn"), Bar(1.15, ("triton",))]
    )


def _item(b, h, g, s, d, causal, dtype="f16", quick=False, bars=True):
    scale = 1.0 / math.sqrt(d)

    def inputs(device):
        return {
            "q": normal((b, h, s, d), dtype, device),
            "k": normal((b, g, s, d), dtype, device),
            "v": normal((b, g, s, d), dtype, device),
            "o": empty((b, h, s, d), dtype, device),
            "lse": empty((b, h, s), "f32", device),
        }

    def contenders(item):
        outputs = lambda data: {"o": data["o"], "lse": data["lse"]}  # noqa: E731
        arguments = lambda data: {
            **{key: data[key] for key in ("q", "k", "v", "o", "lse")},
            "scale": scale,
        }  # noqa: E731
        found = tiles(
            "attention",
            VARIANTS,
            arguments,
            outputs,
            fixed={"T": dtype, "D": d, "CAUSAL": str(causal).lower()},
        )
        found.append(_library("cudnn", "CUDNN_ATTENTION", causal, g != h))
        if g != h:
            found.append(_library("cudnn-expanded", "CUDNN_ATTENTION", causal, True, expand=True))
        found.append(_library("flash", "FLASH_ATTENTION", causal, g != h))
        launchers = {}
        for bm, bn, warps, stages, specialised in TRITON:
            if specialised:
                # Triton 3.6: the causal form is refused, the other one never ends on an H200
                continue
            meta = {"BM": bm, "BN": bn, "WS": specialised}

            def launch(data, warmup=False, bm=bm, bn=bn, warps=warps, stages=stages, meta=meta):
                def prepare(data):
                    from triton.tools.tensor_descriptor import TensorDescriptor as Descriptor

                    flat = lambda name, rows: Descriptor.from_tensor(
                        data[name].view(-1, d), [rows, d]
                    )  # noqa: E731
                    boxes = flat("q", bm), flat("k", bn), flat("v", bn), flat("o", bm)
                    return (s // bm, b * h), (*boxes, data["o"], data["lse"], s, s, h, g, scale)

                every = {
                    **meta,
                    "D": d,
                    "CAUSAL": causal,
                    "OUT": triton_products.languageType(dtype),
                }
                return peers.launcher(
                    "triton_attention", "attention", prepare, every, warps, stages
                )(data, warmup)

            launchers[peers.variantName(meta, warps, stages).replace(",WS=False", "")] = launch
        return found + peers.tritons("triton", launchers, outputs)

    def expected(data):
        o, lse = reference(data, causal, scale)
        return {"o": o, "lse": lse}

    heads = f"H{h}" if g == h else f"H{h} G{g}"
    return Item(
        "attention",
        "attention",
        f"B{b} {heads} S{s} D{d} {'causal' if causal else 'full'}",
        dtype,
        inputs=inputs,
        reference=expected,
        contenders=contenders,
        work=4.0 * b * h * s * s * d * (0.5 if causal else 1.0),
        bars=_bars(d, dtype, g != h) if bars else [],
        quick=quick,
        tolerance={"f16": 3e-3, "bf16": 2e-2}[dtype],
    )


def items():
    found = []
    for causal in (False, True):
        found += [
            _item(4, 32, 32, 4096, 128, causal, quick=True),
            _item(1, 32, 32, 16384, 128, causal),
            _item(4, 32, 32, 4096, 64, causal),
            _item(4, 32, 32, 4096, 128, causal, "bf16"),
            _item(4, 32, 8, 4096, 128, causal),
        ]
    return found
