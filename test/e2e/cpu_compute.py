"""Computation on the CPU path against NumPy: shapes, reductions, dot, loops, narrow floats, bool,
grids.
"""

import numpy as np
from cpu_kernel import Kernels, check
from cpu_kernel_text import kernel, load, store

ELEMENTS = {
    "f16": np.float16,
    "f32": np.float32,
    "f64": np.float64,
    "i8": np.int8,
    "i16": np.int16,
    "i32": np.int32,
    "i64": np.int64,
    "i1": np.bool_,
    "index": np.int64,
}


def tile(element, shape):
    return (
        f"tensor<{'x'.join(map(str, list(shape) + [element]))}>" if shape is not None else element
    )


def dense(name, element, shape):
    """A view named %vNAME of all of a dense parameter."""
    constants = "\n".join(
        f"%{name}s{d} = arith.constant {n} : index\n%{name}t{d} = arith.constant"
        f" {int(np.prod(shape[d + 1 :]))} : index"
        for d, n in enumerate(shape)
    )
    extents, strides = (
        ", ".join(f"%{name}s{d}" for d in range(len(shape))),
        ", ".join(f"%{name}t{d}" for d in range(len(shape))),
    )
    unknown = f"!tile.view<{'?x' * len(shape)}{element}>"
    return (
        f"{constants}\n%v{name} = tile.view %{name} [{extents}] strides [{strides}] :"
        f" !tile.ptr<{element}> -> {unknown}"
    )


def read(name, element, shape):
    zero = {"f": "0.0", "b": "0.0"}.get(element[0], "0") if element != "i1" else "false"
    of = "" if element == "i1" else f" : {element}"
    return (
        f"{dense(name, element, shape)}\n%pad{name} = arith.constant {zero}{of}\n%{name}0 = "
        + load(
            f"%v{name}",
            ", ".join(["%c0"] * len(shape)),
            shape,
            element,
            pad=f"%pad{name}",
            inside=[True] * len(shape),
        )
    )


def write(value, name, element, shape):
    return f"{dense(name, element, shape)}\n" + store(
        value,
        f"%v{name}",
        ", ".join(["%c0"] * len(shape)),
        shape,
        element,
        inside=[True] * len(shape),
    )


class Suite:
    """Kernels of one program that read whole tiles and write whole tiles, all compiled at once."""

    def __init__(self):
        self.text, self.cases = "", []

    def add(self, name, inputs, outputs, body, expected, tolerance=0.0):
        """`inputs`: name -> (element, array); `outputs`: name -> (element, shape, SSA value)."""
        params = {n: "*" + e for n, (e, _) in inputs.items()} | {
            n: "*" + e for n, (e, _, _) in outputs.items()
        }
        lines = [read(n, e, a.shape) for n, (e, a) in inputs.items()] + [body]
        lines += [write(v, n, e, s) for n, (e, s, v) in outputs.items()]
        self.text += kernel(name, params, [], ("", ""), "\n".join(lines), read=set(inputs))
        self.cases.append((name, inputs, outputs, expected, tolerance))

    def run(self, bits):
        kernels = Kernels(self.text, bits=bits)
        for name, inputs, outputs, expected, tolerance in self.cases:
            results = [np.zeros(s, ELEMENTS.get(e, np.uint16)) for e, s, _ in outputs.values()]
            kernels.run(name, [a.copy() for _, a in inputs.values()] + results, 1)
            for (n, (e, s, _)), found, wanted in zip(outputs.items(), results, expected):
                check(f"{name} {n}", found, wanted, tolerance)
        return kernels


generator = np.random.default_rng(0)
suite = Suite()
uniform = lambda *shape: generator.random(shape, dtype=np.float32) - 0.5

