"""Accesses on the CPU path against a model of the dialect's documentation: clipping, ends, steps,
masks, sub-views.
"""

import sys

import numpy as np
from cpu_kernel import Kernels, check
from cpu_kernel_text import kernel, load, store


def positions(start, size, step, extent, end=None):
    """Positions of a range access and which of them exist."""
    at = start + np.arange(size) * step
    return at, (at >= 0) & (at < (extent if end is None else min(extent, end)))


def viewed(name, rank, element, extents, strides):
    unknown = "?x" * rank
    return (
        f"%v{name} = tile.view %{name} [{extents}] strides [{strides}] : !tile.ptr<{element}> ->"
        f" !tile.view<{unknown}{element}>"
    )


text = kernel(
    "strided",
    {"x": "*f32", "y": "*f32", "start": "index", "end": "index"},
    ["M", "N"],
    ("", ""),
    f"""
%pad = arith.constant -7.0 : f32
{viewed("x", 2, "f32", "%M, %N", "%N, %c1")}
{viewed("y", 2, "f32", "%c3, %c4", "%c4, %c1")}
%t = {load("%vx", "%start, %c1", [3, 4], "f32", steps=[2, 3], ends=[True, False], end="%end")}
{store("%t", "%vy", "%c0, %c0", [3, 4], "f32", inside=[True, True])}
""",
)
text += kernel(
    "scattered",
    {"x": "*f32", "y": "*f32", "start": "index", "end": "index"},
    ["M", "N"],
    ("", ""),
    f"""
%pad = arith.constant 0.0 : f32
{viewed("x", 2, "f32", "%c3, %c4", "%c4, %c1")}
{viewed("y", 2, "f32", "%M, %N", "%N, %c1")}
%t = {load("%vx", "%c0, %c0", [3, 4], "f32", inside=[True, True])}
{store("%t", "%vy", "%start, %c1", [3, 4], "f32", steps=[2, 3], ends=[True, False], end="%end")}
""",
)
text += kernel(
    "masked",
    {"x": "*f32", "m": "*i1", "y": "*f32", "z": "*f32", "row": "index"},
    ["M", "N"],
    ("", ""),
    f"""
%pad = arith.constant -1.0 : f32
%false = arith.constant false
{viewed("x", 2, "f32", "%M, %N", "%N, %c1")}
{viewed("m", 1, "i1", "%N", "%c1")}
{viewed("y", 2, "f32", "%M, %N", "%N, %c1")}
{viewed("z", 2, "f32", "%M, %N", "%N, %c1")}
%mask = {load("%vm", "%c0", [8], "i1", pad="%false")}
%t = {load("%vx", "%row, %c0", [-1, 8], "f32", mask="%mask")}
{store("%t", "%vy", "%row, %c0", [-1, 8], "f32")}
{store("%t", "%vz", "%row, %c0", [-1, 8], "f32", mask="%mask")}
%in = tile.inside %vx [%row, %c1] {{
  sizes = array<i64: -1, 8>, steps = array<i64: 1, 2>, has_end = array<i1: false, false>,
  in_bounds = array<i1: false, false>}} : !tile.view<?x?xf32> -> tensor<8xi1>
{store("%in", "%vm", "%c0", [8], "i1")}
""",
)
text += kernel(
    "subviews",
    {"x": "*f32", "y": "*f32", "s": "*index", "b": "index", "lo": "index", "hi": "index"},
    ["A", "B", "C"],
    ("", ""),
    f"""
%pad = arith.constant 9.0 : f32
%bc = arith.muli %B, %C : index
{viewed("x", 3, "f32", "%A, %B, %C", "%bc, %C, %c1")}
%sub = tile.subview %vx indices [%b] lows [%lo] highs [%hi] {{kinds = array<i32: 2, 0, 1>}}
  : !tile.view<?x?x?xf32> -> !tile.view<?x?xf32>
%turned = tile.permute_view %sub {{permutation = array<i64: 1, 0>}}
  : !tile.view<?x?xf32> -> !tile.view<?x?xf32>
%t = {load("%turned", "%c0, %c0", [4, 4], "f32")}
{viewed("y", 2, "f32", "%c4, %c4", "%c4, %c1")}
{store("%t", "%vy", "%c0, %c0", [4, 4], "f32")}
%e0 = tile.extent %turned 0 : !tile.view<?x?xf32>
%e1 = tile.extent %turned 1 : !tile.view<?x?xf32>
{viewed("s", 1, "index", "%c2", "%c1")}
{store("%e0", "%vs", "%c0", [-1], "index")}
{store("%e1", "%vs", "%c1", [-1], "index")}
""",
)
text += kernel(
    "elements",
    {"x": "*f16", "y": "*f16", "at": "index", "keep": "i1"},
    ["N"],
    ("", ""),
    f"""
%pad = arith.constant 5.0 : f16
{viewed("x", 1, "f16", "%N", "%c1")}
{viewed("y", 1, "f16", "%N", "%c1")}
%t = {load("%vx", "%at", [-1], "f16")}
{store("%t", "%vy", "%c0", [-1], "f16")}
{store("%t", "%vy", "%at", [-1], "f16", mask="%keep")}
%row = tile.subview %vx indices [%at] lows [] highs [] {{kinds = array<i32: 0>}}
  : !tile.view<?xf16> -> !tile.view<f16>
%u = {load("%row", "", [], "f16")}
{store("%u", "%vy", "%c1", [-1], "f16")}
""",
)
# With --in what is only read is read where it is, without it is copied: the results are the same.
if "--in" in sys.argv:
    text = text.replace('"x", inout', '"x", in')
