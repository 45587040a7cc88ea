"""Nodes of programs by the operation that they are."""

import numpy as np

from program import Node


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


def row(x):
    """x[None, :]."""
    return Node(
        "subscript", x.dtype, (1, x.shape[0]), [x], text=["None", ":"], index=(None, slice(None))
    )


def turned(x):
    return Node("permute", x.dtype, x.shape[::-1], [x], order=[1, 0], isT=True)


def reduced(word, x, axis=None):
    shape = () if axis is None else tuple(n for d, n in enumerate(x.shape) if d != axis % 2)
    if len(x.shape) == 1:
        shape, axis = (), None
    named = {} if axis is None else {"axis": axis}
    return Node("call", x.dtype, shape, [x], name=word, named=named, reduces=True)


def dot(dtype, *arguments):
    shape = (arguments[0].shape[0], arguments[1].shape[1])
    return Node("call", dtype, shape, list(arguments), name="dot")
