#!/usr/bin/env python3
"""Small kernels of PTX on the emulated device: known answers, and the mistakes that it must report.

  snippets.py LIBRARY [NAME...]

The kernels are in Inputs/snippets.ptx. Each has one warp and two parameters, `input` and `output`,
in %rd1 and %rd2, the thread's number in %r1 and the address of its 8 bytes of output in %rd3.
Asynchronous operations happen as late as is allowed and at once.
"""

import ctypes
import os
import re
import sys

import numpy as np

HEAD = """.version 8.4
.target sm_90a
.address_size 64
.extern .shared .align 1024 .b8 memory[];
.visible .entry k(.param .u64 input, .param .u64 output, .param .align 64 .b8 map[128])
{
  .reg .pred %p<9>; .reg .b16 %h<20>; .reg .b32 %r<60>; .reg .b64 %rd<20>; .reg .f32 %f<20>;
  ld.param.b64 %rd1, [input];
  ld.param.b64 %rd2, [output];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd3, %r1, 8;
  add.s64 %rd3, %rd2, %rd3;
"""
# What many kernels begin and end with: the thread's 4 bytes of input, and of output.
ADDRESS = "mul.wide.u32 %rd4, %r1, 4; add.s64 %rd5, %rd1, %rd4; "
SHORT = {
    "LOAD": ADDRESS + "ld.global.b32 %r3, [%rd5];",
    "LOADF": ADDRESS + "ld.global.b32 %f1, [%rd5];",
    "STORE": "st.global.b32 [%rd3], %r2;",
}


def readKernels():
    """{name: text} of Inputs/snippets.ptx."""
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "Inputs", "snippets.ptx")
    with open(path, encoding="utf-8") as file:
        parts = re.split(r"^// NAME (.*)\n", file.read(), flags=re.M)[1:]
    expand = lambda text: re.sub(r"^ *(LOADF?|STORE)$", lambda m: SHORT[m[1]], text, flags=re.M)
    return {name: expand(text) for name, text in zip(parts[::2], parts[1::2])}


class Attribute(ctypes.Structure):
    """Of a launch: 4 is the cluster's extents."""

    _fields_ = [("id", ctypes.c_int), ("padding", ctypes.c_int), ("value", ctypes.c_uint * 16)]


class Config(ctypes.Structure):
    """A launch."""

    _fields_ = [
        *((name, ctypes.c_uint) for name in ("x", "y", "z", "threads", "threadsY", "threadsZ")),
        ("shared", ctypes.c_uint),
        ("stream", ctypes.c_void_p),
        ("attributes", ctypes.POINTER(Attribute)),
        ("count", ctypes.c_uint),
    ]


class Device:
    """The emulated driver, with one kernel of two buffers."""

    def __init__(self, library):
        self.library = ctypes.CDLL(library)
        assert self.library.cuInit(0) == 0

    def text(self, code):
        name, text = ctypes.c_char_p(), ctypes.c_char_p()
        self.library.cuGetErrorName(code, ctypes.byref(name))
        self.library.cuGetErrorString(code, ctypes.byref(text))
        return f"{name.value.decode()}: {text.value.decode()}"

    def run(self, body, given, threads=32, shared=4096, blocks=1, tensor=None):
        """The output's 8 bytes for each thread, or the text of what failed. Several blocks are a
        cluster.
        """
        module, function, log = (
            ctypes.c_void_p(),
            ctypes.c_void_p(),
            ctypes.create_string_buffer(1000),
        )
        options, values = (
            (ctypes.c_int * 2)(5, 6),
            (ctypes.c_void_p * 2)(ctypes.addressof(log), 1000),
        )
        text = HEAD + body + "\nret;\n}\n"
        if self.library.cuModuleLoadDataEx(ctypes.byref(module), text.encode(), 2, options, values):
            return log.value.decode()
        self.library.cuModuleGetFunction(ctypes.byref(function), module, b"k")
        memory = []
        for data in (given, np.full(threads * 8, 0xEE, np.uint8)):
            address = ctypes.c_uint64()
            self.library.cuMemAlloc_v2(ctypes.byref(address), ctypes.c_size_t(data.nbytes))
            self.library.cuMemcpyHtoD_v2(
                address, ctypes.c_void_p(data.ctypes.data), ctypes.c_size_t(data.nbytes)
            )
            memory.append(address)
        space = ctypes.create_string_buffer(192)
        aligned = (ctypes.addressof(space) + 63) // 64 * 64
        if tensor is not None:
            code = self.encode(aligned, memory[0], **tensor)
            if code:
                return self.text(code)
        arguments = (ctypes.c_void_p * 3)(
            ctypes.addressof(memory[0]), ctypes.addressof(memory[1]), aligned
        )
        cluster = Attribute(4, 0, (ctypes.c_uint * 16)(blocks, 1, 1))
        config = Config(blocks, 1, 1, threads, 1, 1, shared, None, ctypes.pointer(cluster), 1)
        self.library.cuLaunchKernelEx(ctypes.byref(config), function, arguments, None)
        code = self.library.cuCtxSynchronize()
        if code:
            return self.text(code)
        found = np.zeros(threads, np.uint64)
        self.library.cuMemcpyDtoH_v2(
            ctypes.c_void_p(found.ctypes.data), memory[1], ctypes.c_size_t(found.nbytes)
        )
        return found

    def encode(
        self,
        to,
        address,
        extents=(64, 8),
        strides=(128,),
        box=(64, 8),
        dtype=6,
        swizzle=3,
        rank=None,
    ):
        wide = ctypes.c_uint64 * 5
        narrow = ctypes.c_uint32 * 5
        return self.library.cuTensorMapEncodeTiled(
            ctypes.c_void_p(to),
            dtype,
            rank or len(extents),
            address,
            wide(*extents),
            wide(*strides),
            narrow(*box),
            narrow(1, 1, 1, 1, 1),
            0,
            swizzle,
            0,
            0,
        )