# Shape operations.
a = uniform(3, 5)
suite.add(
    "broadcast",
    {"x": ("f32", a[:, :1].copy())},
    {"y": ("f32", (2, 3, 4), "%r")},
    "%r = tile.broadcast %x0 : tensor<3x1xf32> -> tensor<2x3x4xf32>",
    [np.broadcast_to(a[:, :1], (2, 3, 4))],
)
suite.add(
    "permute",
    {"x": ("f32", a)},
    {"y": ("f32", (5, 3), "%r")},
    "%r = tile.permute %x0 {permutation = array<i64: 1, 0>} : tensor<3x5xf32> -> tensor<5x3xf32>",
    [a.T],
)
b = uniform(2, 3, 4)
suite.add(
    "permute3",
    {"x": ("f32", b)},
    {"y": ("f32", (4, 2, 3), "%r")},
    "%r = tile.permute %x0 {permutation = array<i64: 2, 0, 1>} : tensor<2x3x4xf32> ->"
    " tensor<4x2x3xf32>",
    [b.transpose(2, 0, 1)],
)
for i, (old, new) in enumerate(
    [
        ((6,), (6, 1)),
        ((6,), (1, 6)),
        ((2, 3), (3, 2)),
        ((2, 3, 4), (6, 4)),
        ((1, 6, 1), (6,)),
        ((24,), (2, 1, 3, 4)),
        ((4, 6), (2, 12)),
        ((1,), (1, 1, 1)),
        ((1, 1), (1,)),
    ]
):
    x = uniform(*old)
    suite.add(
        f"reshape{i}",
        {"x": ("f32", x)},
        {"y": ("f32", new, "%r")},
        f"%r = tile.reshape %x0 : {tile('f32', old)} -> {tile('f32', new)}",
        [x.reshape(new)],
    )
suite.add(
    "iota",
    {},
    {"y": ("index", (7,), "%r")},
    "%r = tile.iota %c3 step 5 : tensor<7xindex>",
    [3 + 5 * np.arange(7)],
)

# Reductions.
x = uniform(5, 7)
x[1, 2] = np.nan
y = uniform(5, 7)
integers = generator.integers(-100, 100, (5, 7)).astype(np.int32)
for kind, function in (("sum", np.sum), ("prod", np.prod), ("max", np.max), ("min", np.min)):
    for axis in (None, 0, 1):
        for name, element, data in (("nan", "f32", x), ("f", "f32", y), ("i", "i32", integers)):
            shape = (1,) if axis is None else (7, 5)[axis : axis + 1]
            result = "f32" if element == "f32" else "i32"
            reduced = tile(result, None if axis is None else shape)
            at = "" if axis is None else f" axis {axis}"
            body = f"%r = tile.reduce {kind} %x0{at} : {tile(element, (5, 7))} -> {reduced}"
            value = "%r"
            if axis is None:
                body += f"\n%q = tensor.splat %r : {tile(result, (1,))}"
                value = "%q"
            wanted = (
                function(data, axis=axis)
                if element == "f32"
                else (
                    function(data, axis=axis, dtype=np.int32)
                    if kind in ("sum", "prod")
                    else function(data, axis=axis)
                )
            )
            suite.add(
                f"{kind}_{name}_{'all' if axis is None else axis}",
                {"x": (element, data)},
                {"y": (result, shape, value)},
                body,
                [np.reshape(wanted, shape)],
                1e-6,
            )
flags = generator.random((4, 6)) < 0.5
suite.add(
    "any",
    {"x": ("i1", flags)},
    {"y": ("i1", (4,), "%r")},
    "%r = tile.reduce or %x0 axis 1 : tensor<4x6xi1> -> tensor<4xi1>",
    [flags.any(1)],
)
suite.add(
    "all_",
    {"x": ("i1", flags)},
    {"y": ("i1", (6,), "%r")},
    "%r = tile.reduce and %x0 axis 0 : tensor<4x6xi1> -> tensor<6xi1>",
    [flags.all(0)],
)
ties = generator.integers(0, 3, (5, 9)).astype(np.float32)
ties[2, 4] = ties[2, 6] = np.nan
ties[3] = -np.inf
for kind, function in (("argmax", np.argmax), ("argmin", np.argmin)):
    for axis in (0, 1):
        size = (9, 5)[axis]
        suite.add(
            f"{kind}{axis}",
            {"x": ("f32", ties)},
            {"y": ("index", (size,), "%r")},
            f"%r = tile.arg_reduce {kind} %x0 axis {axis} : tensor<5x9xf32> ->"
            f" tensor<{size}xindex>",
            [function(ties, axis=axis)],
        )
    suite.add(
        f"{kind}_all",
        {"x": ("f32", ties)},
        {"y": ("index", (1,), "%q")},
        f"%r = tile.arg_reduce {kind} %x0 : tensor<5x9xf32> -> index\n%q = tensor.splat %r :"
        " tensor<1xindex>",
        [[function(ties)]],
    )

