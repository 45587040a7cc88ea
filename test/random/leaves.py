"""What the generator of kernels draws from: extents, dtypes, functions; and the smallest trees."""

import numpy as np

from formats import FLOATS, INTEGERS
from meaning import binary
from program import Node


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
    return np.where(binary("<", x[0], x[1], dtype), binary("-", x[0], x[1], dtype), x[0])


def both(x, dtype):
    return binary("+", x[0], x[1], dtype), binary("*", binary("-", x[0], x[1], dtype), x[1], dtype)


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