LANES = np.arange(32)
U32 = np.arange(32, dtype=np.uint32) * 0x01234567
F32 = (np.arange(32, dtype=np.float32) - 16) * np.float32(1.3)


def low(values):
    """Results of 32 bits: the output's other bytes stay 0xEE."""
    return (np.asarray(values).astype(np.int64).astype(np.uint64) & 0xFFFFFFFF) | np.uint64(
        0xEEEEEEEE00000000
    )


def floats(values):
    return low(np.asarray(values).astype(np.float32).view(np.uint32))


def brain(values):
    """bf16, rounded to nearest even."""
    stored = values.view(np.uint32)
    return (stored + 0x7FFF + (stored >> 16 & 1)) >> 16


def mixed(value):
    """What bfe, prmt and lop3 make of it."""
    field = value >> 4 & 511
    return value ^ field ^ ((value & 0xFFFF) << 16 | field & 0xFFFF)


def turned(lane):
    """A transposed matrix of which every other column is 0."""
    first = lane % 4 * 8 + lane // 8
    return first | (first + 4) << 16 if lane // 4 % 2 == 0 else 0


def paired(values):
    """What add, min and max of pairs with -1 and -32768 make of them."""
    lower, upper = values & 0xFFFF, values >> 16
    sums = (lower - 1) & 0xFFFF | ((upper ^ 0x8000) & 0xFFFF) << 16
    least = np.where(lower < 0x8000, 0xFFFF, lower) | 0x8000 << 16
    most = 0xFFFF | np.maximum(upper, 0x8000) << 16
    return sums ^ least ^ most