# Products: every remainder of rows and columns, transposed operands, batches, narrow operands.
for m, n, k in ((8, 32, 4), (1, 1, 1), (13, 37, 5), (9, 33, 64), (17, 100, 3), (5, 7, 1)):
    p, q, r = uniform(m, k), uniform(k, n), uniform(m, n)
    for element, dtype, tolerance in (
        ("f32", np.float32, 1e-5),
        ("f64", np.float64, 1e-12),
        ("f16", np.float16, 2e-3),
        ("i32", np.int32, 0),
    ):
        scale = 100 if element == "i32" else 1
        pp, qq, rr = ((v * scale).astype(dtype) for v in (p, q, r))
        total = tile(element, (m, n))
        suite.add(
            f"dot_{element}_{m}_{n}_{k}",
            {"x": (element, pp), "y": (element, qq), "z": (element, rr)},
            {"w": (element, (m, n), "%r")},
            f"%r = tile.dot %x0, %y0, %z0 precision full : {tile(element, (m, k))},"
            f" {tile(element, (k, n))}, {total}",
            [(pp.astype(np.float64) @ qq.astype(np.float64) + rr).astype(dtype)],
            tolerance,
        )
p, q, r = uniform(13, 21).astype(np.float16), uniform(19, 21).astype(np.float16), uniform(13, 19)
suite.add(
    "dot_transposed",
    {"x": ("f16", p), "y": ("f16", q), "z": ("f32", r)},
    {"w": ("f32", (13, 19), "%r")},
    """%t = tile.permute %y0 {permutation = array<i64: 1, 0>}
  : tensor<19x21xf16> -> tensor<21x19xf16>
%r = tile.dot %x0, %t, %z0 precision full
  : tensor<13x21xf16>, tensor<21x19xf16>, tensor<13x19xf32>""",
    [p.astype(np.float32) @ q.astype(np.float32).T + r],
    1e-5,
)
p, q, r = uniform(2, 3, 5, 7), uniform(2, 3, 7, 9), uniform(2, 3, 5, 9)
suite.add(
    "dot_batched",
    {"x": ("f32", p), "y": ("f32", q), "z": ("f32", r)},
    {"w": ("f32", (2, 3, 5, 9), "%r")},
    "%r = tile.dot %x0, %y0, %z0 precision full : tensor<2x3x5x7xf32>, tensor<2x3x7x9xf32>,"
    " tensor<2x3x5x9xf32>",
    [p @ q + r],
    1e-5,
)

# Loops that carry tiles.
p, q = uniform(600), uniform(600)
T = "tensor<600xf32>"
for trips in (0, 1, 2, 5):
    suite.add(
        f"swap{trips}",
        {"x": ("f32", p), "y": ("f32", q)},
        {"u": ("f32", (600,), "%r#0"), "v": ("f32", (600,), "%r#1")},
        f"""%n = arith.constant {trips} : index
%r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%s = %x0, %t = %y0) -> ({T}, {T}) {{
  scf.yield %t, %s : {T}, {T}
}}""",
        [(p, q)[trips % 2], (q, p)[trips % 2]],
    )
fibonacci = [p, q]
for _ in range(4):
    fibonacci = [fibonacci[1], fibonacci[0] + fibonacci[1]]
