"""The examples in PyTorch, in float64 on the GPU: products, attention and convolutions."""

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
import philox  # noqa: E402


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
        behind = (0, -case.S % 4)
        return {
            "rows": torch.nn.functional.pad(lse, behind),
            "delta": torch.nn.functional.pad((o * do).sum(3), behind),
        }
    if case.kernel == "attention_backward_cast":
        return {"dq": sums * scale}
    lse, delta = lse[:, :, : case.S], delta[:, :, : case.S]
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


def batched_matmul(case, a, b):
    return {"c": a @ b}


def conv2d(case, x, w):
    stride = int(case.definitions.get("STRIDE", 1))
    y = torch.nn.functional.conv2d(
        x.permute(0, 3, 1, 2), w.permute(3, 2, 0, 1), stride=stride, padding=(w.shape[0] - 1) // 2
    )
    return {"y": y.permute(0, 2, 3, 1)}


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
    lse = {"lse": torch.logsumexp(s, 3)}
    return {"o": p @ v, **(lse if case.definitions.get("LSE") == "true" else {})}


def attention_scores_backward(
    case, do, q=None, k=None, v=None, lse=None, delta=None, o=None, **numbers
):
    if o is not None:
        return {"delta": (o * do).sum(3)}
    q, k, v = (x.clone().requires_grad_() for x in (q, k, v))
    attention_scores(case, q, k, v, **numbers)["o"].backward(do)
    return {"dq": q.grad, "dk": k.grad, "dv": v.grad}


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


def attention_latent(case, q, cache, length, scale, table=None):
    columns = int(case.definitions.get("C", 512))
    o = torch.zeros(case.B, case.H, columns, dtype=q.dtype, device=q.device)
    for b, size in enumerate(length.tolist()):
        rows = (cache[b] if table is None else cache[table[b].long()].flatten(0, 1))[:size]
        if size:
            o[b] = torch.softmax(q[b] @ rows.T * scale, 1) @ rows[:, :columns]
    return {"o": o}


def conv2d_backward(case, dy, w=None, x=None):
    r, stride = int(case.definitions.get("R", 3)), int(case.definitions.get("STRIDE", 1))
    if x is None:
        x = torch.zeros(case.N, case.H, case.W, case.C, dtype=dy.dtype, device=dy.device)
        leaf, name = x.requires_grad_(), "dx"
    else:
        w = torch.zeros(r, r, case.C, case.F, dtype=dy.dtype, device=dy.device)
        leaf, name = w.requires_grad_(), "dw"
    conv2d(case, x, w)["y"].backward(dy)
    return {name: leaf.grad}
