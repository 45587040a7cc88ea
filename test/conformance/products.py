"""Products: every combination of operand and accumulator dtypes that `dot` has, in extents of every
kind, plain and transposed.

Operands are small integers, so that sums of f16, bf16 and f8 products are exact in f32 in any order
and the result is known to the bit; a second set of normal numbers is checked within the bound of
the sum's length. A third holds NaN and infinities.
"""

import zlib

import numpy as np

from formats import FLOAT8, isFloat, long, plainValues, roundTo, VALUES
from harness import Kernel, Output

# Operands, accumulator, precision, relative error of one term of the sum (None: exact whatever the
# numbers are).
FORMS = [
    ("f16", "f16", "f32", "full", 2.0**-23),
    ("bf16", "bf16", "f32", "full", 2.0**-23),
    ("f16", "f16", "f16", "full", 2.0**-10),
    ("f8e4m3", "f8e4m3", "f32", "full", 2.0**-12),
    ("f8e5m2", "f8e5m2", "f32", "full", 2.0**-12),
    ("f8e4m3", "f8e5m2", "f32", "full", 2.0**-12),
    ("f8e5m2", "f8e4m3", "f32", "fast", 2.0**-12),
    ("i8", "i8", "i32", "full", None),
    ("u8", "u8", "i32", "full", None),
    ("i8", "u8", "i32", "full", None),
    ("u8", "i8", "i32", "full", None),
    ("f32", "f32", "f32", "full", 2.0**-23),
    ("f32", "f32", "f32", "tf32", 2.0**-10),
    ("f32", "f32", "f32", "tf32x3", 2.0**-20),
    ("f64", "f64", "f64", "full", 2.0**-52),
]
# (M, N, K) of the tensors and of the tiles.
SHAPES = {
    "one": ((1, 1, 1), (1, 1, 1)),
    "tail": ((13, 21, 19), (16, 32, 32)),
    "odd": ((5, 12, 7), (5, 12, 7)),
    "empty": ((3, 4, 0), (4, 4, 8)),
    "blocks": ((64, 64, 128), (64, 64, 64)),
    "rows": ((20, 136, 72), (16, 128, 32)),
}


class Product:
    plain = False

    def __init__(self, a, b, c, precision, error):
        self.a, self.b, self.c, self.precision, self.error = a, b, c, precision, error
        self.name = f"dot {a} x {b} -> {c}" + (f", {precision}" if precision != "full" else "")
        self.dtypes = [a]


TABLE = [Product(*form) for form in FORMS]


def operand(random, dtype, shape, kind):
    if not isFloat(dtype):
        info = np.iinfo(VALUES[dtype])
        return random.integers(info.min, info.max, shape, endpoint=True).astype(VALUES[dtype])
    if kind == "exact":
        return random.integers(-3, 4, shape).astype(VALUES[dtype])
    values = plainValues(random, shape, dtype)
    if kind == "special" and values.size:
        values[random.integers(0, 40, shape) == 0] = np.nan if dtype == "f8e4m3" else np.inf
        values[random.integers(0, 40, shape) == 0] = np.nan
    return values


def productKernel(shape, kind, members):
    (m, n, k), (bm, bn, bk) = SHAPES[shape]
    kernel = Kernel(f"products {shape} {kind}", f"i: cdiv(M, {bm}), j: cdiv(N, {bn})")
    kernel.lines += [f"let m = block(i, {bm});", f"let n = block(j, {bn});"]
    for number, product in enumerate(members):
        random = np.random.default_rng(zlib.crc32(f"{product.name}/{shape}/{kind}".encode()))
        a, b = operand(random, product.a, (m, k), kind), operand(random, product.b, (k, n), kind)
        c = (
            plainValues(random, (m, n), product.c)
            if kind != "exact" or not isFloat(product.c)
            else random.integers(-3, 4, (m, n)).astype(VALUES[product.c])
        )
        p = f"{number}"
        kernel.input("a" + p, product.a, a, "M, K")
        kernel.input("b" + p, product.b, b, "K, N")
        kernel.input("t" + p, product.b, np.ascontiguousarray(b.T), "N, K")
        kernel.input("c" + p, product.c, c, "M, N")
        loop = f"for k in blocks(K, {bk})"
        precision = f', precision: "{product.precision}"' if product.precision != "full" else ""
        kernel.lines += [
            f"var p{p} = c{p}[m, n];",
            f"{loop} {{ p{p} = dot(a{p}[m, k], b{p}[k, n], p{p}{precision}); }}",
            f"z{p}[m, n] = p{p};",
            f"var q{p} = zeros({product.c}, [{bm}, {bn}]);",
            f"{loop} {{ q{p} = dot(a{p}[m, k], t{p}[n, k].T, q{p}{precision}); }}",
            f"y{p}[m, n] = q{p};",
        ]
        with np.errstate(all="ignore"):
            if isFloat(product.c):
                exact = a.astype(long) @ b.astype(long)
                size = np.nan_to_num(np.abs(a).astype(long), posinf=0) @ np.nan_to_num(
                    np.abs(b).astype(long), posinf=0
                )
            else:
                exact, size = a.astype(np.int64) @ b.astype(np.int64), 0
            for name, start in (("z", c), ("y", np.zeros_like(c))):
                expected = exact + start.astype(exact.dtype)
                if not isFloat(product.c):
                    expected, bound = expected.astype(np.int32), None
                elif kind == "exact" and product.c != "f16":
                    expected, bound = expected.astype(VALUES[product.c]), None
                else:
                    bound = (k + 1) * product.error * (size + np.abs(start)) + 2.0**-24
                kernel.output(
                    name + p,
                    product.c,
                    "M, N",
                    Output(
                        product.name, product.c, (m, n), expected, bound, False, f"{shape} {kind}"
                    ),
                )
    return kernel


def jobs(pick):
    members = pick(TABLE)
    for dtype in sorted({product.a for product in members}):
        chosen = [product for product in members if product.a == dtype]
        for shape in SHAPES:
            for kind in ("exact", "normal", "special"):
                if kind != "exact" and shape in ("empty", "one"):
                    continue
                yield (
                    (f"products of {dtype} {shape} {kind}", dtype, shape),
                    (lambda some, shape=shape, kind=kind: productKernel(shape, kind, some)),
                    chosen,
                )
