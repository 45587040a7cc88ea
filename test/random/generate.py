"""Makes well-typed kernels from a seed. Every operation in them has one answer to the bit: floats
are only summed up and multiplied as small integers, so that no order of additions shows.
"""

import random

import numpy as np

import ordering
import program as p
from formats import FLOATS, INTEGERS, VALUES, anyValues, bounds, isFloat, roundTo, specials
from program import Access, Node, Program, Statement, Tensor

EXTENTS = [1, 2, 3, 4, 5, 7, 8, 12, 16, 17, 32, 33]
DTYPES = INTEGERS + FLOATS + ["i32", "i32", "f32", "f32", "i64", "f16", "bf16"]
SMALL = 1500  # elements of a tile


class Function:
    """A function of the program: its text, and what it does to arrays."""

    def __init__(self, name, parameters, body, apply, results=1):
        self.name, self.parameters, self.body, self.apply, self.results = (
            name,
            parameters,
            body,
            apply,
            results,
        )


def lesser(x, dtype):
    return np.where(p.binary("<", x[0], x[1], dtype), p.binary("-", x[0], x[1], dtype), x[0])


def both(x, dtype):
    return p.binary("+", x[0], x[1], dtype), p.binary(
        "*", p.binary("-", x[0], x[1], dtype), x[1], dtype
    )


FUNCTIONS = [
    Function("lesser", ["a", "b"], "let t = a - b; return where(a < b, t, a);", lesser),
    Function("both", ["a", "b"], "var t = a - b; t *= b; return (a + b, t);", both, 2),
    Function("after", ["a1", "b1", "a2", "b2"], "return (a1 * a2, b1 * a2 + b2);", None, 2),
    Function("keepFirst", ["a", "b"], "return a;", None),
    Function("keepLast", ["a", "b"], "return b;", None),
]


def const(value, dtype, shape=()):
    return Node("const", dtype, shape, value=value)


def plain(value):
    """A number without a dtype, to stand where it becomes an index."""
    return Node("const", "index", (), value=value, plain=True)


def name(word, dtype, shape=()):
    return Node("name", dtype, shape, name=word)


