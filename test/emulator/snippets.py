#!/usr/bin/env python3
"""Small kernels of PTX on the emulated device: known answers, and the mistakes that it must report.

  snippets.py LIBRARY [NAME...]

Each kernel has one warp (or more) and two parameters, `input` and `output`, in %rd1 and %rd2, the thread's number in %r1 and the address
of its 8 bytes of output in %rd3. An asynchronous operation is tried as late as is allowed and at once.
"""
import ctypes
import os
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
STORE = "st.global.b32 [%rd3], %r2;"


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
        """The output's 8 bytes for each thread, or the text of what failed."""
        module, function, log = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.create_string_buffer(1000)
        options, values = (ctypes.c_int * 2)(5, 6), (ctypes.c_void_p * 2)(ctypes.addressof(log), 1000)
        text = HEAD + body + "\nret;\n}\n"
        if self.library.cuModuleLoadDataEx(ctypes.byref(module), text.encode(), 2, options, values):
            return log.value.decode()
        self.library.cuModuleGetFunction(ctypes.byref(function), module, b"k")
        memory = []
        for data in (given, np.full(threads * 8, 0xEE, np.uint8)):
            address = ctypes.c_uint64()
            self.library.cuMemAlloc_v2(ctypes.byref(address), ctypes.c_size_t(data.nbytes))
            self.library.cuMemcpyHtoD_v2(address, ctypes.c_void_p(data.ctypes.data), ctypes.c_size_t(data.nbytes))
            memory.append(address)
        space = ctypes.create_string_buffer(192)
        aligned = (ctypes.addressof(space) + 63) // 64 * 64
        if tensor is not None:
            code = self.encode(aligned, memory[0], **tensor)
            if code:
                return self.text(code)
        arguments = (ctypes.c_void_p * 3)(ctypes.addressof(memory[0]), ctypes.addressof(memory[1]), aligned)
        self.library.cuLaunchKernel(function, blocks, 1, 1, threads, 1, 1, shared, None, arguments, None)
        code = self.library.cuCtxSynchronize()
        if code:
            return self.text(code)
        found = np.zeros(threads, np.uint64)
        self.library.cuMemcpyDtoH_v2(ctypes.c_void_p(found.ctypes.data), memory[1], ctypes.c_size_t(found.nbytes))
        return found

    def encode(self, to, address, extents=(64, 8), strides=(128,), box=(64, 8), dtype=6, swizzle=3, rank=None):
        wide = (ctypes.c_uint64 * 5)
        narrow = (ctypes.c_uint32 * 5)
        return self.library.cuTensorMapEncodeTiled(ctypes.c_void_p(to), dtype, rank or len(extents), address, wide(*extents),
                                                   wide(*strides), narrow(*box), narrow(1, 1, 1, 1, 1), 0, swizzle, 0, 0)


LANES = np.arange(32)
U32 = np.arange(32, dtype=np.uint32) * 0x01234567
F32 = (np.arange(32, dtype=np.float32) - 16) * np.float32(1.3)
LOAD = "mul.wide.u32 %rd4, %r1, 4; add.s64 %rd5, %rd1, %rd4; ld.global.b32 %r3, [%rd5];"
LOADF = "mul.wide.u32 %rd4, %r1, 4; add.s64 %rd5, %rd1, %rd4; ld.global.b32 %f1, [%rd5];"


def low(values):
    """Results of 32 bits: the output's other bytes stay 0xEE."""
    return (np.asarray(values).astype(np.int64).astype(np.uint64) & 0xFFFFFFFF) | np.uint64(0xEEEEEEEE00000000)


def bits(values):
    return low(np.asarray(values, np.float32).view(np.uint32))


