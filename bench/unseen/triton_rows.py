"""Kernels that memory bounds, and recurrences, in Triton."""

import triton
import triton.language as tl


@triton.jit
def _join(n1, u1, s1, n2, u2, s2):
    n = n1 + n2
    share = tl.where(n > 0.0, n2 / tl.maximum(n, 1.0), 0.0)
    d = u2 - u1
    return n, u1 + d * share, s1 + s2 + d * d * n1 * share


@triton.jit
def _welford(x, mean, var, N, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    count, mu, m2 = 0.0, 0.0, 0.0
    for n in range(0, N, BLOCK):
        at = n + tl.arange(0, BLOCK)
        v = tl.load(x + row * N + at, mask=at < N, other=0.0).to(tl.float32)
        ones = tl.where(at < N, 1.0, 0.0)
        c, u, s = tl.reduce((ones, v, tl.zeros_like(v)), 0, _join)
        count, mu, m2 = _join(count, mu, m2, c, u, s)
    tl.store(mean + row, mu)
    tl.store(var + row, m2 / count)


def welford(case, t):
    def run(block, warps):
        return lambda: _welford[(case.M,)](
            t["x"], t["mean_"], t["var_"], case.N, block, num_warps=warps
        )

    return [run(1024, 4), run(2048, 8), run(4096, 8)]


@triton.jit
def _group_norm(x, weight, bias, y, L, G, eps, C: tl.constexpr, W: tl.constexpr, BL: tl.constexpr):
    g, c = tl.program_id(1), tl.arange(0, W)
    base = tl.program_id(0).to(tl.int64) * L * G * C + g * C
    total, squares = tl.zeros((BL, W), tl.float32), tl.zeros((BL, W), tl.float32)
    for i in range(0, L, BL):
        at = i + tl.arange(0, BL)
        v = tl.load(
            x + base + at[:, None] * G * C + c[None, :],
            mask=(at[:, None] < L) & (c[None, :] < C),
            other=0.0,
        ).to(tl.float32)
        total += v
        squares += v * v
    mean = tl.sum(tl.sum(total, 1), 0) / (L * C)
    scale = tl.rsqrt(tl.sum(tl.sum(squares, 1), 0) / (L * C) - mean * mean + eps)
    w = tl.load(weight + g * C + c, mask=c < C, other=0.0)
    b = tl.load(bias + g * C + c, mask=c < C, other=0.0)
    for i in range(0, L, BL):
        at = i + tl.arange(0, BL)
        mask = (at[:, None] < L) & (c[None, :] < C)
        v = tl.load(x + base + at[:, None] * G * C + c[None, :], mask=mask, other=0.0).to(
            tl.float32
        )
        h = (v - mean) * scale * w[None, :] + b[None, :]
        tl.store(
            y + base + at[:, None] * G * C + c[None, :],
            (h * tl.sigmoid(h)).to(y.dtype.element_ty),
            mask=mask,
        )


def group_norm_silu(case, t):
    def run(rows, warps):
        return lambda: _group_norm[(case.B, case.G)](
            t["x"],
            t["weight"],
            t["bias"],
            t["y"],
            case.L,
            case.G,
            t["eps"],
            case.C,
            triton.next_power_of_2(case.C),
            rows,
            num_warps=warps,
        )

    return [run(128, 4), run(256, 8), run(512, 8)]


@triton.jit
def _ragged_norm(x, starts, weight, y, D, eps, BN: tl.constexpr, BD: tl.constexpr):
    lo, hi = tl.load(starts + tl.program_id(0)), tl.load(starts + tl.program_id(0) + 1)
    d = tl.program_id(1) * BD + tl.arange(0, BD)
    count = tl.maximum(hi - lo, 1).to(tl.float32)
    total, squares = tl.zeros((BD,), tl.float32), tl.zeros((BD,), tl.float32)
    for n in range(lo, hi, BN):
        at = n + tl.arange(0, BN)
        total += tl.sum(
            tl.load(
                x + at[:, None] * D + d[None, :],
                mask=(at[:, None] < hi) & (d[None, :] < D),
                other=0.0,
            ).to(tl.float32),
            0,
        )
    mean = total / count
    for n in range(lo, hi, BN):
        at = n + tl.arange(0, BN)
        mask = (at[:, None] < hi) & (d[None, :] < D)
        v = tl.load(x + at[:, None] * D + d[None, :], mask=mask, other=0.0).to(tl.float32)
        v = tl.where(mask, v - mean[None, :], 0.0)
        squares += tl.sum(v * v, 0)
    scale = tl.rsqrt(squares / count + eps) * tl.load(weight + d, mask=d < D, other=0.0)
    for n in range(lo, hi, BN):
        at = n + tl.arange(0, BN)
        mask = (at[:, None] < hi) & (d[None, :] < D)
        v = tl.load(x + at[:, None] * D + d[None, :], mask=mask, other=0.0).to(tl.float32)
        tl.store(
            y + at[:, None] * D + d[None, :],
            ((v - mean[None, :]) * scale[None, :]).to(y.dtype.element_ty),
            mask=mask,
        )


def ragged_norm(case, t):
    def run(rows, columns, warps):
        return lambda: _ragged_norm[(case.P, triton.cdiv(case.D, columns))](
            t["x"],
            t["starts"],
            t["weight"],
            t["y"],
            case.D,
            t["eps"],
            rows,
            columns,
            num_warps=warps,
        )

    return [run(64, 64, 4), run(128, 64, 8), run(64, 32, 4)]


@triton.jit
def _depthwise(x, k, bias, y, H, W, C, BW: tl.constexpr, BC: tl.constexpr):
    b, h = (tl.program_id(0) // H).to(tl.int64), tl.program_id(0) % H
    w, c = tl.program_id(1) * BW + tl.arange(0, BW), tl.program_id(2) * BC + tl.arange(0, BC)
    acc = (
        tl.zeros((BW, BC), tl.float32)
        + tl.load(bias + c, mask=c < C, other=0.0).to(tl.float32)[None, :]
    )
    for u in tl.static_range(3):
        for v in tl.static_range(3):
            row, columns = h + u - 1, w + v - 1
            inside = (
                (row >= 0)
                & (row < H)
                & (columns[:, None] >= 0)
                & (columns[:, None] < W)
                & (c[None, :] < C)
            )
            t = tl.load(
                x + ((b * H + row) * W + columns[:, None]) * C + c[None, :], mask=inside, other=0.0
            ).to(tl.float32)
            acc += (
                t * tl.load(k + (u * 3 + v) * C + c, mask=c < C, other=0.0).to(tl.float32)[None, :]
            )
    tl.store(
        y + ((b * H + h) * W + w[:, None]) * C + c[None, :],
        acc.to(y.dtype.element_ty),
        mask=(w[:, None] < W) & (c[None, :] < C),
    )


def conv_depthwise(case, t):
    def run(columns, channels, warps):
        return lambda: _depthwise[
            (case.B * case.H, triton.cdiv(case.W, columns), triton.cdiv(case.C, channels))
        ](
            t["x"],
            t["k"],
            t["bias"],
            t["y"],
            case.H,
            case.W,
            case.C,
            columns,
            channels,
            num_warps=warps,
        )

    return [run(8, 64, 4), run(16, 128, 4), run(16, 64, 4)]


@triton.jit
def _stencil(u, v, Z, Y, X, rate, BY: tl.constexpr, BX: tl.constexpr):
    z, y, x = (
        tl.program_id(2),
        tl.program_id(1) * BY + tl.arange(0, BY)[:, None],
        tl.program_id(0) * BX + tl.arange(0, BX)[None, :],
    )
    here = u + (z.to(tl.int64) * Y + y) * X + x
    inside = (y < Y) & (x < X)
    c = tl.load(here, mask=inside, other=0.0)
    around = tl.load(here - Y * X, mask=inside & (z > 0), other=0.0) + tl.load(
        here + Y * X, mask=inside & (z < Z - 1), other=0.0
    )
    around += tl.load(here - X, mask=inside & (y > 0), other=0.0) + tl.load(
        here + X, mask=inside & (y < Y - 1), other=0.0
    )
    around += tl.load(here - 1, mask=inside & (x > 0), other=0.0) + tl.load(
        here + 1, mask=inside & (x < X - 1), other=0.0
    )
    tl.store(v + (z.to(tl.int64) * Y + y) * X + x, c + rate * (around - 6.0 * c), mask=inside)


def stencil(case, t):
    def run(rows, columns, warps):
        return lambda: _stencil[(triton.cdiv(case.X, columns), triton.cdiv(case.Y, rows), case.Z)](
            t["u"], t["v"], case.Z, case.Y, case.X, t["rate"], rows, columns, num_warps=warps
        )

    return [run(4, 128, 4), run(8, 128, 4), run(4, 256, 4)]


@triton.jit
def _swiglu_quant(x, q, scale, M, G, BM: tl.constexpr):
    m, g, c = tl.program_id(0) * BM + tl.arange(0, BM), tl.program_id(1), tl.arange(0, 128)
    at = x + m[:, None].to(tl.int64) * 2 * G * 128 + g * 128 + c[None, :]
    rows = m[:, None] < M
    gate, value = (
        tl.load(at, mask=rows, other=0.0).to(tl.float32),
        tl.load(at + G * 128, mask=rows, other=0.0).to(tl.float32),
    )
    h = gate * tl.sigmoid(gate) * value
    top = tl.max(tl.abs(h), 1)
    s = tl.where(top > 0.0, top / 448.0, 1.0)
    tl.store(
        q + (m[:, None].to(tl.int64) * G + g) * 128 + c[None, :],
        (h / s[:, None]).to(tl.float8e4nv),
        mask=rows,
    )
    tl.store(scale + m * G + g, s, mask=m < M)


def swiglu_quant(case, t):
    def run(rows, warps):
        return lambda: _swiglu_quant[(triton.cdiv(case.M, rows), case.G)](
            t["x"], t["q"], t["scale"], case.M, case.G, rows, num_warps=warps
        )

    return [run(4, 1), run(8, 2), run(16, 4)]


@triton.jit
def _norm_rope(x, weight, angle, y, H, eps, D: tl.constexpr, BM: tl.constexpr):
    s, h, c = (
        tl.program_id(0).to(tl.int64),
        tl.program_id(1) * BM + tl.arange(0, BM),
        tl.arange(0, D // 2),
    )
    at = (s * H + h[:, None]) * D + c[None, :]
    rows = h[:, None] < H
    a, b = (
        tl.load(x + at, mask=rows, other=0.0).to(tl.float32),
        tl.load(x + at + D // 2, mask=rows, other=0.0).to(tl.float32),
    )
    r = tl.rsqrt((tl.sum(a * a, 1) + tl.sum(b * b, 1)) / D + eps)[:, None]
    a = a * r * tl.load(weight + c).to(tl.float32)[None, :]
    b = b * r * tl.load(weight + D // 2 + c).to(tl.float32)[None, :]
    phi = tl.load(angle + s * (D // 2) + c)
    p, q = tl.cos(phi)[None, :], tl.sin(phi)[None, :]
    tl.store(y + at, (a * p - b * q).to(y.dtype.element_ty), mask=rows)
    tl.store(y + at + D // 2, (b * p + a * q).to(y.dtype.element_ty), mask=rows)


def norm_rope(case, t):
    def run(rows, warps):
        return lambda: _norm_rope[(case.S, triton.cdiv(case.H, rows))](
            t["x"], t["weight"], t["angle"], t["y"], case.H, t["eps"], case.D, rows, num_warps=warps
        )

    return [run(8, 2), run(32, 4), run(4, 1)]


@triton.jit
def _rwkv(r, k, v, w, u, y, L, H, D: tl.constexpr):
    b, h, d = tl.program_id(0), tl.program_id(1), tl.arange(0, D)
    bonus = tl.load(u + h * D + d)[:, None]
    s = tl.zeros((D, D), tl.float32)
    for t in range(0, L):
        at = ((b * L + t).to(tl.int64) * H + h) * D + d
        kv = tl.load(k + at).to(tl.float32)[:, None] * tl.load(v + at).to(tl.float32)[None, :]
        rt = tl.load(r + at).to(tl.float32)[:, None]
        tl.store(y + at, tl.sum(rt * (s + bonus * kv), 0).to(y.dtype.element_ty))
        s = tl.load(w + at)[:, None] * s + kv


def rwkv(case, t):
    def run(warps):
        return lambda: _rwkv[(case.B, case.H)](
            *(t[name] for name in "rkvwuy"), case.L, case.H, case.D, num_warps=warps
        )

    return [run(4), run(8), run(2)]


@triton.jit
def _gated_delta(q, k, v, a, b, y, L, H, D: tl.constexpr, BV: tl.constexpr):
    n, h, d, c = (
        tl.program_id(0),
        tl.program_id(1),
        tl.arange(0, D),
        tl.program_id(2) * BV + tl.arange(0, BV),
    )
    s = tl.zeros((D, BV), tl.float32)
    for t in range(0, L):
        at = (n * L + t).to(tl.int64) * H + h
        kt = tl.load(k + at * D + d).to(tl.float32)[:, None]
        s = s * tl.load(a + at)
        change = (tl.load(v + at * D + c).to(tl.float32) - tl.sum(kt * s, 0)) * tl.load(b + at)
        s += kt * change[None, :]
        qt = tl.load(q + at * D + d).to(tl.float32)[:, None]
        tl.store(y + at * D + c, tl.sum(qt * s, 0).to(y.dtype.element_ty))


def gated_delta(case, t):
    def run(columns, warps):
        return lambda: _gated_delta[(case.B, case.H, case.D // columns)](
            *(t[name] for name in "qkvaby"), case.L, case.H, case.D, columns, num_warps=warps
        )

    return [run(32, 4), run(16, 1), run(32, 1)]


@triton.jit
def _cdist(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr):
    m, n = tl.program_id(0) * BM + tl.arange(0, BM), tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K):
        x = tl.load(a + m * K + k, mask=m < M, other=0.0).to(tl.float32)
        y = tl.load(b + n * K + k, mask=n < N, other=0.0).to(tl.float32)
        acc += tl.abs(x[:, None] - y[None, :])
    tl.store(c + m[:, None] * N + n[None, :], acc, mask=(m[:, None] < M) & (n[None, :] < N))


def cdist(case, t):
    def run(BM, BN, warps):
        return lambda: _cdist[(triton.cdiv(case.M, BM), triton.cdiv(case.N, BN))](
            t["a"], t["b"], t["c"], case.M, case.N, case.K, BM, BN, num_warps=warps
        )

    return [run(32, 32, 4), run(64, 64, 4), run(64, 64, 8)]


VERSIONS = {
    f.__name__: f
    for f in (
        welford,
        group_norm_silu,
        ragged_norm,
        conv_depthwise,
        stencil,
        swiglu_quant,
        norm_rope,
        rwkv,
        gated_delta,
        cdist,
    )
}
