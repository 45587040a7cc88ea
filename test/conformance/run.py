#!/usr/bin/env python3
"""Runs every operation with every dtype and class of shapes, and compares with NumPy or exact
arithmetic.

  run.py [--tilec PROGRAM] [--device cpu|cuda] [--jobs N] [--only WORDS] [--coverage FILE |
  --check-coverage FILE]

What is tested stands in the tables elementwise.py, tiles.py and accesses.py; from them come
docs/Coverage.md too (--coverage writes it), and the test that what a dtype does not have is
refused. On CUDA what is exact must also be bit-equal to the CPU: both meet the same exact
reference. Needs NumPy alone.
"""

import argparse
import concurrent.futures
import os
import sys
import zlib

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import coverage
import elementwise
import products
import refusals
import tilecases
from elementwise import operandNames
from formats import ALL, FLOAT8, NIBBLES, STORED, anyValues, isFloat, specials, ties
from harness import Failed, Kernel, Output, Settings, errorBound, loadedDtype, storedDtype

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# Class of shapes: elements, extent of a tile. These classes, which have tiles cut and whole, are
# compiled with all optimisations; the others with none, ten times faster.
OPTIMISED = ("blocks", "special")
SHAPES = {
    "empty": (0, 64),
    "one": (1, 1),
    "tail": (100, 64),
    "odd": (300, 100),
    "blocks": (None, 256),
}


def seed(*words):
    return np.random.default_rng(zlib.crc32("/".join(map(str, words)).encode()))


def operands(dtype, count):
    """All pairs of special values and as many of every magnitude again (`count` of them, all if
    None), and a third operand.
    """
    random, special = seed("operands", dtype), specials(dtype)
    a, b = (grid.ravel() for grid in np.meshgrid(special, special))
    more = len(a) // 2 + 150
    a, b = (np.concatenate([x, anyValues(random, more, dtype)]) for x in (a, b))
    if count is None and dtype not in ["bool", "index", *FLOAT8, *NIBBLES]:
        between = ties(seed("ties", dtype), dtype)
        a, b = (
            np.concatenate([a, between]),
            np.concatenate([b, random.choice(special, len(between))]),
        )
        more += len(between)
    # Integers must divide and shift by something small, too.
    c = np.concatenate([random.choice(special, len(a) - more), anyValues(random, more, dtype)])
    m = random.integers(0, 2, len(a)).astype(bool)
    chosen = np.arange(len(a)) if count is None else random.permutation(len(a))[:count]
    return {"a": a[chosen], "b": b[chosen], "c": c[chosen], "m": m[chosen]}


