"""Whole kernels: dimensions, contracts, grid, statements. See generate.py for their expressions."""

import numpy as np

import program as p
from chains import Products
from formats import VALUES, anyValues, isFloat, specials
from generate import Generator
from leaves import DTYPES, EXTENTS, SMALL, const, name, plain
from program import Access, Node, Statement, Tensor


class Kernel(Generator):
    """A kernel of a seed: `program`, and `arrays()` for its tensors."""

    def __init__(self, seed, size=1.0):
        super().__init__(seed, size)
        self.seed = seed
        self.jumps = ("return",)  # out of where statements stand
        self.declare()
        body = self.program.body
        for _ in range(self.random.randrange(1, 4)):
            self.addRange(body)
        for _ in range(self.random.randrange(2, 5 + int(3 * size))):
            self.statement(body, 2)
        for _ in range(self.random.choice([0, 0, 0, 1, 2])):
            Products(self).add()
        for _ in range(self.random.randrange(1, 4)):
            self.output(body)

    def declare(self):
        program, random = self.program, self.random
        for word in random.sample(["M", "N", "K"], random.randrange(1, 4)):
            value = random.choice([0, 1, 2, 3, 4, 7, 8, 15, 16, 17, 24, 31, 32, 40, 64, 100])
            multiple = random.choice([1, 1, 4, 8, 16])
            value -= value % multiple
            program.dims[word] = value
            if multiple > 1:
                program.contracts.append(f"{word} % {multiple} == 0")
            if self.chance(0.4):
                program.contracts.append(
                    f"{word} in {random.choice([0, value])}..={random.choice([value, 128, 65536])}"
                )
        # Each dimension must be the extent of some tensor.
        for word in program.dims:
            program.tensors.append(
                Tensor(
                    self.fresh("x"),
                    "in",
                    random.choice(DTYPES),
                    [word] + ([str(random.choice(EXTENTS))] if self.chance(0.4) else []),
                )
            )
        for _ in range(random.randrange(3)):
            dtype = random.choice(["i32", "i64", "f32", "u8", "f16", "i32"])
            value = (
                random.choice([0.0, 1.5, -2.0, 0.25])
                if isFloat(dtype)
                else random.choice([0, 1, 2, 3, 5, 40])
            )
            word = self.fresh("s")
            program.scalars[word] = (dtype, value)
            self.variables.append((word, dtype, (), False))
        for axis in ("i", "j")[: random.randrange(1, 3)]:
            extent = plain(random.randrange(1, 4))
            value = extent.attr["value"]
            if self.chance(0.5):
                word = random.choice(list(program.dims))
                block = random.choice([n for n in (8, 16, 32, 64) if program.dims[word] / n <= 4])
                extent = Node("call", "index", (), [name(word, "index"), plain(block)], name="cdiv")
                value = -(-program.dims[word] // block)
            program.grid.append((axis, extent))
            program.extents.append(value)
            self.variables.append((axis, "index", (), False))

    # --- statements ---

    def addRange(self, body):
        word, size = self.fresh("r"), self.random.choice(EXTENTS)
        part = (
            ("block", name(self.random.choice(self.program.grid)[0], "index"), size)
            if self.chance(0.5)
            else self.span(size)
        )
        body.append(Statement("range", word, part=part))
        self.ranges.append((word, size))

    def shape(self):
        rank = self.random.choice([0, 1, 1, 2, 2, 2, 3])
        while True:
            shape = tuple(self.random.choice(EXTENTS) for _ in range(rank))
            if np.prod(shape) <= SMALL:
                break
        # Extents of the ranges there are, more often than not.
        return (
            tuple(
                self.random.choice(self.ranges)[1] if self.ranges and self.chance(0.5) else n
                for n in shape
            )
            if rank < 3
            else shape
        )

    def statement(self, body, depth):
        if self.left < 0:
            return
        kinds = [
            self.let,
            self.let,
            self.variable,
            self.assign,
            self.assign,
            self.assign,
            self.memory,
        ]
        if depth > 0:
            kinds += [self.loop, self.loop, self.blocks, self.branch, self.repeat]
        if depth > 0 and self.chance(0.2):
            kinds = [self.leave]
        self.random.choice(kinds)(body, depth)

    def inner(self, body, depth, count=3):
        """Statements whose names end with them."""
        variables, ranges = list(self.variables), list(self.ranges)
        for _ in range(self.random.randrange(1, count + 1)):
            self.statement(body, depth)
        if not any(s.kind in ("set", "store", "swap") for s in body):
            self.assign(body, depth)
        self.variables, self.ranges = variables, ranges

    def let(self, body, depth, kind="let"):
        dtype, shape = self.random.choice(DTYPES + ["index", "bool"]), self.shape()
        word = self.fresh("v")
        body.append(Statement(kind, word, [self.expression(dtype, shape, 3)]))
        self.variables.append((word, dtype, shape, kind == "var"))

    def variable(self, body, depth):
        self.let(body, depth, "var")

    def assign(self, body, depth):
        mutable = [v for v in self.variables if v[3]]
        if not mutable:
            return self.variable(body, depth)
        word, dtype, shape, _ = self.random.choice(mutable)
        same = [v[0] for v in mutable if v[1:3] == (dtype, shape) and v[0] != word]
        if same and self.chance(0.3):
            body.append(Statement("swap", word, other=self.random.choice(same)))
        elif dtype != "bool" and self.chance(0.4):
            body.append(
                Statement(
                    "set", word, [self.expression(dtype, shape, 2)], op=self.random.choice("+-*")
                )
            )
        else:
            body.append(Statement("set", word, [self.expression(dtype, shape, 3)]))

    def loop(self, body, depth):
        word = self.fresh("t")
        low, high = (
            plain(self.random.choice([0, 0, 1, -2])),
            plain(self.random.choice([0, 1, 2, 3, 4])),
        )
        scalars = [
            name(v[0], "index")
            for v in self.variables
            if v[1] == "index" and v[2] == () and v[0] in ("i", "j")
        ]
        if scalars and self.chance(0.4):
            low, high = (
                self.random.choice(scalars),
                Node("binary", "index", (), [self.random.choice(scalars), plain(2)], op="+"),
            )
        arguments = [low, high] + (
            [plain(self.random.choice([1, 2, 3]))] if self.chance(0.3) else []
        )
        self.variables.append((word, "index", (), False))
        inner = []
        self.looped(inner, depth - 1)
        self.variables = [v for v in self.variables if v[0] != word]
        body.append(Statement("for", word, arguments, [inner], closed=self.chance(0.2)))

    def blocks(self, body, depth):
        word, size = self.fresh("b"), self.random.choice([8, 16, 32])
        high = (
            name(self.random.choice(list(self.program.dims)), "index")
            if self.chance(0.8)
            else plain(self.random.choice([5, 20, 33]))
        )
        isZero = self.chance(0.7)
        low = plain(0 if isZero else self.random.choice([1, 3, 8, -5]))
        inner = []
        self.ranges += [(word, size)] * 2
        self.looped(inner, depth - 1)
        self.ranges = [r for r in self.ranges if r[0] != word]
        body.append(Statement("blocks", word, [low, high], [inner], size=size, low=not isZero))

    def branch(self, body, depth):
        bodies = [[] for _ in range(self.random.choice([1, 2]))]
        condition = self.expression("bool", (), 2)
        for inner in bodies:
            self.inner(inner, depth - 1, 2)
        body.append(Statement("if", None, [condition], bodies))

    def leave(self, body, depth):
        """An `if` that ends in a jump out of the loop or the program."""
        inner = []
        self.inner(inner, depth - 1, 2)
        inner.append(Statement(self.random.choice(self.jumps), None))
        bodies = [inner]
        if self.chance(0.3):
            bodies.append([])
            self.inner(bodies[1], depth - 1, 2)
            if self.chance(0.5):
                bodies.reverse()
        body.append(Statement("if", None, [self.expression("bool", (), 2)], bodies))

    def looped(self, body, depth, jumps=("break", "continue", "return")):
        """The body of a loop, out of which it may be left."""
        outer, self.jumps = self.jumps, jumps
        self.inner(body, depth)
        self.jumps = outer

    def repeat(self, body, depth):
        """while, with a counter that ends it."""
        word = self.fresh("w")
        body.append(Statement("var", word, [const(0, "i32")]))
        more = Node(
            "binary",
            "bool",
            (),
            [name(word, "i32"), const(self.random.choice([1, 2, 3]), "i32")],
            op="<",
        )
        if self.chance(0.4):
            more = Node("binary", "bool", (), [more, self.expression("bool", (), 1)], op="&&")
        inner = []
        self.looped(inner, depth - 1, ("break", "return"))  # `continue` would pass by the counter
        inner.append(Statement("set", word, [const(1, "i32")], op="+"))
        body.append(Statement("while", None, [more], [inner]))

    def memory(self, body, depth):
        """A store to memory of this program alone, and loads from it."""
        own = [t for t in self.program.tensors if t.access == "inout"]
        if not own or (len(own) < 2 and self.chance(0.3)):
            dims = [str(n) for n in self.program.extents] + [
                str(self.random.choice([4, 8, 16, 40]))
                for _ in range(self.random.choice([1, 1, 2]))
            ]
            own = [Tensor(self.fresh("m"), "inout", self.random.choice(DTYPES), dims)]
            for place, (_, extent) in enumerate(self.program.grid):
                own[0].dims[place] = (
                    p.text(extent) if extent.kind != "const" else str(extent.attr["value"])
                )
            self.program.tensors.append(own[0])
        tensor = self.random.choice(own)
        access, shape = self.ownAccess(tensor)
        if self.chance(0.5):
            body.append(
                Statement(
                    "store",
                    None,
                    [self.operand(tensor.dtype, shape, 2)],
                    access=access,
                    shape=shape,
                    mask=self.expression("bool", shape, 1) if shape and self.chance(0.15) else None,
                )
            )
            return
        word = self.fresh("v")
        body.append(Statement("let", word, [Node("load", tensor.dtype, shape, access=access)]))
        self.variables.append((word, tensor.dtype, shape, False))

    def ownAccess(self, tensor):
        axes = [("int", name(word, "index")) for word, _ in self.program.grid]
        rest = len(tensor.dims) - len(axes)
        shape = tuple(self.random.choice([1, 3, 4, 8, 16, 32]) for _ in range(rest))
        parts = [self.span(n) for n in shape]
        if rest == 2 and self.chance(0.2):
            return Access(tensor, [("index", 0, part[1]) for part in axes] + [("T",)], parts), shape
        return Access(tensor, [], axes + parts), shape

    def output(self, body, only=None):
        """Stores a variable, or `only` that of this name, or an expression."""
        word = self.fresh("z")
        chosen = [v for v in self.variables if v[1] != "index" and v[3]] or [
            v for v in self.variables if v[1] != "index"
        ]
        chosen = [v for v in self.variables if v[0] == only] or chosen
        if chosen and (only or self.chance(0.8)):
            variable, dtype, shape, _ = self.random.choice(chosen)
            value = name(variable, dtype, shape)
            self.variables = [v for v in self.variables if v[0] != variable]
        else:
            dtype, shape = self.random.choice(DTYPES + ["bool"]), self.shape()
            self.left = max(self.left, 12)
            value = self.expression(dtype, shape, 3)
        grid = [
            p.text(extent) if extent.kind != "const" else str(extent.attr["value"])
            for _, extent in self.program.grid
        ]
        extents = [max(1, n + self.random.choice([0, 0, 0, -1, 2])) for n in shape]
        tensor = Tensor(word, "out", dtype, grid + [str(n) for n in extents])
        parts = []
        for n in shape:
            end = plain(n - 1) if self.chance(0.1) else None
            parts.append(
                (
                    "at",
                    plain(self.random.choice([0, 0, 0, -1, 1])),
                    n,
                    self.random.choice([1, 1, 1, 2]),
                    end,
                    None,
                )
            )
        self.program.tensors.append(tensor)
        axes = [("int", name(axis, "index")) for axis, _ in self.program.grid]
        body.append(
            Statement("store", None, [value], access=Access(tensor, [], axes + parts), shape=shape)
        )


def extentOf(dim, program):
    """The value of an extent as a parameter states it."""

    def cdiv(a, b):
        return -(-a // b)

    return int(
        eval(dim.replace(" as index", ""), {"__builtins__": {}, "cdiv": cdiv}, dict(program.dims))
    )


def arrays(program, seed):
    """Values for every tensor, from the seed: small numbers, special ones, and some of every
    magnitude.
    """
    random = np.random.default_rng(seed)
    result = {}
    for tensor in program.tensors:
        shape = tuple(extentOf(str(dim), program) for dim in tensor.dims)
        size, dtype = int(np.prod(shape)), tensor.dtype
        if tensor.access == "out":
            result[tensor.name] = np.zeros(shape, VALUES[dtype])
            continue
        if tensor.small:
            whole = random.integers(-2, 3, shape)
            result[tensor.name] = whole.astype(VALUES[dtype])
            continue
        pool = [anyValues(random, size, dtype), specials(dtype)]
        small = random.integers(0 if dtype[0] in "ub" else -9, 10, max(size, 4))
        pool.append(
            small.astype(bool)
            if dtype == "bool"
            else (
                (small / 2).astype(VALUES[dtype]) if isFloat(dtype) else small.astype(VALUES[dtype])
            )
        )
        pick = [random.choice(part, size) for part in pool if part.size] if size else [np.zeros(0)]
        which = (
            random.choice(
                len(pick), size, p=[0.15, 0.15, 0.7][-len(pick) :] if len(pick) == 3 else None
            )
            if size
            else np.zeros(0, int)
        )
        values = np.array([pick[w][i] for i, w in enumerate(which)], VALUES[dtype])
        result[tensor.name] = values.reshape(shape)
    return result
