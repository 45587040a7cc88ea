"""Right calls of the kernels of effects.tile, and what each hands to the driver.

As calls.py, with the word `effects` behind; with `host` the fills of the kernel on the CPU."""

import ctypes
import itertools

import fake_cuda
from calls import (
    BF16,
    F16,
    F32,
    F64,
    I16,
    I32,
    I64,
    I8,
    U16,
    U32,
    U4,
    U64,
    fake,
    launch,
    part,
    scalar,
    showLaunch,
    side,
    tensor,
)

shown = 0


def show(what, call, kernel, **fields):
    """What a right call hands to the driver. Each has its tensors elsewhere, so that no map is
    known from the call before; printed is where they were. Of memory that is the launcher's own,
    the last bits speak."""
    global shown
    shown += 1 << 48
    for argument in call.values():
        argument.data = argument.data + shown if argument.data else None
    code = launch(what, call, kernel, **fields)
    for m in fake.memset[: 0 if code else fake.memsets]:
        rows = f" {m.rows} rows, {m.pitch} bytes apart" if m.rows > 1 else ""
        print(
            f"  fill at {m.address - shown:#x}: {m.width} cells of {m.cellBytes} "
            f"with {m.value:#x}{rows}"
        )
    for m in fake.map[: fake.encodings]:
        place = f"{m.address - shown:#x}" if m.address > 1 << 40 else f"+{m.address % 32}"
        print(
            f"  map of type {m.dataType} at {place}: {m.extents[: m.rank]} "
            f"strides {m.strides[: m.rank]} box {m.box[: m.rank]} "
            f"swizzle {m.swizzle} promotion {m.promotion}"
        )
    showLaunch()


def cover(shape, strides, dtype=F32, n=0):
    return {"x": tensor(dtype, 0x100000, shape, strides), "n": scalar(I32, n)}


def into(dtype=F32, m=80, n=96, k=128, stride=None):
    return {
        "a": tensor(F16, 0x200000, [m, k], [stride or k, 1]),
        "b": tensor(F16, 0x300000, [k, n]),
        "c": tensor(dtype, 0x400000, [m, n]),
    }


# Memory that covers: dense, dense in another order, rows with gaps, planes with gaps, one for each
# loop, elements with gaps, single ones whose strides do not count, and none.
LAYOUTS = {
    "dense": ([2, 3, 4, 5], [60, 20, 5, 1]),
    "turned": ([5, 4, 3, 2], [1, 5, 20, 60]),
    "rows": ([2, 3, 4, 5], [96, 32, 8, 1]),
    "planes": ([2, 3, 4, 5], [80, 25, 5, 1]),
    "loops": ([2, 3, 2, 5], [200, 50, 16, 1]),
    "gaps": ([1, 2, 2, 3], [1, 99, 20, 4]),
    "between": ([2, 1, 3, 4], [12, 6, 4, 1]),
    "single": ([1, 1, 1, 1], [7, 7, 7, 7]),
    "empty": ([2, 0, 4, 5], [60, 20, 5, 1]),
}


def callEffects():
    for name, (shape, strides) in LAYOUTS.items():
        show(name, cover(shape, strides), "cover")
    for name, dtype in (("i8", I8), ("f16", F16), ("i64", I64), ("f64", F64)):
        show("row of " + name, cover(*LAYOUTS["dense"], dtype=dtype), "cover")
        show("rows of " + name, cover(*LAYOUTS["rows"], dtype=dtype), "cover")
    show("gaps of f64", cover(*LAYOUTS["gaps"], dtype=F64), "cover")
    show("fill and launch", cover(*LAYOUTS["dense"], n=1000), "cover")
    show("refused launch", cover(*LAYOUTS["dense"], n=1000), "cover", refused=1)
    show("refused fill", cover(*LAYOUTS["dense"]), "cover", isFull=True)
    for name, dtype in (
        ("i8", I8),
        ("u16", U16),
        ("i16", I16),
        ("u32", U32),
        ("i32", I32),
        ("u64", U64),
        ("i64", I64),
        ("f16", F16),
        ("bf16", BF16),
        ("f32", F32),
        ("f64", F64),
    ):
        show("map of " + name, into(dtype), "into")
    show("single row", into(m=1, stride=2**40), "into")
    show("single long row", into(m=1, k=8, n=16), "into")
    show("far row", into(m=1, n=80, k=12, stride=8), "into")
    show("empty sum", into(k=0, stride=8), "into")
    expert = {
        "a": tensor(F16, 0x200000, [300, 128]),
        "b": tensor(F16, 0x300000, [3, 128, 4096]),
        "offset": tensor(I32, 0x500000, [4]),
        "c": tensor(F16, 0x800000, [300, 4096]),
    }
    show("cut", expert, "cut")
    show(
        "no rows",
        dict(
            expert,
            a=tensor(F16, 0x200000, [0, 128]),
            b=tensor(F16, 0x600000, [1, 128, 72]),
            offset=tensor(I32, 0x500000, [2]),
            c=tensor(F16, 0x400000, [0, 72]),
        ),
        "cut",
    )
    show(
        "far expert",
        {
            "a": tensor(F16, 0x200000, [8, 8]),
            "b": tensor(F16, 0x1000000, [1, 8, 64], [8, 2**38, 1]),
            "offset": tensor(I32, 0x500000, [2]),
            "c": tensor(F16, 0x400000, [8, 64]),
        },
        "cut",
    )
    show(
        "half bytes",
        {
            "x": tensor(F16, 0x200000, [70, 96]),
            "w": tensor(U4, 0x300000, [72, 96]),
            "y": tensor(F16, 0x400000, [70, 72]),
        },
        "packed",
    )


def callHost():
    """Each fill, in memory of this process that is all 0: whether it wrote each element of the
    tensor, and nothing else."""
    for name, (shape, strides) in LAYOUTS.items():
        for dtype, bytes_ in (("i8", 1), ("f16", 2), ("f32", 4), ("i64", 8), ("f64", 8)):
            memory = (ctypes.c_ubyte * 8192)()
            at = (ctypes.addressof(memory) + 1023) // 1024 * 1024
            one = {
                "i8": b"\xff",
                "f16": b"\x00\xbc",
                "f32": b"\x00\x00\x80\xbf",
                "i64": b"\xff" * 8,
                "f64": b"\x00" * 6 + b"\xf0\xbf",
            }[dtype]
            code, text = side.call(
                "cover",
                (fake_cuda.Argument * 2)(
                    tensor(
                        {"i8": I8, "f16": F16, "f32": F32, "i64": I64, "f64": F64}[dtype],
                        at,
                        shape,
                        strides,
                    ),
                    scalar(I32, 0),
                ),
                2,
                0,
            )
            right = bytearray(8192)
            for index in itertools.product(*map(range, shape)):
                place = (
                    at
                    - ctypes.addressof(memory)
                    + bytes_ * sum(i * s for i, s in zip(index, strides))
                )
                right[place : place + bytes_] = one
            isRight = bytes(memory) == bytes(right)
            print(f"{name} {dtype}: {code} {text}{'as expected' if isRight else 'other memory'}")


{"effects": callEffects, "host": callHost}[part]()