def elementwiseKernel(dtype, shape, operations):
    count, block = SHAPES[shape]
    if dtype in NIBBLES:  # two of them share a byte
        count, block = (None if count is None else count + count % 2), block + block % 2
    values = operands(dtype, count)
    if dtype in NIBBLES:
        values = {name: each[: len(each) // 2 * 2] for name, each in values.items()}
    kernel = Kernel(f"elementwise {dtype} {shape}", "i: cdiv(N, B)")
    kernel.definitions["B"] = block
    kernel.lines.append("let n = block(i, B);")
    held, cast = loadedDtype(dtype)
    used = sorted(
        {name for operation in operations for name in operandNames(operation.text)} | {"a"}
    )
    for name in used:
        kernel.input(f"in_{name}", "bool" if name == "m" else held, values[name], "N")
        kernel.lines.append(f"let {name} = in_{name}[n]{'' if name == 'm' else cast};")
    groups = {}
    for operation in operations:
        groups.setdefault(operation.resultDtype(dtype), []).append(operation)
    for result, members in groups.items():
        target, back = storedDtype(result)
        outputs = []
        for i, operation in enumerate(members):
            text = operation.text.format(T=dtype, S=elementwise.SAME_BITS.get(dtype))
            kernel.lines.append(f"z_{result}[{i}, n] = ({text}){back};")
            names = [name for name in "mabc" if name in operandNames(operation.text)] or ["a"]
            expected = operation.reference(dtype, *(values[name] for name in names))
            bound = (
                None
                if operation.ulp is None
                else errorBound(dtype, expected, operation.ulp, operation.absolute)
            )
            outputs.append(Output(operation.name, target, expected.shape, expected, bound))
        kernel.output(f"z_{result}", target, f"{len(members)}, N", outputs)
    return kernel


def castKernel(dtype, shape, targets):
    count, block = SHAPES[shape]
    if dtype in NIBBLES:
        count, block = (None if count is None else count + count % 2), block + block % 2
        values = np.tile(np.arange(16, dtype=np.int16), 30)[:count].astype(np.uint8)
        values = (
            np.where(values > 7, values - 16, values).astype(np.int8) if dtype == "i4" else values
        )
    elif dtype in FLOAT8:
        from formats import decode8

        values = np.tile(decode8(np.arange(256, dtype=np.uint8), dtype), 2)[:count]
    else:
        values = operands(dtype, count)["a"]
    kernel = Kernel(f"casts {dtype} {shape}", "i: cdiv(N, B)")
    kernel.definitions["B"] = block
    held, cast = loadedDtype(dtype)
    kernel.input("x", held, values, "N")
    kernel.lines += ["let n = block(i, B);", f"let a = x[n]{cast};"]
    for to in targets:
        target, back = storedDtype(to)
        kernel.lines.append(f"z_{to}[n] = (a as {to}){back};")
        kernel.output(
            f"z_{to}",
            target,
            "N",
            Output("as " + to, target, values.shape, elementwise.converted(values, dtype, to)),
        )
    return kernel


def jobs(only):
    """(what, function from a list of operations to a kernel, operations): each a kernel of many
    operations.
    """
    pick = lambda operations: [
        o
        for o in operations
        if not only or any(word in (o if isinstance(o, str) else o.name) for word in only)
    ]
    for dtype in ALL:
        has = [operation for operation in elementwise.TABLE if dtype in operation.dtypes]
        for part in ([o for o in has if o.ulp is None], [o for o in has if o.ulp is not None]):
            if pick(part):
                for shape in SHAPES:
                    yield (
                        (f"element-wise {dtype} {shape}", dtype, shape),
                        (
                            lambda members, dtype=dtype, shape=shape: elementwiseKernel(
                                dtype, shape, members
                            )
                        ),
                        pick(part),
                    )
    for dtype in elementwise.CASTS_FROM:
        for shape in SHAPES:
            if not only or "as" in only:
                yield (
                    (f"conversions of {dtype} {shape}", dtype, shape),
                    (lambda members, dtype=dtype, shape=shape: castKernel(dtype, shape, members)),
                    list(elementwise.CASTS_TO),
                )
    yield from tilecases.jobs(pick)
    yield from products.jobs(pick)


def perform(job, settings):
    """(operation, dtype, shape, what is wrong or None) of everything that a job tests."""
    (what, dtype, shape), build, operations = job
    try:
        kernel = build(operations)
        # Several blocks of the tables of tiles are large kernels, over which -O3 takes ten times as
        # long; "special" has them at -O3.
        level = (
            0
            if shape not in OPTIMISED
            else 2
            if shape == "blocks" and what.startswith("tiles")
            else 3
        )
        found = kernel.run(settings, f"-O{level if settings.level is None else settings.level}")
        return [
            (
                operation,
                dtype,
                shape,
                wrong and f"{what}: {operation}{note and ' ' + note}: {wrong}",
            )
            for operation, note, wrong in kernel.check(found)
        ]
    except Failed as error:
        if len(operations) > 1:  # which of them is it?
            return [
                line
                for operation in operations
                for line in perform((job[0], build, [operation]), settings)
            ]
        name = operations[0] if isinstance(operations[0], str) else operations[0].name
        return [(name, dtype, shape, f"{what}: {name}: {error}")]


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("--tilec", default=os.path.join(ROOT, "build", "bin", "tilec"))
    parser.add_argument("--device", default="cpu", choices=["cpu", "cuda"])
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument(
        "--only", nargs="*", default=[], help="operations whose names hold one of these words"
    )
    parser.add_argument("--dtype", nargs="*", default=[], help="these dtypes alone")
    parser.add_argument("--keep", help="a folder for the kernels' sources")
    parser.add_argument(
        "--level",
        type=int,
        help=(
            "the optimisation level of all (without it 3 for some classes of shapes, 0 for the"
            " others)"
        ),
    )
    parser.add_argument("--coverage", help="write the table of what is tested to this file and end")
    parser.add_argument("--check-coverage", help="fail unless this file is that table")
    options = parser.parse_args()
    if options.coverage or options.check_coverage:
        return coverage.main(options.coverage, options.check_coverage)
    settings = Settings(options.tilec, options.device, options.level, options.keep)
    work = [job for job in jobs(options.only) if not options.dtype or job[0][1] in options.dtype]
    passed = failed = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for lines in pool.map(lambda job: perform(job, settings), work):
            for _, _, _, wrong in lines:
                passed, failed = passed + (wrong is None), failed + (wrong is not None)
                if wrong:
                    print("FAIL", wrong, flush=True)
    if not options.only and not options.dtype and options.device == "cpu":
        good, bad = refusals.check(settings)
        passed, failed = passed + good, failed + bad
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
