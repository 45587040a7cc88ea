"""Philox4x32-10 in NumPy, as docs of the language define it: word i % 4 of counter i / 4 under a
64-bit seed.

Source: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3" (SC'11).
"""

import numpy


def block(counter, key):
    """The four words (uint64 arrays below 2^32) of a counter of four words under a key of two."""
    low = numpy.uint64(0xFFFFFFFF)
    c = [numpy.asarray(word, numpy.uint64) & low for word in counter]
    k = [int(word) & 0xFFFFFFFF for word in key]
    for _ in range(10):
        first, second = numpy.uint64(0xD2511F53) * c[0], numpy.uint64(0xCD9E8D57) * c[2]
        c = [
            (second >> numpy.uint64(32)) ^ c[1] ^ numpy.uint64(k[0]),
            second & low,
            (first >> numpy.uint64(32)) ^ c[3] ^ numpy.uint64(k[1]),
            first & low,
        ]
        k = [(k[0] + 0x9E3779B9) & 0xFFFFFFFF, (k[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return c


def bits(seed, positions):
    """The word at each position, as uint64 below 2^32."""
    positions = numpy.asarray(positions).astype(numpy.int64).astype(numpy.uint64)
    counter = positions >> numpy.uint64(2)
    zero = numpy.zeros_like(counter)
    seed = int(seed) & 0xFFFFFFFFFFFFFFFF
    words = block([counter, counter >> numpy.uint64(32), zero, zero], [seed, seed >> 32])
    return numpy.choose((positions & numpy.uint64(3)).astype(numpy.int64), words)


def uniform(seed, positions):
    """What `rand` gives: the upper 24 bits as a fraction."""
    return (bits(seed, positions) >> numpy.uint64(8)).astype(numpy.float64) * 2.0**-24


def normal(seed, positions):
    """What `randn` gives, in float64: Box and Muller's method on the words of a pair of
    positions.
    """
    positions = numpy.asarray(positions).astype(numpy.int64)
    even, odd = (
        bits(seed, positions & ~1).astype(numpy.float64),
        bits(seed, positions | 1).astype(numpy.float64),
    )
    radius, angle = (
        numpy.sqrt(-2.0 * numpy.log((even + 0.5) * 2.0**-32)),
        odd * (2.0 * numpy.pi * 2.0**-32),
    )
    return radius * numpy.where(positions & 1, numpy.sin(angle), numpy.cos(angle))


def integers(seed, positions, low, high):
    """What `randint` gives."""
    return low + (
        bits(seed, positions) * numpy.uint64(max(high - low, 0)) >> numpy.uint64(32)
    ).astype(numpy.int64)
