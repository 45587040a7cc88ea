"""Expressions that read tensors, and tiles that are joined or gathered from others."""

import numpy as np

from leaves import DTYPES, EXTENTS
from program import Access, Node, Tensor


class Reads:
    """The part of the generator for them; the rest of it makes their operands."""

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
