"""Choosing, sorting, counting and running sums, beside PyTorch."""

import os
import sys

from .. import lib, peers
from ..lib import empty, normal, torch
from ..paths import ROOT
from ..untuned import Part, defaults
from .row import SIZES, arguments, compiled, inChunks, integers, memory, outputs

# rows, their length, how many are chosen
TOPK = [
    (8192, 128, 8, "f32"),
    (8192, 256, 8, "f32"),
    (4096, 32768, 8, "f32"),
    (64, 128256, 64, "f32"),
]
SORT = [(16384, 1024, "f32"), (4096, 1000, "f16"), (4096, 4096, "f32")]
SAMPLING = [(64, 128256, "f32"), (256, 50257, "bf16")]
HISTOGRAM = [(1024, 65536, 256, "u8"), (64, 1048576, 256, "i32")]
SUMS = [(4096, 65536, "f32"), (32768, 1000, "i32"), (64, 1048576, "f32")]
LOOKBACK = [(1 << 26, "f32"), (10_000_019, "i32")]
CHOICES = 64


def _topk(m, n, k, dtype):
    def inputs(device):
        return {
            "x": normal((m, n), dtype, device),
            "values": empty((m, k), dtype, device),
            "at": empty((m, k), "i32", device),
        }

    def plain(x):
        return {"values": torch.topk(x, k, 1).values}

    def eager(data):
        return {"values": torch.topk(data["x"], k, 1).values}

    def view(data, found):
        """Where positions point to, in the place of positions: equal elements have either order."""
        picked = torch.gather(data["x"], 1, found["at"].long())
        return {"values": found["values"], "picked": picked}

    part = Part("topk", {"M": m, "N": n}, arguments("x values at"), {"T": dtype, "K": k})
    return memory(
        "selection",
        "topk",
        f"{m}x{n} K{k}",
        dtype,
        m * n * SIZES[dtype] + m * k * 8,
        inputs=inputs,
        reference=lambda data: {name: plain(data["x"])["values"] for name in ("values", "picked")},
        contenders=lambda item: (
            defaults([part], outputs("values", "at"), view=view) + [peers.eager("eager", eager)]
        ),
        reads=True,
        tolerance=1e-7,
    )


def _sort(m, n, dtype):
    def inputs(device):
        return {
            "x": normal((m, n), dtype, device),
            "y": empty((m, n), dtype, device),
            "at": empty((m, n), "i32", device),
        }

    def eager(data):
        y, at = torch.sort(data["x"], dim=1, stable=True)
        return {"y": y, "at": at}

    # A row has to fit into the kernel's tile, of 1024 if nothing is said.
    fixed = {"T": dtype} | ({"BLOCK": 1 << (n - 1).bit_length()} if n > 1024 else {})
    part = Part("sort_rows", {"M": m, "N": n}, arguments("x y at"), fixed)
    return memory(
        "selection",
        "sort_rows",
        f"{m}x{n}",
        dtype,
        2 * m * n * SIZES[dtype] + 4 * m * n,
        inputs=inputs,
        reference=eager,
        contenders=lambda item: (
            defaults([part], outputs("y", "at")) + [peers.eager("eager", eager)]
        ),
        tolerance=1e-7,
    )


def _uniform(count):
    """The numbers that our kernel draws: Philox's stream of seed 0."""
    sys.path.insert(0, os.path.join(ROOT, "examples"))
    try:
        import numpy
        import philox

        return torch.from_numpy(philox.uniform(0, numpy.arange(count)))
    finally:
        sys.path.pop(0)


def _sampling(b, v, dtype):
    """Of the 64 largest logits those that make up 0.9, and one of them by a given number."""

    def inputs(device):
        data = {
            "logits": normal((b, v), "f32", device, 2.0),
            "token": empty((b,), "i32", device),
            "u": torch.empty((b,), device=device),
        }
        if device != "meta":
            # No two of the largest are the same, whatever the dtype.
            data["logits"] = _apart(data["logits"])
            data["u"].copy_(_uniform(b))
        data["logits"] = data["logits"].to(lib.torchType(dtype))
        return data

    def plain(logits, u):
        top, at = torch.topk(logits.to(u.dtype), CHOICES, 1)
        q = torch.softmax(top, 1)
        kept = torch.where(torch.cumsum(q, 1) - q < 0.9, q, 0.0)
        sums = torch.cumsum(kept, 1)
        chosen = (sums <= u[:, None] * sums[:, -1:]).sum(1, keepdim=True)
        last = (kept > 0).sum(1, keepdim=True) - 1
        return {"token": torch.gather(at, 1, torch.minimum(chosen, last))[:, 0].to(torch.int32)}

    part = Part(
        "sampling",
        {"B": b, "V": v},
        arguments("logits token", temperature=1.0, p=0.9, seed=0),
        {"T": dtype},
    )
    return memory(
        "selection",
        "sampling",
        f"{b}x{v}",
        dtype,
        b * v * SIZES[dtype],
        inputs=inputs,
        reference=lambda data: plain(data["logits"], data["u"].double()),
        contenders=lambda item: (
            defaults([part], outputs("token"))
            + [
                peers.eager("eager", lambda data: plain(data["logits"], data["u"])),
                compiled(plain, ["logits", "u"]),
            ]
        ),
        reads=True,
        tolerance=1e-7,
    )


