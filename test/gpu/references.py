"""The examples in PyTorch, in float64 on the GPU, and the cases that are too large for the CPU's
tests.
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
from case import Case  # noqa: E402

LARGE = {
    "vector_add": [Case("N=134217731", T="f32")],
    "saxpy": [Case("N=67108867", {"a": 1.5})],
    "rms_norm": [Case("M=8191 N=8192", T="bf16")],
    "layer_norm": [Case("M=8191 N=5120", T="f16")],
    "softmax": [Case("M=4099 N=8191", T="f16"), Case("M=1048576 N=16", T="f32")],
    "cross_entropy": [Case("M=1021 V=128256", T="bf16")],
    "matmul": [
        Case("M=4096 N=4096 K=4096", T="f16"),
        Case("M=8191 N=1016 K=2040", T="bf16", BIAS="true", ACT="gelu"),
    ],
    "matmul_f32": [Case("M=1021 N=2039 K=1024")],
    "attention": [
        Case("B=2 H=8 G=2 S=2048 L=2048 D=128", T="f16"),
        Case("B=1 H=4 G=4 S=1021 L=4093 D=64", T="bf16", CAUSAL="false"),
    ],
    "matmul_nt": [Case("M=4096 N=4096 K=4096", T="f16")],
    "attention_backward": [
        Case("B=1 H=8 G=2 S=1000 L=1024 D=128", kernel="attention_backward", T="f16"),
        Case(
            "B=2 H=4 G=4 S=2047 L=2047 D=128", kernel="attention_backward", T="bf16", CAUSAL="false"
        ),
    ],
    # Slots of a ring that ordinary loads read and copies fill again, often.
    "matmul_w4": [
        Case("M=16 N=8192 K=8192", T="f16", BM=16, BN=32, BK=128),
        Case("M=1 N=8192 K=8192", T="bf16", BM=16, BN=32, BK=128),
    ],
    "transpose": [Case("M=8191 N=8193", T="bf16")],
    "cross_entropy_lanes": [Case("M=1021 V=128256", T="f16")],
    "softmax_rows": [
        Case("M=4099 N=8000", T="f16", BLOCK=8192),
        Case("M=131071 N=1024", T="f32", ROWS=8, BLOCK=1024),
    ],
    "layer_norm_rows": [
        Case("M=8191 N=5120", T="f16", BLOCK=8192),
        Case("M=65535 N=1024", T="f16", ROWS=4, BLOCK=1024),
    ],
    "rms_norm_rows": [
        Case("M=8191 N=8192", T="bf16", BLOCK=8192),
        Case("M=65535 N=1024", T="f16", ROWS=4, BLOCK=1024),
    ],
    "row_sum": [Case("M=3 N=16777216", T="f32")],
    "embedding": [Case("V=1000 N=4096 L=8192", kernel="embedding_backward", T="f16", D="f32")],
    "last_arriver": [
        Case("N=16777216", kernel="last_arriver", T="f16", B=256),
        Case("M=65536 N=1024", kernel="column_sums", BM=16),
    ],
    "topk": [Case("M=1021 N=128256", T="f16"), Case("M=4096 N=1000", T="f32", K=32)],
    "rotary": [
        Case("B=2 S=4096 H=32", T="f16", D=128),
        Case("B=2 S=2047 H=32", T="bf16", D=128, PAIRS="false"),
    ],
    "state_space_scan": [Case("B=4 L=4096 D=2048", T="bf16")],
    "prefix_sum": [Case("M=1021 N=65537", T="i32"), Case("M=4 N=1048576", T="i64")],
    "scan_lookback": [
        Case("N=16777216", T="i32"),
        Case("N=33554433", T="f32"),
        Case("N=8388609", T="i64", B=1024, W=128),
    ],
    "histogram": [Case("M=257 N=1048575", T="u8")],
    "sort_rows": [
        Case("M=4099 N=1000", T="f32"),
        Case("M=257 N=8192", T="f16", BLOCK=8192),
        Case("M=31 N=4000", T="f64", BLOCK=4096),
    ],
    "median_filter": [Case("H=1021 W=2047", T="u8")],
    "dropout": [Case("N=33554437", {"p": 0.1, "seed": 42}, T="bf16", MASK="true")],
    "gated_activation": [
        Case("M=4099 N=11008", T="bf16"),
        Case("M=1021 N=14336", T="f16", ACT="gelu"),
    ],
    "concat": [Case("M=8191 N=4099", T="f16")],
    "nf4_dequantize": [Case("M=4096 N=14336", T="bf16")],
    "quantize_int8": [
        Case("M=8191 N=5120", kernel="quantize_int8", T="bf16"),
        Case("M=4099 N=8191", kernel="dequantize_int8", T="f16"),
    ],
    "layer_norm_backward": [
        Case("M=8191 N=4096 P=264", kernel="layer_norm_backward", T="bf16"),
        Case("P=264 N=8192", kernel="layer_norm_weight", T="bf16"),
    ],
    "rms_norm_backward": [
        Case("M=8191 N=4096 P=264", kernel="rms_norm_backward", T="bf16"),
        Case("P=264 N=8192", kernel="rms_norm_weight", T="bf16"),
    ],
}


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


def matmul(case, a, b, bias=0.0):
    act = {
        "identity": lambda x: x,
        "relu": torch.relu,
        "gelu": torch.nn.functional.gelu,
        "silu": torch.nn.functional.silu,
    }
    return {"c": act[case.definitions.get("ACT", "identity")](a @ b + bias)}


def matmul_nt(case, a, b):
    return {"c": a @ b.T}


def matmul_split(case, a, b):
    return {"c": a @ b}


def linear(case, x, w, bias, residual):
    act = {"gelu": torch.nn.functional.gelu, "identity": lambda v: v, "tanh": torch.tanh}
    return {"y": act[case.definitions.get("ACT", "gelu")](x @ w.T + bias) + residual}


def matvec(case, a, x):
    return {"y": a @ x}


def attention_decode(case, q, k, v, length, scale):
    shared, o = case.definitions.get("R", 4), torch.empty_like(q)
    for b, size in enumerate(length.tolist()):
        keys, values = (
            k[b, :, :size].repeat_interleave(shared, 0),
            v[b, :, :size].repeat_interleave(shared, 0),
        )
        o[b] = (torch.softmax(q[b, :, None] @ keys.transpose(1, 2) * scale, 2) @ values)[:, 0]
    return {"o": o}


def attention_packed(case, q, k, v, offset, longest, scale):
    o, bounds = torch.empty_like(q), offset.tolist()
    for first, last in zip(bounds[:-1], bounds[1:]):
        if first < last:
            s = torch.einsum("shd,thd->hst", q[first:last], k[first:last]) * scale
            hidden = torch.ones(last - first, last - first, dtype=torch.bool, device=q.device).triu(
                1
            )
            o[first:last] = torch.einsum(
                "hst,thd->shd", torch.softmax(s.masked_fill(hidden, -math.inf), 2), v[first:last]
            )
    return {"o": o}


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


def conv1d_causal(case, x, w, bias):
    width = w.shape[0]
    y = torch.nn.functional.conv1d(
        x.transpose(1, 2), w.T[:, None], bias, padding=width - 1, groups=case.C
    )[:, :, : case.L]
    return {"y": torch.nn.functional.silu(y).transpose(1, 2)}


def grouped_matmul(case, a, b, offset):
    c = torch.full((case.M, case.N), math.nan, dtype=torch.float64, device=a.device)
    bounds = offset.tolist()
    for e in range(case.E):
        c[bounds[e] : bounds[e + 1]] = a[bounds[e] : bounds[e + 1]] @ b[e]
    return {"c": c}


def matmul_f8(case, a, b, sa=1.0, sb=1.0):
    return {"c": sa * sb * (a @ b.T)}


def matmul_int8(case, a, b):
    exact = a.double() @ b.double().T  # below 2^53
    return {"c": ((exact.long() + 2**31) % 2**32 - 2**31).int()}


def matmul_w4(case, x, w, scale, zero):
    group, rounded = (
        int(case.definitions.get("G", 128)),
        {"f16": torch.float16, "bf16": torch.bfloat16}[case.T],
    )
    spread = lambda values: values.repeat_interleave(group, 1)
    return {"y": x @ ((w - spread(zero)) * spread(scale)).to(rounded).double().T}


def matvec_w4(case, x, w, scale, zero):
    group = int(case.definitions.get("G", 128))
    spread = lambda values: values.repeat_interleave(group, 1)
    return {"y": x @ ((w - spread(zero)) * spread(scale)).T}


def matmul_f32(case, a, b):
    return {"c": a @ b}


def attention(case, q, k, v, scale):
    o, lse = torch.empty_like(q), torch.empty(q.shape[:3], dtype=torch.float64, device=q.device)
    causal = case.definitions.get("CAUSAL", "true") == "true"
    hidden = torch.ones(case.S, case.L, dtype=torch.bool, device=q.device).triu(case.L - case.S + 1)
    for h in range(case.H):
        g = h // (case.H // case.G)
        s = (q[:, h] @ k[:, g].transpose(1, 2)) * scale
        if causal:
            s = s.masked_fill(hidden, -math.inf)
        o[:, h] = torch.softmax(s, 2) @ v[:, g]
        lse[:, h] = torch.logsumexp(s, 2)
    return {"o": o, "lse": lse}


def attention_backward(
    case, q=None, k=None, v=None, do=None, lse=None, delta=None, scale=None, o=None, sums=None
):
    if case.kernel == "attention_backward_delta":
        return {"delta": (o * do).sum(3)}
    if case.kernel == "attention_backward_cast":
        return {"dq": sums * scale}
    dq, dk, dv = torch.empty_like(q), torch.zeros_like(k), torch.zeros_like(v)
    hidden = torch.ones(case.S, case.L, dtype=torch.bool, device=q.device).triu(case.L - case.S + 1)
    for h in range(case.H):
        g = h // (case.H // case.G)
        p = torch.exp((q[:, h] @ k[:, g].transpose(1, 2)) * scale - lse[:, h, :, None])
        if case.definitions.get("CAUSAL", "true") == "true":
            p = p.masked_fill(hidden, 0.0)
        ds = p * (do[:, h] @ v[:, g].transpose(1, 2) - delta[:, h, :, None])
        dq[:, h] = ds @ k[:, g]
        dk[:, g] += ds.transpose(1, 2) @ q[:, h] * scale
        dv[:, g] += p.transpose(1, 2) @ do[:, h]
    return {"dq": dq, "dk": dk, "dv": dv}


def transpose(case, x):
    return {"y": x.T}


def batched_matmul(case, a, b):
    return {"c": a @ b}


def conv2d(case, x, w):
    stride = int(case.definitions.get("STRIDE", 1))
    y = torch.nn.functional.conv2d(
        x.permute(0, 3, 1, 2), w.permute(3, 2, 0, 1), stride=stride, padding=(w.shape[0] - 1) // 2
    )
    return {"y": y.permute(0, 2, 3, 1)}


def max_pool2d(case, x):
    r, stride = int(case.definitions.get("R", 3)), int(case.definitions.get("STRIDE", 2))
    pad = (r - 1) // 2
    padded = torch.nn.functional.pad(x, (0, 0, pad, r, pad, r), value=-math.inf)
    shifted = [padded[:, i : i + case.H, j : j + case.W] for i in range(r) for j in range(r)]
    return {"y": torch.stack(shifted).amax(0)[:, ::stride, ::stride]}


def attention_sliding(case, q, k, v, window, scale):
    distance = torch.arange(case.S, device=q.device)[:, None] - torch.arange(
        case.S, device=q.device
    )
    s = (q @ k.transpose(2, 3)) * scale
    s = s.masked_fill((distance < 0) | (distance >= window), -math.inf)
    return {"o": torch.softmax(s, 3) @ v}


def matmul_f8_scaled(case, a, b, sa, sb):
    rows = sa.repeat_interleave(128, 1)[:, : case.K]
    columns = sb.repeat_interleave(128, 0).repeat_interleave(128, 1)[: case.N, : case.K]
    return {"c": (a * rows) @ (b * columns).T}


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
    top = x.float().abs().amax(1)
    scale = torch.where(
        top > 0, top / torch.full_like(top, 127.0), 1.0
    )  # PyTorch multiplies by the reciprocal of a number
    return {"q": torch.round(x.float() / scale[:, None]).clamp(-127, 127).long(), "scale": scale}


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


def _heads(case, *tensors):
    """Keys and values repeated for each query head."""
    return [x.repeat_interleave(case.H // case.G, 1) for x in tensors]


def _far(case, device, keys):
    return torch.arange(case.S, device=device)[:, None] - torch.arange(keys, device=device)


def attention_scores(case, q, k, v, scale, a, drop, seed):
    k, v = _heads(case, k, v)
    far, score = _far(case, q.device, case.L), case.definitions.get("SCORE")
    s = q @ k.transpose(2, 3) * scale
    if score == "capped":
        s = a * torch.tanh(s / a)
    if score == "biased":
        slopes = 2.0 ** (
            -8.0 * torch.arange(1, case.H + 1, device=q.device, dtype=torch.float64) / case.H
        )
        s = s - slopes[:, None, None] * far.abs()
    if score == "near":
        s = s.masked_fill(far >= a, -math.inf)
    if case.definitions.get("CAUSAL") != "false":
        s = s.masked_fill(far < 0, -math.inf)
    p = torch.softmax(s, 3)
    if drop:
        u = (
            torch.from_numpy(philox.uniform(seed, numpy.arange(p.numel())))
            .to(q.device)
            .view(p.shape)
        )
        p = torch.where(u >= float(numpy.float32(drop)), p / (1.0 - drop), 0.0)
    return {"o": p @ v}


def attention_sinks(case, q, k, v, sink, window, sinks, scale):
    k, v = _heads(case, k, v)
    far = _far(case, q.device, case.S)
    seen = (far >= 0) & ((far < window) | (torch.arange(case.S, device=q.device) < sinks))
    s = (q @ k.transpose(2, 3) * scale).masked_fill(~seen, -math.inf)
    extra = sink[None, :, None, None].expand(case.B, -1, case.S, 1)
    return {"o": torch.softmax(torch.cat([s, extra], 3), 3)[..., :-1] @ v}


def moe(
    case,
    order=None,
    offset=None,
    x=None,
    gate=None,
    up=None,
    h=None,
    down=None,
    weight=None,
    part=None,
):
    if part is not None:
        return {"y": part.sum(1)}
    result = torch.empty(
        case.P, case.F if x is not None else case.D, dtype=torch.float64, device=order.device
    )
    for e, (begin, end) in enumerate(zip(offset.tolist()[:-1], offset.tolist()[1:])):
        choice = order[begin:end].long()
        if x is not None:
            rows = x[choice // int(case.definitions.get("K", 8))]
            result[begin:end] = torch.nn.functional.silu(rows @ gate[e]) * (rows @ up[e])
        else:
            result[choice] = h[begin:end] @ down[e] * weight[choice][:, None]
    return {"h" if x is not None else "part": result}


def _codes(words, order):
    """The 4-bit codes of words that hold eight columns each, `order` says which column stands at
    each place.
    """
    words = words.view(torch.int32).long() if words.dtype == torch.uint32 else words.long()
    codes = torch.zeros(*words.shape, 8, dtype=torch.float64, device=words.device)
    for place, column in enumerate(order):
        codes[..., column] = (words >> 4 * place & 15).double()
    return codes.flatten(-2)


def matmul_w4_packed(case, a, q, scale, zero=None):
    if zero is None:
        values = torch.tensor(
            [0, 0.5, 1, 1.5, 2, 3, 4, 6, 0, -0.5, -1, -1.5, -2, -3, -4, -6],
            dtype=torch.float64,
            device=a.device,
        )
        return {
            "c": a @ (values[q.long()] * (2.0 ** (scale.double() - 127)).repeat_interleave(32, 1)).T
        }
    group, awq, plain = (
        int(case.definitions.get("GROUP", 128)),
        [0, 2, 4, 6, 1, 3, 5, 7],
        list(range(8)),
    )
    if case.kernel == "matmul_awq":
        codes, zeros = _codes(q, awq), _codes(zero, awq)
    else:
        codes, zeros = _codes(q.T.contiguous(), plain).T, _codes(zero, plain) + 1
    return {
        "c": a @ ((codes - zeros.repeat_interleave(group, 0)) * scale.repeat_interleave(group, 0))
    }


def linear_cross_entropy(case, x, w, label, ignore, lse=None, g=None, first=0):
    s, kept = x @ w.T, label != ignore
    if g is None:
        total = torch.logsumexp(s, 1)
        return {
            "loss": torch.where(kept, total - s.gather(1, label[:, None])[:, 0], 0.0),
            "lse": total,
        }
    hit = label[:, None] == first + torch.arange(case.C, device=x.device)
    return {"d": (torch.exp(s - lse[:, None]) - hit.double()) * (kept * g)[:, None]}


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


def conv1d_causal_backward(case, x, w, bias, dy):
    x, w, bias = (v.clone().requires_grad_() for v in (x, w, bias))
    width = w.shape[0]
    padded = torch.nn.functional.pad(x, (0, 0, width - 1, 0))
    sums = bias + sum(padded[:, s : s + case.L] * w[s] for s in range(width))
    torch.nn.functional.silu(sums).backward(dy)
    return {"dx": x.grad, "dw": w.grad, "dbias": bias.grad}


def conv2d_depthwise(case, x, k=None, dy=None):
    r = int(case.definitions.get("R", 3))
    first = x.permute(0, 3, 1, 2)
    if dy is not None:
        k = torch.zeros(r, r, case.C, dtype=torch.float64, device=x.device).requires_grad_()
    elif case.definitions.get("TURN") == "true":
        k = k.flip((0, 1))
    y = torch.nn.functional.conv2d(
        first, k.permute(2, 0, 1)[:, None], padding=r // 2, groups=case.C
    ).permute(0, 2, 3, 1)
    if dy is None:
        return {"y": y}
    y.backward(dy)
    return {"dk": k.grad}


def newton_schulz(case, x, alpha=0.0, beta=1.0, p=None, a=0.0):
    if p is not None:
        return {"y": a * x + p @ x}
    gram = beta * (x @ x.transpose(1, 2))
    return {"y": gram + alpha * x if case.definitions.get("KEEP") == "true" else gram}


def hadamard(case, x):
    n, t = case.N, x
    h = 1
    while h < n:
        pairs = t.view(-1, n // (2 * h), 2, h)
        t = torch.stack([pairs[:, :, 0] + pairs[:, :, 1], pairs[:, :, 0] - pairs[:, :, 1]], 2).view(
            -1, n
        )
        h *= 2
    return {"y": t / math.sqrt(n)}
