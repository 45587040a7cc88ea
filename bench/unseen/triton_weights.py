"""Products with packed weights and scaled 8-bit floats in Triton."""

import triton
import triton.language as tl


@triton.jit
def _awq(
    a,
    q,
    zeros,
    scales,
    c,
    M,
    K,
    N,
    G: tl.constexpr,
    BM: tl.constexpr,
    BN: tl.constexpr,
    BK: tl.constexpr,
):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    shifts = (n % 8 // 2 + n % 2 * 4) * 4  # the places of the columns in a word
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        ks = k + tl.arange(0, BK)
        inside = (ks[:, None] < K) & (n[None, :] < N)
        words = tl.load(q + ks[:, None] * (N // 8) + n[None, :] // 8, mask=inside, other=0)
        zero = tl.load(zeros + k // G * (N // 8) + n // 8, mask=n < N, other=0)
        scale = tl.load(scales + k // G * N + n, mask=n < N, other=0.0)
        codes = (words >> shifts[None, :]) & 15
        w = (codes.to(tl.float16) - ((zero >> shifts) & 15).to(tl.float16)[None, :]) * scale[
            None, :
        ]
        at = tl.load(
            a + m[:, None] * K + ks[None, :], mask=(m[:, None] < M) & (ks[None, :] < K), other=0.0
        )
        acc = tl.dot(at, w, acc)
    tl.store(
        c + m[:, None] * N + n[None, :],
        acc.to(tl.float16),
        mask=(m[:, None] < M) & (n[None, :] < N),
    )


@triton.jit
def _gptq(
    a,
    q,
    zeros,
    scales,
    c,
    M,
    K,
    N,
    G: tl.constexpr,
    BM: tl.constexpr,
    BN: tl.constexpr,
    BK: tl.constexpr,
):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        ks = k + tl.arange(0, BK)
        inside = (ks[:, None] < K) & (n[None, :] < N)
        words = tl.load(q + ks[:, None] // 8 * N + n[None, :], mask=inside, other=0)
        zero = tl.load(zeros + k // G * (N // 8) + n // 8, mask=n < N, other=0)
        scale = tl.load(scales + k // G * N + n, mask=n < N, other=0.0)
        codes = (words >> (ks % 8 * 4)[:, None]) & 15
        z = ((zero >> (n % 8 * 4)) & 15) + 1
        w = (codes.to(tl.int32) - z.to(tl.int32)[None, :]).to(tl.float32) * scale[None, :].to(
            tl.float32
        )
        at = tl.load(
            a + m[:, None] * K + ks[None, :], mask=(m[:, None] < M) & (ks[None, :] < K), other=0.0
        )
        acc = tl.dot(at, w.to(at.dtype), acc)
    tl.store(
        c + m[:, None] * N + n[None, :],
        acc.to(c.dtype.element_ty),
        mask=(m[:, None] < M) & (n[None, :] < N),
    )


@triton.jit
def _mxfp4(a, q, e, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        ks, ps = k + tl.arange(0, BK), k // 2 + tl.arange(0, BK // 2)
        rows = n[:, None] < N
        packed = tl.load(
            q + n[:, None] * (K // 2) + ps[None, :], mask=rows & (ps[None, :] < K // 2), other=0
        )
        code = tl.interleave(packed & 15, packed >> 4).to(tl.int32)
        # 1, 2 and 3 bits of e2m1: the exponent of f32 from 1 on, a half below.
        high, low = (code >> 1) & 3, code & 1
        bits = tl.where(high > 0, ((high + 126) << 23) | (low << 22), low * 0x3F000000) | (
            (code >> 3) << 31
        )
        scale = tl.load(
            e + n[:, None] * (K // 32) + (ks // 32)[None, :], mask=rows & (ks[None, :] < K), other=0
        )
        w = bits.to(tl.float32, bitcast=True) * (scale.to(tl.int32) << 23).to(
            tl.float32, bitcast=True
        )
        at = tl.load(
            a + m[:, None] * K + ks[None, :], mask=(m[:, None] < M) & (ks[None, :] < K), other=0.0
        )
        acc = tl.dot(at, w.to(at.dtype).T, acc)
    tl.store(
        c + m[:, None] * N + n[None, :],
        acc.to(c.dtype.element_ty),
        mask=(m[:, None] < M) & (n[None, :] < N),
    )


@triton.jit
def _f8_blocks(a, sa, b, sb, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    blocks = tl.cdiv(K, 128)
    acc = tl.zeros((BM, BN), tl.float32)
    for g in range(0, blocks):
        ks = g * 128 + tl.arange(0, 128)
        at = tl.load(
            a + m[:, None] * K + ks[None, :], mask=(m[:, None] < M) & (ks[None, :] < K), other=0.0
        )
        bt = tl.load(
            b + n[:, None] * K + ks[None, :], mask=(n[:, None] < N) & (ks[None, :] < K), other=0.0
        )
        scale = tl.load(sa + m * blocks + g, mask=m < M, other=0.0) * tl.load(
            sb + tl.program_id(1) * BN // 128 * blocks + g
        )
        acc += tl.dot(at, bt.T) * scale[:, None]
    tl.store(
        c + m[:, None] * N + n[None, :],
        acc.to(c.dtype.element_ty),
        mask=(m[:, None] < M) & (n[None, :] < N),
    )


def _grid(case, BM, BN):
    return triton.cdiv(case.M, BM), triton.cdiv(case.N, BN)


def _packed(kernel, zeros):
    def calls(case, t):
        import torch

        words = [t[name].view(torch.int32) for name in ("q", zeros)]

        def run(BM, BN, BK, warps, stages):
            return lambda: kernel[_grid(case, BM, BN)](
                t["a"],
                *words,
                t["scales"],
                t["c"],
                case.M,
                case.K,
                case.N,
                case.GROUP,
                BM,
                BN,
                BK,
                num_warps=warps,
                num_stages=stages,
            )

        small = max(16, min(64, triton.next_power_of_2(case.M)))
        return [run(small, 64, 64, 4, 3), run(small, 128, 64, 4, 3), run(128, 128, 32, 8, 3)]

    return calls


def mxfp4(case, t):
    def run(BM, BN, BK, warps, stages):
        return lambda: _mxfp4[_grid(case, BM, BN)](
            t["a"],
            t["q"],
            t["e"],
            t["c"],
            case.M,
            case.N,
            case.K,
            BM,
            BN,
            BK,
            num_warps=warps,
            num_stages=stages,
        )

    small = max(16, min(64, triton.next_power_of_2(case.M)))
    return [run(small, 64, 64, 4, 3), run(small, 128, 64, 4, 3), run(128, 128, 64, 8, 3)]


def f8_blocks(case, t):
    def run(BM, BN, warps, stages):
        return lambda: _f8_blocks[_grid(case, BM, BN)](
            t["a"],
            t["sa"],
            t["b"],
            t["sb"],
            t["c"],
            case.M,
            case.N,
            case.K,
            BM,
            BN,
            num_warps=warps,
            num_stages=stages,
        )

    return [run(128, 128, 8, 3), run(64, 128, 4, 4), run(128, 128, 4, 3)]


VERSIONS = {
    "awq": _packed(_awq, "zeros_"),
    "gptq": _packed(_gptq, "zeros_"),
    "mxfp4": mxfp4,
    "f8_blocks": f8_blocks,
}
