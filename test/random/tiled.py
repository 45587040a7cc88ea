"""Kernels as people write them: a grid of tiles, loops of products that may be split, rows in one
block or in several loops, loops that collect sums and extremes, stencils, online softmax. Passes
that look for a whole kernel's form see little of it in statements that are drawn one by one. Every
sum is exact: of small whole numbers, or of powers of two of few bits.
"""

from attention import Attention
from collected import Collected
from formats import BITS, isFloat
from generate import Generator
from leaves import const, name, plain
from nodes import binary, call, cast, column, reduced
from matmuls import Products
from program import Access, Node, Statement, Tensor
from statements import Kernel


class Tiled(Products, Attention, Collected, Generator):
    """A kernel of a seed: `program`."""

    def __init__(self, seed, size=1.0):
        super().__init__(seed, size)
        self.seed, self.body = seed, self.program.body
        self.isExact = False  # keeps to IEEE's rounding
        forms = [self.product] * 4 + [self.rows] * 2 + [self.stencil, self.softmax, self.gradients]
        forms += [self.collected] * 2
        self.random.choice(forms)()
        self.limit()

    # --- parts ---

    def dim(self, word, lengths, multiple=True):
        value = self.random.choice(lengths)
        self.program.dims[word] = value
        if multiple and value and self.chance(0.6):
            fitting = [n for n in (2, 4, 8, 16) if value % n == 0]
            if fitting:
                self.program.contracts.append(f"{word} % {self.random.choice(fitting)} == 0")
        elif self.chance(0.15):  # a version of its own, which the launch takes or not
            self.special(f"{word} % {self.random.choice([4, 8, 16])} == 0")
        if self.chance(0.5):  # what is chosen for other extents than the launch has
            expected = self.random.choice([value or 1, 64, 4096, 65536])
            self.program.contracts.append(f"{word} in 0..=1048576 opt {expected}")
        return name(word, "index")

    def special(self, condition):
        """A version of its own; none is asked for twice."""
        if condition not in self.program.special:
            self.program.special.append(condition)

    def tensor(self, access, dtype, *dims, small=True):
        """A parameter; of inputs, a few with strides of their own."""
        strides = ["*"] * len(dims) if access == "in" and self.chance(0.08) else None
        made = Tensor(self.fresh("x"), access, dtype, [str(d) for d in dims], strides)
        made.small = small
        self.program.tensors.append(made)
        if self.chance(0.06):  # begins between the places of vectors
            made.offset = self.random.choice([1, 2, 3, 4])
            align = min(16, (made.offset & -made.offset) * BITS[dtype] // 8)
            self.program.contracts.append(f"align({made.name}, {align})")
        return made

    def load(self, tensor, *parts):
        """Of parts ("range", word, size) and ("int", node)."""
        shape = tuple(part[2] for part in parts if part[0] == "range")
        return Node("load", tensor.dtype, shape, access=self.access(tensor, parts))

    @staticmethod
    def access(tensor, parts, view=()):
        return Access(tensor, list(view), [part[:2] for part in parts])

    def store(self, body, tensor, parts, value):
        shape = tuple(part[2] for part in parts if part[0] == "range")
        body.append(
            Statement(
                "store",
                None,
                [cast(value, tensor.dtype)],
                access=self.access(tensor, parts),
                shape=shape,
            )
        )

    def range(self, start, size):
        """A block, as block(…) or at(…): ("range", word, size)."""
        word = self.fresh("r")
        part = ("block", start, size)
        if self.chance(0.3):
            part = ("at", binary("*", start, plain(size)), size, 1, None, None)
        self.body.append(Statement("range", word, part=part))
        return ("range", word, size)

    def let(self, body, value, kind="let"):
        word = self.fresh("v")
        body.append(Statement(kind, word, [value]))
        return Node("name", value.dtype, value.shape, name=word)

    @staticmethod
    def set(body, variable, value, **attr):
        body.append(Statement("set", variable.attr["name"], [value], **attr))

    def blocks(self, extent, size, attribute=None, low=None):
        """A loop over blocks and its range."""
        word, inner = self.fresh("b"), []
        loop = Statement(
            "blocks",
            word,
            [low or plain(0), extent],
            [inner],
            size=size,
            low=low is not None,
            attribute=attribute,
        )
        self.body.append(loop)
        return ("range", word, size), loop.bodies[0]

    def positions(self, part, dtype):
        iota = Node("iota", "index", (part[2],), [const(0, "index")], range=part[1])
        return cast(iota, dtype)

    def limit(self):
        """Attributes of the kernel."""
        chosen = []
        if self.chance(0.35) and "persistent" not in self.program.attributes:
            chosen.append("persistent")
        if len(self.program.grid) > 1 and self.chance(0.25):
            chosen.append(f"grouped({self.random.choice([2, 3, 8])})")
        if self.chance(0.25):
            chosen.append(
                self.random.choice(
                    ["warps(2)", "warps(4)", "warps(8)", "consumers(1)", "consumers(2)"]
                )
            )
        if self.chance(0.1):
            chosen.append(self.random.choice(["occupancy(2)", "maxreg(128)"]))
        if self.chance(0.2) and not self.isExact:
            chosen.append('fp("fast")')
        self.program.attributes += chosen

    def places(self, rows, columns):
        """The tile of each program, by one axis of the grid or two, in either order."""
        tiles = [
            Node("call", "index", (), [name(word, "index"), plain(size)], name="cdiv")
            for word, size in (("M", rows), ("N", columns))
        ]
        form = self.random.randrange(4)
        if form == 3:
            self.program.grid.append(("p", binary("*", *tiles)))
            place = name("p", "index")
            across = call("max", tiles[1], plain(1), dtype="index")
            self.axes = [
                self.let(self.body, binary(op, place, across)) for op in ("/", "%")
            ]  # positive
        else:
            axes = [("i", tiles[0]), ("j", tiles[1])]
            self.program.grid += axes[::-1] if form == 2 else axes
            self.axes = [name("i", "index"), name("j", "index")]
        return self.range(self.axes[0], rows), self.range(self.axes[1], columns)

    # --- rows ---

    def rows(self):
        """Rows that begin anywhere, in one block or in loops that go over them again."""
        random = self.random
        dtype = random.choice(["f32", "f32", "f16", "bf16", "i32", "i8", "f64", "u8"])
        rows = self.dim("M", [1, 2, 3, 5, 8])
        lengths = [1, 7, 8, 16, 33, 64, 100, 129, 250, 257, 511, 517]
        lengths += [1030, 1039, 2051, 4097, 8207, 12000]  # some a few elements over whole blocks
        length = self.dim("N", lengths, self.chance(0.5))
        behind = self.random.choice(["N", "N", "N + 1", "N + 3"])
        small = self.chance(0.5)
        self.isExact = not small
        inPlace = self.chance(0.35)
        x = self.tensor("inout" if inPlace else "in", dtype, "M", behind, small=small)
        y = x if inPlace else self.tensor("out", dtype, "M", behind)
        w = self.tensor("in", dtype, random.choice(["N", "N + 1"]), small=small)
        several = random.choice([0, 0, 1, 2, 4, 8])
        if several:
            place = Node("call", "index", (), [rows, plain(several)], name="cdiv")
            self.program.grid.append(("i", place))
            row = self.range(name("i", "index"), several)
        else:
            self.program.grid.append(("i", rows))
            row = ("int", name("i", "index"))
        axis = 1 if several else None
        size = self.program.dims["N"]
        block = random.choice(
            [16, 64, 128, 256, 256, 512, 512] if size < 1000 else [512, 1024, 4096]
        )
        if self.chance(0.6):  # the version without it has rows that begin anywhere
            self.special(f"N % {random.choice([8, 16])} == 0")
        if self.chance(0.25):
            tile = Node("call", "index", (), [length, plain(block)], name="cdiv")
            self.program.grid.append(("j", tile))
            n, body = self.range(name("j", "index"), block), self.body
            self.store(body, y, (row, n), self.mixed(self.row(x, row, n), None, w, n))
            return
        isWhole = block >= size and self.chance(0.7)
        isExact = small and dtype in ("f32", "f64", "i32", "f16")
        fold = random.choice(["max", "min"] + ["sum"] * (2 * isExact))
        if isWhole:
            self.program.contracts.append(f"N <= {block}")
            n, body = self.range(plain(0), block), self.body
            t = self.let(body, self.row(x, row, n))
            s = self.let(body, reduced(fold, t, axis))
            self.store(body, y, (row, n), self.mixed(t, s, w, n))
            return
        first = self.load(x, row, ("int", plain(0)))
        if fold == "sum":
            first = const(0.0 if isFloat(dtype) else 0, dtype, first.shape)
        first = self.let(self.body, first, "var")
        n, body = self.blocks(length, block)
        t = self.row(x, row, n)
        t = self.let(body, self.mixed(t, None, w, n) if self.chance(0.3) else t)
        merged = binary("+", first, reduced("sum", t, axis)) if fold == "sum" else None
        self.set(body, first, merged or call(fold, first, reduced(fold, t, axis)))
        for _ in range(random.choice([1, 1, 2])):
            n, body = self.blocks(length, block)
            t = self.let(body, self.row(x, row, n))
            self.store(body, y, (row, n), self.mixed(t, first, w, n))

    def row(self, x, row, n):
        made = self.load(x, row, n)
        if self.chance(0.3):
            made.attr["pad"] = 1
        return made

    def mixed(self, t, s, w, n):
        if self.chance(0.7):
            t = binary(self.random.choice("+-*"), t, self.load(w, n))
        if s is not None and self.chance(0.7):
            t = binary("-", t, column(s) if s.shape else s)
        return t

    # --- stencils ---

    def stencil(self):
        """Tiles that lie beside each other in one tensor."""
        random, self.isExact = self.random, True
        dtype = random.choice(["f32", "f16", "i32", "u8"])
        self.dim("M", [1, 5, 8, 16, 30]), self.dim("N", [1, 8, 33, 64, 128, 200])
        m, n = self.places(random.choice([4, 8, 16]), random.choice([16, 32, 64]))
        x = self.tensor("in", dtype, "M", "N")
        total = None
        for _ in range(random.choice([2, 3, 5])):
            starts = [
                binary(
                    "+", binary("*", axis, plain(part[2])), plain(random.choice([-1, 0, 0, 1, 2]))
                )
                for axis, part in zip(self.axes, (m, n))
            ]
            parts = [("at", start, part[2], 1, None, None) for start, part in zip(starts, (m, n))]
            access = Access(x, [], parts)
            tile = Node("load", dtype, (m[2], n[2]), access=access)
            total = tile if total is None else binary(random.choice("+-"), total, tile)
        self.store(self.body, self.tensor("out", dtype, "M", "N"), (m, n), total)


def draw(seed, size=1.0):
    """The program of a seed: every third is a tiled kernel."""
    return (Tiled if seed % 3 == 2 else Kernel)(seed, size).program
