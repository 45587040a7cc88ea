"""The examples in PyTorch, in float64 on the GPU, and the cases that are too large for the CPU's tests."""
import math
import os
import sys

import torch

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "examples"))
from case import Case  # noqa: E402

LARGE = {
    "vector_add": [Case("N=134217731", T="f32")],
    "saxpy": [Case("N=67108867", {"a": 1.5})],
    "rms_norm": [Case("M=8191 N=8192", T="bf16")],
    "layer_norm": [Case("M=8191 N=5120", T="f16")],
    "softmax": [Case("M=4099 N=8191", T="f16"), Case("M=1048576 N=16", T="f32")],
    "cross_entropy": [Case("M=1021 V=128256", T="bf16")],
    "matmul": [Case("M=4096 N=4096 K=4096", T="f16"), Case("M=8191 N=1016 K=2040", T="bf16", BIAS="true", ACT="gelu")],
    "matmul_f32": [Case("M=1021 N=2039 K=1024")],
    "attention": [Case("B=2 H=8 G=2 S=2048 L=2048 D=128", T="f16"),
                  Case("B=1 H=4 G=4 S=1021 L=4093 D=64", T="bf16", CAUSAL="false")],
    "matmul_nt": [Case("M=4096 N=4096 K=4096", T="f16")],
    "attention_backward": [Case("B=1 H=8 G=2 S=1000 L=1024 D=128", kernel="attention_backward", T="f16"),
                           Case("B=1 H=8 G=2 S=1000 L=1024 D=128", kernel="attention_backward_dq", T="f16")],
    # Slots of a ring that ordinary loads read and copies fill again, often.
    "matmul_w4": [Case("M=16 N=8192 K=8192", T="f16", BM=16, BN=32, BK=128), Case("M=1 N=8192 K=8192", T="bf16", BM=16, BN=32, BK=128)],
    "transpose": [Case("M=8191 N=8193", T="bf16")],
    "cross_entropy_lanes": [Case("M=1021 V=128256", T="f16")],
    "softmax_rows": [Case("M=4099 N=8000", T="f16", BLOCK=8192), Case("M=131071 N=1024", T="f32", ROWS=8, BLOCK=1024)],
    "layer_norm_rows": [Case("M=8191 N=5120", T="f16", BLOCK=8192), Case("M=65535 N=1024", T="f16", ROWS=4, BLOCK=1024)],
    "rms_norm_rows": [Case("M=8191 N=8192", T="bf16", BLOCK=8192), Case("M=65535 N=1024", T="f16", ROWS=4, BLOCK=1024)],
    "row_sum": [Case("M=3 N=16777216", T="f32")],
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
    return {"y": torch.nn.functional.layer_norm(x, x.shape[1:], w, b, eps), "mean": mean, "rstd": torch.rsqrt(var + eps)}


def softmax(case, x):
    return {"y": torch.softmax(x, 1)}


def cross_entropy(case, x, label, ignore=-100):
    lse = torch.logsumexp(x, 1)
    inside = (label >= 0) & (label < case.V)
    logit = torch.where(inside, x.gather(1, label.clamp(0, case.V - 1)[:, None])[:, 0], 0.0)
    return {"loss": torch.where(label == ignore, 0.0, lse - logit), "lse": lse}


def matmul(case, a, b, bias=0.0):
    act = {"identity": lambda x: x, "relu": torch.relu, "gelu": torch.nn.functional.gelu, "silu": torch.nn.functional.silu}
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
        keys, values = k[b, :, :size].repeat_interleave(shared, 0), v[b, :, :size].repeat_interleave(shared, 0)
        o[b] = (torch.softmax(q[b, :, None] @ keys.transpose(1, 2) * scale, 2) @ values)[:, 0]
    return {"o": o}


def attention_packed(case, q, k, v, offset, longest, scale):
    o, bounds = torch.empty_like(q), offset.tolist()
    for first, last in zip(bounds[:-1], bounds[1:]):
        if first < last:
            s = torch.einsum("shd,thd->hst", q[first:last], k[first:last]) * scale
            hidden = torch.ones(last - first, last - first, dtype=torch.bool, device=q.device).triu(1)
            o[first:last] = torch.einsum("hst,thd->shd", torch.softmax(s.masked_fill(hidden, -math.inf), 2), v[first:last])
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
    return {"dx": (torch.exp(x - lse[:, None]) - target) * torch.where(label == ignore, 0.0, g)[:, None]}


def group_norm(case, x, w, b, eps=1e-5):
    return {"y": torch.nn.functional.group_norm(x, case.G, w, b, eps)}


def adam(case, w, g, m, v, rate, b1t, b2t, b1=0.9, b2=0.999, eps=1e-8, decay=0.01):
    held = lambda value: torch.tensor(value, dtype=torch.float32).double().item()
    rate, b1t, b2t, b1, b2, eps, decay = map(held, (rate, b1t, b2t, b1, b2, eps, decay))
    m = b1 * m + (1.0 - b1) * g
    v = b2 * v + (1.0 - b2) * g * g
    return {"w": w - rate * (m / (1.0 - b1t) / (torch.sqrt(v / (1.0 - b2t)) + eps) + decay * w), "m": m, "v": v}


def conv1d_causal(case, x, w, bias):
    width = w.shape[0]
    y = torch.nn.functional.conv1d(x.transpose(1, 2), w.T[:, None], bias, padding=width - 1, groups=case.C)[:, :, :case.L]
    return {"y": torch.nn.functional.silu(y).transpose(1, 2)}


def grouped_matmul(case, a, b, offset):
    c = torch.full((case.M, case.N), math.nan, dtype=torch.float64, device=a.device)
    bounds = offset.tolist()
    for e in range(case.E):
        c[bounds[e]:bounds[e + 1]] = a[bounds[e]:bounds[e + 1]] @ b[e]
    return {"c": c}


def matmul_f8(case, a, b, sa=1.0, sb=1.0):
    return {"c": sa * sb * (a @ b.T)}


def matmul_int8(case, a, b):
    exact = a.double() @ b.double().T  # below 2^53
    return {"c": ((exact.long() + 2**31) % 2**32 - 2**31).int()}


def matmul_w4(case, x, w, scale, zero):
    group, rounded = int(case.definitions.get("G", 128)), {"f16": torch.float16, "bf16": torch.bfloat16}[case.T]
    spread = lambda values: values.repeat_interleave(group, 1)
    return {"y": x @ ((w - spread(zero)) * spread(scale)).to(rounded).double().T}


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


def attention_backward(case, q=None, k=None, v=None, do=None, lse=None, delta=None, scale=None, o=None):
    if case.kernel == "attention_backward_delta":
        return {"delta": (o * do).sum(3)}
    dq, dk, dv = torch.empty_like(q), torch.zeros_like(k), torch.zeros_like(v)
    hidden = torch.ones(case.S, case.L, dtype=torch.bool, device=q.device).triu(case.L - case.S + 1)
    for h in range(case.H):
        g = h // (case.H // case.G)
        p = torch.exp((q[:, h] @ k[:, g].transpose(1, 2)) * scale - lse[:, h, :, None])
        if case.definitions.get("CAUSAL", "true") == "true":
            p = p.masked_fill(hidden, 0.0)
        ds = p * (do[:, h] @ v[:, g].transpose(1, 2) - delta[:, h, :, None]) * scale
        dq[:, h] = ds @ k[:, g]
        dk[:, g] += ds.transpose(1, 2) @ q[:, h]
        dv[:, g] += p.transpose(1, 2) @ do[:, h]
    return {"dq": dq} if case.kernel == "attention_backward_dq" else {"dk": dk, "dv": dv}


def transpose(case, x):
    return {"y": x.T}


def row_sum(case, x):
    return {"y": x.sum(1)}


softmax_rows, layer_norm_rows, rms_norm_rows, cross_entropy_lanes = softmax, layer_norm, rms_norm, cross_entropy
