"""What bench/defaults.py measures: each kernel of bench/ at several shapes, built without tuning
and in other configurations.
"""

import math

from . import (
    attention,
    attention_backward,
    cross_entropy,
    grouped,
    matmul,
    matmul_8bit,
    matmul_w4,
    rows,
    vector_add,
)
from .lib import torch
from .ours import declares

# Not what a configuration is: what changes results, or no set of a `tune` clause holds.
EXCLUDED = ("fp", "cluster", "persistent", "CACHE", "EMAX")


class Case:
    """One kernel at one shape.

    family, kernel   as in the table; `example` is the folder of the kernel
    fixed            definitions that every build has
    extents          of the dimensions, by name: what --shape gets
    make             make() gives an Item: inputs, reference, tolerance
    names, outputs   the launch's arguments, and which of them are compared; without names of
                     outputs all that the reference has
    renamed          arguments that have another name among the data
    variants         configurations that a person found worth trying (bench/gpu)
    """

    def __init__(
        self,
        family,
        example,
        fixed,
        extents,
        make,
        names,
        outputs,
        variants=(),
        kernel=None,
        scalars=None,
        prepare=None,
        renamed=None,
    ):
        self.family, self.example, self.kernel = family, example, kernel or example
        self.fixed, self.extents, self.make = fixed, extents, make
        self.names, self.outputs = names.split(), outputs.split()
        # None takes an attribute away, which no configuration can.
        self.variants = [
            dict(each)
            for each in variants
            if not any(k in EXCLUDED or v is None for k, v in each.items())
        ]
        self.scalars, self.prepare, self.renamed = scalars or {}, prepare, renamed or {}

    def values(self, data):
        """The launch's arguments by name."""
        named = {name: data[name] for name in self.names}
        return {**named, **{name: data[key] for name, key in self.renamed.items()}, **self.scalars}

    @property
    def shape(self):
        return ",".join(f"{name}={extent}" for name, extent in self.extents.items())

    @property
    def name(self):
        return f"{self.kernel} " + " ".join([str(v) for v in self.fixed.values()] + [self.shape])


def _products():
    few = {16: matmul.FEW_16, 128: matmul.FEW_128}
    for transposed in (False, True):
        name = "matmul_nt" if transposed else "matmul"
        for m, n, k in (
            (8192, 8192, 8192),
            (4096, 4096, 4096),
            (2048, 2048, 2048),
            (8192, 8192, 512),
            (16, 8192, 8192),
            (128, 4096, 14336),
            (512, 4096, 4096),
            (1024, 1024, 1024),
        ):
            yield Case(
                "matmul",
                name,
                {"T": "f16"},
                {"M": m, "N": n, "K": k},
                lambda m=m, n=n, k=k, t=transposed: matmul._item(m, n, k, "f16", t),
                "a b c",
                "c",
                few.get(m, matmul.LARGE) + (matmul.SPLIT if m <= 128 else []),
            )
    for m in (1024, 2048, 4096, 256, 64):
        yield Case(
            "matmul",
            "matmul",
            {"T": "f16", "BIAS": "true", "ACT": "gelu"},
            {"M": m, "N": 4096, "K": 4096},
            lambda m=m: matmul._fused(m, 4096, 4096, "f16"),
            "a b bias c",
            "c",
            matmul.LARGE,
        )
    for m, n, k in (
        (8192, 8192, 8192),
        (4096, 4096, 4096),
        (2048, 2048, 2048),
        (128, 8192, 8192),
        (16, 8192, 8192),
    ):
        yield Case(
            "matmul_8bit",
            "matmul_f8",
            {"A": "f8e4m3", "B": "f8e4m3", "T": "f16"},
            {"M": m, "N": n, "K": k},
            lambda m=m, n=n, k=k: matmul_8bit._f8(m, n, k),
            "a b c",
            "c",
            matmul_8bit.VARIANTS,
        )
        yield Case(
            "matmul_8bit",
            "matmul_int8",
            {"T": "i8"},
            {"M": m, "N": n, "K": k},
            lambda m=m, n=n, k=k: matmul_8bit._int8(m, n, k),
            "a b c",
            "c",
            matmul_8bit.VARIANTS,
        )
    for e, m, n, k in (
        (64, 8192, 4096, 4096),
        (8, 8192, 4096, 4096),
        (64, 1024, 4096, 2048),
        (16, 4096, 2048, 4096),
        (32, 16384, 2048, 2048),
    ):
        yield Case(
            "grouped",
            "grouped_matmul",
            {"T": "f16", "EMAX": 64},
            {"E": e, "M": m, "N": n, "K": k},
            lambda e=e, m=m, n=n, k=k: grouped._item(e, m, n, k),
            "a b offset c",
            "c",
            [
                {k: v for k, v in each.items() if k != "EMAX"}
                for each in grouped.VARIANTS
                if "GROUP" not in each or declares("grouped_matmul", "GROUP")
            ],
        )
    for m, n, k in (
        (16, 8192, 8192),
        (64, 8192, 8192),
        (256, 8192, 8192),
        (16, 4096, 14336),
        (1024, 4096, 4096),
    ):
        yield Case(
            "matmul_w4",
            "matmul_w4",
            {"T": "f16"},
            {"M": m, "N": n, "K": k},
            lambda m=m, n=n, k=k: matmul_w4._item(m, n, k),
            "x w scale zero y",
            "y",
            (matmul_w4.TILES_FEW + matmul_w4.TILES_SPLIT) if m <= 16 else matmul_w4.TILES_MANY,
        )
    for n, k in ((8192, 8192), (4096, 4096), (4096, 14336), (28672, 8192), (8192, 2048)):
        yield Case(
            "matmul_w4",
            "matvec_w4",
            {"T": "f16"},
            {"M": 1, "N": n, "K": k},
            lambda n=n, k=k: matmul_w4._item(1, n, k),
            "x w scale zero y",
            "y",
            matmul_w4.TILES_ONE,
        )


