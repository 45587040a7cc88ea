"""What is measured: an item is one operation on one shape, a contender one way to do it, a bar what
we want to reach.
"""


class Contender:
    """One way to do an item's work.

    who       who does it: "tile" is ours; variants of one who compete first, and only the best is
    measured with care build     build(data) gives a call without arguments that enqueues the work
    and returns its outputs by name variant   which choice of tile sizes and so on, for the record
    compile   compile(data) does what takes long and needs no GPU, in a thread, with data on the
    meta device; or None work      operations or bytes where they differ from the item's patience
    seconds after which the first call counts as hung optional  takes part only if --who names it
    warm      its first call starts a compiler that keeps what it makes on disk: processes of their
    own call it once, side by side, before anything is measured

    A call may have attributes: noGraph, why no graph can hold it; restore(data), which puts back
    what it changes; view(outputs), which brings results into the reference's order.
    """

    def __init__(
        self,
        who,
        build,
        variant="",
        compile=None,
        work=None,
        patience=20.0,
        optional=False,
        warm=False,
    ):
        self.who, self.build, self.variant, self.compile, self.work = (
            who,
            build,
            variant,
            compile,
            work,
        )
        self.patience, self.optional, self.warm = patience, optional, warm

    @property
    def name(self):
        return f"{self.who}[{self.variant}]" if self.variant else self.who


class Bar:
    """Our rate shall be at least `ratio` of the best of `against`: names of contenders, "triton"
    for all kinds of it; None for every peer that does the item's work.
    """

    def __init__(self, ratio, against=None, label=""):
        self.ratio, self.against = ratio, against
        self.label = label or ("best peer" if against is None else against[0])

    def toJson(self):
        return {"ratio": self.ratio, "against": self.label, "names": self.against}


class Item:
    """One operation on one shape.

    inputs(device)      the data by name, outputs' memory included; shapes alone on the meta device
    reference(data)     expected results by name, in higher precision
    contenders(item)    a list of Contender
    tolerance           bound of the norm of the error over the norm of the result
    work, unit          operations ("TFLOP/s", "TOP/s") or bytes ("GB/s") of one call
    restore(data)       puts back what a call changes of its inputs; None where it changes nothing
    cost                seconds that it takes, about, from which parts of equal length are made
    cold                whether the caches are flushed before each call: for what memory bounds
    reads               whether a call writes next to nothing: a flush then leaves nothing written
    """

    def __init__(
        self,
        family,
        op,
        shape,
        dtype,
        *,
        inputs,
        reference,
        contenders,
        work,
        unit="TFLOP/s",
        bars=(),
        cold=False,
        reads=False,
        tolerance=None,
        quick=False,
        restore=None,
        cost=3.0,
    ):
        self.restore, self.cost, self.reads = restore, cost, reads
        self.family, self.op, self.shape, self.dtype = family, op, shape, dtype
        self.inputs, self.reference, self.contenders = inputs, reference, contenders
        self.work, self.unit, self.bars, self.cold, self.quick = work, unit, list(bars), cold, quick
        self.tolerance = (
            tolerance
            or {"f16": 2e-3, "bf16": 1.2e-2, "f32": 1e-5, "f8e4m3": 2e-3, "i8": 0.0}[dtype]
        )

    @property
    def name(self):
        return f"{self.op} {self.shape} {self.dtype}"

    def rate(self, ms, work=None):
        """In the item's unit."""
        return (work or self.work) / ms * (1e-6 if self.unit == "GB/s" else 1e-9)