suite.add(
    "fibonacci",
    {"x": ("f32", p), "y": ("f32", q)},
    {"u": ("f32", (600,), "%r#0"), "v": ("f32", (600,), "%r#1")},
    f"""%r:2 = scf.for %i = %c0 to %c4 step %c1 iter_args(%s = %x0, %t = %y0) -> ({T}, {T}) {{
  %sum = arith.addf %s, %t : {T}
  scf.yield %t, %sum : {T}, {T}
}}""",
    fibonacci,
)
# What one iteration loads is still there in the next, where it is used after the next load.
rows = uniform(5, 600)
suite.add(
    "previous",
    {"x": ("f32", rows)},
    {"y": ("f32", (600,), "%r#1")},
    f"""%zero = arith.constant 0.0 : f32
%n = arith.constant 5 : index
%z = arith.constant dense<0.0> : {T}
%one = arith.constant 1.0 : f32
%r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%before = %z, %sum = %z) -> ({T}, {T}) {{
  %now = {load("%vx", "%i, %c0", [-1, 600], "f32", pad="%zero")}
  %d = arith.subf %now, %before : {T}
  %a = math.absf %d : {T}
  %more = arith.addf %sum, %a : {T}
  scf.yield %now, %more : {T}, {T}
}}""",
    [np.abs(np.diff(np.vstack([np.zeros(600, np.float32), rows]), axis=0)).sum(0)],
    1e-6,
)
halved = p.copy()
count = 0
while np.max(halved) > 0.01:
    halved, count = halved * np.float32(0.5), count + 1
suite.add(
    "while_",
    {"x": ("f32", p)},
    {"y": ("f32", (600,), "%r#0"), "n": ("index", (1,), "%count")},
    f"""%limit = arith.constant 0.01 : f32
%half = arith.constant dense<0.5> : {T}
%r:2 = scf.while (%t = %x0, %i = %c0) : ({T}, index) -> ({T}, index) {{
  %m = tile.reduce max %t : {T} -> f32
  %go = arith.cmpf ogt, %m, %limit : f32
  scf.condition(%go) %t, %i : {T}, index
}} do {{
^bb0(%t: {T}, %i: index):
  %u = arith.mulf %t, %half : {T}
  %j = arith.addi %i, %c1 : index
  scf.yield %u, %j : {T}, index
}}
%count = tensor.splat %r#1 : tensor<1xindex>""",
    [halved, [count]],
)
suite.add(
    "if_",
    {"x": ("f32", p), "y": ("f32", q)},
    {"u": ("f32", (600,), "%r"), "v": ("f32", (600,), "%s")},
    f"""%m = tile.reduce sum %x0 : {T} -> f32
%zero = arith.constant 0.0 : f32
%yes = arith.cmpf ogt, %m, %zero : f32
%r = scf.if %yes -> {T} {{
  scf.yield %x0 : {T}
}} else {{
  scf.yield %y0 : {T}
}}
%n = arith.negf %r : {T}
%s = scf.if %yes -> {T} {{
  %k = arith.addf %n, %x0 : {T}
  scf.yield %k : {T}
}} else {{
  scf.yield %n : {T}
}}
""",
    [p if p.sum(dtype=np.float64) > 0 else q, p * 0 if p.sum(dtype=np.float64) > 0 else -q],
)
suite.add(
    "select",
    {"x": ("f32", p), "y": ("f32", q)},
    {"u": ("f32", (600,), "%r"), "v": ("f32", (600,), "%s")},
    f"""%m = arith.cmpf olt, %x0, %y0 : {T}
%r = arith.select %m, %x0, %y0 : tensor<600xi1>, {T}
%false = arith.constant false
%s = arith.select %false, %x0, %y0 : {T}""",
    [np.minimum(p, q), q],
)

# Narrow floats round at every operation.
h, g, f = (generator.standard_normal(2000).astype(np.float16) for _ in range(3))
T = "tensor<2000xf16>"
suite.add(
    "half",
    {"x": ("f16", h), "y": ("f16", g), "z": ("f16", f)},
    {"u": ("f16", (2000,), "%d")},
    f"""%a = arith.addf %x0, %y0 : {T}
%b = arith.mulf %a, %z0 : {T}
%c = arith.divf %b, %y0 : {T}
%d = arith.subf %c, %x0 : {T}""",
    [(h + g) * f / g - h],
)


def narrow(values):
    """f32 to bf16 bits, to nearest even."""
    bits = values.astype(np.float32).view(np.uint32)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)


