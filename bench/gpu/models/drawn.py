"""Rows whose shapes nobody chose: each kind of row in turn, its extents drawn at random from ranges
of language, vision and recommendation models. A seed gives the same rows on every machine.
"""

import math
import random

from . import (
    attention,
    convolution,
    decode,
    elementwise,
    experts,
    filters,
    losses,
    norms,
    products,
    quantized,
    selection,
)

MOST = 1 << 28  # elements of the largest tensor


class Draw(random.Random):
    """Extents, spread evenly over powers of two."""

    def extent(self, low, high, multiple=1):
        """In [low, high], a multiple of `multiple`."""
        value = low * (high / low) ** self.random()
        return min(max(round(value / multiple), 1) * multiple, high)

    def width(self, low=256, high=16384):
        """Of a layer: mostly a multiple of 64, at times of 8, seldom odd."""
        return self.extent(low, high, self.choices((64, 8, 1), (6, 3, 1))[0])

    def rows(self, columns, low=256, high=65536):
        return self.extent(low, max(low, min(high, MOST // columns)))

    def floats(self):
        return self.choice(("f16", "bf16"))


def _rows(make, low=128, high=16384, dtypes=("f16", "bf16")):
    def draw(random):
        columns = random.width(low, high)
        return make(random.rows(columns), columns, random.choice(dtypes))

    return draw


def _product(transposed):
    def draw(random):
        n, k = random.extent(256, 16384, 8), random.extent(256, 16384, 8)
        return products._layer(random.extent(1, 8192, 1), n, k, random.floats(), transposed)

    return draw


def _plain(random):
    """All extents multiples of 8, a compute-bound one."""
    m, n, k = (random.extent(256, 8192, 8) for _ in range(3))
    return products._layer(m, n, k, random.floats(), transposed=False)


def _batched(random):
    m, n, k = (random.extent(32, 2048, 8) for _ in range(3))
    most = max(1, min(256, MOST // (4 * max(m * n, m * k, n * k))))
    return products._batched(random.extent(1, most), m, n, k, random.floats())


def _linear(random):
    return products._linear(
        random.extent(64, 16384), random.extent(256, 14336, 64), random.extent(256, 8192, 64), "f16"
    )


def _scaled(random):
    extents = (random.extent(64, 8192, 8), random.extent(512, 16384, 128))
    return quantized._f8(*extents, random.extent(512, 16384, 128))


def _fourBits(make):
    def draw(random):
        n, k = random.extent(1024, 28672, 256), random.extent(1024, 16384, 256)
        return make(random.extent(1, 4096), n, k)

    return draw


def _experts(random):
    each = random.choice((1, 2, 4, 8))
    count = random.choice((8, 16, 32, 64, 128))
    f, d = random.extent(512, 8192, 64), random.extent(512, 8192, 64)
    while count * f * d > MOST:
        count //= 2
    return experts._up(random.extent(4, 8192), max(count, each), each, f, d)


def _dense(random):
    size, channels = random.choice((7, 14, 28, 32, 56, 64)), random.extent(32, 1024, 32)
    images = random.extent(1, max(1, min(128, MOST // (4 * size * size * channels))))
    r, stride = random.choice((1, 3, 3, 5)), random.choice((1, 1, 2))
    return convolution._dense(
        images, size, channels, random.extent(32, 1024, 32), r, stride, random.floats()
    )


def _heads(random):
    """(query heads, key heads)"""
    g = random.choice((1, 2, 4, 8, 16))
    return g * random.choice((1, 2, 4, 8)), g


def _attention(make, sizes):
    def draw(random):
        (h, g), s = _heads(random), random.extent(128, 16384)
        d = random.choice(sizes)
        batch = random.extent(1, max(1, min(32, 65536 // s)))
        # The reference's time and memory bound the scores.
        s = min(s, math.isqrt((1 << 35) // (batch * h)))
        return make(batch, h, g, s, d, random.floats(), random.random() < 0.6)

    return draw


def _decode(random):
    h, g = _heads(random)
    length, d = random.extent(512, 65536), random.choice((64, 128))
    batch = random.extent(1, max(1, min(128, MOST // (length * g * d))))
    return decode._plain(batch, length, h, g, d, random.floats())


def _depthwise(random):
    size, channels = random.choice((7, 14, 28, 56)), random.extent(32, 1024, 8)
    images = random.extent(1, max(1, min(128, MOST // (4 * size * size * channels))))
    return filters._depthwise(images, size, channels, random.choice((3, 5, 7)), random.floats())


def _causal(random):
    channels = random.extent(256, 8192, 8)
    length = random.extent(256, 8192)
    return filters._causal(
        max(1, min(8, MOST // (length * channels))), length, channels, random.floats()
    )


def _embedding(random):
    width = random.extent(32, 4096, 8)
    words = random.extent(1000, min(1_000_000, MOST // width))
    return elementwise._embedding(words, random.extent(256, 65536), width, "bf16")


def _topk(random):
    columns = random.extent(64, 32768)
    k = random.choice((1, 2, 4, 8, 32))
    return selection._topk(random.rows(columns, high=16384), columns, k, "f32")


KINDS = (
    _rows(norms._rms),
    _product(True),
    _attention(attention._forward, (64, 128)),
    _rows(norms._softmax, 64, 65536, ("f16", "bf16", "f32")),
    _dense,
    _plain,
    _rows(elementwise._gated),
    _decode,
    _rows(norms._layer, 128, 16384, ("f16", "bf16", "f32")),
    _product(False),
    _rows(losses._loss, 1000, 152064),
    _experts,
    _batched,
    _rows(norms._residual),
    _fourBits(quantized._w4),
    _rows(elementwise._transpose, 256, 16384, ("f16", "bf16", "f32")),
    _attention(attention._backward, (64, 128)),
    _plain,
    _embedding,
    _depthwise,
    _scaled,
    _rows(selection._sums, 64, 16384, ("f32", "i32")),
    _linear,
    _causal,
    _topk,
)


def items(seed, count):
    """`count` rows, each kind in turn."""
    draw = Draw(seed)
    return [KINDS[i % len(KINDS)](draw) for i in range(count)]
