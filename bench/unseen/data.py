"""Random data for the references: what `Input` takes as `values`."""

import numpy


def normal(scale=1.0):
    """Normal numbers; large ones a GPU makes itself, by `scale`."""

    def values(random, shape):
        return random.standard_normal(shape) * scale

    values.scale = scale
    return values


def uniform(low, high):
    return lambda random, shape: random.uniform(low, high, shape)


def integers(low, high):
    """low … high - 1."""
    return lambda random, shape: random.integers(low, high, shape)


def offsets(total):
    """Increasing numbers from 0 to `total`: where ragged parts begin and end."""

    def values(random, shape):
        inner = numpy.sort(random.integers(0, total + 1, shape[0] - 2))
        return numpy.concatenate([[0], inner, [total]])

    return values


def softmax(s):
    e = numpy.exp(s - s.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def silu(x):
    return x / (1.0 + numpy.exp(-x))
