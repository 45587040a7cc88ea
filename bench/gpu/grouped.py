"""Grouped matrix product: rows split unevenly among experts, each with a matrix of its own."""

import random

from . import lib, peers
from .items import Bar, Item
from .lib import empty, normal, processors, torch
from .ours import tiles

# BM, BN, BK, warps, stages, rows first; then whether a program takes many tiles
TRITON = [
    (128, 256, 64, 8, 3, True, True),
    (128, 256, 64, 8, 4, True, True),
    (128, 256, 64, 8, 3, False, True),
    (128, 128, 64, 8, 4, True, True),
    (128, 128, 64, 4, 4, True, True),
    (64, 256, 64, 8, 4, True, True),
    (64, 256, 64, 4, 4, True, True),
    (128, 256, 64, 8, 3, True, False),
    (128, 128, 64, 4, 3, True, False),
    (128, 128, 64, 4, 4, True, False),
    (64, 256, 64, 4, 3, True, False),
    (64, 128, 128, 4, 3, True, False),
]
VARIANTS = (
    [
        {"BM": bm, "BN": bn, "BK": bk, "EMAX": 64}
        for bm, bn, bk in (
            (128, 256, 64),
            (128, 128, 64),
            (64, 256, 64),
            (128, 128, 128),
            (64, 128, 128),
        )
    ]
    + [
        {"BM": 128, "BN": 256, "BK": 64, "EMAX": 64, "warps": 8, "stages": stages}
        for stages in (3, 4)
    ]
    + [
        {"BM": 64, "BN": bn, "BK": 64, "EMAX": 64, "warps": warps, **more}
        for bn, warps, more in (
            (256, 8, {}),
            (256, 4, {}),
            (128, 4, {"occupancy": 2}),
            (128, 8, {}),
        )
    ]
)


def split(rows, experts):
    """Offsets of an uneven split with one empty expert, always the same."""
    draw = random.Random(1)
    weights = [draw.expovariate(1.0) + 0.1 for _ in range(experts)]
    weights[experts // 3] = 0.0
    total, sums = sum(weights), [0.0]
    for weight in weights:
        sums.append(sums[-1] + weight)
    return [round(rows * value / total) for value in sums]


def _item(experts, m, n, k, dtype="f16"):
    offsets = split(m, experts)

    def inputs(device):
        return {
            "a": normal((m, k), dtype, device),
            "b": normal((experts * k, n), dtype, device).view(experts, k, n),
            "offset": torch.tensor(offsets, dtype=torch.int32, device=device),
            "c": empty((m, n), dtype, device),
        }

    def reference(data):
        c = torch.empty((m, n), dtype=torch.float32, device=lib.DEVICE)
        for e in range(experts):
            rows = slice(offsets[e], offsets[e + 1])
            c[rows] = (data["a"][rows].double() @ data["b"][e].double()).float()
        return {"c": c}

    def contenders(item):
        outputs = lambda data: {"c": data["c"]}  # noqa: E731

        def loop(data):
            for e in range(experts):
                if offsets[e] < offsets[e + 1]:
                    rows = slice(offsets[e], offsets[e + 1])
                    torch.mm(data["a"][rows], data["b"][e], out=data["c"][rows])
            return {"c": data["c"]}

        def native(data):
            return {"c": torch._grouped_mm(data["a"], data["b"], offs=data["offset"][1:])}

        found = tiles(
            "grouped_matmul",
            VARIANTS,
            lambda data: {key: data[key] for key in ("a", "b", "offset", "c")},
            outputs,
            fixed={"T": dtype},
        )
        found += [peers.eager("cublas", loop), peers.eager("eager", native)]
        launchers = {}
        for bm, bn, bk, warps, stages, rowsFirst, persistent in TRITON:
            meta = {"BM": bm, "BN": bn, "BK": bk, "ROWS_FIRST": rowsFirst, "PERSISTENT": persistent}

            # Without a persistent grid as many programs as there can be tiles: some find nothing to
            # do.
            programs = processors() if persistent else (-(-m // bm) + experts) * -(-n // bn)

            def prepare(data, bm=bm, bn=bn, bk=bk, programs=programs):
                from triton.tools.tensor_descriptor import TensorDescriptor as Descriptor

                return (programs,), (
                    Descriptor.from_tensor(data["a"], [bm, bk]),
                    Descriptor.from_tensor(data["b"].view(experts * k, n), [bk, bn]),
                    Descriptor.from_tensor(data["c"], [bm, bn]),
                    data["c"],
                    data["offset"],
                    experts,
                    n,
                    k,
                )

            constants = {
                "BM": bm,
                "BN": bn,
                "BK": bk,
                "ROWS_FIRST": rowsFirst,
                "EXPERTS": experts,
                "PROGRAMS": programs,
            }
            launchers[peers.variantName(meta, warps, stages)] = peers.launcher(
                "triton_grouped", "grouped_tma", prepare, constants, warps, stages
            )
        return found + peers.tritons("triton-tma", launchers, outputs)

    return Item(
        "grouped",
        "grouped_matmul",
        f"E{experts} {m}x{n}x{k}",
        dtype,
        inputs=inputs,
        reference=reference,
        contenders=contenders,
        work=2.0 * m * n * k,
        bars=[Bar(1.0, ("triton",))],
        quick=True,
    )


def items():
    return [_item(64, 8192, 4096, 4096)]
