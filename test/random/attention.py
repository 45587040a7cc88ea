"""Online softmax, and products in a row as of its gradients. Scores are powers of two of few bits,
or small whole numbers, so that every sum is exact.
"""

from leaves import const, name, plain
from nodes import binary, call, cast, column, dot, reduced, row, turned
from program import Node


class Merge:
    """The function that merges two states of an online softmax."""

    name, results = "joined", 3
    parameters = ["t1", "l1", "o1", "t2", "l2", "o2"]
    body = (
        "let t = max(t1, t2); let a = exp2(t1 - t); let b = exp2(t2 - t);"
        " return (t, l1 * a + l2 * b, o1 * a[:, None] + o2 * b[:, None]);"
    )


class Attention:
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
        s = dot("f32", q, turned(self.load(keys, k, d)))
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
        self.set(body, acc, dot("f32", cast(p, dtype), v, binary("*", acc, column(r))))
        self.set(body, top, t)
        # A quotient is exact only without fp("fast"), the parts only where the maximum is.
        self.isExact = self.chance(0.7)
        if self.isExact or t is not high:
            self.isExact, acc = True, binary("/", acc, column(den))
        else:
            self.store(self.body, self.tensor("out", "f32", "M"), (m,), den)
        self.store(self.body, self.tensor("out", "f32", "M", wide), (m, d), acc)

    # --- gradients ---

    def gradients(self):
        """Of attention, of keys and values in one block of rows: five products in a trip, four of
        which have operands that another one reads, vectors of what the trip goes over, and perhaps
        a store of what it has computed for its own block.
        """
        random = self.random
        dtype = random.choice(["f16", "bf16"])
        self.dim("M", [1, 16, 33, 64, 100, 130])
        length = self.dim("L", [1, 16, 64, 65, 100, 200])
        wide, rows = random.choice([16, 32, 64, 128]), random.choice([16, 32, 64, 64, 128])
        step = random.choice([16, 32, 64])
        self.program.grid.append(("i", call("cdiv", name("M", "index"), plain(rows))))
        m = self.range(name("i", "index"), rows)
        d = self.range(plain(0), wide)
        keys, values = (self.tensor("in", dtype, "M", wide) for _ in range(2))
        queries, outer = (self.tensor("in", dtype, "L", wide) for _ in range(2))
        vectors = [self.tensor("in", "f32", "L") for _ in range(random.choice([0, 1, 2, 2]))]
        k, v = (self.let(self.body, self.load(tensor, m, d)) for tensor in (keys, values))
        sums = [self.let(self.body, const(0.0, "f32", (rows, wide)), "var") for _ in range(2)]
        l, body = self.blocks(length, step, random.choice([None] * 3 + ["stages(2)"]))
        q, o = (self.let(body, self.load(tensor, l, d)) for tensor in (queries, outer))

        def within(x):
            return Node(
                "call", "f32", x.shape, [x, const(-3.0, "f32"), const(3.0, "f32")], name="clamp"
            )

        isTurned = self.chance(0.7)  # scores of keys by queries
        pair = (
            (lambda x, y: dot("f32", x, turned(y)))
            if isTurned
            else (lambda x, y: dot("f32", y, turned(x)))
        )
        along = (lambda x: row(x)) if isTurned else column
        s = within(pair(k, q))
        if vectors:
            s = binary("*", s, along(self.load(vectors[0], l)))
        if self.chance(0.4):
            first, second = column(self.positions(m, "index")), row(self.positions(l, "index"))
            if not isTurned:
                first, second = row(self.positions(m, "index")), column(self.positions(l, "index"))
            seen = binary(random.choice(["<=", ">="]), first, second, "bool")
            s = Node("call", "f32", s.shape, [seen, s, const(0.0, "f32")], name="where")
        p = self.let(body, s)
        e = within(pair(v, o))
        if len(vectors) > 1:
            e = binary("-", e, along(self.load(vectors[1], l)))
        e = self.let(body, cast(binary("*", p, e), dtype))
        p = self.let(body, cast(p, dtype))
        toKeys = (lambda x: x) if isTurned else turned
        steps = [
            lambda: self.set(body, sums[0], dot("f32", toKeys(p), o, sums[0])),
            lambda: self.set(body, sums[1], dot("f32", toKeys(e), q, sums[1])),
        ]
        if self.chance(0.6):
            made = self.tensor("out", "f32", f"cdiv(M, {rows})", "L", wide)
            back = lambda: dot("f32", turned(toKeys(e)), k)
            steps.append(
                lambda: self.store(body, made, (("int", name("i", "index")), l, d), back())
            )
        random.shuffle(steps)
        for each in steps:
            each()
        for each in sums:
            self.store(self.body, self.tensor("out", "f32", "M", wide), (m, d), each)
