"""The examples in PyTorch, in float64 on the GPU: linear attention and state spaces, step by step
or by chunks.
"""

import torch


def mamba2(case, x, dt, a, b, c, skip, start):
    b, c = (v.repeat_interleave(case.H // case.G, 2) for v in (b, c))
    s, y = start, torch.empty_like(x)
    for t in range(case.L):
        s = s * torch.exp(dt[:, t] * a)[..., None, None]
        s = s + torch.einsum("bhp,bhn->bhpn", dt[:, t, :, None] * x[:, t], b[:, t])
        y[:, t] = torch.einsum("bhpn,bhn->bhp", s, c[:, t]) + skip[:, None] * x[:, t]
    return {"y": y, "last": s}


def gated_linear_attention(case, q, k, v, w, start, scale, bonus=None):
    s, y = start, torch.empty_like(v)
    for t in range(case.L):
        new = torch.einsum("bhd,bhc->bhdc", k[:, t], v[:, t])
        before = s
        s = s * torch.exp(w[:, t])[..., None] + new
        seen = s if bonus is None else before + bonus[..., None] * new
        y[:, t] = torch.einsum("bhd,bhdc->bhc", q[:, t], seen) * scale
    return {"y": y, "last": s}


def _chunks(case, x):
    """[B, L, H or G, ...] as [B, H, chunk, BT, ...], zeros behind the end."""
    size = int(case.definitions.get("BT", 64))
    x = x.repeat_interleave(case.H // x.shape[2], 2).transpose(1, 2)
    full = x.new_zeros(case.B, case.H, -(-case.L // size) * size, *x.shape[3:])
    full[:, :, : case.L] = x
    return full.unflatten(2, (-1, size))


def _together(case, x):
    return x.flatten(2, 3)[:, :, : case.L].transpose(1, 2)


def gated_delta_rule(
    case,
    k,
    g,
    v=None,
    beta=None,
    w=None,
    u=None,
    start=None,
    q=None,
    states=None,
    change=None,
    scale=None,
):
    k, z = _chunks(case, k), _chunks(case, g).cumsum(3)
    left = (z[..., :, None] - z[..., None, :]).exp().tril()
    if v is not None:
        v, beta = _chunks(case, v), _chunks(case, beta)[..., None]
        below = (k @ k.transpose(3, 4) * left * beta).tril(-1)
        whole = below + torch.eye(k.shape[3], dtype=k.dtype, device=k.device)
        both = torch.cat([k * beta * z.exp()[..., None], v * beta], 4)
        w, u = torch.linalg.solve(whole, both).split(case.D, 4)
        return {"w": _together(case, w), "u": _together(case, u)}
    if q is not None:
        q, change = _chunks(case, q), _chunks(case, change)
        y = q @ states * z.exp()[..., None] + (q @ k.transpose(3, 4) * left) @ change
        return {"y": _together(case, y) * scale}
    w, change, s, states = _chunks(case, w), _chunks(case, u), start, []
    for i in range(k.shape[2]):
        states.append(s)
        change[:, :, i] -= w[:, :, i] @ s
        end = z[:, :, i, -1:, None]
        kept = change[:, :, i] * (end - z[:, :, i, :, None]).exp()
        s = s * end.exp() + k[:, :, i].transpose(2, 3) @ kept
    return {"states": torch.stack(states, 2), "change": _together(case, change), "last": s}
