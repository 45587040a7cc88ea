"""Bandwidth of vector_add and softmax on tensors of 256 MB and more, beside PyTorch's copy of the
same bytes.
"""

import statistics

import torch

REPEATS = 30
# Launches between two events, so that the host's share of a launch is hidden behind the kernels
# before it.
CALLS = 10
GOAL = 0.8  # of the copy's bandwidth


def milliseconds(calls):
    """Median time of each call; the calls take turns, so that they see the same clocks."""
    times = [[] for _ in calls]
    for repeat in range(REPEATS + 3):
        for index, call in enumerate(calls):
            begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            begin.record()
            for _ in range(CALLS):
                call()
            end.record()
            end.synchronize()
            if repeat >= 3:
                times[index].append(begin.elapsed_time(end) / CALLS)
    return [statistics.median(t) for t in times]


def measureBandwidth(kernel):
    """kernel(name) gives the launcher of an example with its default definitions. Prints a table
    and returns its rows.
    """
    rows = []

    def row(name, call, copy, moved, copied):
        own, reference = milliseconds([call, copy])
        speed, best = moved / own * 1e-9, copied / reference * 1e-9
        rows.append(
            {
                "name": name,
                "ms": own,
                "TB/s": speed,
                "copy_TB/s": best,
                "ratio": speed / best,
                "goal": GOAL,
            }
        )
        print(
            f"{name:36} {own:8.3f} ms {speed:6.2f} TB/s, copy {best:5.2f} TB/s: {speed / best:5.2f}"
            f" {'reached' if speed >= GOAL * best else 'missed'}",
            flush=True,
        )

    for dtype in (torch.float32, torch.float16):
        size = 1 << 27
        x, y, z = (torch.randn(size, device="cuda").to(dtype) for _ in range(3))
        n = x.numel() * x.element_size()
        launch = kernel("vector_add")
        row(
            f"vector_add {n >> 20} MiB {str(dtype)[6:]}",
            lambda: launch(x, y, z),
            lambda: z.copy_(x),
            3 * n,
            2 * n,
        )
        del x, y, z
    for dtype, m, columns in (
        (torch.float32, 16384, 4096),
        (torch.float32, 4096, 32768),
        (torch.float16, 32768, 4096),
    ):
        x = torch.randn(m, columns, device="cuda").to(dtype)
        y = torch.empty_like(x)
        n = x.numel() * x.element_size()
        launch = kernel("softmax")
        row(
            f"softmax {m}x{columns} {n >> 20} MiB {str(dtype)[6:]}",
            lambda: launch(x, y),
            lambda: y.copy_(x),
            2 * n,
            2 * n,
        )
        del x, y
    return rows
