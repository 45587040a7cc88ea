"""What the rows of models have in common: ours without tuning, the strongest peers that there are,
and one bar, the best of them.
"""

from .. import lib, peers
from ..items import Bar, Item

SIZES = {"f16": 2, "bf16": 2, "f32": 4, "i32": 4, "i64": 8, "i8": 1, "f8e4m3": 1}
TOLERANCES = {"f16": 4e-3, "bf16": 2e-2, "f32": 2e-5, "i32": 0.0}


def row(family, op, shape, dtype, **more):
    """An item with this set's defaults."""
    more.setdefault("bars", [Bar(1.0)])
    if more.get("tolerance") is None:
        more["tolerance"] = TOLERANCES[dtype]
    return Item(family, op, shape, dtype, **more)


def memory(family, op, shape, dtype, moved, **more):
    """A row that memory bounds: `moved` bytes have to be read and written, caches are cold, and a
    copy of as many bytes takes part.
    """
    from ..vector_add import copies

    contenders = more.pop("contenders")
    return row(
        family,
        op,
        shape,
        dtype,
        contenders=lambda item: contenders(item) + copies(moved),
        work=float(moved),
        unit="GB/s",
        cold=True,
        cost=more.pop("cost", 6.0),
        **more,
    )


def among(item, who, bars, more=()):
    """The item with other bars, where ours, `more` and the contenders that `who` names take part.
    Kernels by hand are among them if --who names them.
    """
    contenders = item.contenders
    item.contenders = lambda item: [
        each for each in [*contenders(item), *more] if each.who in ("tile", "native", *who)
    ]
    item.bars = bars
    return item


def compiled(function, names):
    """torch.compile with its defaults: what it tunes on top takes minutes and gains little here."""
    return peers.compiled(function, names, mode="default", warm=True)


def outputs(*names):
    """outputs(data) for results that lie in the data under these names."""
    return lambda data: {name: data[name] for name in names}


def arguments(names, **scalars):
    """arguments(data) for a launch: "a b" as they are called in the data, "x=a" renamed."""
    pairs = [part.partition("=")[::2] for part in names.split()]
    return lambda data: {**{name: data[other or name] for name, other in pairs}, **scalars}


def integers(low, high, shape, dtype, device):
    """Random integers in [low, high); shapes alone on the meta device."""
    torch = lib.torch
    if device == "meta":
        return torch.empty(shape, dtype=lib.torchType(dtype), device=device)
    return torch.randint(low, high, shape, dtype=lib.torchType(dtype), device=device)


def inChunks(function, count, step, *tensors):
    """function of `step` rows of each tensor at a time, by name, joined."""
    parts = [
        function(*(t[begin : begin + step] for t in tensors)) for begin in range(0, count, step)
    ]
    return {name: lib.torch.cat([part[name] for part in parts]) for name in parts[0]}
