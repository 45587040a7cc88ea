"""Attention in Triton: one kernel for all forms of this folder, each with the parts that it needs
compiled in."""

import triton
import triton.language as tl


@triton.jit
def _attention(
    q,
    k,
    v,
    o,
    extra,
    lengths,
    S,
    L,
    H,
    G,
    window,
    sinks,
    scale,
    cap,
    D: tl.constexpr,
    W: tl.constexpr,
    FORM: tl.constexpr,
    CAUSAL: tl.constexpr,
    BM: tl.constexpr,
    BN: tl.constexpr,
):
    """q: [B, H, S, D], k and v: [B, G, L, D]. W is D rounded up to a power of two."""
    b, h = tl.program_id(1) // H, tl.program_id(1) % H
    m, d = tl.program_id(0) * BM + tl.arange(0, BM), tl.arange(0, W)
    g = (b * G + h // (H // G)).to(tl.int64)
    wide = d[None, :] < D
    qt = tl.load(
        q + (b * H + h).to(tl.int64) * S * D + m[:, None] * D + d[None, :],
        mask=(m[:, None] < S) & wide,
        other=0.0,
    )
    top, den, acc = (
        tl.full((BM,), -3.0e38, tl.float32),
        tl.zeros((BM,), tl.float32),
        tl.zeros((BM, W), tl.float32),
    )
    begin, end = 0, L
    if CAUSAL:
        end = tl.minimum(L, tl.program_id(0) * BM + BM)
    if FORM == "window":
        top = tl.zeros((BM,), tl.float32) + tl.load(extra + h)
        den += 1.0
        begin = tl.maximum(0, tl.program_id(0) * BM - window + 1) // BN * BN
    if FORM == "alibi":
        end = tl.load(lengths + b)
        slope = tl.load(extra + h)
    skipped = 0
    if FORM == "window":
        skipped = tl.minimum(tl.cdiv(sinks, BN) * BN, begin)  # blocks of sinks come first
    for at in range(0, skipped + tl.maximum(end - begin, 0), BN):
        n = tl.where(at < skipped, at, begin + at - skipped) + tl.arange(0, BN)
        kt = tl.load(
            k + g * L * D + n[:, None] * D + d[None, :], mask=(n[:, None] < L) & wide, other=0.0
        )
        s = tl.dot(qt, kt.T) * scale
        seen = n[None, :] < end
        if FORM == "softcap":
            y = s / cap
            s = cap * (1.0 - 2.0 / (tl.exp(2.0 * y) + 1.0))
        if FORM == "alibi":
            s -= slope * tl.abs(m[:, None] - n[None, :]).to(tl.float32)
        if CAUSAL:
            seen = seen & (m[:, None] >= n[None, :])
        if FORM == "window":
            seen = seen & ((m[:, None] - n[None, :] < window) | (n[None, :] < sinks))
        s = tl.where(seen, s, -float("inf"))
        t = tl.maximum(top, tl.max(s, 1))
        p, r = tl.exp(s - t[:, None]), tl.exp(top - t)
        den = den * r + tl.sum(p, 1)
        vt = tl.load(
            v + g * L * D + n[:, None] * D + d[None, :], mask=(n[:, None] < L) & wide, other=0.0
        )
        acc = tl.dot(p.to(qt.dtype), vt, acc * r[:, None])
        top = t
    to = o + (b * H + h).to(tl.int64) * S * D + m[:, None] * D + d[None, :]
    tl.store(to, (acc / den[:, None]).to(o.dtype.element_ty), mask=(m[:, None] < S) & wide)


def _calls(case, t, form, causal, configs, B=1, G=None, L=None):
    def run(BM, BN, warps, stages):
        return lambda: _attention[(triton.cdiv(case.S, BM), B * case.H)](
            t["q"],
            t["k"],
            t["v"],
            t["o"],
            t.get("sink", t.get("slopes", t["q"])),
            t.get("lengths", t["q"]),
            case.S,
            L or case.S,
            case.H,
            G or case.H,
            t.get("window", 0),
            t.get("sinks", 0),
            t["scale"],
            t.get("cap", 1.0),
            case.D,
            triton.next_power_of_2(case.D),
            form,
            causal,
            BM,
            BN,
            num_warps=warps,
            num_stages=stages,
        )

    return [run(*config) for config in configs]


SMALL = [(128, 64, 4, 3), (128, 64, 8, 3), (64, 64, 4, 3)]
LARGE = [(64, 64, 4, 2), (128, 64, 8, 2), (64, 32, 4, 3)]


def window_sinks(case, t):
    return _calls(case, t, "window", True, SMALL, G=case.G)


def softcap(case, t):
    return _calls(case, t, "softcap", True, SMALL if case.D <= 128 else LARGE, B=case.B, G=case.G)


def alibi(case, t):
    return _calls(case, t, "alibi", False, SMALL, B=case.B)


def attention_heads(case, t):
    return _calls(case, t, "plain", False, SMALL, L=case.L)


@triton.jit
def _varlen(q, k, v, o, starts, H, scale, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    b, h = tl.program_id(1), tl.program_id(2)
    lo, hi = tl.load(starts + b), tl.load(starts + b + 1)
    first = tl.program_id(0) * BM
    if first >= hi - lo:
        return
    m, d = first + tl.arange(0, BM), tl.arange(0, D)
    qt = tl.load(
        q + (lo + m[:, None]) * H * D + h * D + d[None, :], mask=m[:, None] < hi - lo, other=0.0
    )
    top, den, acc = (
        tl.full((BM,), -3.0e38, tl.float32),
        tl.zeros((BM,), tl.float32),
        tl.zeros((BM, D), tl.float32),
    )
    for at in range(0, tl.minimum(hi - lo, first + BM), BN):
        n = at + tl.arange(0, BN)
        there = n[:, None] < hi - lo
        kt = tl.load(k + (lo + n[:, None]) * H * D + h * D + d[None, :], mask=there, other=0.0)
        s = tl.where(m[:, None] >= n[None, :], tl.dot(qt, kt.T) * scale, -float("inf"))
        t = tl.maximum(top, tl.max(s, 1))
        p, r = tl.exp(s - t[:, None]), tl.exp(top - t)
        den = den * r + tl.sum(p, 1)
        vt = tl.load(v + (lo + n[:, None]) * H * D + h * D + d[None, :], mask=there, other=0.0)
        acc = tl.dot(p.to(qt.dtype), vt, acc * r[:, None])
        top = t
    tl.store(
        o + (lo + m[:, None]) * H * D + h * D + d[None, :],
        (acc / den[:, None]).to(o.dtype.element_ty),
        mask=m[:, None] < hi - lo,
    )


def varlen(case, t):
    def run(BM, BN, warps):
        return lambda: _varlen[(triton.cdiv(t["longest"], BM), case.B, case.H)](
            t["q"],
            t["k"],
            t["v"],
            t["o"],
            t["starts"],
            case.H,
            t["scale"],
            case.D,
            BM,
            BN,
            num_warps=warps,
            num_stages=3,
        )

    return [run(128, 64, 4), run(128, 64, 8), run(64, 64, 4)]


@triton.jit
def _paged(
    q,
    k,
    v,
    table,
    lengths,
    o,
    G,
    C,
    scale,
    D: tl.constexpr,
    R: tl.constexpr,
    RP: tl.constexpr,
    PAGE: tl.constexpr,
):
    b, g = tl.program_id(0), tl.program_id(1)
    r, d, n = tl.arange(0, RP), tl.arange(0, D), tl.arange(0, PAGE)
    at = ((b * G + g) * R + r[:, None]) * D + d[None, :]
    qt = tl.load(q + at, mask=r[:, None] < R, other=0.0)
    length = tl.load(lengths + b)
    top, den, acc = (
        tl.full((RP,), -3.0e38, tl.float32),
        tl.zeros((RP,), tl.float32),
        tl.zeros((RP, D), tl.float32),
    )
    for c in range(0, tl.cdiv(length, PAGE)):
        page = tl.load(table + b * C + c).to(tl.int64)
        place = ((page * PAGE + n[:, None]) * G + g) * D + d[None, :]
        s = tl.where(
            c * PAGE + n[None, :] < length, tl.dot(qt, tl.load(k + place).T) * scale, -float("inf")
        )
        t = tl.maximum(top, tl.max(s, 1))
        p, f = tl.exp(s - t[:, None]), tl.exp(top - t)
        den = den * f + tl.sum(p, 1)
        acc = tl.dot(p.to(qt.dtype), tl.load(v + place), acc * f[:, None])
        top = t
    tl.store(o + at, (acc / den[:, None]).to(o.dtype.element_ty), mask=r[:, None] < R)


def paged_decode(case, t):
    def run(warps, stages):
        return lambda: _paged[(case.B, case.G)](
            t["q"],
            t["k"],
            t["v"],
            t["table"],
            t["lengths"],
            t["o"],
            case.G,
            case.C,
            t["scale"],
            case.D,
            case.R,
            max(16, case.R),
            case.PAGE,
            num_warps=warps,
            num_stages=stages,
        )

    return [run(4, 3), run(2, 4), run(1, 4)]


VERSIONS = {
    f.__name__: f for f in (window_sinks, softcap, alibi, attention_heads, varlen, paged_decode)
}
