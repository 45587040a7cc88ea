"""Loops that collect sums, extremes, positions and counts of rows or columns: some carry sums
alone, some are left by what they have collected, some stand in another loop. Every sum is of small
whole numbers; sigmoids and tanh are of numbers at which they are 0, 1/2 and 1 to the bit.
"""

import numpy as np

import ordering
from formats import isFloat
from leaves import const, name, plain
from nodes import binary, call, cast, column, reduced, row
from program import Node, Statement

KINDS = ["sum", "sum", "square", "max", "min", "count", "argmax", "argmin"]


def wide(dtype):
    """In which sums of elements are exact."""
    return {"f16": "f32", "bf16": "f32", "i8": "i32", "u8": "i32"}.get(dtype, dtype)


def steep(x, word, function):
    """A function where it has reached its ends, or is in the middle."""
    return Node(
        "form",
        x.dtype,
        x.shape,
        [x],
        template=f"{word}({{0}} * 1024.0)",
        function=lambda _, values: function(np.sign(values)).astype(values.dtype),
    )


class Collected:
    def collected(self):
        random = self.random
        dtype = random.choice(["f32", "f32", "f16", "bf16", "f64", "i32", "i8", "u8", "i64"])
        self.dim("M", [1, 2, 5, 16, 33, 100], self.chance(0.5))
        self.dim("N", [1, 7, 8, 33, 64, 129, 256, 300, 511], self.chance(0.5))
        x = self.tensor("in", dtype, "M", "N")
        # The kept side, and the one along which the loop goes.
        axis = random.choice([0, 1, 1])
        kept, along = ("N", "M") if axis == 0 else ("M", "N")
        side = random.choice([0, 1, 2, 4, 16, 32] if axis else [0, 1, 8, 32, 64])
        size = random.choice([16, 32, 64, 128, 256, 512] if side < 8 else [8, 16, 32, 64])
        count = name(kept, "index")
        if side:
            count = Node("call", "index", (), [count, plain(side)], name="cdiv")
        self.program.grid.append(("i", count))
        place = self.range(name("i", "index"), side) if side else ("int", name("i", "index"))
        parts = lambda n: (place, n) if axis else (n, place)
        shape = (side,) if side else ()
        kinds = random.sample(KINDS, random.choice([1, 1, 2, 3]))
        if self.chance(0.3):
            kinds = ["sum"] * random.choice([1, 2, 3])
        self.carried = [self.begin(kind, dtype, shape) for kind in kinds]

        extent, outer = name(along, "index"), self.body
        if self.chance(0.3):  # as many as memory says, maybe none
            trips = self.load(self.tensor("in", "i32", kept), ("int", name("i", "index")))
            extent = call("min", extent, binary("*", cast(trips, "index"), plain(size + 3)))
        if self.chance(0.2):
            times = plain(random.choice([0, 1, 3]))
            outside = Statement("for", self.fresh("g"), [plain(0), times], [[]])
            self.body.append(outside)
            self.body = outside.bodies[0]
        isSplit = False
        for _ in range(random.choice([1, 1, 1, 2])):
            if self.chance(0.15):
                attribute, (n, body) = None, self.repeated(extent, size)
            else:
                onlySums = all(kind in ("sum", "square", "count") for kind in kinds)
                low = plain(random.choice([0, 0, 5])) if self.chance(0.2) else None
                isSplit = not isSplit and onlySums and not low  # one loop of a kernel at most
                isSplit = isSplit and self.body is outer and self.chance(0.15)
                attribute = "split(3)" if isSplit else None
                n, body = self.blocks(extent, size, attribute, low)
            t = self.let(body, self.changed(self.row(x, *parts(n)), 0 if not side else axis))
            if attribute is None and self.chance(0.15):
                self.leaves(body, t)
            for kind, variable in zip(kinds, self.carried):
                self.collect(body, kind, variable, t, n, axis if side else None)
        self.body = outer

        for kind, variable in zip(kinds, self.carried):
            for each in variable:
                self.store(
                    self.body, self.tensor("out", each.dtype, kept), (place,), self.whole(each)
                )
        if self.chance(0.3):  # the rows once more, with what was collected
            n, body = self.blocks(name(along, "index"), size)
            first = cast(self.carried[0][0], dtype)
            if side:
                first = column(first) if axis else row(first)
            value = binary("-", self.load(x, *parts(n)), first)
            self.store(body, self.tensor("out", dtype, "M", "N"), parts(n), value)

    @staticmethod
    def whole(value):
        return cast(value, "i32") if value.dtype == "index" else value

    def begin(self, kind, dtype, shape):
        """The variables of a kind."""
        zero = lambda of: 0.0 if isFloat(of) else 0

        def variable(value, of):
            return self.let(self.body, const(value, of, shape), "var")

        if kind in ("sum", "square"):
            to = wide(dtype)
            start = -0.0 if isFloat(to) and self.chance(0.2) else zero(to)
            return [variable(start, to)]
        if kind == "count":
            return [variable(0, "i32")]
        if kind in ("argmax", "argmin"):
            return [variable(zero(dtype), dtype), variable(-1, "i32")]
        return [variable(zero(dtype), dtype)]

    def repeated(self, extent, size):
        """`while`, whose counter a block begins at: as `blocks`."""
        word = self.fresh("w")
        self.body.append(Statement("var", word, [const(0, "index")]))
        counter, inner = name(word, "index"), []
        more = binary("<", binary("*", counter, plain(size)), extent, "bool")
        loop = Statement("while", None, [more], [inner])
        self.body.append(loop)
        n, body = self.fresh("r"), loop.bodies[0]
        body.append(Statement("range", n, part=("block", counter, size)))
        body.append(Statement("set", word, [plain(1)], op="+"))
        return ("range", n, size), body

    def changed(self, t, axis):
        """What is collected of the elements."""
        form = self.random.randrange(10)
        if form == 0 and isFloat(t.dtype):
            return steep(t, "sigmoid", lambda sign: (sign + 1) / 2)
        if form == 1 and isFloat(t.dtype):
            return steep(t, "tanh", lambda sign: sign)
        if form == 2:
            x = cast(t, wide(t.dtype))
            named = {"axis": str(axis)}
            return cast(Node("call", x.dtype, x.shape, [x], name="cumsum", named=named), t.dtype)
        if form == 3 and np.prod(t.shape) <= 2048:
            return Node(
                "form",
                t.dtype,
                t.shape,
                [t],
                template=f"sort({{0}}, axis: {axis})",
                function=lambda of, x: ordering.sorted_(axis, False)(of, x),
            )
        if form == 4:
            return binary("*", t, t)
        return t

    def leaves(self, body, t):
        """An `if` that leaves the loop by what a trip has loaded."""
        seen = reduced("any", binary(">", t, cast(plain(1), t.dtype), "bool"))
        body.append(Statement("if", None, [seen], [[Statement("break")]]))

    def collect(self, body, kind, variables, t, n, axis):
        if len(t.shape) == 1:
            axis = None
        first = variables[0]
        if kind in ("sum", "square"):
            x = cast(t, first.dtype)
            x = binary("*", x, x) if kind == "square" else x
            self.set(body, first, reduced("sum", x, axis), op="+")
        elif kind == "count":
            seen = binary(">", t, const(0.0 if isFloat(t.dtype) else 0, t.dtype), "bool")
            found = reduced("count", seen, axis)
            found.dtype = "index"
            self.set(body, first, cast(found, "i32"), op="+")
        elif kind in ("max", "min"):
            self.set(body, first, call(kind, first, reduced(kind, t, axis)))
        else:
            found = self.let(body, reduced(kind[3:], t, axis))
            at = reduced(kind, t, axis)
            at.dtype = "index"
            start = Node("start", "index", (), range=n[1])
            at = cast(binary("+", at, start), "i32")
            op = ">" if kind == "argmax" else "<"
            better = self.let(body, binary(op, found, first, "bool"))
            self.set(body, variables[1], call("where", better, at, variables[1]))
            self.set(body, first, call("where", better, found, first))
