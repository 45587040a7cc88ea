"""The examples in PyTorch, in float64 on the GPU: rows, element-wise functions, orders; those of
references_products.py and references_recurrences.py belong to them.
"""

import math
import os
import sys

import numpy
import torch

sys.path.insert(
    0,
    os.path.join(
        os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "examples"
    ),
)
import case as cases  # noqa: E402
import philox  # noqa: E402
from references_products import (  # noqa: E402, F401
    attention,
    attention_backward,
    attention_decode,
    attention_latent,
    attention_packed,
    attention_scores,
    attention_scores_backward,
    attention_sinks,
    attention_sliding,
    batched_matmul,
    conv1d_causal,
    conv1d_causal_backward,
    conv2d,
    conv2d_backward,
    conv2d_depthwise,
    grouped_matmul,
    hadamard,
    linear,
    linear_cross_entropy,
    matmul,
    matmul_f32,
    matmul_f8,
    matmul_f8_scaled,
    matmul_int8,
    matmul_nt,
    matmul_split,
    matmul_w4,
    matmul_w4_packed,
    matvec,
    matvec_w4,
    moe,
    newton_schulz,
)
from references_recurrences import (  # noqa: E402, F401
    gated_delta_rule,
    gated_linear_attention,
    mamba2,
)


def vector_add(case, x, y):
    return {"z": x + y}


def saxpy(case, a, x, y):
    return {"y": torch.tensor(a, dtype=torch.float32).double().item() * x + y}


def row_scale(case, x, s, k):
    return {"y": x * s[:, None] + k}


def rms_norm(case, x, w, eps=1e-5):
    return {"y": x * torch.rsqrt((x * x).mean(1, keepdim=True) + eps) * w}


def layer_norm(case, x, w, b, eps=1e-5):
    var, mean = torch.var_mean(x, 1, correction=0)
    return {
        "y": torch.nn.functional.layer_norm(x, x.shape[1:], w, b, eps),
        "mean": mean,
        "rstd": torch.rsqrt(var + eps),
    }


def softmax(case, x):
    return {"y": torch.softmax(x, 1)}


def cross_entropy(case, x, label, ignore=-100):
    lse = torch.logsumexp(x, 1)
    inside = (label >= 0) & (label < case.V)
    logit = torch.where(inside, x.gather(1, label.clamp(0, case.V - 1)[:, None])[:, 0], 0.0)
    return {"loss": torch.where(label == ignore, 0.0, lse - logit), "lse": lse}


def softmax_backward(case, y, dy):
    return {"dx": y * (dy - (y * dy).sum(1, keepdim=True))}


def log_softmax(case, x):
    return {"y": torch.log_softmax(x, 1)}


def cross_entropy_backward(case, x, label, lse, g, ignore=-100):
    smooth = float(case.definitions.get("SMOOTH", 0.0))
    target = torch.full_like(x, smooth / case.V)
    rows = torch.nonzero(label != ignore)[:, 0]
    target[rows, label[rows]] += 1.0 - smooth
    return {
        "dx": (torch.exp(x - lse[:, None]) - target) * torch.where(label == ignore, 0.0, g)[:, None]
    }


def group_norm(case, x, w, b, eps=1e-5):
    return {"y": torch.nn.functional.group_norm(x, case.G, w, b, eps)}


def adam(case, w, g, m, v, rate, b1t, b2t, b1=0.9, b2=0.999, eps=1e-8, decay=0.01):
    held = lambda value: torch.tensor(value, dtype=torch.float32).double().item()
    rate, b1t, b2t, b1, b2, eps, decay = map(held, (rate, b1t, b2t, b1, b2, eps, decay))
    m = b1 * m + (1.0 - b1) * g
    v = b2 * v + (1.0 - b2) * g * g
    return {
        "w": w - rate * (m / (1.0 - b1t) / (torch.sqrt(v / (1.0 - b2t)) + eps) + decay * w),
        "m": m,
        "v": v,
    }


def transpose(case, x):
    return {"y": x.T}


def max_pool2d(case, x):
    r, stride = int(case.definitions.get("R", 3)), int(case.definitions.get("STRIDE", 2))
    pad = (r - 1) // 2
    padded = torch.nn.functional.pad(x, (0, 0, pad, r, pad, r), value=-math.inf)
    shifted = [padded[:, i : i + case.H, j : j + case.W] for i in range(r) for j in range(r)]
    return {"y": torch.stack(shifted).amax(0)[:, ::stride, ::stride]}