def _apart(logits):
    """The same with the largest 128 of each row on a grid, each on a place of its own."""
    at = torch.topk(logits, 128, 1).indices
    steps = 8.0 - torch.arange(128, device=logits.device) / 16.0
    return logits.clamp(max=-1.0).scatter_(1, at, steps.expand(logits.shape[0], 128).contiguous())


def _histogram(m, n, bins, dtype):
    def inputs(device):
        return {
            "x": integers(0, bins, (m, n), dtype, device),
            "counts": empty((m, bins), "i32", device),
            "first": torch.arange(m, device=device)[:, None] * bins,
        }

    def plain(data):
        flat = (data["x"] + data["first"]).reshape(-1)
        return {"counts": torch.bincount(flat, minlength=m * bins).view(m, bins)}

    def added(data):
        counts = torch.zeros((m, bins), dtype=torch.int32, device=data["x"].device)
        ones = torch.ones((), dtype=torch.int32, device=counts.device).expand(m, n)
        return {"counts": counts.scatter_add_(1, data["x"].long(), ones)}

    part = Part("histogram", {"M": m, "N": n}, arguments("x counts"), {"T": dtype, "BINS": bins})
    return memory(
        "selection",
        "histogram",
        f"{m}x{n} {bins} bins",
        dtype,
        m * n * {"u8": 1, "i32": 4}[dtype],
        inputs=inputs,
        reference=plain,
        contenders=lambda item: (
            defaults([part], outputs("counts"))
            + [peers.eager("eager", plain), peers.eager("eager-scatter", added)]
        ),
        reads=True,
        tolerance=1e-7,
    )


def _sums(m, n, dtype):
    whole = dtype != "f32"

    def inputs(device):
        draw = integers(-9, 10, (m, n), dtype, device) if whole else normal((m, n), dtype, device)
        return {"x": draw, "y": empty((m, n), dtype, device)}

    def plain(x):
        return {"y": torch.cumsum(x, 1, dtype=x.dtype)}

    def reference(data):
        wide = torch.int64 if whole else torch.float64
        part = lambda x: {"y": torch.cumsum(x, 1, dtype=wide).to(x.dtype)}
        return inChunks(part, m, 1024, data["x"])

    part = Part("prefix_sum", {"M": m, "N": n}, arguments("x y"), {"T": dtype})
    return memory(
        "selection",
        "prefix_sum",
        f"{m}x{n}",
        dtype,
        2 * m * n * SIZES[dtype],
        inputs=inputs,
        reference=reference,
        contenders=lambda item: (
            defaults([part], outputs("y"))
            + [peers.eager("eager", lambda data: plain(data["x"])), compiled(plain, ["x"])]
        ),
        tolerance=1e-7 if whole else 1e-5,
    )


def _lookback(n, dtype):
    whole, blocks = dtype != "f32", -(-n // 8192)

    def inputs(device):
        draw = integers(-9, 10, (n,), dtype, device) if whole else normal((n,), dtype, device)
        data = {"x": draw, "y": empty((n,), dtype, device)}
        data["known"] = empty((2, blocks), "i64", device)
        data["ticket"] = empty((1,), "i32", device)
        return data

    def reference(data):
        wide = torch.int64 if whole else torch.float64
        return {"y": torch.cumsum(data["x"], 0, dtype=wide).to(data["x"].dtype)}

    def eager(data):
        return {"y": torch.cumsum(data["x"], 0, dtype=data["x"].dtype)}

    part = Part("scan_lookback", {"N": n}, arguments("x y known ticket"), {"T": dtype})
    return memory(
        "selection",
        "scan_lookback",
        f"{n}",
        dtype,
        2 * n * SIZES[dtype],
        inputs=inputs,
        reference=reference,
        contenders=lambda item: defaults([part], outputs("y")) + [peers.eager("eager", eager)],
        tolerance=1e-7 if whole else 1e-5,
    )


def items():
    found = [_topk(*each) for each in TOPK] + [_sort(*each) for each in SORT]
    found += [_sampling(*each) for each in SAMPLING] + [_histogram(*each) for each in HISTOGRAM]
    return found + [_sums(*each) for each in SUMS] + [_lookback(*each) for each in LOOKBACK]
