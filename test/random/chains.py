"""Loops of products over blocks of memory: one, two that share an operand, chains of two and three,
rows that an index tile chooses. What lies in memory is small whole numbers, so every sum is exact.
"""

from program import Access, Node, Statement, Tensor

TILES = [16, 32, 48, 64, 17, 80, 96]
STEPS = [8, 16, 32, 48, 24]


def zeros(dtype, shape):
    return Node("const", dtype, shape, value=0 if dtype in ("i32", "index") else 0.0)


def dot(dtype, a, b, acc=None):
    shape = (a.shape[0], b.shape[1])
    return Node("call", dtype, shape, [a, b] + ([acc] if acc is not None else []), name="dot")


class Products:
    """Adds loops of products to a kernel; its tensors hold numbers from -2 to 2."""

    def __init__(self, kernel):
        self.kernel, self.random = kernel, kernel.random
        self.dtype = self.random.choice(["f16", "f16", "bf16", "bf16", "f32", "i8", "f8e4m3"])
        self.sum = "i32" if self.dtype == "i8" else "f32"
        self.m = self.range(self.random.choice(TILES))

    def word(self):
        """A dimension's name, or a number, as the extent of a tensor."""
        return self.random.choice(list(self.kernel.program.dims) + ["40", "33"])

    def range(self, size):
        """The name and size of a range of this program, which the body declares."""
        word = self.kernel.fresh("p")
        axis = Node("name", "index", (), name=self.kernel.program.grid[0][0])
        start = self.random.choice(
            [("block", axis, size), ("at", zeros("index", ()), size, 1, None, None)]
        )
        if start[0] == "at":
            start[1].attr["plain"] = True
        self.kernel.program.body.append(Statement("range", word, part=start))
        return word, size

    def tensor(self, *dims):
        made = Tensor(self.kernel.fresh("x"), "in", self.dtype, list(dims))
        made.small = True
        self.kernel.program.tensors.append(made)
        return made

    def load(self, tensor, rows, columns):
        """Rows by columns; half of the time from memory that has them the other way round."""
        access = Access(tensor, [], [("range", rows[0]), ("range", columns[0])])
        return Node("load", self.dtype, (rows[1], columns[1]), access=access)

    def operand(self, words, rows, columns):
        """A tile of a new tensor with these extents."""
        if self.kernel.chance(0.4):
            turned = self.load(self.tensor(words[1], words[0]), columns, rows)
            return Node(
                "permute", self.dtype, (rows[1], columns[1]), [turned], order=[1, 0], isT=True
            )
        return self.load(self.tensor(*words), rows, columns)

    def chosen(self, words, rows, columns):
        """As `operand`, but each row by a number from memory, some of which do not exist."""
        ids = Tensor(self.kernel.fresh("x"), "in", "i32", [self.word()])
        ids.small = True
        self.kernel.program.tensors.append(ids)
        places = Node("load", "i32", (rows[1],), access=Access(ids, [], [("range", rows[0])]))
        return Node(
            "rows",
            self.dtype,
            (rows[1], columns[1]),
            [places],
            tensor=self.tensor(*words),
            range=columns[0],
        )

    def sums(self, columns):
        word = self.kernel.fresh("v")
        shape = (self.m[1], columns)
        self.kernel.program.body.append(Statement("var", word, [zeros(self.sum, shape)]))
        self.kernel.variables.append((word, self.sum, shape, True))
        return Node("name", self.sum, shape, name=word)

    def loop(self, extent, statements, block):
        high = Node("name", "index", (), name=extent)
        if extent not in self.kernel.program.dims:
            high = Node("const", "index", (), value=int(extent), plain=True)
        low = Node("const", "index", (), value=0, plain=True)
        self.kernel.program.body.append(
            Statement("blocks", block[0], [low, high], [statements], size=block[1], low=False)
        )

    def add(self):
        """Loops, and an output for what each of them sums up."""
        known = set(v[0] for v in self.kernel.variables)
        self.random.choice([self.plain, self.plain, self.chain, self.chain])()
        for word in [v[0] for v in self.kernel.variables if v[0] not in known]:
            self.kernel.output(self.kernel.program.body, word)

    def plain(self):
        """acc = dot(a[m, k], b[k, n], acc), and perhaps a second one with the same a."""
        n, extent = self.range(self.random.choice(TILES)), self.word()
        block = (self.kernel.fresh("b"), self.random.choice(STEPS))
        form = self.chosen if self.kernel.chance(0.3) else self.operand
        a, name = form((self.word(), extent), self.m, block), self.kernel.fresh("v")
        left = Node("name", self.dtype, a.shape, name=name)
        statements = [Statement("let", name, [a])]
        for _ in range(self.random.choice([1, 1, 2])):
            acc = self.sums(n[1])
            b = self.operand((extent, self.word()), block, n)
            statements.append(Statement("set", acc.attr["name"], [dot(self.sum, left, b, acc)]))
        self.loop(extent, statements, block)

    def chain(self):
        """s = dot(q, k[n].T) in the sum's dtype; something element by element; acc = dot(s, v[n],
        acc), and perhaps a third product behind that.
        """
        extent, inner, wide = self.word(), self.random.choice(STEPS), self.random.choice(TILES)
        block = (self.kernel.fresh("b"), self.random.choice([16, 32, 48, 64, 80]))
        d, e = self.range(inner), self.range(wide)
        query = self.operand((self.word(), self.word()), self.m, d)
        q = self.kernel.fresh("v")
        self.kernel.program.body.append(Statement("let", q, [query]))
        acc = self.sums(wide)
        keys = self.operand((self.word(), extent), d, block)
        s = dot(self.sum, Node("name", self.dtype, query.shape, name=q), keys)
        statements = [self.let(self.narrow(self.masked(s, block)))]
        p = self.named(statements[-1])
        second = dot(
            self.sum,
            p,
            self.operand((extent, self.word()), block, e),
            acc if self.kernel.chance(0.5) else None,
        )
        if len(second.args) == 3:
            statements.append(Statement("set", acc.attr["name"], [second]))
        else:
            statements.append(self.let(self.narrow(second)))
            weights = self.operand((self.word(), self.word()), e, e)
            third = dot(self.sum, self.named(statements[-1]), weights, acc)
            statements.append(Statement("set", acc.attr["name"], [third]))
        self.loop(extent, statements, block)

    def let(self, value):
        return Statement("let", self.kernel.fresh("v"), [value])

    def named(self, statement):
        value = statement.args[0]
        return Node("name", value.dtype, value.shape, name=statement.name)

    def masked(self, s, block):
        """Positions past the diagonal, or none, become 0."""
        if self.kernel.chance(0.5):
            return s
        rows, columns = (
            Node("iota", "index", (size,), [zeros("index", ())], range=word)
            for word, size in (self.m, block)
        )
        column = Node(
            "subscript",
            "index",
            (self.m[1], 1),
            [rows],
            text=[":", "None"],
            index=(slice(None), None),
        )
        seen = Node(
            "binary", "bool", s.shape, [column, columns], op=self.random.choice([">=", "<"])
        )
        return Node("call", s.dtype, s.shape, [seen, s, zeros(s.dtype, ())], name="where")

    def narrow(self, s):
        """Between -8 and 8, in the operands' dtype."""
        low, high = (
            Node("const", s.dtype, (), value=v if s.dtype == "i32" else float(v)) for v in (-8, 8)
        )
        bounded = Node("call", s.dtype, s.shape, [s, low, high], name="clamp")
        return Node("cast", self.dtype, s.shape, [bounded]) if self.dtype != s.dtype else bounded
