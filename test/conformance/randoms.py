"""The table of random numbers: Philox4x32-10, word i % 4 of counter i / 4 under a 64-bit seed,
written out in Python.
"""

import numpy as np

from formats import INTEGERS
from tiles import Form, TileOperation

SEED = 0x123456789ABCDEF


def word(seed, position):
    """32 random bits at a position."""
    mask = 0xFFFFFFFF
    counter = (position >> 2) & (2**64 - 1)
    x = [counter & mask, counter >> 32, 0, 0]
    key = [seed & mask, (seed >> 32) & mask]
    for _ in range(10):
        first, second = 0xD2511F53 * x[0], 0xCD9E8D57 * x[2]
        x = [
            (second >> 32) ^ x[1] ^ key[0],
            second & mask,
            (first >> 32) ^ x[3] ^ key[1],
            first & mask,
        ]
        key = [(key[0] + 0x9E3779B9) & mask, (key[1] + 0xBB67AE85) & mask]
    return x[position & 3]


def bits(positions):
    return np.array([word(SEED, int(p)) for p in positions], np.uint64)


def normal(positions):
    """Box and Muller's method on a pair of words, in double precision."""
    result = []
    for p in positions:
        p = int(p)
        radius, angle = word(SEED, p & ~1), word(SEED, p | 1)
        size = np.sqrt(-2 * np.log((radius + 0.5) / 2**32))
        turn = angle * 2 * np.pi / 2**32
        result.append(size * (np.sin(turn) if p & 1 else np.cos(turn)))
    return np.array(result, np.longdouble)


POSITIONS = np.arange(40) * 3
TEXT = f"{SEED}, iota(40) * 3"
TABLE = [
    TileOperation(
        "random_bits",
        ["u32"],
        [Form(f"random_bits({TEXT})", lambda dtype: bits(POSITIONS).astype(np.uint32), "u32")],
    ),
    TileOperation(
        "rand",
        ["f32"],
        [
            Form(
                f"rand({TEXT})",
                lambda dtype: ((bits(POSITIONS) >> 8).astype(np.float64) * 2.0**-24).astype(
                    np.float32
                ),
            )
        ],
    ),
    TileOperation(
        "randn",
        ["f32"],
        [
            Form(
                f"randn({TEXT})",
                lambda dtype: normal(POSITIONS),
                bound=lambda dtype: np.full(40, 4e-6),
            )
        ],
    ),
    TileOperation(
        "randint",
        INTEGERS + ["index"],
        [
            Form(
                "randint(" + TEXT + ", 3 as {T}, 100 as {T})",
                lambda dtype: 3 + ((bits(POSITIONS) * 97) >> 32).astype(np.int64),
            )
        ],
    ),
]
