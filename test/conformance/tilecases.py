"""Kernels for the tables of operations on tiles (tiles.py) and of accesses (accesses.py)."""

import re
import zlib

import numpy as np

import accesses
import indexed
import ordering
import randoms
import tiles
from formats import ALL, NIBBLES, VALUES, anyValues, hasInfinity, isFloat, plainValues, specials
from harness import Kernel, Output, loadedDtype, storedDtype

TILES = tiles.TABLE + ordering.TABLE + randoms.TABLE
ACCESSES = accesses.TABLE + indexed.TABLE


def seed(*words):
    return np.random.default_rng(zlib.crc32("/".join(map(str, words)).encode()))


def even(extents):
    return tuple(extents[:-1]) + (extents[-1] + extents[-1] % 2,)


def shapesOf(dtype, shape):
    """Programs, extents of the tensors and of the tiles of a class; 4-bit integers come in
    pairs.
    """
    programs, tensors, blocks = tiles.CLASSES[shape]
    if dtype in NIBBLES:
        tensors, blocks = [even(t) if t[-1] else t for t in tensors], [even(t) for t in blocks]
    return programs, tensors, blocks


def values(name, dtype, shape, extents, plain):
    random = seed(name, dtype, shape)
    if dtype in NIBBLES:
        return random.integers(*((-8, 8) if dtype == "i4" else (0, 16)), extents).astype(
            VALUES[dtype]
        )
    if shape == "special" and isFloat(dtype):
        # Sums and products of these do not depend on the order, which a finite overflow would.
        special = (
            np.array([0, -0.0, 1, -1, 0.5, 2, np.inf, -np.inf, np.nan], VALUES[dtype])
            if plain
            else specials(dtype)
        )
        if not hasInfinity(dtype):
            special = special[~np.isinf(special)]
        chosen = random.choice(special, extents)
        # Half of the programs without NaN, so that the others are seen.
        calm = special[~np.isnan(special)]
        return np.where(
            np.arange(extents[0]).reshape(-1, *[1] * (len(extents) - 1)) % 2 == 0,
            random.choice(calm, extents),
            chosen,
        )
    if plain or dtype == "bool":
        return plainValues(random, extents, dtype)
    size = int(np.prod(extents))
    pool = (
        np.concatenate([anyValues(random, size, dtype), specials(dtype)])
        if not isFloat(dtype)
        else anyValues(random, size, dtype)
    )
    if size > 4:
        pool = random.choice(pool, max(size // 2, 1))  # so that some are equal
    return random.choice(pool, extents).astype(VALUES[dtype])


def tileKernel(dtype, shape, operations, plain):
    programs, tensors, blocks = shapesOf(dtype, shape)
    kernel = Kernel(
        f"tiles {dtype} {shape}{' plain' if plain else ''}",
        f"i: {programs}",
        tiles.userFunctions() + ordering.FUNCTIONS,
    )
    held, cast = loadedDtype(dtype)
    made = {}

    def operand(name):
        """A padded tile of each program."""
        if name in made:
            return made[name]
        rank = int(name[1])
        own, wide = ("bool", "") if name[0] == "m" else (held, cast)
        extents, block = tensors[rank - 1], blocks[rank - 1]
        data = values(
            name, "bool" if name[0] == "m" else dtype, shape, (programs,) + extents, plain
        )
        kernel.input("in_" + name, own, data, ", ".join(f"N{n}" for n in (programs,) + extents))
        kernel.lines.append(
            f"let {name} = in_{name}[i, {', '.join(f'at(0, {b})' for b in block)}]{wide};"
        )
        padded = np.zeros((programs,) + block, data.dtype)
        padded[(slice(None),) + tuple(slice(0, n) for n in extents)] = data
        made[name] = padded
        return padded

    sizes = {f"n{rank + 1}": int(np.prod(block)) for rank, block in enumerate(blocks)}
    number = 0
    for operation in operations:
        for form in operation.forms:
            names = sorted(set(re.findall(r"\b[xym][123]\b", form.text)))
            if any(min(blocks[int(name[1]) - 1]) < form.least for name in names):
                continue
            arguments = [operand(name) for name in names]
            text = form.text.format(T=dtype, **sizes)
            each = [
                form.reference(dtype, *(argument[p] for argument in arguments))
                for p in range(programs)
            ]
            results = form.result if isinstance(form.result, tuple) else (form.result,)
            if len(results) > 1:
                kernel.lines.append(f"let r{number} = {text};")
            for part, result in enumerate(results):
                result = dtype if result == "T" else result(dtype) if callable(result) else result
                target, back = storedDtype(result)
                parts = [one[part] if len(results) > 1 else one for one in each]
                expected = np.stack([np.asarray(one) for one in parts])
                if form.bound is None:
                    expected = expected.astype(VALUES[target])
                bound = None
                if form.bound and isFloat(dtype):
                    bound = np.stack(
                        [
                            np.asarray(form.bound(dtype, *(argument[p] for argument in arguments)))
                            for p in range(programs)
                        ]
                    )
                extents = expected.shape[1:]
                subscripts = ", ".join(["i"] + [f"at(0, {n})" for n in extents])
                source = f"r{number}[{part}]" if len(results) > 1 else f"({text})"
                kernel.lines.append(f"z{number}_{part}[{subscripts}] = {source}{back};")
                kernel.output(
                    f"z{number}_{part}",
                    target,
                    ", ".join(str(n) for n in expected.shape),
                    Output(
                        operation.name,
                        target,
                        expected.shape,
                        expected,
                        bound,
                        form.zeroSigns,
                        form.text,
                    ),
                )
            number += 1
    return kernel


def accessKernel(dtype, shape, operations):
    """As tileKernel, but forms see the tensors themselves, as t1, t2, t3, and may store."""
    programs, tensors, _ = shapesOf(dtype, shape)
    kernel = Kernel(f"accesses {dtype} {shape}", f"i: {programs}")
    held, cast = loadedDtype(dtype)
    made = {}

    def operand(name):
        if name in made:
            return made[name]
        rank = int(name[1])
        own = "bool" if name[0] == "m" else held
        data = values(
            name, "bool" if name[0] == "m" else dtype, shape, (programs,) + tensors[rank - 1], False
        )
        kernel.input(
            "in_" + name, own, data, ", ".join(f"N{n}" for n in (programs,) + tensors[rank - 1])
        )
        kernel.lines.append(f"let {name} = in_{name}[i];")
        made[name] = data
        return data

    number = 0
    for operation in operations:
        for form in operation.forms:
            names = sorted(set(re.findall(r"\b[tm][123]\b", form.text)))
            if dtype in NIBBLES and not form.nibbles:
                continue
            arguments = [operand(name) for name in names]
            result = dtype if form.result == "T" else form.result
            target, back = storedDtype(result)
            each = [
                form.reference(dtype, *(argument[p] for argument in arguments))
                for p in range(programs)
            ]
            expected = np.stack([np.asarray(one) for one in each]).astype(VALUES[target])
            output, pad = f"z{number}", accesses.padding(held)
            text = form.text.format(T=held, o=f"{output}v", pad=pad)
            if form.stores:
                kernel.lines.append(f"let {output}v = {output}[i];")
                kernel.lines += text.split("\n")
            else:
                subscripts = ", ".join(["i"] + [f"at(0, {n})" for n in expected.shape[1:]])
                wide = cast if result == dtype else ""
                kernel.lines.append(f"{output}[{subscripts}] = ({text}){wide}{back};")
            kernel.output(
                output,
                target,
                ", ".join(str(n) for n in expected.shape),
                Output(operation.name, target, expected.shape, expected, note=form.text),
                form.access,
            )
            number += 1
    return kernel


def jobs(pick):
    for dtype in ALL:
        for plain in (False, True):
            members = pick([o for o in TILES if dtype in o.dtypes and o.plain == plain])
            for shape in tiles.CLASSES if members else []:
                yield (
                    (f"tiles of {dtype} {shape}", dtype, shape),
                    (
                        lambda chosen, dtype=dtype, shape=shape, plain=plain: tileKernel(
                            dtype, shape, chosen, plain
                        )
                    ),
                    members,
                )
        members = pick([o for o in ACCESSES if dtype in o.dtypes])
        for shape in tiles.CLASSES if members else []:
            if shape != "special":
                yield (
                    (f"accesses of {dtype} {shape}", dtype, shape),
                    (lambda chosen, dtype=dtype, shape=shape: accessKernel(dtype, shape, chosen)),
                    members,
                )
