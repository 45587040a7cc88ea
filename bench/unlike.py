#!/usr/bin/env python3
"""Products of matrices of unlike shapes in one launch beside stacked ones, on this machine's GPU.

examples/grouped_views sees matrices of flat memory by views; examples/grouped_matmul takes a tensor
with a dimension more. Both multiply the same matrices of like shapes, in turns, each result checked
first; then grouped_views multiplies as many terms in matrices of unlike shapes. Tiles of
grouped_views are tried in turn, and the best is taken. Prints a table. Waves are tiles for each
multiprocessor, by the tile that was taken: unlike matrices may have more, as tiles at edges count
as whole ones, and a multiprocessor has as many as the next whole number. TILE_HOME names an
unpacked release or a build folder.
"""

import os
import statistics
import sys

import torch

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "python"))
import tile_compiler as tile  # noqa: E402

TILES = [(64, 64, 32), (64, 256, 64), (128, 128, 64), (128, 192, 64), (128, 256, 64)]
SHAPES = [(8, 1024, 4096, 4096), (64, 128, 4096, 4096), (16, 512, 2048, 2048)]


def measure(calls, rounds=7, repeat=10):
    """Median milliseconds of each call, in turns."""
    times = [[] for _ in calls]
    for call in calls:
        call()
    for _ in range(rounds):
        for each, call in zip(times, calls):
            begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            begin.record()
            for _ in range(repeat):
                call()
            end.record()
            end.synchronize()
            each.append(begin.elapsed_time(end) / repeat)
    return [statistics.median(each) for each in times]


def starts(areas):
    ends = torch.tensor(areas, dtype=torch.int64).cumsum(0)
    return torch.cat([ends.new_zeros(1), ends[:-1]]).cuda()


def views(matrices, a, b, c):
    """The call of grouped_views with the fastest of TILES, its time, its name and its waves."""
    m, n, k = (torch.tensor(each, dtype=torch.int32).cuda() for each in zip(*matrices))
    places = [
        starts([p * r for p, q, r in matrices]),
        starts([r * q for p, q, r in matrices]),
        starts([p * q for p, q, r in matrices]),
    ]
    best = None
    path = os.path.join(ROOT, "examples", "grouped_views", "grouped_views.tile")
    for rows, columns, depth in TILES:
        kernel = tile.compile(path, BM=rows, BN=columns, BK=depth)
        tiles = sum(-(-p // rows) * -(-q // columns) for p, q, _ in matrices)

        def call(kernel=kernel, tiles=tiles):
            kernel(a, b, c, m, n, k, *places, tiles)

        time = measure([call], rounds=3)[0]
        if best is None or time < best[1]:
            waves = tiles / torch.cuda.get_device_properties(0).multi_processor_count
            best = call, time, f"{rows}x{columns}x{depth}", waves
    return best


def check(found, matrices, a, b):
    """The products of all matrices in float32."""
    at = [0, 0, 0]
    for p, q, r in matrices:
        x = a[at[0] : at[0] + p * r].view(p, r).float()
        w = b[at[1] : at[1] + r * q].view(r, q).float()
        torch.testing.assert_close(
            found[at[2] : at[2] + p * q].view(p, q).float(), x @ w, rtol=2e-2, atol=2e-1
        )
        at = [at[0] + p * r, at[1] + r * q, at[2] + p * q]


def main():
    torch.manual_seed(0)
    path = os.path.join(ROOT, "examples", "grouped_matmul", "grouped_matmul.tile")
    stacked = tile.compile(path)
    print(f"{'matrices':26} {'stacked':>10} {'views':>10} {'ratio':>6} {'unlike':>10} {'ratio':>6}")
    for count, p, q, r in SHAPES:
        a = torch.randn(count * p * r, device="cuda").half()
        b = torch.randn(count * r * q, device="cuda").half()
        c, d = (torch.zeros(count * p * q, device="cuda").half() for _ in range(2))
        offset = torch.arange(count + 1, dtype=torch.int32).mul(p).cuda()
        rows, cube = a.view(count * p, r), b.view(count, r, q)

        def launch(rows=rows, cube=cube, offset=offset, c=c, whole=(count * p, q)):
            stacked(rows, cube, offset, c.view(whole))

        like = [(p, q, r)] * count
        call, _, name, waves = views(like, a, b, d)
        launch()
        call()
        check(c, like, a, b)
        check(d, like, a, b)
        together = measure([launch, call])
        # As many terms: rows of one matrix go to another.
        unlike = [(p + (p // 2 if i % 2 else -(p // 2)), q, r) for i in range(count)]
        other, _, kind, more = views(unlike, a, b, d)
        other()
        check(d, unlike, a, b)
        apart = measure([launch, other])
        print(
            f"{f'{count} of {p}x{q}x{r}':26} {together[0]:7.3f} ms {together[1]:7.3f} ms"
            f" {together[0] / together[1]:6.2f} {apart[1]:7.3f} ms {apart[0] / apart[1]:6.2f}"
            f"  by {name}, {waves:.2f} waves, and {kind}, {more:.2f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