class Generator:
    def __init__(self, seed, size=1.0):
        self.random, self.size = random.Random(seed), size
        self.program, self.counter = Program(), 0
        self.program.functions = list(FUNCTIONS)
        self.variables, self.ranges = [], []  # (name, dtype, shape, mutable), (name, size)
        self.left = int(70 * size)

    def fresh(self, prefix):
        self.counter += 1
        return f"{prefix}{self.counter}"

    def chance(self, probability):
        return self.random.random() < probability

    # --- expressions ---

    def constant(self, dtype, shape=()):
        if dtype == "bool":
            return const(self.chance(0.5), dtype, shape)
        if isFloat(dtype):
            pool = [0.0, 1.0, -1.0, 2.0, 0.5, -3.0, 0.1, 7.25, 100.0, float("inf"), 1e-5]
            return const(self.random.choice(pool), dtype, shape)
        low, high = (-20, 60) if dtype == "index" else bounds(dtype)
        pool = [
            v
            for v in (0, 1, 2, 3, 5, 7, -1, -2, 8, 13, 31, high, low)
            if low <= v <= high and abs(v) < 2**63
        ]
        return const(self.random.choice(pool), dtype, shape)

    def small(self, dtype, shape, depth):
        """A float tile of small integers and perhaps NaN, never -0."""
        x = self.expression(dtype, shape, depth)
        x = Node("call", dtype, shape, [x], name="round")
        x = Node("call", dtype, shape, [x, const(-8.0, dtype), const(8.0, dtype)], name="clamp")
        return Node("binary", dtype, shape, [x, const(0.0, dtype)], op="+")

    def index(self, depth=1):
        """A position or extent near the tensors'."""
        choice = self.random.randrange(8)
        known = (
            [name(word, "index") for word in self.program.dims]
            + [name(word, "index") for word, _ in self.program.grid]
            + [
                name(word, "index")
                for word, dtype, shape, _ in self.variables
                if dtype == "index" and shape == ()
            ]
        )
        if choice < 2 or not known or depth <= 0:
            return plain(self.random.choice([0, 0, 1, 2, 3, 5, -1, -3, 9]))
        if choice < 4:
            return self.random.choice(known)
        if choice == 4:
            x = self.load("i32", ())
            if x is not None:
                return Node("cast", "index", (), [x])
        op = self.random.choice(["+", "-", "*", "/", "%", "min", "max", "+", "-"])
        a, b = self.index(depth - 1), self.index(depth - 1)
        if a.kind == "const" and b.kind == "const":
            a = self.random.choice(known)
        if op in ("min", "max"):
            return Node("call", "index", (), [a, b], name=op)
        return Node("binary", "index", (), [a, b], op=op)

    def operand(self, dtype, shape, depth):
        """An expression that broadcasts to the shape."""
        if shape and self.chance(0.25):
            part = tuple(
                1 if self.chance(0.4) else n for n in shape[self.random.randrange(len(shape) + 1) :]
            )
            return self.expression(dtype, part, depth)
        return self.expression(dtype, shape, depth)

    def pair(self, dtype, shape, depth):
        """Two operands that together have the shape."""
        a, b = self.expression(dtype, shape, depth), self.operand(dtype, shape, depth)
        return [a, b] if self.chance(0.7) else [b, a]

    def expression(self, dtype, shape, depth):
        self.left -= 1
        shape = tuple(shape)
        if depth <= 0 or self.left < 0:
            return self.leaf(dtype, shape)
        for _ in range(6):
            made = self.random.choice(self.makers(dtype, shape))(dtype, shape, depth - 1)
            if made is not None:
                return made
        return self.leaf(dtype, shape)

    def makers(self, dtype, shape):
        makers = [self.leafOrNone, self.where, self.shaped, self.sliced]
        if shape:
            makers += [self.joined, self.ordered] + [self.gathered] * (dtype != "index")
        if dtype == "bool":
            return makers + [self.comparison, self.comparison, self.logic, self.inside, self.anyAll]
        makers += [self.arithmetic] * 5 + [self.called] * 2
        if shape == () or len(shape) < 3:
            makers += [self.reduction] * 2
        if shape:
            makers += [self.scanned, self.taken]
        if dtype == "index":
            return makers + [self.position, self.iota]
        makers += [self.converted] * 2 + [self.viaFunction]
        if len(shape) == 2 and dtype in ("f32", "i32", "f16", "f64"):
            makers += [self.product] * 2
        return makers

    def leafOrNone(self, dtype, shape, depth):
        return self.leaf(dtype, shape) if self.chance(0.5) else None

    def leaf(self, dtype, shape):
        fitting = [v for v in self.variables if v[1] == dtype and v[2] == shape]
        if fitting and self.chance(0.6):
            return name(self.random.choice(fitting)[0], dtype, shape)
        if dtype == "index":
            if len(shape) == 1:
                return self.iota(dtype, shape, 0) or Node("iota", "index", shape)
            if shape == ():
                made = self.index()
                return const(made.attr["value"], "index") if made.kind == "const" else made
            return const(self.random.randrange(9), dtype, shape)
        if self.chance(0.8):
            made = self.load(dtype, shape)
            if made is not None:
                return made
        return self.constant(dtype, shape)

    def arithmetic(self, dtype, shape, depth):
        if self.chance(0.15):
            op = "-" if isFloat(dtype) else self.random.choice("-~")
            return Node("unary", dtype, shape, [self.expression(dtype, shape, depth)], op=op)
        ops = (
            ["+", "-", "*", "/"]
            if isFloat(dtype)
            else ["+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>"]
        )
        return Node(
            "binary", dtype, shape, self.pair(dtype, shape, depth), op=self.random.choice(ops)
        )

    def called(self, dtype, shape, depth):
        both = ["min", "max"]
        if isFloat(dtype):
            word = self.random.choice(
                both
                + [
                    "abs",
                    "sign",
                    "floor",
                    "ceil",
                    "round",
                    "trunc",
                    "sqrt",
                    "minnum",
                    "maxnum",
                    "clamp",
                    "fma",
                ]
            )
        else:
            word = self.random.choice(
                both
                + ["abs", "sign", "clamp", "cdiv", "popcount", "clz", "next_pow2"]
                + ["mulhi"] * (dtype != "index")
            )
        if word in ("min", "max", "minnum", "maxnum", "cdiv", "mulhi"):
            return Node("call", dtype, shape, self.pair(dtype, shape, depth), name=word)
        if word in ("clamp", "fma"):
            return Node(
                "call",
                dtype,
                shape,
                self.pair(dtype, shape, depth) + [self.operand(dtype, shape, depth)],
                name=word,
            )
        return Node("call", dtype, shape, [self.expression(dtype, shape, depth)], name=word)

    def where(self, dtype, shape, depth):
        return Node(
            "call",
            dtype,
            shape,
            [self.operand("bool", shape, depth)] + self.pair(dtype, shape, depth),
            name="where",
        )

    def comparison(self, dtype, shape, depth):
        of = self.random.choice(DTYPES + ["index"] * 4)
        return Node(
            "binary",
            "bool",
            shape,
            self.pair(of, shape, depth),
            op=self.random.choice(["==", "!=", "<", "<=", ">", ">="]),
        )

    def logic(self, dtype, shape, depth):
        if self.chance(0.2):
            return Node("unary", "bool", shape, [self.expression("bool", shape, depth)], op="!")
        return Node(
            "binary",
            "bool",
            shape,
            self.pair("bool", shape, depth),
            op=self.random.choice(["&&", "||", "==", "!="]),
        )

    def larger(self, shape):
        """The shape with one more axis, and which that is."""
        axis = self.random.randrange(len(shape) + 1)
        size = int(np.prod(shape))
        extents = [n for n in EXTENTS if n * size <= SMALL]
        return (
            (shape[:axis] + (self.random.choice(extents),) + shape[axis:], axis)
            if extents
            else (None, 0)
        )

    def reduction(self, dtype, shape, depth):
        wide, axis = self.larger(shape)
        if wide is None:
            return None
        named = (
            {}
            if shape == () and self.chance(0.5)
            else {"axis": str(axis if self.chance(0.7) else axis - len(wide))}
        )
        if dtype == "index" and self.chance(0.7):
            word = self.random.choice(["argmax", "argmin", "count"])
            source = "bool" if word == "count" else self.random.choice(DTYPES)
            return Node(
                "call",
                "index",
                shape,
                [self.expression(source, wide, depth)],
                name=word,
                named=named,
                reduces=True,
            )
        if isFloat(dtype) and self.chance(0.4):
            return Node(
                "call",
                dtype,
                shape,
                [self.small(dtype, wide, depth)],
                name="sum",
                named=named,
                reduces=True,
            )
        words = ["max", "min"] + (
            ["sum", "sum", "prod"] if dtype in ("i32", "u32", "i64", "u64", "index") else []
        )
        return Node(
            "call",
            dtype,
            shape,
            [self.expression(dtype, wide, depth)],
            name=self.random.choice(words),
            named=named,
            reduces=True,
        )

    def anyAll(self, dtype, shape, depth):
        wide, axis = self.larger(shape)
        if wide is None or len(wide) > 3:
            return None
        return Node(
            "call",
            "bool",
            shape,
            [self.expression("bool", wide, depth)],
            name=self.random.choice(["any", "all"]),
            named={"axis": str(axis)},
            reduces=True,
        )

    def scanned(self, dtype, shape, depth):
        axis, reverse = self.random.randrange(len(shape)), self.chance(0.3)
        if dtype in ("i32", "u32", "i64", "u64") and self.chance(0.3):
            return self.recurrence(dtype, shape, depth, axis, reverse)
        if self.chance(0.5) or dtype in ("i8", "i16", "u8", "u16"):
            word = self.random.choice(["max", "min", "keepFirst", "keepLast"])
            return Node(
                "scan",
                dtype,
                shape,
                [self.expression(dtype, shape, depth)],
                function=word,
                axis=axis,
                reverse=reverse,
            )
        named = {"axis": str(axis), **({"reverse": "true"} if reverse else {})}
        operand = (
            self.small(dtype, shape, depth)
            if isFloat(dtype)
            else self.expression(dtype, shape, depth)
        )
        return Node(
            "call",
            dtype,
            shape,
            [operand],
            name="cumsum" if isFloat(dtype) else self.random.choice(["cumsum", "cumprod"]),
            named=named,
        )

    def recurrence(self, dtype, shape, depth, axis, reverse):
        """A member of the scan of pairs by `after`, which is associative but does not commute."""
        part = self.random.randrange(2)

        def run(_, a, b):
            a, b = np.moveaxis(a.copy(), axis, 0), np.moveaxis(b.copy(), axis, 0)
            order = range(len(a) - 2, -1, -1) if reverse else range(1, len(a))
            with np.errstate(all="ignore"):
                for i in order:  # what has been accumulated is on the left; reversed, on the right
                    a1, b1, a2, b2 = (
                        (a[i], b[i], a[i + 1], b[i + 1])
                        if reverse
                        else (a[i - 1], b[i - 1], a[i], b[i])
                    )
                    a[i], b[i] = a1 * a2, b1 * a2 + b2
            return np.moveaxis((a, b)[part], 0, axis)

        operands = [self.expression(dtype, shape, depth) for _ in range(2)]
        template = (
            "scan(after, ({0}, {1}), axis:"
            f" {axis}{', reverse: true' if reverse else ''})[{part}]"
        )
        return Node("form", dtype, shape, operands, template=template, function=run)

    def taken(self, dtype, shape, depth):
        if len(shape) > 2:
            return None
        axis = self.random.randrange(len(shape))
        source = list(shape)
        source[axis] = self.random.choice(EXTENTS)
        if np.prod(source) > SMALL:
            return None
        where = self.expression(
            self.random.choice(["i32", "index", "u8", "i64"]), (shape[axis],), depth
        )
        return Node("take", dtype, shape, [self.expression(dtype, source, depth), where], axis=axis)

    def shaped(self, dtype, shape, depth):
        kind = self.random.randrange(3)
        if kind == 0 and len(shape) >= 2:
            if self.chance(0.5):
                order = list(range(len(shape)))
                order[-1], order[-2] = order[-2], order[-1]
                isT = True
            else:
                order, isT = self.random.sample(range(len(shape)), len(shape)), False
            source = [0] * len(shape)
            for i, d in enumerate(order):
                source[d] = shape[i]
            return Node(
                "permute",
                dtype,
                shape,
                [self.expression(dtype, source, depth)],
                order=order,
                isT=isT,
            )
        if kind == 1 and shape:
            size = int(np.prod(shape))
            splits = [(a, size // a) for a in range(1, size + 1) if size % a == 0]
            source = self.random.choice([(size,)] + splits)
            return Node("reshape", dtype, shape, [self.expression(dtype, source, depth)])
        if kind == 2 and shape:
            source = tuple(
                1 if self.chance(0.4) else n for n in shape[self.random.randrange(len(shape)) :]
            )
            return Node("broadcast", dtype, shape, [self.expression(dtype, source, depth)])
        return None

    def sliced(self, dtype, shape, depth):
        """Constant subscripts of a tile: positions, slices, new dimensions."""
        source, words, index, rest = [], [], [], list(shape)
        for n in rest:
            if n == 1 and self.chance(0.4):
                words.append("None")
                index.append(None)
                continue
            if self.chance(0.15):
                extent = self.random.choice([1, 2, 3, 4])
                at = self.random.randrange(extent)
                source.append(extent)
                words.append(str(at))
                index.append(at)
            low = self.random.choice([0, 0, 1, 2])
            high = low + n
            source.append(high + self.random.choice([0, 0, 1, 3]))
            whole = low == 0 and source[-1] == high
            words.append(":" if whole else f"{low}..{high}")
            index.append(slice(low, high))
        if not source or len(source) > 3 or np.prod(source) > SMALL or all(w == ":" for w in words):
            return None
        return Node(
            "subscript",
            dtype,
            shape,
            [self.expression(dtype, source, depth)],
            text=words,
            index=tuple(index),
        )

    def converted(self, dtype, shape, depth):
        source = self.random.choice(DTYPES + ["index", "bool"])
        if source == dtype:
            return None
        same = {
            "f32": ["i32", "u32"],
            "f16": ["i16", "u16"],
            "bf16": ["i16"],
            "f64": ["u64"],
            "i32": ["u32"],
            "u16": ["i16"],
        }
        if self.chance(0.2) and dtype in same:
            return Node(
                "bitcast",
                dtype,
                shape,
                [self.expression(self.random.choice(same[dtype]), shape, depth)],
            )
        return Node("cast", dtype, shape, [self.expression(source, shape, depth)])

    def position(self, dtype, shape, depth):
        if shape == () and self.ranges and self.chance(0.5):
            word, size = self.random.choice(self.ranges)
            return Node(
                "subscript",
                "index",
                (),
                [Node("iota", "index", (size,), [const(0, "index")], range=word)],
                text=["0"],
                index=(0,),
            )
        made = self.index(2) if shape == () else None
        return made if made is not None and made.kind != "const" else None

    def iota(self, dtype, shape, depth):
        fitting = [word for word, size in self.ranges if (size,) == shape]
        if fitting and self.chance(0.7):
            return Node(
                "iota", "index", shape, [const(0, "index")], range=self.random.choice(fitting)
            )
        return Node("iota", "index", shape) if len(shape) == 1 else None

    def viaFunction(self, dtype, shape, depth):
        operands = self.pair(dtype, shape, depth)
        if self.chance(0.5):
            return Node(
                "tuple",
                dtype,
                shape,
                operands,
                name="both",
                function=FUNCTIONS[1],
                index=self.random.randrange(2),
            )
        return Node("call", dtype, shape, operands, name="lesser", function=FUNCTIONS[0])

    def product(self, dtype, shape, depth):
        m, n = shape
        k = self.random.choice([x for x in EXTENTS if x * max(m, n) <= SMALL and x <= 33] or [1])
        transposed = self.chance(0.4)
        source = {
            "f32": ["f16", "bf16", "f32", "f8e4m3", "f8e5m2"],
            "i32": ["i8", "u8"],
            "f16": ["f16"],
            "f64": ["f64"],
        }[dtype]
        source = self.random.choice(source)
        if dtype == "f16" and k > 16:
            return None
        held = "f32" if source.startswith("f8") else source

        def operand(form):
            x = (
                self.small(held, form, depth)
                if isFloat(held)
                else self.expression(held, form, depth)
            )
            return Node("cast", source, form, [x]) if held != source else x

        a = operand((m, k))
        b = (
            Node("permute", source, (k, n), [operand((n, k))], order=[1, 0], isT=True)
            if transposed
            else operand((k, n))
        )
        arguments = [a, b]
        if dtype == "f16" or self.chance(0.6):
            arguments.append(
                self.small(dtype, shape, depth)
                if isFloat(dtype)
                else self.expression(dtype, shape, depth)
            )
        return Node("call", dtype, shape, arguments, name="dot")

    # --- accesses ---

    def subscripts(self, shape, rank):
        """Ranges for the kept dimensions, integers for as many others as the tensor has more; None
        if it has fewer.
        """
        if rank < len(shape):
            return None
        dropped = set(self.random.sample(range(rank), rank - len(shape)))
        parts, sizes = [], list(shape)
        for d in range(rank):
            if d in dropped:
                parts.append(("int", self.index()))
                continue
            n = sizes.pop(0)
            fitting = [word for word, size in self.ranges if size == n]
            if fitting and self.chance(0.7):
                parts.append(("range", self.random.choice(fitting)))
            else:
                parts.append(self.span(n))
        return parts

    def span(self, n):
        if self.chance(0.3):
            return ("block", self.index(), n)
        end = self.index() if self.chance(0.3) else None
        shift = self.index() if self.chance(0.15) else None
        return ("at", self.index(), n, self.random.choice([1, 1, 1, 2, 3]), end, shift)

    def view(self, tensor, dims):
        """Steps of a sub-view and the rank that is left."""
        steps, rank = [], dims
        while rank and self.chance(0.2) and len(steps) < 2:
            kind = self.random.randrange(3)
            if kind == 0 and rank >= 2:
                steps.append(("T",))
            elif kind == 1 and rank >= 2:
                steps.append(("index", 0, self.index()))
                rank -= 1
            else:
                steps.append(("slice", self.random.randrange(rank), self.index(), self.index()))
        return steps, rank

    def access(self, dtype, shape):
        if self.left < -40:
            return None
        own = [
            t
            for t in self.program.tensors
            if t.dtype == dtype and len(t.dims) >= len(shape) and t.access == "in"
        ]
        if (not own or self.chance(0.3)) and len(self.program.tensors) < 9:
            rank = min(3, len(shape) + self.random.choice([0, 0, 0, 1]))
            dims = [
                self.random.choice(list(self.program.dims) + [str(self.random.choice(EXTENTS))])
                for _ in range(rank)
            ]
            strides = ["*"] * rank if rank and self.chance(0.1) else None
            own = [Tensor(self.fresh("x"), "in", dtype, dims, strides)]
            self.program.tensors.append(own[0])
        if not own:
            return None
        tensor = self.random.choice(own)
        view, rank = self.view(tensor, len(tensor.dims))
        parts = self.subscripts(shape, rank)
        if parts is None:
            view, parts = [], self.subscripts(shape, len(tensor.dims))
        return Access(tensor, view, parts) if parts is not None else None

    def load(self, dtype, shape):
        access = self.access(dtype, shape)
        if access is None:
            return None
        node = Node("load", dtype, shape, access=access)
        if self.chance(0.2):
            node.attr["pad"] = self.constant(dtype).attr["value"]
        if shape and self.chance(0.1):
            node.attr["mask"] = self.expression("bool", shape, 1)
        return node

    def inside(self, dtype, shape, depth):
        access = self.access(self.random.choice(DTYPES), shape)
        return Node("inside", "bool", shape, access=access) if access else None

    # --- what joins, orders and gathers ---

    def joined(self, dtype, shape, depth):
        axis = self.random.randrange(len(shape))
        n, kind = shape[axis], self.random.randrange(4)
        resized = lambda size: shape[:axis] + (size,) + shape[axis + 1 :]
        if kind == 0 and n >= 2:
            first = self.random.randrange(1, n)
            return Node(
                "form",
                dtype,
                shape,
                [
                    self.expression(dtype, resized(first), depth),
                    self.expression(dtype, resized(n - first), depth),
                ],
                template=f"concat([{{0}}, {{1}}], axis: {axis})",
                function=lambda _, x, y, axis=axis: np.concatenate([x, y], axis),
            )
        if kind == 1 and n == 2:
            rest = shape[:axis] + shape[axis + 1 :]
            return Node(
                "form",
                dtype,
                shape,
                [self.expression(dtype, rest, depth), self.expression(dtype, rest, depth)],
                template=f"stack([{{0}}, {{1}}], axis: {axis})",
                function=lambda _, x, y, axis=axis: np.stack([x, y], axis),
            )
        if kind == 2:
            count = self.random.choice([c for c in (1, 2, 3, 4, 8) if n % c == 0])
            return Node(
                "form",
                dtype,
                shape,
                [self.expression(dtype, resized(n // count), depth)],
                template=f"repeat({{0}}, {count}, axis: {axis})",
                function=lambda _, x, axis=axis, count=count: np.repeat(x, count, axis),
            )
        return Node(
            "form",
            dtype,
            shape,
            [self.expression(dtype, shape, depth)],
            template=f"flip({{0}}, axis: {axis})",
            function=lambda _, x, axis=axis: np.flip(x, axis),
        )

    def ordered(self, dtype, shape, depth):
        axis, kind = self.random.randrange(len(shape)), self.random.randrange(4)
        if kind == 0 and dtype == "i32" and len(shape) == 1:
            of = self.random.choice(INTEGERS)
            size = self.random.choice(EXTENTS)
            return Node(
                "form",
                dtype,
                shape,
                [self.expression(of, (size,), depth)],
                template=f"histogram({{0}}, {shape[0]})",
                function=lambda _, x, n=shape[0]: np.array([np.sum(x == i) for i in range(n)]),
            )
        if kind == 1:
            wide = (
                shape[:axis]
                + (self.random.choice([n for n in EXTENTS + [shape[axis]] if n >= shape[axis]]),)
                + shape[axis + 1 :]
            )
            if np.prod(wide) > SMALL:
                return None
            part = 1 if dtype == "index" and self.chance(0.7) else 0
            of = self.random.choice(DTYPES) if part else dtype
            return Node(
                "form",
                dtype,
                shape,
                [self.expression(of, wide, depth)],
                template=f"topk({{0}}, {shape[axis]}, axis: {axis})[{part}]",
                function=lambda of, x, n=shape[axis], axis=axis, part=part: ordering.top(n, axis)(
                    of, x
                )[part],
            )
        if kind == 2 and np.prod(shape) * 2 <= SMALL:
            wide, at = self.larger(shape)
            if wide is None or len(wide) > 3:
                return None
            word = self.random.choice(["keepFirst", "keepLast"])
            return Node(
                "form",
                dtype,
                shape,
                [self.expression(dtype, wide, depth)],
                template=f"reduce({word}, {{0}}, axis: {at})",
                function=lambda _, x, at=at, last=word == "keepLast": np.take(
                    x, x.shape[at] - 1 if last else 0, at
                ),
            )
        descending = self.chance(0.4)
        return Node(
            "form",
            dtype,
            shape,
            [self.expression(dtype, shape, depth)],
            template=f"sort({{0}}, axis: {axis}{', descending: true' if descending else ''})",
            function=lambda of, x, axis=axis, descending=descending: ordering.sorted_(
                axis, descending
            )(of, x),
        )

    def gathered(self, dtype, shape, depth):
        own = [
            t
            for t in self.program.tensors
            if t.dtype == dtype and len(t.dims) in (1, 2) and t.access == "in"
        ]
        if not own or self.left < 0:
            return None
        tensor = self.random.choice(own)
        kinds = ["i32", "index", "index", "i64", "u8"]
        places = [
            self.expression(self.random.choice(kinds), shape, depth if i == 0 else 1)
            for i in range(len(tensor.dims))
        ]
        return Node("gather", dtype, shape, places, tensor=tensor)
