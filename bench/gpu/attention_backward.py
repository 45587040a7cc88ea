"""Attention backward: the gradients of q, k and v from the forward's result; delta and the last
rounding count.
"""

import math

from . import attention
from .items import Bar, Contender, Item
from .lib import empty, normal, torch
from .ours import ATTRIBUTES, Binary, Settings, describe

# BN keys of a program, BM queries of a step.
VARIANTS = [
    {"BM": 64, "BN": 128},
    {"BM": 64, "BN": 64},
    {"BM": 128, "BN": 64},
    {"BM": 32, "BN": 128},
]
NAME = "attention_backward"


def gradients(data, causal, scale):
    """(dq, dk, dv) in float32, one head at a time."""
    q, k, v, do = (data[name] for name in ("q", "k", "v", "do"))
    dq = torch.empty(q.shape, dtype=torch.float32, device=q.device)
    dk, dv = (
        torch.zeros(k.shape, dtype=torch.float32, device=q.device),
        torch.zeros(v.shape, dtype=torch.float32, device=q.device),
    )
    group = q.shape[1] // k.shape[1]
    for b in range(q.shape[0]):
        for h in range(q.shape[1]):
            g = h // group
            kt, vt = k[b, g].float(), v[b, g].float()
            for begin in range(0, q.shape[2], 4096):
                rows = slice(begin, begin + 4096)
                qt, dt = q[b, h, rows].float(), do[b, h, rows].float()
                s = (qt @ kt.T) * scale
                if causal:
                    at = (
                        torch.arange(begin, begin + s.shape[0], device=s.device)[:, None]
                        + k.shape[2]
                        - q.shape[2]
                    )
                    s.masked_fill_(at < torch.arange(k.shape[2], device=s.device), -math.inf)
                p = torch.softmax(s, 1)
                dv[b, g] += p.T @ dt
                dp = dt @ vt.T
                ds = p * (dp - (p * dp).sum(1, keepdim=True))
                dq[b, h, rows] = (ds @ kt) * scale
                dk[b, g] += (ds.T @ qt) * scale
    return dq, dk, dv


def padded(s):
    """Elements in a row of what the first kernel makes of s queries."""
    return (s + 3) // 4 * 4


def _ours(dtype, d, causal, scale):
    """Three launches: delta, then all gradients with dq in f32, then dq rounded."""
    small = {"T": dtype, "D": d}
    delta, cast = (Binary.get(NAME, small, {}, f"{NAME}_{part}") for part in ("delta", "cast"))

    def binary(choice):
        attributes = {key: value for key, value in choice.items() if key in ATTRIBUTES}
        definitions = {
            **small,
            "CAUSAL": str(causal).lower(),
            **{key: value for key, value in choice.items() if key not in ATTRIBUTES},
        }
        return Binary.get(NAME, definitions, attributes, NAME)

    def contender(choice):
        def build(data):
            first, second, third = (
                delta.load()[NAME + "_delta"],
                binary(choice).load()[NAME],
                cast.load()[NAME + "_cast"],
            )
            common = {key: data[key] for key in ("q", "k", "v", "do", "delta", "dk", "dv")}
            common["lse"] = data["rows"]

            def call():
                first(**{key: data[key] for key in ("o", "do", "lse", "rows", "delta")})
                second(**common, dq=data["sums"], scale=scale)
                third(sums=data["sums"], dq=data["dq"], scale=scale)
                return {name: data[name] for name in ("dq", "dk", "dv")}

            call.notes = binary(choice).notes
            return call

        def compile(data):
            for part in (delta, binary(choice), cast):
                part.compile()

        return Contender("tile", build, describe(choice, {}), compile=compile)

    return [contender(choice) for choice in Settings.variants or VARIANTS]


