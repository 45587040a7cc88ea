"""Attention of other forms: over a sliding window, with a logit of its own in each sum, and packed
sequences of unlike lengths.
"""

import math
import random

from .. import attention, lib, pack
from ..lib import empty, normal, torch
from ..untuned import Part, defaults
from .attention import flash3, swapped
from .row import arguments, outputs, row

# b, heads, length, head size, window
SLIDING = [(1, 32, 16384, 128, 4096, "bf16"), (4, 32, 8192, 128, 1024, "f16")]
# b, query heads, key heads, length, head size, window: gpt-oss
SINKS = [(1, 64, 8, 8192, 64, 128, "bf16"), (1, 64, 8, 16384, 64, 16384, "bf16")]
# sequences, tokens, the longest, heads, head size
PACKED = [(16, 32768, 8192, 32, 128, "bf16"), (64, 32768, 1024, 16, 64, "f16")]


def _within(data, scale, window, sink=None):
    """o in float32 of causal attention over the last `window` keys, head by head."""
    q, k, v = data["q"], data["k"], data["v"]
    b, h, s, _ = q.shape
    o, group = torch.empty(q.shape, dtype=torch.float32, device=q.device), h // k.shape[1]
    places = torch.arange(s, device=q.device)
    for one in range(b):
        for head in range(h):
            keys, values = k[one, head // group].float(), v[one, head // group].float()
            for begin in range(0, s, 4096):
                rows = places[begin : begin + 4096]
                scores = (q[one, head, begin : begin + 4096].float() @ keys.T) * scale
                away = rows[:, None] - places
                scores.masked_fill_((away < 0) | (away >= window), -math.inf)
                top = scores.amax(1, keepdim=True)
                if sink is not None:
                    top = torch.maximum(top, sink[head])
                p = torch.exp(scores - top)
                total = p.sum(1, keepdim=True)
                if sink is not None:
                    total = total + torch.exp(sink[head] - top)
                o[one, head, begin : begin + 4096] = (p @ values) / total
    return o


def _pairs(length, window):
    """How many pairs of a query and a key of its window there are."""
    short = min(length, window)
    return short * (short + 1) // 2 + (length - short) * window


def _inputs(b, h, g, s, d, dtype):
    def inputs(device):
        return {
            "q": normal((b, h, s, d), dtype, device),
            "k": normal((b, g, s, d), dtype, device),
            "v": normal((b, g, s, d), dtype, device),
            "sink": normal((h,), "bf16", device).float(),
            "o": empty((b, h, s, d), dtype, device),
        }

    return inputs


def _library(variant, scale, window, sinks):
    def build(data):
        more = {"window_size_left": window - 1, "window_size_right": 0}
        more |= {"s_aux": data["sink"].bfloat16()} if sinks else {}
        forward = flash3(variant, *swapped(data, "qkv"), scale, True, **more)
        return lambda: {"o": forward()[0].transpose(1, 2)}

    return pack.peer("fa3", build, variant)


def _sliding(b, h, s, d, window, dtype):
    scale = 1.0 / math.sqrt(d)
    part = Part(
        "attention_sliding",
        {"B": b, "H": h, "S": s},
        arguments("q k v o", window=window, scale=scale),
        {"T": dtype, "D": d},
    )
    return row(
        "attention",
        "attention_sliding",
        f"B{b} H{h} S{s} D{d} window {window}",
        dtype,
        inputs=_inputs(b, h, h, s, d, dtype),
        reference=lambda data: {"o": _within(data, scale, window)},
        contenders=lambda item: (
            defaults([part], outputs("o"))
            + [_library(name, scale, window, False) for name in ("fa3", "fa3-cu13")]
        ),
        work=4.0 * b * h * d * _pairs(s, window),
        tolerance={"f16": 3e-3, "bf16": 2e-2}[dtype],
        cost=3.5,
    )


def _sinks(b, h, g, s, d, window, dtype):
    scale = 1.0 / math.sqrt(d)
    part = Part(
        "attention_sinks",
        {"B": b, "H": h, "G": g, "S": s},
        arguments("q k v sink o", window=window, sinks=0, scale=scale),
        {"T": dtype, "D": d},
    )
    return row(
        "attention",
        "attention_sinks",
        f"B{b} H{h} G{g} S{s} D{d} window {window}",
        dtype,
        inputs=_inputs(b, h, g, s, d, dtype),
        reference=lambda data: {"o": _within(data, scale, window, data["sink"])},
        # Only one of the two builds takes such logits.
        contenders=lambda item: (
            defaults([part], outputs("o")) + [_library("fa3-cu13", scale, window, True)]
        ),
        work=4.0 * b * h * d * _pairs(s, window),
        tolerance=2e-2,
        cost=3.5,
    )


def lengths(count, tokens, longest):
    """An uneven split, always the same, with one sequence of the longest length."""
    draw, found = random.Random(count), [longest]
    left = tokens - longest
    for rest in range(count - 1, 0, -1):
        most = min(longest, left - (rest - 1))
        least = max(1, left - (rest - 1) * longest)
        found.append(max(least, min(most, round(left / rest * draw.uniform(0.3, 1.7)))))
        left -= found[-1]
    return found


def _packed(count, tokens, longest, h, d, dtype):
    scale, sizes = 1.0 / math.sqrt(d), lengths(count, tokens, longest)
    starts = [sum(sizes[:i]) for i in range(count + 1)]

    def inputs(device):
        data = {name: normal((tokens, h, d), dtype, device) for name in "qkv"}
        data["o"] = empty((tokens, h, d), dtype, device)
        data["offset"] = torch.tensor(starts, dtype=torch.int32, device=device)
        return data

    def reference(data):
        o = torch.empty((tokens, h, d), dtype=torch.float32, device=lib.DEVICE)
        for begin, end in zip(starts, starts[1:]):
            one = {name: data[name][begin:end].transpose(0, 1)[None] for name in "qkv"}
            o[begin:end] = attention.reference(one, True, scale)[0][0].transpose(0, 1)
        return {"o": o}

    def library(variant):
        def build(data):
            more = {"cu_seqlens_" + name: data["offset"] for name in "qk"}
            more |= {"max_seqlen_" + name: longest for name in "qk"}
            q, k, v = (data[name] for name in "qkv")
            forward = flash3(variant, q, k, v, scale, True, **more)
            return lambda: {"o": forward()[0]}

        return pack.peer("fa3", build, variant)

    part = Part(
        "attention_packed",
        {"N": tokens, "H": h, "B": count},
        arguments("q k v offset o", longest=longest, scale=scale),
        {"T": dtype, "D": d},
    )
    return row(
        "attention",
        "attention_packed",
        f"{count} of {tokens} H{h} D{d} causal",
        dtype,
        inputs=inputs,
        reference=reference,
        contenders=lambda item: (
            defaults([part], outputs("o")) + [library(name) for name in ("fa3", "fa3-cu13")]
        ),
        work=4.0 * h * d * sum(_pairs(size, size) for size in sizes),
        tolerance={"f16": 3e-3, "bf16": 2e-2}[dtype],
        cost=3.5,
    )


def items():
    found = [_sliding(*each) for each in SLIDING] + [_sinks(*each) for each in SINKS]
    return found + [_packed(*each) for each in PACKED]
