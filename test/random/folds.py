"""Expressions that look at several elements of a tile: reductions, scans, sorting and counting."""

import numpy as np

import ordering
from formats import INTEGERS, isFloat
from leaves import DTYPES, EXTENTS, SMALL
from program import Node


class Folds:
    """The part of the generator for them; the rest of it makes their operands."""

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
