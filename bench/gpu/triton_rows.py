"""Element-wise and row-wise kernels in Triton."""

import triton
import triton.language as tl


@triton.jit
def add(x, y, z, size, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = at < size
    tl.store(z + at, tl.load(x + at, mask=mask) + tl.load(y + at, mask=mask), mask=mask)


@triton.jit
def copy(x, y, size, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + at, tl.load(x + at, mask=at < size), mask=at < size)


@triton.jit
def _tile(row, M, N, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    """Positions and mask of ROWS whole rows."""
    rows = row * ROWS + tl.arange(0, ROWS)
    columns = tl.arange(0, BLOCK)
    return (
        rows,
        columns,
        rows[:, None].to(tl.int64) * N + columns[None, :],
        (rows < M)[:, None] & (columns < N)[None, :],
    )


@triton.jit
def softmax(x, y, M, N, ROWS: tl.constexpr, BLOCK: tl.constexpr, LOOPS: tl.constexpr):
    """Rows that fit into registers; a program takes every n-th group of rows, LOOPS stages
    ahead.
    """
    for row in tl.range(tl.program_id(0), tl.cdiv(M, ROWS), tl.num_programs(0), num_stages=LOOPS):
        rows, columns, at, mask = _tile(row, M, N, ROWS, BLOCK)
        v = tl.load(x + at, mask=mask, other=-float("inf")).to(tl.float32)
        e = tl.exp(v - tl.max(v, axis=1)[:, None])
        tl.store(y + at, (e / tl.sum(e, axis=1)[:, None]).to(y.dtype.element_ty), mask=mask)


@triton.jit
def layer_norm(
    x, w, b, y, mean, rstd, M, N, eps, ROWS: tl.constexpr, BLOCK: tl.constexpr, LOOPS: tl.constexpr
):
    for row in tl.range(tl.program_id(0), tl.cdiv(M, ROWS), tl.num_programs(0), num_stages=LOOPS):
        rows, columns, at, mask = _tile(row, M, N, ROWS, BLOCK)
        v = tl.load(x + at, mask=mask, other=0.0).to(tl.float32)
        mu = tl.sum(v, axis=1) / N
        d = tl.where(mask, v - mu[:, None], 0.0)
        r = tl.rsqrt(tl.sum(d * d, axis=1) / N + eps)
        weight = tl.load(w + columns, mask=columns < N, other=0.0).to(tl.float32)
        shift = tl.load(b + columns, mask=columns < N, other=0.0).to(tl.float32)
        tl.store(
            y + at,
            (d * r[:, None] * weight[None, :] + shift[None, :]).to(y.dtype.element_ty),
            mask=mask,
        )
        tl.store(mean + rows, mu, mask=rows < M)
        tl.store(rstd + rows, r, mask=rows < M)


@triton.jit
def rms_norm(x, w, y, M, N, eps, ROWS: tl.constexpr, BLOCK: tl.constexpr, LOOPS: tl.constexpr):
    for row in tl.range(tl.program_id(0), tl.cdiv(M, ROWS), tl.num_programs(0), num_stages=LOOPS):
        rows, columns, at, mask = _tile(row, M, N, ROWS, BLOCK)
        v = tl.load(x + at, mask=mask, other=0.0).to(tl.float32)
        r = tl.rsqrt(tl.sum(v * v, axis=1) / N + eps)
        weight = tl.load(w + columns, mask=columns < N, other=0.0).to(tl.float32)
        tl.store(y + at, (v * r[:, None] * weight[None, :]).to(y.dtype.element_ty), mask=mask)


@triton.jit
def cross_entropy(x, label, loss, lse, V, ignore, BLOCK: tl.constexpr, STAGES: tl.constexpr):
    """One row for each program, the log-sum-exp in one pass."""
    row = tl.program_id(0)
    start = x + row.to(tl.int64) * V
    top = tl.full((BLOCK,), -1.0e30, tl.float32)
    den = tl.zeros((BLOCK,), tl.float32)
    for begin in tl.range(0, V, BLOCK, num_stages=STAGES):
        at = begin + tl.arange(0, BLOCK)
        v = tl.load(start + at, mask=at < V, other=-float("inf"), eviction_policy="evict_first").to(
            tl.float32
        )
        # Each lane has a maximum and a sum of its own: nothing is exchanged inside the loop.
        t = tl.maximum(top, v)
        den = den * tl.exp(top - t) + tl.exp(v - t)
        top = t
    all = tl.max(top, axis=0)
    z = all + tl.log(tl.sum(den * tl.exp(top - all), axis=0))
    y = tl.load(label + row)
    picked = tl.load(start + tl.where(y == ignore, 0, y)).to(tl.float32)
    tl.store(lse + row, z)
    tl.store(loss + row, tl.where(y == ignore, 0.0, z - picked))