def _library(who, causal, scale):
    """PyTorch's backward alone, with the saved values of its own forward."""

    def build(data):
        aten = torch.ops.aten
        q, k, v, do = (data[name] for name in ("q", "k", "v", "do"))
        if who == "cudnn":
            o, lse, cumQ, cumK, maxQ, maxK, seed, offset, _ = (
                aten._scaled_dot_product_cudnn_attention(
                    q, k, v, None, True, 0.0, causal, False, scale=scale
                )
            )

            def call():
                return dict(
                    zip(
                        ("dq", "dk", "dv"),
                        aten._scaled_dot_product_cudnn_attention_backward(
                            do,
                            q,
                            k,
                            v,
                            o,
                            lse,
                            seed,
                            offset,
                            None,
                            cumQ,
                            cumK,
                            maxQ,
                            maxK,
                            0.0,
                            causal,
                            scale=scale,
                        ),
                    )
                )

        else:
            o, lse, cumQ, cumK, maxQ, maxK, state, unused, _ = (
                aten._scaled_dot_product_flash_attention(q, k, v, 0.0, causal, False, scale=scale)
            )

            def call():
                return dict(
                    zip(
                        ("dq", "dk", "dv"),
                        aten._scaled_dot_product_flash_attention_backward(
                            do,
                            q,
                            k,
                            v,
                            o,
                            lse,
                            cumQ,
                            cumK,
                            maxQ,
                            maxK,
                            0.0,
                            causal,
                            state,
                            unused,
                            scale=scale,
                        ),
                    )
                )

        return call

    return Contender(who, build)


def _autograd(causal, scale, grouped=False):
    """cuDNN's backward by way of autograd, which runs on the forward's stream and so in no
    graph. grouped: several heads of queries share one of keys.
    """

    def build(data):
        from torch.nn.attention import SDPBackend, sdpa_kernel

        leaves = [data[name].detach().requires_grad_() for name in ("q", "k", "v")]
        with sdpa_kernel(SDPBackend.CUDNN_ATTENTION):
            o = torch.nn.functional.scaled_dot_product_attention(
                *leaves, is_causal=causal, scale=scale, enable_gqa=grouped
            )

        def call():
            return dict(
                zip(
                    ("dq", "dk", "dv"),
                    torch.autograd.grad(o, leaves, data["do"], retain_graph=True),
                )
            )

        call.noGraph = "autograd"
        return call

    return Contender("cudnn-autograd", build)


def _item(b, h, s, d, causal, dtype="f16", quick=False):
    scale = 1.0 / math.sqrt(d)

    def inputs(device):
        shape = (b, h, s, d)
        data = {name: normal(shape, dtype, device) for name in ("q", "k", "v", "do")}
        data.update({name: empty(shape, dtype, device) for name in ("o", "dq", "dk", "dv")})
        data.update(
            {
                "lse": empty((b, h, s), "f32", device),
                **{key: empty((b, h, padded(s)), "f32", device) for key in ("rows", "delta")},
                "sums": empty(shape, "f32", device),
            }
        )
        if device != "meta":
            o, lse = attention.reference(data, causal, scale)
            data["o"].copy_(o)
            data["lse"].copy_(lse)
        return data

    def expected(data):
        return dict(zip(("dq", "dk", "dv"), gradients(data, causal, scale)))

    def contenders(item):
        return _ours(dtype, d, causal, scale) + [
            _library("cudnn", causal, scale),
            _autograd(causal, scale),
            _library("flash", causal, scale),
        ]

    return Item(
        "attention_backward",
        "attention_backward",
        f"B{b} H{h} S{s} D{d} {'causal' if causal else 'full'}",
        dtype,
        inputs=inputs,
        reference=expected,
        contenders=contenders,
        work=10.0 * b * h * s * s * d * (0.5 if causal else 1.0),
        bars=[Bar(0.9, ("cudnn",), "cudnn")],
        quick=quick,
        tolerance={"f16": 1e-2, "bf16": 4e-2}[dtype],
    )


def items():
    return [_item(4, 32, 4096, 128, causal, quick=True) for causal in (False, True)]