def softmax_ragged(case, x, offset):
    bounds, y = offset.tolist(), torch.empty_like(x)
    for begin, end in zip(bounds[:-1], bounds[1:]):
        y[begin:end] = torch.softmax(x[begin:end], 0)
    return {"y": y}


def gelu_ptx(case, x):
    return {"y": torch.nn.functional.gelu(x, approximate="tanh")}


def row_sum(case, x):
    return {"y": x.sum(1)}


def topk(case, x):
    k = int(case.definitions.get("K", 8))
    order = torch.sort(torch.where(torch.isnan(x), math.inf, -x), dim=1, stable=True)
    # NaN behind -inf, which -x makes an infinity too: numbers first, each kind in the order of the
    # row.
    rank = torch.isnan(x).gather(1, order.indices).to(torch.int8).sort(dim=1, stable=True).indices
    at = order.indices.gather(1, rank)[:, :k]
    values = x.gather(1, at)
    if at.shape[1] < k:
        at = torch.nn.functional.pad(at, (0, k - at.shape[1]), value=-1)
        values = torch.nn.functional.pad(values, (0, k - values.shape[1]), value=math.nan)
    return {"values": values, "at": at}


def rotary(case, x, cosine, sine):
    pairs = case.definitions.get("PAIRS", "true") == "true"
    half = x.shape[3] // 2
    u, v = (x[..., ::2], x[..., 1::2]) if pairs else (x[..., :half], x[..., half:])
    c, s = cosine[None, :, None], sine[None, :, None]
    p, q = u * c - v * s, u * s + v * c
    return {"y": torch.stack([p, q], -1).flatten(-2) if pairs else torch.cat([p, q], -1)}


def state_space_scan(case, a, b, start):
    y, h = torch.empty_like(a), start
    for t in range(case.L):
        h = a[:, t] * h + b[:, t]
        y[:, t] = h
    return {"y": y, "last": h}


def prefix_sum(case, x):
    y = torch.cumsum(x, 1, dtype=x.dtype)
    return {"y": y - x if case.definitions.get("EXCLUSIVE") == "true" else y}


def histogram(case, x):
    bins, low = int(case.definitions.get("BINS", 256)), int(case.definitions.get("FLOOR", 0))
    x = x.long()
    counted = torch.where((x >= low) & (x < bins), x, bins)
    counts = torch.zeros(x.shape[0], bins + 1, dtype=torch.int64, device=x.device)
    return {"counts": counts.scatter_add_(1, counted, torch.ones_like(counted))[:, :bins].int()}


def sort_rows(case, x):
    descending = case.definitions.get("DESCENDING") == "true"
    order = torch.sort(
        torch.where(torch.isnan(x), math.inf, -x if descending else x), dim=1, stable=True
    )
    rank = torch.isnan(x).gather(1, order.indices).to(torch.int8).sort(dim=1, stable=True).indices
    at = order.indices.gather(1, rank)
    return {"y": x.gather(1, at), "at": at}


def median_filter(case, x):
    wide = torch.nn.functional.pad(x, (1, 1, 1, 1))
    near = [wide[i : i + case.H, j : j + case.W] for i in range(3) for j in range(3)]
    return {"y": torch.stack(near).sort(0).values[4]}


def dropout(case, x, p, seed=0):
    p = torch.tensor(p, dtype=torch.float32).item()
    kept = torch.from_numpy(philox.uniform(seed, numpy.arange(case.N))).to(x.device) >= p
    result = {"y": torch.where(kept, x / (1.0 - p), 0.0)}
    return {**result, "mask": kept} if case.definitions.get("MASK") == "true" else result


def gated_activation(case, x):
    gate, value = x[:, : case.N], x[:, case.N :]
    act = {
        "silu": torch.nn.functional.silu,
        "sigmoid": torch.sigmoid,
        "relu": torch.relu,
        "gelu": torch.nn.functional.gelu,
        "gelu_tanh": lambda v: torch.nn.functional.gelu(v, approximate="tanh"),
    }[case.definitions.get("ACT", "silu")]
    return {"y": act(gate) * value}


def concat(case, **xs):
    return {"y": torch.cat(list(xs.values()), 1)}


def nf4_dequantize(case, q, scale):
    table = torch.from_numpy(cases.module("nf4_dequantize").NF4).to(q.device)
    return {"y": table[q.long()] * scale.repeat_interleave(int(case.definitions.get("G", 64)), 1)}


