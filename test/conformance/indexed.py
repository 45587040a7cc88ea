"""The table of accesses at tiles of positions, and of atomics; further rows of accesses.py's."""

import numpy as np

from accesses import LOADED, STORABLE, Accesses, Form, padValue, read, span, store, written
from formats import FLOATS, INTEGERS, NIBBLES, VALUES, isFloat

GATHERED = [dtype for dtype in LOADED if dtype not in NIBBLES]
WIDE = ["i32", "i64", "u32", "u64", "f32", "f64"]


def points(t, rows, columns):
    """t[rows, columns], element by element; zero where there is none."""
    rows, columns = np.broadcast_arrays(rows, columns)
    result = np.zeros(rows.shape, t.dtype)
    for at in np.ndindex(rows.shape):
        if 0 <= rows[at] < t.shape[0] and 0 <= columns[at] < t.shape[1]:
            result[at] = t[rows[at], columns[at]]
    return result


def atomic(name, twice, once, dtypes):
    """On a tensor of zeros: 2 given to each of three elements twice, and thrice to what lies
    outside; then to four elements once.
    """

    def left(value, count):
        return lambda shape, dtype: np.array(
            [value] * count + [0] * (shape[0] - count), VALUES[dtype]
        )

    return Accesses(
        name,
        dtypes,
        [
            store(
                name + "({o}[iota(9) % 3 + where(iota(9) >= 6, 100, 0)], full({T}, [9], 2));",
                (5,),
                left(twice, 3),
                access="inout",
            ),
            store(
                name + "({o}[at(-2, 6)], full({T}, [6], 2));", (5,), left(once, 4), access="inout"
            ),
            store(
                name + "({o}[1], 2 as {T});",
                (5,),
                lambda shape, dtype: np.array([0, once, 0, 0, 0], VALUES[dtype]),
                access="inout",
            ),
        ],
    )


TABLE = [
    Accesses(
        "gather",
        GATHERED,
        [
            Form("gather(t1[iota(6) * 2 - 3])", lambda dtype, t: read(t, np.arange(6) * 2 - 3)),
            Form(
                "gather(t2[iota(4) - 1, at(0, 5)])",
                lambda dtype, t: read(t, np.arange(4) - 1, span(0, 5)),
            ),
            Form(
                "gather(t2[at(0, 3), 5 - iota(4)])",
                lambda dtype, t: read(t, span(0, 3), 5 - np.arange(4)),
            ),
            Form(
                "gather(t2[iota(3)[:, None], iota(4) * 2 - 1])",
                lambda dtype, t: points(t, np.arange(3)[:, None], np.arange(4) * 2 - 1),
            ),
            Form(
                "gather(t2[iota(4) % 2, iota(4)])",
                lambda dtype, t: points(t, np.arange(4) % 2, np.arange(4)),
            ),
            Form(
                "gather(t3[iota(2), 1, at(-1, 4)])",
                lambda dtype, t: read(t, np.arange(2), 1, span(-1, 4)),
            ),
            Form(
                "gather(t1[iota(6) * 2 - 3], pad: {pad}, mask: iota(6) % 2 == 1)",
                lambda dtype, t: read(
                    t,
                    np.arange(6) * 2 - 3,
                    pad=padValue("i64" if dtype == "index" else dtype),
                    mask=np.arange(6) % 2 == 1,
                ),
            ),
        ],
    ),
    Accesses(
        "scatter",
        STORABLE,
        [
            store(
                "scatter({o}[iota(5) * 2 - 2], t1[at(0, 5)]);",
                (7,),
                lambda shape, dtype, t: written(
                    shape, dtype, read(t, span(0, 5)), np.arange(5) * 2 - 2
                ),
            ),
            store(
                "scatter({o}[3 - iota(4), at(1, 4)], t2[at(0, 4), at(0, 4)]);",
                (4, 6),
                lambda shape, dtype, t: written(
                    shape, dtype, read(t, span(0, 4), span(0, 4)), 3 - np.arange(4), span(1, 4)
                ),
            ),
            store(
                "scatter({o}[iota(5)], t1[at(0, 5)], mask: iota(5) != 2);",
                (7,),
                lambda shape, dtype, t: written(
                    shape, dtype, read(t, span(0, 5)), np.arange(5), mask=np.arange(5) != 2
                ),
            ),
        ],
    ),
    atomic("atomic_add", 4, 2, ["i16", "u16", "i32", "u32", "i64", "u64"] + FLOATS),
    atomic("atomic_max", 2, 2, WIDE),
    atomic("atomic_min", 0, 0, WIDE),
    atomic("atomic_and", 0, 0, INTEGERS),
    atomic("atomic_or", 2, 2, INTEGERS),
    atomic("atomic_xor", 0, 2, INTEGERS),
    atomic("atomic_xchg", 2, 2, INTEGERS),
    Accesses(
        "atomic_cas",
        INTEGERS,
        [
            store(
                "atomic_cas({o}[at(-1, 5)], full({T}, [5], 0), full({T}, [5], 3));",
                (6,),
                lambda shape, dtype: np.array([3, 3, 3, 3, 0, 0], VALUES[dtype]),
                access="inout",
            ),
            store(
                "atomic_cas({o}[iota(4)], full({T}, [4], 1), full({T}, [4], 3));",
                (6,),
                lambda shape, dtype: np.zeros(6, VALUES[dtype]),
                access="inout",
            ),
        ],
    ),
]
