"""The meaning of generated programs in NumPy, written from the language's rules, not from the
compiler: every operation here gives one answer to the bit, so that a kernel compiled at any level
for any target must write exactly what Interpreter.run computes.
"""

import os
import sys

import numpy as np

sys.path.insert(
    0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "conformance")
)
import elementwise
from formats import BITS, VALUES, bounds, isFloat, roundTo


class Jump(Exception):
    """`break` or `continue`."""

    def __init__(self, kind):
        super().__init__(kind)
        self.kind = kind


class Return(Exception):
    """The program is done."""


class TooLong(Exception):
    """The program would take too many steps."""


def asValue(value, dtype, shape=None):
    array = np.asarray(value).astype(VALUES[dtype])
    return array if shape is None else np.broadcast_to(array, shape)


def divide(a, b, dtype, remainder):
    low, _ = bounds(dtype)
    zero = b == 0
    minus = (b == -1) if low < 0 else np.zeros(np.shape(b), bool)
    one, nothing = a.dtype.type(1), a.dtype.type(0)  # of plain ones NumPy 1 makes f64 beside a u64
    safe = np.where(zero | minus, one, b.astype(a.dtype))
    quotient = np.floor_divide(a, safe)
    rest = a - quotient * safe
    if low < 0:
        quotient = quotient + ((rest != 0) & ((a < 0) != (safe < 0))).astype(a.dtype)
        rest = a - quotient * safe
    if remainder:
        return np.where(zero, a, np.where(minus, nothing, rest)).astype(a.dtype)
    return np.where(zero, nothing, np.where(minus, -a, quotient)).astype(a.dtype)


def shiftBy(a, b, dtype, isLeft):
    bits = BITS[dtype]
    outside = (b < 0) | (b >= bits) if bounds(dtype)[0] < 0 else b >= bits
    zero = a.dtype.type(0)  # beside a plain 0, NumPy 1 makes an f64 of a lone u64
    safe = np.where(outside, zero, b.astype(a.dtype))
    if isLeft:
        return np.where(outside, zero, np.left_shift(a, safe))
    filled = np.zeros_like(a) if a.dtype.kind == "u" else np.where(a < 0, -1, 0).astype(a.dtype)
    return np.where(outside, filled, np.right_shift(a, safe)).astype(a.dtype)


def narrow(value, dtype):
    return roundTo(value, dtype) if dtype in ("f16", "bf16") else value.astype(VALUES[dtype])


def binary(op, a, b, dtype):
    with np.errstate(all="ignore"):
        if op in ("==", "!=", "<", "<=", ">", ">="):
            return {
                "==": np.equal,
                "!=": np.not_equal,
                "<": np.less,
                "<=": np.less_equal,
                ">": np.greater,
                ">=": np.greater_equal,
            }[op](a, b)
        if op in ("&&", "&"):
            return a & b
        if op in ("||", "|"):
            return a | b
        if op == "^":
            return a ^ b
        if op in ("<<", ">>"):
            return shiftBy(a, b, dtype, op == "<<")
        if op == "%" or (op == "/" and not isFloat(dtype)):
            return divide(a, b, dtype, op == "%")
        if isFloat(dtype) and dtype in ("f16", "bf16"):
            a, b = a.astype(np.float32), b.astype(np.float32)
        result = {"+": np.add, "-": np.subtract, "*": np.multiply, "/": np.divide}[op](a, b)
        return narrow(result, dtype) if isFloat(dtype) else result.astype(VALUES[dtype])


def convert(value, source, to):
    if source == to:
        return value
    if source == "bool":
        value, source = value.astype(np.int32), "i32"
    if not isFloat(to) and not isFloat(source):
        return value.astype(VALUES[to])
    flat = np.asarray(elementwise.converted(np.ravel(value), source, to))
    return flat.reshape(np.shape(value)).astype(VALUES[to])


