"""Products in tiles: loops over blocks of terms that may be split, nested or gathered, and what is
computed with their sums. Every sum is of small whole numbers.
"""

from leaves import const, name, plain
from nodes import binary, call, cast, column, dot, reduced, turned
from program import Node, Statement

LENGTHS = [1, 3, 8, 16, 33, 64, 65, 96, 100, 128, 130, 192, 200]
SIDES = [16, 32, 32, 48, 64, 64, 64, 80, 96, 128]
# Dtypes of the two operands of a product.
PAIRS = [("f16", "f16")] * 4 + [("bf16", "bf16"), ("f32", "f32"), ("i8", "i8"), ("f64", "f64")]
PAIRS += [("f8e4m3", "f8e4m3"), ("f8e5m2", "f8e5m2"), ("i8", "u8"), ("u8", "i8")]

WIDE = ["f16", "bf16"]


class Products:
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
        # Weights of 8 bits are widened in each trip.
        weights = random.choice(["i8", "u8"]) if to in WIDE and self.chance(0.15) else to
        a, b = (
            self.tensor("in", each, *(words[::-1] if turn else words))
            for each, words, turn in (
                (dtype, "MK", self.chance(0.3)),
                (weights, "KN", self.chance(0.6)),
            )
        )
        # Products of one operand may be joined; further ones may have rows of their own.
        others = [
            self.tensor("in", weights, *b.dims)
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
            self.trip(
                body, (a, b, others), (m, n, k), sums, (dtype, to, total), (scale, group), chosen
            )
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
        (a, b, others), (m, n, k) = tensors, parts
        (dtype, to, total), (scale, group) = dtypes, scales
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
            right = cast(self.operand(source, k, n, "KN"), to)
            if pages and source is b:  # rows by numbers that each trip loads
                chosen = self.load(pages, k)
                right = Node("rows", b.dtype, right.shape, [chosen], tensor=b, range=n[1])
                right = cast(right, to)
            first = left
            if i and self.chance(0.15):
                first = self.operand(a, m, k, "MK")
            if factor is None and self.chance(0.7):
                self.set(body, word, dot(total, first, right, word))
                continue
            value = dot(total, first, right)
            self.set(body, word, binary("*", value, factor) if factor else value, op="+")

    def group(self, scale, k, length):
        start = Node("start", "index", (), range=k[1])
        return self.load(scale, ("int", binary("/", start, plain(length))))

    def operand(self, tensor, first, second, words):
        isStraight = list(tensor.dims) == list(words)
        made = self.load(tensor, *((first, second) if isStraight else (second, first)))
        if self.chance(0.06):
            made.attr["pad"] = 1
        return made if isStraight else turned(made)

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
