"""Makes well-typed kernels from a seed. Every operation in them has one answer to the bit: floats
are only summed up and multiplied as small integers, so that no order of additions shows.
"""

import random

import numpy as np

from folds import Folds
from formats import bounds, isFloat
from leaves import DTYPES, EXTENTS, FUNCTIONS, SMALL, const, name, plain
from program import Node, Program
from reads import Reads


class Generator(Folds, Reads):
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
        mixes = [{"f8e4m3", "f8e5m2"}, {"i8", "u8"}]
        other = self.random.choice(
            sorted(next((some for some in mixes if source in some), {source}))
        )

        def operand(form, source):
            held = "f32" if source.startswith("f8") else source
            x = (
                self.small(held, form, depth)
                if isFloat(held)
                else self.expression(held, form, depth)
            )
            return Node("cast", source, form, [x]) if held != source else x

        a = operand((m, k), source)
        b = (
            Node("permute", other, (k, n), [operand((n, k), other)], order=[1, 0], isT=True)
            if transposed
            else operand((k, n), other)
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

    # --- what joins, orders and gathers ---
