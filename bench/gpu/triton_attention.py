"""Attention forward in Triton with TMA descriptors; tensors are seen as matrices of head-size
rows.
"""

import triton
import triton.language as tl


@triton.jit
def _keys(
    acc,
    den,
    top,
    query,
    k,
    v,
    first,
    begin,
    end,
    rows,
    shift,
    c,
    MASKED: tl.constexpr,
    BN: tl.constexpr,
    WS: tl.constexpr,
):
    """Takes the keys from `begin` to `end` into account; c is the scale in base 2."""
    for n in tl.range(begin, end, BN, warp_specialize=WS):
        n = tl.multiple_of(n, BN)
        s = tl.dot(query, k.load([first + n, 0]).T)
        if MASKED:
            seen = rows[:, None] + shift >= n + tl.arange(0, BN)[None, :]
            s = tl.where(seen, s * c, -1.0e6)
            t = tl.maximum(top, tl.max(s, 1))
            p = tl.exp2(s - t[:, None])
        else:
            t = tl.maximum(top, tl.max(s, 1) * c)
            p = tl.exp2(s * c - t[:, None])
        r = tl.exp2(top - t)
        den = den * r + tl.sum(p, 1)
        acc = tl.dot(p.to(query.dtype), v.load([first + n, 0]), acc * r[:, None])
        top = t
    return acc, den, top


@triton.jit
def attention(
    q,
    k,
    v,
    o,
    to,
    lse,
    S,
    L,
    H,
    G,
    scale,
    D: tl.constexpr,
    BM: tl.constexpr,
    BN: tl.constexpr,
    CAUSAL: tl.constexpr,
    WS: tl.constexpr,
    OUT: tl.constexpr,
):
    """S is a multiple of BM, L of BN; causal lines up the last query with the last key. `to` is the
    memory of o.
    """
    blocks = tl.cdiv(S, BM)
    i = tl.program_id(0)
    if CAUSAL:
        i = blocks - 1 - i  # the longest rows start first
    head = tl.program_id(1)
    rows = i * BM + tl.arange(0, BM)
    first = (head // H * G + head % H // (H // G)) * L
    c = scale * 1.4426950408889634
    shift = L - S
    top = tl.full((BM,), -float("inf"), tl.float32)
    den = tl.zeros((BM,), tl.float32)
    acc = tl.zeros((BM, D), tl.float32)
    query = q.load([head * S + i * BM, 0])
    if CAUSAL:
        # Keys that every row of the tile sees, then those under the diagonal.
        whole = (i * BM + shift + 1) // BN * BN
        acc, den, top = _keys(
            acc, den, top, query, k, v, first, 0, whole, rows, shift, c, False, BN, WS
        )
        acc, den, top = _keys(
            acc,
            den,
            top,
            query,
            k,
            v,
            first,
            whole,
            i * BM + BM + shift,
            rows,
            shift,
            c,
            True,
            BN,
            False,
        )
    else:
        acc, den, top = _keys(
            acc, den, top, query, k, v, first, 0, L, rows, shift, c, False, BN, WS
        )
    tl.store(lse + head * S + rows, (top + tl.log2(den)) * 0.6931471805599453)
    if WS:
        at = (head * S + rows)[:, None].to(tl.int64) * D + tl.arange(0, D)[None, :]
        tl.store(to + at, (acc / den[:, None]).to(OUT))
    else:
        o.store([head * S + i * BM, 0], (acc / den[:, None]).to(OUT))
