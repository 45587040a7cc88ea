"""Kernels as people write them: a grid of tiles, loops of products that may be split, rows in one
block or in several loops, stencils, online softmax. Passes that look for a whole kernel's form see
little of it in statements that are drawn one by one. Every sum is exact: of small whole numbers, or
of powers of two of few bits.
"""

import numpy as np

from formats import isFloat
from generate import Generator
from leaves import const, name, plain
from program import Access, Node, Statement, Tensor
from statements import Kernel

LENGTHS = [1, 3, 8, 16, 33, 64, 65, 96, 100, 128, 130, 192, 200]
SIDES = [16, 32, 32, 48, 64, 64, 64, 80, 96, 128]
# Dtypes of the two operands of a product.
PAIRS = [("f16", "f16")] * 4 + [("bf16", "bf16"), ("f32", "f32"), ("i8", "i8"), ("f64", "f64")]
PAIRS += [("f8e4m3", "f8e4m3"), ("f8e5m2", "f8e5m2"), ("i8", "u8"), ("u8", "i8")]


class Merge:
    """The function that merges two states of an online softmax."""

    name, results = "joined", 3
    parameters = ["t1", "l1", "o1", "t2", "l2", "o2"]
    body = (
        "let t = max(t1, t2); let a = exp2(t1 - t); let b = exp2(t2 - t);"
        " return (t, l1 * a + l2 * b, o1 * a[:, None] + o2 * b[:, None]);"
    )


def binary(op, a, b, dtype=None):
    shape = np.broadcast_shapes(a.shape, b.shape)
    return Node("binary", dtype or a.dtype, shape, [a, b], op=op)


def call(word, *arguments, dtype=None):
    shape = np.broadcast_shapes(*(x.shape for x in arguments))
    return Node("call", dtype or arguments[-1].dtype, shape, list(arguments), name=word)


def cast(x, dtype):
    return x if x.dtype == dtype else Node("cast", dtype, x.shape, [x])


def column(x):
    """x[:, None]."""
    return Node(
        "subscript", x.dtype, (x.shape[0], 1), [x], text=[":", "None"], index=(slice(None), None)
    )


def turned(x):
    return Node("permute", x.dtype, x.shape[::-1], [x], order=[1, 0], isT=True)


def reduced(word, x, axis=None):
    shape = () if axis is None else tuple(n for d, n in enumerate(x.shape) if d != axis % 2)
    if len(x.shape) == 1:
        shape, axis = (), None
    named = {} if axis is None else {"axis": axis}
    return Node("call", x.dtype, shape, [x], name=word, named=named, reduces=True)


