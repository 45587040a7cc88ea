"""Matrix products in Triton: tiles by pointers, and persistent with TMA descriptors."""

import triton
import triton.language as tl


@triton.jit
def place(tile, num_m, num_n, GROUP: tl.constexpr):
    """Row and column of a tile when bands of GROUP rows are walked one after the other."""
    band = tile // (GROUP * num_n)
    first = band * GROUP
    height = min(num_m - first, GROUP)
    inside = tile % (GROUP * num_n)
    return first + inside % height, inside // height


@triton.jit
def activate(x, ACT: tl.constexpr):
    if ACT == "gelu":
        x = 0.5 * x * (1.0 + tl.erf(x * 0.7071067811865476))
    return x


@triton.jit
def matmul_pointers(
    a,
    b,
    c,
    bias,
    M,
    N,
    K,
    b_k,
    b_n,
    BM: tl.constexpr,
    BN: tl.constexpr,
    BK: tl.constexpr,
    GROUP: tl.constexpr,
    ACT: tl.constexpr,
    BIAS: tl.constexpr,
    ACC: tl.constexpr,
):
    """C = act(A · B + bias); K is a multiple of BK."""
    i, j = place(tl.program_id(0), tl.cdiv(M, BM), tl.cdiv(N, BN), GROUP)
    rows = i * BM + tl.arange(0, BM)
    columns = j * BN + tl.arange(0, BN)
    depth = tl.arange(0, BK)
    # Rows past the end wrap around, so that the loop needs no mask; they are not stored.
    from_a = a + (rows % M)[:, None].to(tl.int64) * K + depth[None, :]
    from_b = b + depth[:, None] * b_k + (columns % N)[None, :].to(tl.int64) * b_n
    acc = tl.zeros((BM, BN), dtype=ACC)
    for _ in range(0, tl.cdiv(K, BK)):
        acc = tl.dot(tl.load(from_a), tl.load(from_b), acc, out_dtype=ACC)
        from_a += BK
        from_b += BK * b_k
    if BIAS:
        acc += tl.load(bias + columns, mask=columns < N, other=0.0).to(ACC)[None, :]
    acc = activate(acc, ACT)
    to = c + rows[:, None].to(tl.int64) * N + columns[None, :]
    tl.store(to, acc.to(c.dtype.element_ty), mask=(rows < M)[:, None] & (columns < N)[None, :])


@triton.jit
def matmul_tma(
    a,
    b,
    c,
    to,
    bias,
    M,
    N,
    K,
    BM: tl.constexpr,
    BN: tl.constexpr,
    BK: tl.constexpr,
    GROUP: tl.constexpr,
    PROGRAMS: tl.constexpr,
    TRANSPOSED: tl.constexpr,
    HALVES: tl.constexpr,
    WS: tl.constexpr,
    ACT: tl.constexpr,
    BIAS: tl.constexpr,
    ACC: tl.constexpr,
    OUT: tl.constexpr,
):
    """The same by TMA in a persistent loop over tiles; B is [N, K] where TRANSPOSED, `to` is C's
    memory.
    """
    num_m = tl.cdiv(M, BM)
    num_n = tl.cdiv(N, BN)
    for tile in tl.range(
        tl.program_id(0), num_m * num_n, PROGRAMS, flatten=not WS, warp_specialize=WS
    ):
        i, j = place(tile, num_m, num_n, GROUP)
        acc = tl.zeros((BM, BN), dtype=ACC)
        for k in range(0, tl.cdiv(K, BK)):
            x = a.load([i * BM, k * BK])
            if TRANSPOSED:
                y = b.load([j * BN, k * BK]).T
            else:
                y = b.load([k * BK, j * BN])
            acc = tl.dot(x, y, acc, out_dtype=ACC)
        if BIAS:
            columns = j * BN + tl.arange(0, BN)
            acc += tl.load(bias + columns, mask=columns < N, other=0.0).to(ACC)[None, :]
        acc = activate(acc, ACT)
        if WS:
            # Triton splits the rows among consumers, but not the box of a descriptor: stores go by
            # pointers.
            rows = i * BM + tl.arange(0, BM)
            at = j * BN + tl.arange(0, BN)
            tl.store(
                to + rows[:, None].to(tl.int64) * N + at[None, :],
                acc.to(OUT),
                mask=(rows < M)[:, None] & (at < N)[None, :],
            )
        elif HALVES:
            # Two stores of half the width need half the shared memory.
            left, right = tl.split(tl.permute(tl.reshape(acc, (BM, 2, BN // 2)), (0, 2, 1)))
            c.store([i * BM, j * BN], left.to(OUT))
            c.store([i * BM, j * BN + BN // 2], right.to(OUT))
        else:
            c.store([i * BM, j * BN], acc.to(OUT))
