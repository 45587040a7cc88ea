"""Products with weights of 4 bits in Triton. Even and odd columns of x meet the low and high
nibbles in two dots.
"""

import triton
import triton.language as tl


@triton.jit
def matmul_w4(
    x,
    w,
    scale,
    zero,
    y,
    M,
    N,
    K,
    G: tl.constexpr,
    BM: tl.constexpr,
    BN: tl.constexpr,
    BK: tl.constexpr,
    SWAP: tl.constexpr,
    GROUP: tl.constexpr,
):
    """y = x · ((w - zero) * scale)ᵀ; BK divides G. With SWAP the weights are the left operand,
    which may stay in registers.
    """
    T: tl.constexpr = y.dtype.element_ty
    num_m = tl.cdiv(M, BM)
    num_n = tl.cdiv(N, BN)
    tile = tl.program_id(0)
    band = tile // (GROUP * num_m)
    width = min(num_n - band * GROUP, GROUP)
    j = band * GROUP + tile % (GROUP * num_m) % width
    i = tile % (GROUP * num_m) // width
    m = i * BM + tl.arange(0, BM)
    n = j * BN + tl.arange(0, BN)
    half = tl.arange(0, BK // 2)
    from_x = x + m[:, None] * K + 2 * half[None, :]
    from_w = w + n[:, None].to(tl.int64) * (K // 2) + half[None, :]
    if SWAP:
        acc = tl.zeros((BN, BM), dtype=tl.float32)
    else:
        acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K // BK):
        g = k * BK // G
        s = tl.load(scale + n * (K // G) + g)[:, None]
        z = tl.load(zero + n * (K // G) + g)[:, None]
        packed = tl.load(from_w)
        low = ((packed & 15).to(T) - z) * s
        high = ((packed >> 4).to(T) - z) * s
        even = tl.load(from_x, mask=(m < M)[:, None], other=0.0)
        odd = tl.load(from_x + 1, mask=(m < M)[:, None], other=0.0)
        if SWAP:
            acc = tl.dot(low, even.T, acc)
            acc = tl.dot(high, odd.T, acc)
        else:
            acc = tl.dot(even, low.T, acc)
            acc = tl.dot(odd, high.T, acc)
        from_x += BK
        from_w += BK // 2
    if SWAP:
        tl.store(y + m[None, :] * N + n[:, None], acc.to(T), mask=(m < M)[None, :])
    else:
        tl.store(y + m[:, None] * N + n[None, :], acc.to(T), mask=(m < M)[:, None])


@triton.jit
def matmul_w4_joined(
    x,
    w,
    scale,
    zero,
    y,
    M,
    N,
    K,
    G: tl.constexpr,
    BM: tl.constexpr,
    BN: tl.constexpr,
    BK: tl.constexpr,
    SWAP: tl.constexpr,
    GROUP: tl.constexpr,
):
    """The same with the nibbles interleaved in registers and one dot; x comes through
    descriptor-like whole rows.
    """
    T: tl.constexpr = y.dtype.element_ty
    num_m = tl.cdiv(M, BM)
    tile = tl.program_id(0)
    i = tile % num_m
    j = tile // num_m
    m = i * BM + tl.arange(0, BM)
    n = j * BN + tl.arange(0, BN)
    half = tl.arange(0, BK // 2)
    from_x = x + m[:, None] * K + tl.arange(0, BK)[None, :]
    from_w = w + n[:, None].to(tl.int64) * (K // 2) + half[None, :]
    acc = tl.zeros((BN, BM) if SWAP else (BM, BN), dtype=tl.float32)
    for k in range(0, K // BK):
        g = k * BK // G
        s = tl.load(scale + n * (K // G) + g)[:, None]
        z = tl.load(zero + n * (K // G) + g)[:, None]
        packed = tl.load(from_w)
        weights = tl.reshape(tl.join((packed & 15).to(T), (packed >> 4).to(T)), (BN, BK))
        weights = (weights - z) * s
        rows = tl.load(from_x, mask=(m < M)[:, None], other=0.0)
        if SWAP:
            acc = tl.dot(weights, rows.T, acc)
        else:
            acc = tl.dot(rows, weights.T, acc)
        from_x += BK
        from_w += BK // 2
    if SWAP:
        tl.store(y + m[None, :] * N + n[:, None], acc.to(T), mask=(m < M)[None, :])
    else:
        tl.store(y + m[:, None] * N + n[None, :], acc.to(T), mask=(m < M)[:, None])


@triton.jit
def vector_w4(
    x,
    w,
    scale,
    zero,
    y,
    N,
    K,
    G: tl.constexpr,
    BN: tl.constexpr,
    BK: tl.constexpr,
    STAGES: tl.constexpr,
):
    """One row of x: no tensor core, sums across threads at the end alone. G divides BK."""
    n = tl.program_id(0) * BN + tl.arange(0, BN)
    half = tl.arange(0, BK // 2)
    groups = tl.arange(0, BK // G)
    acc = tl.zeros((BN, BK // G, G // 2), dtype=tl.float32)
    for k in tl.range(0, K // BK, num_stages=STAGES):
        packed = tl.load(
            w + n[:, None].to(tl.int64) * (K // 2) + k * (BK // 2) + half[None, :],
            eviction_policy="evict_first",
        )
        at = n[:, None] * (K // G) + k * (BK // G) + groups[None, :]
        s = tl.load(scale + at).to(tl.float32)[:, :, None]
        z = tl.load(zero + at).to(tl.float32)[:, :, None]
        even = tl.load(x + k * BK + 2 * half).to(tl.float32)[None, :]
        odd = tl.load(x + k * BK + 2 * half + 1).to(tl.float32)[None, :]
        low = tl.reshape(
            (packed & 15).to(tl.float32) * even + (packed >> 4).to(tl.float32) * odd,
            (BN, BK // G, G // 2),
        )
        both = tl.reshape(tl.broadcast_to(even + odd, (BN, BK // 2)), (BN, BK // G, G // 2))
        acc += (low - z * both) * s
    tl.store(y + n, tl.sum(tl.sum(acc, axis=2), axis=1).to(y.dtype.element_ty))
