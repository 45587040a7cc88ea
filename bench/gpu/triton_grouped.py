"""Grouped matrix product in Triton: persistent, the tiles of all experts in one queue, operands by
TMA.
"""

import triton
import triton.language as tl


@triton.jit
def grouped_tma(
    a,
    b,
    c,
    to,
    offset,
    E,
    N,
    K,
    EXPERTS: tl.constexpr,
    BM: tl.constexpr,
    BN: tl.constexpr,
    BK: tl.constexpr,
    PROGRAMS: tl.constexpr,
    ROWS_FIRST: tl.constexpr,
):
    """Rows offset[e] .. offset[e + 1] of A times B[e]; B is seen as [E * K, N], `to` is C's
    memory.
    """
    experts = tl.arange(0, EXPERTS)
    begins = tl.load(offset + experts, mask=experts < E, other=0)
    ends = tl.load(offset + experts + 1, mask=experts < E, other=0)
    tiles = (ends - begins + BM - 1) // BM
    last = tl.cumsum(tiles, 0)
    columns = tl.cdiv(N, BN)
    rows = tl.sum(tiles, 0)
    for tile in tl.range(tl.program_id(0), rows * columns, PROGRAMS):
        if ROWS_FIRST:
            # Expert by expert; inside of one, the tiles of a column are neighbours and share B.
            e = tl.sum((last * columns <= tile).to(tl.int32), 0)
            mine = tl.sum(tl.where(experts == e, tiles, 0), 0)
            before = tl.sum(tl.where(experts == e, last - tiles, 0), 0)
            inside = tile - before * columns
            i = inside % mine
            j = inside // mine
        else:
            e = tl.sum((last <= tile // columns).to(tl.int32), 0)
            i = tile // columns - tl.sum(tl.where(experts == e, last - tiles, 0), 0)
            j = tile % columns
        row = tl.sum(tl.where(experts == e, begins, 0), 0) + i * BM
        end = tl.sum(tl.where(experts == e, ends, 0), 0)
        acc = tl.zeros((BM, BN), dtype=tl.float32)
        for k in range(0, tl.cdiv(K, BK)):
            acc = tl.dot(a.load([row, k * BK]), b.load([e * K + k * BK, j * BN]), acc)
        if row + BM <= end:
            c.store([row, j * BN], acc.to(to.dtype.element_ty))
        else:
            at = row + tl.arange(0, BM)
            n = j * BN + tl.arange(0, BN)
            tl.store(
                to + at[:, None].to(tl.int64) * N + n[None, :],
                acc.to(to.dtype.element_ty),
                mask=(at < end)[:, None] & (n < N)[None, :],
            )