class Tiled(Generator):
    """A kernel of a seed: `program`."""

    def __init__(self, seed, size=1.0):
        super().__init__(seed, size)
        self.seed, self.body = seed, self.program.body
        self.isExact = False  # keeps to IEEE's rounding
        self.random.choice([self.product] * 3 + [self.rows] * 2 + [self.stencil, self.softmax])()
        self.limit()

    # --- parts ---

    def dim(self, word, lengths, multiple=True):
        value = self.random.choice(lengths)
        self.program.dims[word] = value
        if multiple and value and self.chance(0.6):
            fitting = [n for n in (2, 4, 8, 16) if value % n == 0]
            if fitting:
                self.program.contracts.append(f"{word} % {self.random.choice(fitting)} == 0")
        return name(word, "index")

    def tensor(self, access, dtype, *dims, small=True):
        """A parameter; of inputs, a few with strides of their own."""
        strides = ["*"] * len(dims) if access == "in" and self.chance(0.08) else None
        made = Tensor(self.fresh("x"), access, dtype, [str(d) for d in dims], strides)
        made.small = small
        self.program.tensors.append(made)
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
                self.random.choice(["warps(4)", "warps(8)", "consumers(1)", "consumers(2)"])
            )
        if self.chance(0.2) and not self.isExact:
            chosen.append('fp("fast")')
        self.program.attributes += chosen

    # --- products ---

    def product(self):
        """c = act(a · b + …) in tiles, each axis of the grid one of the result's."""
        random = self.random
        dtype, to = random.choice(PAIRS)
        total = {"i8": "i32", "u8": "i32", "f64": "f64"}.get(dtype, "f32")
        self.dim("M", LENGTHS), self.dim("N", LENGTHS)
        extent = self.dim("K", [0, 1, 8, 16, 33, 64, 96, 100, 128, 160])
        rows, columns, terms = (
            random.choice(SIDES),
            random.choice(SIDES),
            random.choice([16, 32, 64]),
        )
        m, n = self.places(rows, columns)
        a, b = (
            self.tensor("in", each, *(words[::-1] if turn else words))
            for each, words, turn in ((dtype, "MK", self.chance(0.3)), (to, "KN", self.chance(0.6)))
        )
        # Products of one operand may be joined; further ones may have rows of their own.
        others = [
            self.tensor("in", to, *b.dims)
            for _ in range(random.choice([0, 0, 0, 0, 1, 1, 1, 2, 2]))
        ]
        group = random.choice([terms, 2 * terms, 128])
        scale = self.tensor("in", total, f"cdiv(K, {group})") if self.chance(0.3) else None
        count = 1 if self.chance(0.15) else 1 + len(others)  # of sums
        sums = [
            self.let(self.body, const(0 if total == "i32" else 0.0, total, (rows, columns)), "var")
            for _ in range(count)
        ]
        attribute = random.choice(
            [None] * 5
            + ["split(2)", "split(3)", "split", "split(4)", "stages(2)", "stages(3)"]
            + ["split(16)", "split(24)"]  # merged in groups
        )
        parts = attribute.strip("split()") if attribute and attribute.startswith("split(") else ""
        if parts in ("2", "4") and self.chance(0.4):
            self.program.attributes.append(f"cluster({parts})")
        elif not attribute and self.chance(0.12):
            self.program.attributes += ["cluster(2)", "persistent"]
        elif parts and self.chance(0.3):
            self.program.attributes.append("persistent")
        chosen = None
        if self.chance(0.15):  # rows by numbers from memory, some of which do not exist
            chosen = self.let(self.body, self.load(self.tensor("in", "i32", "M"), m))
            a.dims = ["M", "K"]
        if self.chance(0.12):  # as many trips as memory says, maybe none
            trips = self.load(self.tensor("in", "i32", f"cdiv(M, {rows})"), ("int", self.axes[0]))
            seen = binary("+", binary("*", cast(trips, "index"), plain(terms)), plain(terms + 3))
            extent = self.let(self.body, call("min", extent, seen, dtype="index"))
        outer, twice = self.body, 1
        if attribute is None and self.chance(0.12):  # the loop inside of another
            loop = Statement(
                "for", self.fresh("g"), [plain(0), plain(random.choice([1, 2, 3]))], [[]]
            )
            self.body.append(loop)
            self.body = loop.bodies[0]
        elif (
            not parts and attribute != "split" and self.chance(0.08)
        ):  # two loops that add to the same sums
            twice = 2
        for _ in range(twice):
            k, body = self.blocks(extent, terms, attribute)
            self.trip(body, (a, b, others), (m, n, k), sums, (dtype, total), (scale, group), chosen)
        result = sums[0]
        for each in sums[1:]:
            result = binary("-", result, each)
        if self.body is not outer:
            if self.chance(0.5):
                shift = self.load(self.tensor("in", total, "N"), n)
                self.set(self.body, sums[0], binary("+", sums[0], shift))
            if self.chance(0.4):
                place = ("int", name(loop.name, "index"))
                to = self.tensor("out", total, loop.args[1].attr["value"], "M", "N")
                self.store(self.body, to, (place, m, n), result)
            self.body = outer
        self.finish(result, total, m, n)

    def trip(self, body, tensors, parts, sums, dtypes, scales, chosen):
        """What one trip of a product's loop adds to its sums."""
        random, (a, b, others), (m, n, k) = self.random, tensors, parts
        (dtype, total), (scale, group) = dtypes, scales
        left = self.operand(a, m, k, "MK")
        if chosen:
            left = Node("rows", dtype, left.shape, [chosen], tensor=a, range=k[1])
        if scale and self.chance(0.5) and not dtype.startswith("f8"):
            left = binary("*", left, cast(self.group(scale, k, group), dtype))
            scale = None
        left = self.let(body, left)
        factor = self.let(body, self.group(scale, k, group)) if scale else None
        pages = self.tensor("in", "i32", "K") if self.chance(0.12) else None
        if pages:
            b.dims = ["K", "N"]
        for i, source in enumerate([b, *others]):
            word = sums[i % len(sums)]
            right = self.operand(source, k, n, "KN")
            if pages and source is b:  # rows by numbers that each trip loads
                right = Node(
                    "rows", b.dtype, right.shape, [self.load(pages, k)], tensor=b, range=n[1]
                )
            first = left
            if i and self.chance(0.15):
                first = self.operand(a, m, k, "MK")
            if factor is None and self.chance(0.7):
                self.set(body, word, self.dot(total, first, right, word))
                continue
            value = self.dot(total, first, right)
            self.set(body, word, binary("*", value, factor) if factor else value, op="+")

    @staticmethod
    def dot(dtype, *arguments):
        shape = (arguments[0].shape[0], arguments[1].shape[1])
        return Node("call", dtype, shape, list(arguments), name="dot")

    def group(self, scale, k, length):
        start = Node("start", "index", (), range=k[1])
        return self.load(scale, ("int", binary("/", start, plain(length))))

    def operand(self, tensor, first, second, words):
        isStraight = list(tensor.dims) == list(words)
        made = self.load(tensor, *((first, second) if isStraight else (second, first)))
        if self.chance(0.06):
            made.attr["pad"] = 1
        return made if isStraight else turned(made)

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

    def finish(self, result, total, m, n):
        """What is computed with a tile, and where it goes."""
        random, (i, j) = self.random, self.axes
        zero = const(0 if total == "i32" else 0.0, total)

        def bias(x):
            return binary("+", x, self.load(self.tensor("in", total, "N"), n))

        def weigh(x):
            return binary("*", x, column(self.load(self.tensor("in", total, "M"), m)))

        def number(x):
            which = random.choice([i, j, binary("/", i, plain(2)), binary("%", j, plain(2))])
            block = binary("/", binary("*", i, plain(m[2])), plain(128))
            return binary("+", x, cast(random.choice([which, block]), total))

        def place(x):
            return binary("+", x, column(self.positions(m, total)))

        def triangle(x):
            seen = binary(
                random.choice([">=", "<"]),
                column(self.positions(m, "index")),
                self.positions(n, "index"),
                "bool",
            )
            return Node("call", total, x.shape, [seen, x, zero], name="where")

        def within(x):
            word = random.choice(["max", "min"])
            return Node("call", total, x.shape, [x, zero], name=word)

        def before(x):
            """In place: what stood there, and the sum."""
            tensor = self.tensor("inout", total, "M", "N")
            x = self.let(self.body, binary("+", x, self.load(tensor, m, n)))
            self.store(self.body, tensor, (m, n), x)
            return x

        steps = [bias, weigh, number, place, triangle, within, before]
        for step in random.sample(steps, random.choice([0, 0, 1, 1, 2, 3])):
            result = self.let(self.body, step(result))
        to = random.choice([total, total, "f16", "i32", "f64"])
        plus = (
            result if total == "i32" else binary("+", result, zero)
        )  # sums of -0 have either sign
        outputs = random.sample(["rows", "sums", "one", "turned"], random.choice([0, 0, 1, 2]))
        if "rows" in outputs:
            made = self.tensor("out", total, "M", f"cdiv(N, {n[2]})")
            self.store(self.body, made, (m, ("int", j)), reduced("max", result, 1))
        if "sums" in outputs:
            made = self.tensor("out", total, f"cdiv(M, {m[2]})", "N")
            self.store(self.body, made, (("int", i), n), reduced("sum", plus, 0))
        if "one" in outputs:
            made = self.tensor("out", total, f"cdiv(M, {m[2]})", f"cdiv(N, {n[2]})")
            self.store(self.body, made, (("int", i), ("int", j)), reduced("sum", plus))
        if "turned" in outputs:
            self.store(self.body, self.tensor("out", to, "N", "M"), (n, m), turned(result))
        self.store(self.body, self.tensor("out", to, "M", "N"), (m, n), result)

    # --- rows ---

    def rows(self):
        """Rows that begin anywhere, in one block or in loops that go over them again."""
        random = self.random
        dtype = random.choice(["f32", "f32", "f16", "bf16", "i32", "i8", "f64", "u8"])
        rows = self.dim("M", [1, 2, 3, 5, 8])
        length = self.dim("N", [1, 7, 8, 16, 33, 64, 100, 129, 250, 257, 511], self.chance(0.5))
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
        block = random.choice([16, 64, 128, 256, 256, 512, 512])
        size = self.program.dims["N"]
        if self.chance(0.6):  # the version without it has rows that begin anywhere
            self.program.special.append(f"N % {random.choice([8, 16])} == 0")
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
        t = self.let(body, self.row(x, row, n))
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

    # --- online softmax ---

    def softmax(self):
        """Scores from -6 to 6, whose powers of two and their sums have few bits."""
        random = self.random
        dtype = random.choice(["f16", "bf16"])
        self.dim("M", [1, 16, 33, 64, 100, 130])
        length = self.dim("L", [1, 16, 64, 65, 100, 200])
        wide, rows = random.choice([16, 32, 64]), random.choice([16, 32, 64, 64, 128])
        step = random.choice([16, 32, 64])
        place = Node("call", "index", (), [name("M", "index"), plain(rows)], name="cdiv")
        self.program.grid.append(("i", place))
        m = self.range(name("i", "index"), rows)
        d = self.range(plain(0), wide)
        keys, values = (self.tensor("in", dtype, "L", wide) for _ in range(2))
        q = self.let(self.body, self.load(self.tensor("in", dtype, "M", wide), m, d))
        # A part without a score must change nothing, and infinities of one sign have no difference.
        isSplit = self.chance(0.3)
        low = -100.0 if isSplit or self.chance(0.7) else float("-inf")
        top = self.let(self.body, const(low, "f32", (rows,)), "var")
        den = self.let(self.body, const(0.0, "f32", (rows,)), "var")
        acc = self.let(self.body, const(0.0, "f32", (rows, wide)), "var")
        attribute = None
        if isSplit:
            self.program.functions = self.program.functions + [Merge]
            parts = random.choice(["", "2, ", "3, ", "8, "])
            attribute = f"split({parts}merge: joined)"
        k, body = self.blocks(length, step, attribute)
        s = self.dot("f32", q, turned(self.load(keys, k, d)))
        s = Node("call", "f32", s.shape, [s, const(-6.0, "f32"), const(6.0, "f32")], name="clamp")
        s = self.let(body, s)
        seen = Node("inside", "bool", (step,), access=self.access(keys, (k, ("int", plain(0)))))
        if self.chance(0.5):
            diagonal = binary(
                ">=", column(self.positions(m, "index")), self.positions(k, "index"), "bool"
            )
            seen = binary("&&", seen, diagonal)
        s = self.let(
            body, Node("call", "f32", s.shape, [seen, s, const(float("-inf"), "f32")], name="where")
        )
        high = self.let(body, call("max", top, reduced("max", s, 1)))
        if attribute is None and self.chance(0.5):  # lazily
            few = self.let(body, binary("<=", binary("-", high, top), const(4.0, "f32"), "bool"))
            t = self.let(body, Node("call", "f32", (rows,), [few, top, high], name="where"))
            r = Node("call", "f32", (rows,), [binary("-", top, high)], name="exp2")
            r = Node("call", "f32", (rows,), [few, const(1.0, "f32"), r], name="where")
        else:
            t = high
            r = Node("call", "f32", (rows,), [binary("-", top, high)], name="exp2")
        r = self.let(body, r)
        p = Node("call", "f32", s.shape, [binary("-", s, column(t))], name="exp2")
        p = self.let(body, p)
        self.set(body, den, binary("+", binary("*", den, r), reduced("sum", p, 1)))
        v = self.load(values, k, d)
        self.set(body, acc, self.dot("f32", cast(p, dtype), v, binary("*", acc, column(r))))
        self.set(body, top, t)
        # A quotient is exact only without fp("fast"), the parts only where the maximum is.
        self.isExact = self.chance(0.7)
        if self.isExact or t is not high:
            self.isExact, acc = True, binary("/", acc, column(den))
        else:
            self.store(self.body, self.tensor("out", "f32", "M"), (m,), den)
        self.store(self.body, self.tensor("out", "f32", "M", wide), (m, d), acc)


def draw(seed, size=1.0):
    """The program of a seed: every third is a tiled kernel."""
    return (Tiled if seed % 3 == 2 else Kernel)(seed, size).program