def reduceWith(name, x, axis, keep, dtype):
    from tiles import extremeOf, positionOf

    if name in ("max", "min"):
        return extremeOf(name == "max", axis, keep)(dtype, x)
    if name in ("argmax", "argmin"):
        return np.asarray(positionOf(name == "argmax", axis)(dtype, x)).astype(np.int64)
    if name in ("any", "all"):
        return getattr(np, name)(x, axis=axis, keepdims=keep)
    if name == "count":
        return np.sum(x, axis=axis, keepdims=keep).astype(np.int64)
    if isFloat(dtype):
        # Small integers: exact. Only of -0 alone the sum is -0.
        wide = np.sum(x.astype(np.float64), axis=axis, keepdims=keep, initial=-0.0)
        return narrow(wide, dtype)
    with np.errstate(all="ignore"):
        return getattr(np, name)(x, axis=axis, keepdims=keep, dtype=VALUES[dtype])


class Interpreter:
    """Runs the programs of a grid one after the other over arrays."""

    budget = 200000  # nodes evaluated

    def __init__(self, program, arrays):
        self.program, self.arrays = program, arrays
        self.steps = 0

    def run(self):
        base = {name: asValue(value, "index") for name, value in self.program.dims.items()}
        base.update(
            {name: asValue(value, dtype) for name, (dtype, value) in self.program.scalars.items()}
        )
        self.environment = base
        extents = [max(int(self.value(extent)), 0) for _, extent in self.program.grid]
        for index in np.ndindex(*extents):
            self.environment = dict(base)
            self.environment.update(
                {name: asValue(i, "index") for (name, _), i in zip(self.program.grid, index)}
            )
            try:
                self.statements(self.program.body)
            except Return:
                pass

    def statements(self, body):
        for s in body:
            self.statement(s)

    def scoped(self, body):
        """A body's own names end with it; what it assigns stays."""
        outer = set(self.environment)
        try:
            self.statements(body)
        finally:
            self.environment = {
                name: value for name, value in self.environment.items() if name in outer
            }

    def trip(self, body):
        """Whether the loop goes on after a trip."""
        try:
            self.scoped(body)
        except Jump as jump:
            return jump.kind == "continue"
        return True

    def statement(self, s):
        env = self.environment
        if s.kind in ("let", "var"):
            env[s.name] = self.value(s.args[0])
        elif s.kind == "range":
            env[s.name] = self.positions(s.attr["part"])
        elif s.kind == "set":
            value = self.value(s.args[0])
            if s.attr.get("op"):
                value = binary(s.attr["op"], env[s.name], value, s.args[0].dtype)
            env[s.name] = np.broadcast_to(value, np.shape(env[s.name]))
        elif s.kind == "swap":
            env[s.name], env[s.attr["other"]] = env[s.attr["other"]], env[s.name]
        elif s.kind in ("for", "blocks"):
            low, high = int(self.value(s.args[0])), int(self.value(s.args[1]))
            step = (
                s.attr["size"]
                if s.kind == "blocks"
                else int(self.value(s.args[2]))
                if len(s.args) > 2
                else 1
            )
            high += 1 if s.attr.get("closed") else 0
            for position in range(low, high, step) if step > 0 else ():
                if s.kind == "blocks":
                    where = np.arange(position, position + step)
                    self.environment[s.name] = (where, where < high)
                else:
                    self.environment[s.name] = asValue(position, "index")
                if not self.trip(s.bodies[0]):
                    break
            self.environment.pop(s.name, None)
        elif s.kind == "while":
            while bool(self.value(s.args[0])) and self.trip(s.bodies[0]):
                pass
        elif s.kind == "if":
            if bool(self.value(s.args[0])):
                self.scoped(s.bodies[0])
            elif len(s.bodies) > 1:
                self.scoped(s.bodies[1])
        elif s.kind == "store":
            self.store(s)
        elif s.kind in ("break", "continue"):
            raise Jump(s.kind)
        else:
            raise Return()

    def positions(self, part):
        """Absolute positions of a range and which of them lie before its end."""
        if part[0] == "range":
            return self.environment[part[1]]
        if part[0] == "block":
            where = int(self.value(part[1])) * part[2] + np.arange(part[2])
            return where, np.ones(part[2], bool)
        _, start, size, step, end, shift = part
        where = int(self.value(start)) + np.arange(size) * step
        valid = np.ones(size, bool) if end is None else where < int(self.value(end))
        return where + (int(self.value(shift)) if shift else 0), valid

    def view(self, access):
        array = self.arrays[access.tensor.name]
        for step in access.view:
            if step[0] == "T":
                array = array.swapaxes(-1, -2)
                continue
            extent = array.shape[step[1]]
            if step[0] == "index":
                at = int(self.value(step[2]))
                if 0 <= at < extent:
                    array = array[(slice(None),) * step[1] + (at,)]
                else:
                    array = np.zeros((0,) * (array.ndim - 1), array.dtype)
            else:
                low, high = (min(max(int(self.value(x)), 0), extent) for x in step[2:4])
                array = array[(slice(None),) * step[1] + (slice(low, max(low, high)),)]
        return array

    def grid(self, access, shape):
        """Positions of each element in each dimension, and which elements exist."""
        array = self.view(access)
        axes, valids = [], []
        for part in access.subscripts:
            if part[0] == "int":
                axes.append(np.array(int(self.value(part[1]))))
                valids.append(np.array(True))
            else:
                where, valid = self.positions(part)
                axes.append(where)
                valids.append(valid)
        ranged = [i for i, axis in enumerate(axes) if axis.ndim]
        grids, inside = [], np.ones(shape, bool)
        for i, (axis, valid) in enumerate(zip(axes, valids)):
            if axis.ndim:
                form = [1] * len(ranged)
                form[ranged.index(i)] = -1
                axis, valid = axis.reshape(form), valid.reshape(form)
            grids.append(np.broadcast_to(axis, shape))
            inside &= np.broadcast_to(valid & (axis >= 0) & (axis < array.shape[i]), shape)
        return array, grids, inside

    def store(self, s):
        value = self.value(s.args[0])
        shape = s.attr["shape"]
        array, grids, inside = self.grid(s.attr["access"], shape)
        if s.attr.get("mask"):
            inside = inside & self.value(s.attr["mask"])
        value = np.broadcast_to(value, shape)
        array[tuple(g[inside] for g in grids)] = value[inside]

    def value(self, node):
        self.steps += 1
        if self.steps > self.budget:
            raise TooLong()
        with np.errstate(all="ignore"):
            return self.evaluate(node)

    def evaluate(self, node):
        a, kind, attr, dtype = node.args, node.kind, node.attr, node.dtype
        if kind == "const":
            value = (
                roundTo(np.array(attr["value"], np.longdouble), dtype)
                if isFloat(dtype)
                else attr["value"]
            )
            return np.broadcast_to(asValue(value, dtype), node.shape)
        if kind == "name":
            return self.environment[attr["name"]]
        if kind == "binary":
            return binary(attr["op"], self.value(a[0]), self.value(a[1]), a[0].dtype)
        if kind == "unary":
            x = self.value(a[0])
            return ~x if attr["op"] in "~!" else -x
        if kind == "cast":
            return convert(self.value(a[0]), a[0].dtype, dtype)
        if kind == "call":
            return self.call(node)
        if kind == "tuple":
            return attr["function"].apply([self.value(x) for x in a], dtype)[attr["index"]]
        if kind == "scan":
            from tiles import scanOf

            x = self.value(a[0])
            if attr["function"] in ("max", "min"):
                return scanOf(attr["function"] == "max", attr["axis"], attr["reverse"])(dtype, x)
            # Reversed, element i is x[i] . x[i + 1] ... : the first of them is its own.
            if (attr["function"] == "keepLast") != attr["reverse"]:
                return x
            return np.broadcast_to(
                np.take(x, [-1 if attr["reverse"] else 0], attr["axis"]), x.shape
            )
        if kind == "subscript":
            return self.value(a[0])[attr["index"]]
        if kind == "permute":
            return self.value(a[0]).transpose(attr["order"])
        if kind == "reshape":
            return self.value(a[0]).reshape(node.shape)
        if kind == "broadcast":
            return np.broadcast_to(self.value(a[0]), node.shape)
        if kind == "bitcast":
            from formats import load, store

            stored = np.ascontiguousarray(store(self.value(a[0]), a[0].dtype))
            wanted = np.dtype(np.uint16 if dtype == "bf16" else VALUES[dtype])
            return load(stored.reshape(-1).view(wanted), dtype).reshape(node.shape)
        if kind == "iota":
            return (
                self.environment[attr["range"]][0].astype(np.int64)
                if a
                else np.arange(node.shape[0])
            )
        if kind == "start":
            return asValue(self.environment[attr["range"]][0][0], "index")
        if kind == "take":
            x, where = self.value(a[0]), self.value(a[1])
            return np.take(
                x, np.clip(where.astype(np.int64), 0, x.shape[attr["axis"]] - 1), attr["axis"]
            )
        if kind == "form":
            return np.asarray(attr["function"](a[0].dtype, *(self.value(x) for x in a))).astype(
                VALUES[dtype]
            )
        if kind == "gather":
            array, places = (
                self.arrays[attr["tensor"].name],
                np.broadcast_arrays(*(self.value(x).astype(np.int64) for x in a)),
            )
            inside = np.ones(node.shape, bool)
            for place, extent in zip(places, array.shape):
                inside &= (place >= 0) & (place < extent)
            result = np.zeros(node.shape, VALUES[dtype])
            result[inside] = array[tuple(place[inside] for place in places)]
            return result
        if kind == "rows":
            array, places = (
                self.arrays[attr["tensor"].name],
                self.value(a[0]).astype(np.int64)[:, None],
            )
            where, valid = self.environment[attr["range"]]
            inside = (
                (places >= 0)
                & (places < array.shape[0])
                & valid
                & (where >= 0)
                & (where < array.shape[1])
            )
            result = np.zeros(node.shape, VALUES[dtype])
            rows, columns = np.broadcast_arrays(places, where)
            result[inside] = array[rows[inside], columns[inside]]
            return result
        if kind == "load":
            array, grids, inside = self.grid(attr["access"], node.shape)
            if attr.get("mask"):
                inside = inside & self.value(attr["mask"])
            pad = (
                roundTo(np.array(attr.get("pad", 0), np.longdouble), dtype)
                if isFloat(dtype)
                else attr.get("pad", 0)
            )
            result = np.full(node.shape, pad, VALUES[dtype])
            result[inside] = array[tuple(g[inside] for g in grids)]
            return result
        if kind == "inside":
            return self.grid(attr["access"], node.shape)[2]
        raise KeyError(kind)

    def call(self, node):
        name, attr, dtype = node.attr["name"], node.attr, node.dtype
        x = [self.value(arg) for arg in node.args]
        source = node.args[0].dtype
        if attr.get("function"):
            return attr["function"].apply(x, source)
        if attr.get("reduces"):
            named = attr["named"]
            axis = named.get("axis")
            return reduceWith(
                name, x[0], None if axis is None else int(axis), named.get("keep") == "true", source
            )
        if name in ("cumsum", "cumprod"):
            axis, reverse = int(attr["named"]["axis"]), attr["named"].get("reverse") == "true"
            y = np.flip(x[0], axis) if reverse else x[0]
            y = getattr(np, name)(
                y.astype(np.float64) if isFloat(dtype) else y,
                axis=axis,
                dtype=np.float64 if isFloat(dtype) else VALUES[dtype],
            )
            y = np.flip(y, axis) if reverse else y
            return narrow(y, dtype) if isFloat(dtype) else y
        if name == "dot":
            if isFloat(dtype):
                return narrow(
                    x[0].astype(np.float64) @ x[1].astype(np.float64) + (x[2] if len(x) > 2 else 0),
                    dtype,
                )
            product = x[0].astype(np.int64) @ x[1].astype(np.int64) + (
                x[2].astype(np.int64) if len(x) > 2 else 0
            )
            return product.astype(np.int32)
        if name == "exp2":  # of whole numbers
            return np.exp2(x[0].astype(np.float64)).astype(VALUES[dtype])
        if name == "where":
            return np.where(x[0], x[1], x[2])
        operation = OPERATIONS[name]
        x = np.broadcast_arrays(*x)
        shape = x[0].shape
        result = operation.reference(source, *(np.ravel(v) for v in x))
        return np.asarray(result).reshape(shape).astype(VALUES[dtype])


OPERATIONS = {
    operation.text.split("(")[0]: operation
    for operation in elementwise.TABLE
    if operation.text[0].isalpha() and "(" in operation.text
}