def quantize_int8(case, scale=None, x=None, q=None):
    if case.kernel == "dequantize_int8":
        return {"y": q.double() * scale[:, None]}
    top, limit = x.float().abs().amax(1), torch.full((1,), 127.0, device=x.device)
    exists = top > 1e-36
    inverse = torch.where(exists, limit / torch.where(exists, top, 1.0), 0.0)
    return {
        "q": torch.round(x.float() * inverse[:, None]).long(),
        # PyTorch multiplies by the reciprocal of a number.
        "scale": torch.where(exists, top / limit, 1.0),
    }


def layer_norm_backward(case, dw_part=None, db_part=None, x=None, w=None, dy=None, eps=1e-5):
    if case.kernel == "layer_norm_weight":
        return {"dw": dw_part.sum(0), "db": db_part.sum(0)}
    d = x - x.mean(1, keepdim=True)
    r = torch.rsqrt((d * d).mean(1, keepdim=True) + eps)
    h, g = d * r, dy * w
    deal = lambda rows: torch.stack([rows[p :: case.P].sum(0) for p in range(case.P)])
    return {
        "dx": r * (g - g.mean(1, keepdim=True) - h * (g * h).mean(1, keepdim=True)),
        "dw_part": deal(dy * h),
        "db_part": deal(dy),
    }


def rms_norm_backward(case, part=None, x=None, w=None, dy=None, eps=1e-5):
    if case.kernel == "rms_norm_weight":
        return {"dw": part.sum(0)}
    r = torch.rsqrt((x * x).mean(1, keepdim=True) + eps)
    g, rows = dy * w, dy * x * r
    return {
        "dx": r * (g - x * r * r * (g * x).mean(1, keepdim=True)),
        "part": torch.stack([rows[p :: case.P].sum(0) for p in range(case.P)]),
    }


softmax_rows, layer_norm_rows, rms_norm_rows, cross_entropy_lanes = (
    softmax,
    layer_norm,
    rms_norm,
    cross_entropy,
)


def onHost(name):
    """The example's own reference: what PyTorch has no atomics or unsigned arithmetic for."""

    def run(case, **inputs):
        host = {
            key: value.cpu().numpy() if isinstance(value, torch.Tensor) else value
            for key, value in inputs.items()
        }
        return {
            key: torch.from_numpy(value)
            for key, value in cases.module(name).reference(case, **host).items()
        }

    return run


atomics, gather, grouped_views, last_arriver, paged_attention, scan_lookback, segment_sum = (
    onHost(name)
    for name in (
        "atomics",
        "gather",
        "grouped_views",
        "last_arriver",
        "paged_attention",
        "scan_lookback",
        "segment_sum",
    )
)


def embedding(case, id, w=None, g=None):
    inside = (id >= 0) & (id < case.V)
    if g is not None:
        return {
            "dw": (
                torch.zeros(case.V, case.N, dtype=torch.float64, device=g.device).index_add_(
                    0, id[inside], g[inside]
                )
            )
        }
    return {"y": torch.where(inside[:, None], w[id.clamp(0, case.V - 1)], 0.0)}


def rms_norm_residual(case, w, eps, x=None, residual=None, h=None, dy=None, dh=None, part=None):
    norm = lambda v: v / (v.square().mean(1, keepdim=True) + eps).sqrt()
    if x is not None:
        return {"h": x + residual, "y": norm(x + residual) * w}
    h = h.requires_grad_()
    weight = w.clone().requires_grad_()
    (norm(h) * weight).backward(dy)
    return {"dx": h.grad + dh, "dw": weight.grad, "ticket": torch.tensor([case.P])}


def sampling(case, logits, temperature, p, seed):
    k = min(int(case.definitions.get("K", 64)), case.V)
    best, ids = torch.sort(logits, dim=1, descending=True, stable=True)
    q = torch.softmax(best[:, :k] / temperature, 1)
    kept = torch.where(q.cumsum(1) - q < p, q, 0.0)
    u = torch.from_numpy(philox.uniform(seed, numpy.arange(case.B))).to(q.device)
    chosen = (kept.cumsum(1) <= u[:, None] * kept.sum(1, keepdim=True)).sum(1)
    return {"token": ids.gather(1, torch.minimum(chosen, (kept > 0).sum(1) - 1)[:, None])[:, 0]}