# The second load sees the store before it, the first does not, whatever is done with them later.
text += kernel(
    "ordered",
    {"x": "*f32", "y": "*f32"},
    [],
    ("", ""),
    f"""
%pad = arith.constant 0.0 : f32
{viewed("x", 1, "f32", "%c4", "%c1")}
{viewed("y", 1, "f32", "%c4", "%c1")}
%a = {load("%vx", "%c0", [4], "f32", inside=[True])}
%one = arith.constant dense<1.0> : tensor<4xf32>
%more = arith.addf %a, %one : tensor<4xf32>
%z = arith.constant dense<0.0> : tensor<4xf32>
{store("%z", "%vx", "%c0", [4], "f32", inside=[True])}
%b = {load("%vx", "%c0", [4], "f32", inside=[True])}
%sum = arith.addf %a, %b : tensor<4xf32>
{store("%more", "%vx", "%c0", [4], "f32", inside=[True])}
{store("%sum", "%vy", "%c0", [4], "f32", inside=[True])}
""",
)
kernels = Kernels(text)
generator = np.random.default_rng(0)

for m, n in ((6, 11), (1, 1), (3, 5), (0, 4), (7, 0)):
    for start, end in (
        (0, 99),
        (-3, 99),
        (1, 2),
        (2, -5),
        (-1, 3),
        (50, 99),
        (-(2**63), 9),
        (2**63 - 1, 9),
        (1, 2**63 - 1),
    ):
        x = generator.random((m, n), dtype=np.float32)
        rows, rowsExist = (
            positions(start, 3, 2, m, end)
            if abs(start) < 2**40
            else (np.zeros(3, int), np.zeros(3, bool))
        )
        columns, columnsExist = positions(1, 4, 3, n)
        exists = rowsExist[:, None] & columnsExist
        expected = np.full((3, 4), -7, np.float32)
        expected[exists] = (
            x[np.where(rowsExist, rows, 0)[:, None], np.where(columnsExist, columns, 0)][exists]
            if m and n
            else 0
        )
        y = np.zeros((3, 4), np.float32)
        kernels.run("strided", [x, y, start, end, m, n], 1)
        check(f"strided {m}x{n} from {start} to {end}", y, expected)
        tile = generator.random((3, 4), dtype=np.float32)
        target = generator.random((m, n), dtype=np.float32)
        expected = target.copy()
        for i, j in np.argwhere(exists):
            expected[rows[i], columns[j]] = tile[i, j]
        kernels.run("scattered", [tile, target, start, end, m, n], 1)
        check(f"scattered {m}x{n} from {start} to {end}", target, expected)

for m, n, row in ((3, 8, 1), (3, 5, 2), (2, 8, 2), (2, 9, -1), (1, 1, 0)):
    x = generator.random((m, n), dtype=np.float32)
    mask = generator.integers(0, 2, n).astype(bool)
    y, z = np.zeros_like(x), np.full_like(x, -9)
    inside = mask.copy()
    kernels.run("masked", [x, inside, y, z, row, m, n], 1)
    expectedY, expectedZ = np.zeros_like(x), np.full_like(x, -9)
    if 0 <= row < m:
        expectedY[row, :8] = np.where(mask, x[row], -1)[:8]
        expectedZ[row, :8] = np.where(mask, x[row], -9)[:8]
    check(f"masked {m}x{n} row {row}", y, expectedY)
    check(f"masked store {m}x{n} row {row}", z, expectedZ)
    lanes = (1 + np.arange(8) * 2 < n) & (0 <= row < m)
    check(f"inside {m}x{n} row {row}", inside[:8], lanes[: min(n, 8)])

for shape, b, lo, hi in (
    ((5, 3, 4), 1, 1, 4),
    ((5, 3, 2), 2, -4, 99),
    ((5, 3, 2), 3, 0, 2),
    ((2, 1, 7), 0, 2, 1),
    ((2, 2, 2), -1, 0, 2),
):
    x = generator.random(shape, dtype=np.float32)
    y, extents = np.zeros((4, 4), np.float32), np.zeros(2, np.int64)
    kernels.run("subviews", [x, y, extents, b, lo, hi, *shape], 1)
    low = min(max(lo, 0), shape[0])
    part = x[low : max(low, min(hi, shape[0])), b].T if 0 <= b < shape[1] else np.zeros((0, 0))
    check(f"extents {shape} {b} {lo} {hi}", extents, part.shape)
    expected = np.full((4, 4), 9, np.float32)
    expected[: part.shape[0], : part.shape[1]] = part[:4, :4]
    check(f"subview {shape} {b} {lo} {hi}", y, expected)

for n, at, keep in ((4, 2, True), (4, 4, True), (4, -1, True), (4, 3, False)):
    x, y = generator.random(n).astype(np.float16), np.zeros(n, np.float16)
    kernels.run("elements", [x, y, at, np.bool_(keep), n], 1)
    value = x[at] if 0 <= at < n else np.float16(5)
    expected = np.zeros(n, np.float16)
    expected[0] = value
    if keep and 0 <= at < n:
        expected[at] = value
    expected[1] = value
    check(f"elements at {at} of {n}", y, expected)

x, y = np.arange(4, dtype=np.float32), np.zeros(4, np.float32)
kernels.run("ordered", [x, y], 1)
check("ordered", np.concatenate([x, y]), [1, 2, 3, 4, 0, 1, 2, 3])
print("all accesses: ok")