# name: (kernel, input, expected)
ANSWERS = {
    "integers": (LOAD + "bfe.u32 %r4, %r3, 4, 9; prmt.b32 %r5, %r3, %r4, 0x1054; lop3.b32 %r2, %r3, %r4, %r5, 0x96;" + STORE, U32,
                 low([int(v) ^ (int(v) >> 4 & 511) ^ ((int(v) & 0xFFFF) << 16 | (int(v) >> 4 & 511) & 0xFFFF) for v in U32])),
    "shifts clamp": ("shl.b32 %r4, %r1, 27; shr.s32 %r5, %r4, 40; shr.u32 %r6, %r4, 32; add.s32 %r2, %r5, %r6;" + STORE, U32,
                     low([-1 if i & 16 else 0 for i in LANES])),
    "wide products": ("mad.wide.s32 %rd6, %r1, -3, 5; st.global.b64 [%rd3], %rd6;", U32, (LANES * -3 + 5).astype(np.uint64)),
    "division by 0": ("and.b32 %r4, %r1, 1; mov.b32 %r5, 7; div.u32 %r6, %r5, %r4; div.s32 %r7, 0x80000000, -1; sub.s32 %r2, %r6, %r7;" + STORE,
                      U32, low([(7 if i & 1 else -1) + 2 ** 31 for i in LANES])),
    "fma rounds once": (LOADF + "fma.rn.f32 %f2, %f1, %f1, 0fBF800001; st.global.b32 [%rd3], %f2;", F32,
                        bits((F32.astype(np.float64) ** 2 - np.float64(np.float32(1.0000001))).astype(np.float32))),
    "f16": (LOADF + "cvt.rn.f16.f32 %h1, %f1; mul.rn.f16 %h2, %h1, %h1; cvt.f32.f16 %f2, %h2; st.global.b32 [%rd3], %f2;", F32 * 9,
            bits((lambda x: (x * x).astype(np.float32))((F32 * 9).astype(np.float16)))),
    "bf16 pairs": (LOADF + "cvt.rn.bf16x2.f32 %r2, 0f3F800000, %f1;" + STORE, F32,
                   low(0x3F800000 | ((F32.view(np.uint32) + 0x7FFF + (F32.view(np.uint32) >> 16 & 1)) >> 16).astype(np.int64))),
    "to integers": (LOADF + "cvt.rni.sat.s8.f32 %r2, %f1;" + STORE, F32 * 20, low(np.clip(np.rint(F32 * np.float32(20)), -128, 127))),
    "f8": ("cvt.rn.satfinite.e4m3x2.f32 %h1, 0f44000000, 0f3FA00000; cvt.rn.f16x2.e4m3x2 %r2, %h1;" + STORE, U32,
           low(np.full(32, 0x5F003D00))),          # 448 and 1.25
    "shuffle": ("shfl.sync.bfly.b32 %r2, %r1, 5, 31, -1;" + STORE, U32, low(LANES ^ 5)),
    "shuffle up": ("shfl.sync.up.b32 %r2|%p1, %r1, 3, 0, -1; @!%p1 mov.b32 %r2, 99;" + STORE, U32, low(np.where(LANES < 3, 99, LANES - 3))),
    "votes": ("setp.lt.u32 %p1, %r1, 5; vote.sync.ballot.b32 %r2, %p1, -1;" + STORE, U32, low(np.full(32, 31))),
    "divergence": ("mov.b32 %r2, 0; and.b32 %r4, %r1, 7; LOOP: setp.ge.u32 %p1, %r2, %r4; @%p1 bra DONE; add.s32 %r2, %r2, 1; bra LOOP; DONE: "
                   "shfl.sync.idx.b32 %r2, %r2, 7, 31, -1;" + STORE, U32, low(np.full(32, 7))),
    "scopes": ("mov.b32 %r2, 1; { .reg .b32 a; mov.b32 a, 2; { .reg .b32 a; mov.b32 a, 40; add.s32 %r2, %r2, a; } add.s32 %r2, %r2, a; }" + STORE,
               U32, low(np.full(32, 43))),
    "undefined": ("mov.b32 %r2, %r50;" + STORE, U32, low(np.full(32, 0xFFFFFFFF))),
    "atomics": ("atom.global.add.u32 %r2, [%rd1], 2;" + STORE, np.zeros(32, np.uint32), low(LANES * 2)),
    "asynchronous copies": ("mov.b32 %r5, memory; shl.b32 %r6, %r1, 4; add.s32 %r6, %r5, %r6; mul.wide.u32 %rd4, %r1, 16; add.s64 %rd5, %rd1, %rd4; "
                            "cp.async.cg.shared.global [%r6], [%rd5], 16; cp.async.commit_group; cp.async.wait_group 0; ld.shared.b32 %r2, [%r6+4];"
                            + STORE, np.arange(128, dtype=np.uint32), low(LANES * 4 + 1)),
    "matrices": ("mov.b32 %r5, memory; shl.b32 %r6, %r1, 2; add.s32 %r6, %r5, %r6; st.shared.b32 [%r6], %r1; bar.warp.sync -1; and.b32 %r7, %r1, 7; "
                 "shl.b32 %r7, %r7, 4; add.s32 %r7, %r5, %r7; ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%r2}, [%r7];" + STORE,
                 U32, low([(i % 4 * 8 + i // 8) | (i % 4 * 8 + 4 + i // 8) << 16 if i // 4 % 2 == 0 else 0 for i in LANES])),
    "products": (LOAD + "mov.b32 %r4, 0x3C003C00; mov.b32 %r5, 0; mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%r6, %r7, %r8, %r9}, "
                 "{%r3, %r3, %r3, %r3}, {%r4, %r4}, {%r5, %r5, %r5, %r5}; mov.b32 %r2, %r8;" + STORE,
                 np.repeat(np.arange(8), 4).astype(np.float16).view(np.uint16).astype(np.uint32), bits(np.repeat(np.arange(8), 4) * 8)),
    "tensor maps": ("mov.b32 %r5, memory; setp.ne.u32 %p1, %r1, 0; @%p1 bra WAIT; mbarrier.init.shared::cta.b64 [%r5], 1; "
                    "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r5], 1024; mov.b64 %rd7, map; cvta.param.u64 %rd7, %rd7; mov.b32 %r6, 0; "
                    "mov.b32 %r7, 1; add.s32 %r8, %r5, 1024; cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
                    "[%r8], [%rd7, {%r6, %r7}], [%r5]; WAIT: bar.sync 0; AGAIN: mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r5], 0; "
                    "@!%p2 bra AGAIN; shl.b32 %r9, %r1, 4; add.s32 %r9, %r9, %r5; ld.shared.u16 %r2, [%r9+1024];" + STORE,
                    np.arange(512, dtype=np.uint16), low([64 * (i // 8 + 1) + (i % 8 ^ i // 8) * 8 for i in LANES])),
}
# name: (kernel, part of the message)
MISTAKES = {
    "outside": ("ld.global.b32 %r2, [%rd1+128];" + STORE, "4 bytes at 0x"),
    "misaligned": ("ld.global.b32 %r2, [%rd1+2];" + STORE, "is no multiple of 4"),
    "outside of shared memory": ("mov.b32 %r5, memory; ld.shared.b32 %r2, [%r5+4096];" + STORE, "outside of shared memory"),
    "unknown": ("frobnicate.b32 %r2, %r1;" + STORE, "'frobnicate.b32': this instruction is not emulated"),
    "unknown modifier": ("add.wild.s32 %r2, %r1, 1;" + STORE, "'.wild' is not emulated"),
    "width": ("add.s64 %rd6, %r1, 1;", "a register of 32 bits where 64 were expected"),
    "divergent barrier": ("setp.lt.u32 %p1, %r1, 4; @%p1 bra A; bar.sync 0; bra B; A: bar.sync 0; B:", "wait for each other"),
    "deadlock": ("mov.b32 %r5, memory; setp.eq.u32 %p0, %r1, 0; @%p0 mbarrier.init.shared::cta.b64 [%r5], 2; AGAIN: mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r5], 0; "
                 "@!%p2 bra AGAIN;", "does not go on: block 0 warp 0"),
    "no barrier": ("mov.b32 %r5, memory; mbarrier.arrive.shared::cta.b64 _, [%r5];", "there is no mbarrier at"),
    "no fence": ("mov.b32 %r5, memory; st.shared.b32 [%r5], %r1; setp.ne.u32 %p1, %r1, 0; bar.sync 0; @%p1 bra END; mov.b64 %rd7, map; "
                 "cvta.param.u64 %rd7, %rd7; mov.b32 %r6, 0; cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%rd7, {%r6, %r6}], [%r5]; "
                 "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0; END:", "without fence.proxy.async since"),
    "no wait": ("mov.b32 %r5, memory; setp.ne.u32 %p1, %r1, 0; @%p1 bra END; mov.b64 %rd7, map; cvta.param.u64 %rd7, %rd7; mov.b32 %r6, 0; "
                "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%rd7, {%r6, %r6}], [%r5]; cp.async.bulk.commit_group; END:",
                "expected a wait before"),
    "overwritten barrier": ("mov.b32 %r5, memory; setp.eq.u32 %p0, %r1, 0; @%p0 mbarrier.init.shared::cta.b64 [%r5], 2; st.shared.b32 [%r5+4], %r1;", "writes over the mbarrier"),
    "too many bytes": ("mov.b32 %r5, memory; setp.eq.u32 %p0, %r1, 0; @%p0 mbarrier.init.shared::cta.b64 [%r5+8], 99; "
                       "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r5+8], 40000;", "beyond 2^20 - 1"),
    "trap": ("trap;", "the kernel trapped"),
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
    body, *rest = ANSWERS.get(name) or MISTAKES[name]
    given = rest[0] if name in ANSWERS else np.zeros(512 if "map" in body else 64, np.uint16)
    found = device.run(body, np.ascontiguousarray(given), tensor={} if "map;" in body else None)
    if name in ANSWERS:
        if isinstance(found, str) or (found != rest[1]).any():
            return f"found {found}, expected {rest[1]}"
    elif rest[0] not in str(found):
        return f"found {found}, expected '{rest[0]}'"
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