def _attention():
    for b, h, g, s, d, causal in (
        (4, 32, 32, 4096, 128, True),
        (4, 32, 32, 4096, 128, False),
        (4, 32, 32, 4096, 64, True),
        (4, 32, 32, 4096, 64, False),
        (1, 32, 8, 8192, 128, True),
        (16, 32, 32, 1024, 128, True),
        (1, 16, 16, 512, 128, True),
    ):
        yield Case(
            "attention",
            "attention",
            {"T": "f16", "D": d, "CAUSAL": str(causal).lower()},
            {"B": b, "H": h, "G": g, "S": s, "L": s},
            lambda b=b, h=h, g=g, s=s, d=d, causal=causal: attention._item(b, h, g, s, d, causal),
            "q k v o lse",
            "o lse",
            attention.VARIANTS,
            scalars={"scale": 1 / math.sqrt(d)},
        )

    def delta(data):
        data["delta"].copy_((data["o"].float() * data["do"].float()).sum(-1))

    for b, h, s, d, causal in (
        (4, 16, 2048, 128, True),
        (4, 16, 2048, 128, False),
        (4, 16, 2048, 64, True),
        (1, 16, 4096, 128, True),
        (8, 16, 1024, 64, False),
    ):
        fixed, extents = (
            {"T": "f16", "D": d, "CAUSAL": str(causal).lower()},
            {"B": b, "H": h, "G": h, "S": s, "L": s},
        )
        make = lambda b=b, h=h, s=s, d=d, causal=causal: attention_backward._item(
            b, h, s, d, causal
        )  # noqa: E731
        # q's gradient comes in f32 and without its scale: compared are the other two.
        yield Case(
            "attention_backward",
            "attention_backward",
            fixed,
            extents,
            make,
            "q k v do lse delta dk dv",
            "dk dv",
            attention_backward.VARIANTS,
            scalars={"scale": 1 / math.sqrt(d)},
            prepare=delta,
            renamed={"dq": "sums"},
        )


def _streams():
    for op, dtype, make, names, outputs in (
        ("softmax", "f32", rows._softmax, "x y", "y"),
        ("layer_norm", "f16", rows._layerNorm, "x w b y mean rstd", "y rstd"),
        ("rms_norm", "f16", rows._rmsNorm, "x w y", "y"),
    ):
        for m, n in ((4096, 4096), (16384, 8192), (131072, 1024), (2048, 16384), (32768, 2048)):
            for name in (op, op + "_rows"):
                yield Case(
                    "rows",
                    name,
                    {"T": dtype},
                    {"M": m, "N": n},
                    lambda m=m, n=n, make=make: make(m, n),
                    names,
                    outputs,
                )
    for m, v in ((8192, 128256), (4096, 32000), (16384, 4096), (1024, 50304), (2048, 151936)):
        for name in ("cross_entropy", "cross_entropy_lanes"):
            yield Case(
                "cross_entropy",
                name,
                {"T": "f16"},
                {"M": m, "V": v},
                lambda m=m, v=v: cross_entropy._item(m, v),
                "x label loss lse",
                "loss lse",
            )
    for exponent in (20, 22, 24, 26, 28):
        yield Case(
            "vector_add",
            "vector_add",
            {"T": "f32"},
            {"N": 1 << exponent},
            lambda e=exponent: vector_add._item(e),
            "x y z",
            "z",
        )


def cases():
    """All cases, family by family."""
    return [*_streams(), *_products(), *_attention()]


def inputs(case):
    """(data, expected results) on the GPU."""
    torch.manual_seed(0)
    item = case.make()
    data = item.inputs("cuda")
    if case.prepare:
        case.prepare(data)
    expected = item.reference(data)
    names = case.outputs or [name for name in expected if name in data]
    expected = {name: expected[name] for name in names if name in expected}
    torch.cuda.synchronize()
    return item, data, expected