ONE = np.float32(1.0000001)
ROWS = np.repeat(np.arange(8), 4).astype(np.float16)
# name: (input, expected)
ANSWERS = {
    "integers": (U32, low([mixed(int(v)) for v in U32])),
    "inserted bits": (U32, low([(int(i) & 15) << 30 & 0xFFFFFFFF | 0xFFFFFFF for i in LANES])),
    "shifts clamp": (U32, low([-1 if i & 16 else 0 for i in LANES])),
    "integer pairs": (U32, low(paired(U32.astype(np.int64)))),
    "wide products": (U32, (LANES * -3 + 5).astype(np.uint64)),
    "division by 0": (U32, low([(7 if i & 1 else -1) + 2**31 for i in LANES])),
    "fma rounds once": (F32, floats(F32.astype(np.float64) ** 2 - np.float64(ONE))),
    "f16": (F32 * 9, floats((F32 * 9).astype(np.float16) * (F32 * 9).astype(np.float16))),
    "bf16 pairs": (F32, low(0x3F800000 | brain(F32).astype(np.int64))),
    "to integers": (F32 * 20, low(np.clip(np.rint(F32 * np.float32(20)), -128, 127))),
    "f8": (U32, low(np.full(32, 0x5F003D00))),  # 448 and 1.25
    "shuffle": (U32, low(LANES ^ 5)),
    "shuffle up": (U32, low(np.where(LANES < 3, 99, LANES - 3))),
    "pairs of comparisons": (U32, low(np.where(LANES < 5, 1, 0) + np.where(LANES > 0, 2, 0))),
    "votes": (U32, low(np.full(32, 31))),
    "divergence": (U32, low(np.full(32, 7))),
    "scopes": (U32, low(np.full(32, 43))),
    "undefined": (U32, low(np.full(32, 0xFFFFFFFF))),
    "atomics": (np.zeros(32, np.uint32), low(LANES * 2)),
    "asynchronous copies": (np.arange(128, dtype=np.uint32), low(LANES * 4 + 1)),
    "copies that tell a barrier": (np.arange(128, dtype=np.uint32), low((LANES ^ 1) * 4 + 1)),
    "matrices": (U32, low([turned(int(i)) for i in LANES])),
    "products": (ROWS.view(np.uint16).astype(np.uint32), floats(ROWS * np.float16(8))),
    "clusters": (U32, low(LANES + 100)),
    "tensor maps": (
        np.arange(512, dtype=np.uint16),
        low([64 * (i // 8 + 1) + (i % 8 ^ i // 8) * 8 for i in LANES]),
    ),
}
ANSWERS["written maps"] = ANSWERS["tensor maps"]
# name: part of the message
MISTAKES = {
    "outside": "4 bytes at 0x",
    "misaligned": "is no multiple of 4",
    "outside of shared memory": "outside of shared memory",
    "unknown": "'frobnicate.b32': this instruction is not emulated",
    "unknown modifier": "'.wild' is not emulated",
    "width": "a register of 32 bits where 64 were expected",
    "divergent barrier": "wait for each other",
    "deadlock": "does not go on: block 0 warp 0",
    "no barrier": "there is no mbarrier at",
    "no fence": "without fence.proxy.async since",
    "no fence of copies": "cp.async has told an mbarrier",
    "no fence of a map": "no fence.proxy.tensormap has shown the tensor map at",
    "no wait": "expected a wait before",
    "within 16 bytes": "begins at element 4 of 2 bytes in a row",
    "before the tensor": "begins at -1 of dimension 1",
    "overwritten barrier": "writes over the mbarrier",
    "too many bytes": "beyond 2^20 - 1",
    "trap": "the kernel trapped",
    "ended block": "is in shared memory of block 1 of the cluster, which has ended",
}
# A tensor map's rule that each breaks.
MAPS = {
    "a stride must be": {"strides": (136,)},
    "a box's extent must be": {"box": (64, 257)},
    "multiple of 16, found 8": {"box": (4, 8), "swizzle": 0},
    "must not exceed the swizzle's span": {"box": (64, 8), "swizzle": 1},
    "an extent must be": {"extents": (0, 8)},
    "the rank must be": {"rank": 6},
}


def attempt(library, name):
    """What is wrong with one kernel, or None."""
    device = Device(library)
    if name in MAPS:
        found = device.run("", np.zeros(512, np.uint16), tensor=MAPS[name])
        return None if "INVALID_VALUE" in str(found) and name in str(found) else f"found {found}"
    body = readKernels()[name]
    given = (
        ANSWERS[name][0] if name in ANSWERS else np.zeros(512 if "map" in body else 64, np.uint16)
    )
    found = device.run(
        body,
        np.ascontiguousarray(given),
        blocks=2 if "mapa" in body else 1,
        tensor={} if "map;" in body else None,
    )
    if name in ANSWERS:
        if isinstance(found, str) or (found != ANSWERS[name][1]).any():
            return f"found {found}, expected {ANSWERS[name][1]}"
    elif MISTAKES[name] not in str(found):
        return f"found {found}, expected '{MISTAKES[name]}'"
    return None


def isolated(library, name, mode):
    """The same in a process of its own, since a failure stays with the device."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.environ.update(TILE_EMULATE="sm_90a", TILE_EMULATE_ASYNC=mode)
        try:
            wrong = attempt(library, name)
        except Exception as problem:
            wrong = f"{type(problem).__name__}: {problem}"
        os.write(writing, (wrong or "good").encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        text = pipe.read()
    _, status = os.waitpid(child, 0)
    return None if text == "good" and status == 0 else text or f"status {status}"


def main():
    library, names = os.path.abspath(sys.argv[1]), sys.argv[2:] or [*ANSWERS, *MISTAKES, *MAPS]
    failed = 0
    for name in names:
        for mode in ("late", "early"):
            if name == "no wait" and mode == "early":
                continue
            if wrong := isolated(library, name, mode):
                failed += 1
                print(f"FAIL {name}, {mode}: {wrong}")
    print(f"{len(names)} kernels, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