widen = lambda bits: (bits.astype(np.uint32) << 16).view(np.float32)
h, g, f = (narrow(generator.standard_normal(2000).astype(np.float32)) for _ in range(3))
step = lambda values: widen(narrow(values))
T = "tensor<2000xbf16>"
wanted = narrow(step(step(step(widen(h) + widen(g)) * widen(f)) / widen(g)) - widen(h))
suite.add(
    "brain",
    {"x": ("bf16", h), "y": ("bf16", g), "z": ("bf16", f)},
    {"u": ("bf16", (2000,), "%d")},
    f"""%a = arith.addf %x0, %y0 : {T}
%b = arith.mulf %a, %z0 : {T}
%c = arith.divf %b, %y0 : {T}
%d = arith.subf %c, %x0 : {T}""",
    [wanted],
)
single = np.concatenate(
    [generator.standard_normal(1000), 2.0 ** generator.uniform(-140, 127, 1000)]
).astype(np.float32)
single[:4] = [np.inf, -np.inf, 0.0, -0.0]
suite.add(
    "to_brain",
    {"x": ("f32", single)},
    {"u": ("bf16", (2000,), "%d"), "v": ("f32", (2000,), "%e")},
    f"%d = arith.truncf %x0 : tensor<2000xf32> to {T}\n%e = arith.extf %d : {T} to"
    " tensor<2000xf32>",
    [narrow(single), widen(narrow(single))],
)
# 2^24 + 2^16 lies between two bf16 numbers, 1 above it does not: rounding by way of f32 would
# forget that.
wide = np.array(
    [2**24 + 2**16 + 1, 2**24 + 2**16, 2**24 + 3 * 2**16, -(2**24 + 2**16 + 1), 2**31 - 1, 0],
    np.int32,
)
nearest = lambda v: (
    np.float64(np.sign(v))
    * min(
        (c for c in widen(np.arange(0x7F80, dtype=np.uint16)).astype(np.float64)),
        key=lambda c: (abs(c - abs(int(v))), narrow(np.float32([c]))[0] & 1),
    )
)
suite.add(
    "integers_to_brain",
    {"x": ("i32", wide)},
    {"u": ("f32", (6,), "%e")},
    "%d = arith.sitofp %x0 : tensor<6xi32> to tensor<6xbf16>\n%e = arith.extf %d : tensor<6xbf16>"
    " to tensor<6xf32>",
    [[nearest(v) for v in wide]],
)

for bits in (128, 512):
    suite.run(bits)

# Programs: numbered with the last axis fastest, any part of the grid in any call.
text = kernel(
    "grid",
    {"y": "*i64", "n": "i32", "f": "f32"},
    ["A", "B", "C"],
    ("", "%A, %B, %C"),
    """
%i = tile.program_id 0
%j = tile.program_id 1
%k = tile.program_id 2
%c100 = arith.constant 100 : index
%ij = arith.muli %i, %c100 : index
%ij2 = arith.addi %ij, %j : index
%ijk = arith.muli %ij2, %c100 : index
%id = arith.addi %ijk, %k : index
%v = arith.index_cast %id : index to i64
%w = arith.extsi %n : i32 to i64
%g = arith.fptosi %f : f32 to i64
%s = arith.addi %v, %w : i64
%t = arith.addi %s, %g : i64
%bc = arith.muli %B, %C : index
%vy = tile.view %y [%A, %B, %C] strides [%bc, %C, %c1] : !tile.ptr<i64> -> !tile.view<?x?x?xi64>
"""
    + store("%t", "%vy", "%i, %j, %k", [-1, -1, -1], "i64"),
)
text += kernel(
    "single",
    {"y": "*f32"},
    [],
    ("", ""),
    f"""%one = arith.constant 1.0 : f32
%vy = tile.view %y [%c1] strides [%c1] : !tile.ptr<f32> -> !tile.view<?xf32>
{store("%one", "%vy", "%c0", [-1], "f32")}""",
)
kernels = Kernels(text)
for shape in ((2, 3, 4), (1, 1, 1), (5, 1, 2), (0, 3, 2), (3, 0, 2)):
    y = np.full(shape, -1, np.int64)
    programs = int(np.prod(shape))
    for begin in range(0, programs, 5):
        kernels.run(
            "grid", [y, np.int32(-7), np.float32(3.0), *shape], min(begin + 5, programs), begin
        )
    kernels.run("grid", [y, np.int32(-7), np.float32(3.0), *shape], 0)
    i, j, k = np.indices(shape)
    check(f"grid {shape}", y, i * 10000 + j * 100 + k - 4)
y = np.zeros(1, np.float32)
kernels.run("single", [y], 1)
check("grid of one", y, [1])
print("all computation: ok")
