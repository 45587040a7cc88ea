#!/usr/bin/env python3
"""Asks the GPU from which places copies by TMA may begin: rules that neither the driver
nor the assembler checks.

  tma_places.py

One copy a process, since an illegal instruction ends the process's context; a minute at most. Fails
where the GPU refuses, or does wrong, what the compiler takes for legal. What it does although the
compiler avoids it is printed. Needs libcuda and NumPy, no compiler.
"""

import argparse
import concurrent.futures
import ctypes
import subprocess
import sys

import numpy

SHAPE, BOX = (4, 24, 40), (16, 32)  # of f32; a box of one plane
FAR = 1 << 30

# (what it shows, stores, (x, y, z), whether the compiler takes it for legal)
CASES = [
    ("a load at the tensor's first element", False, (0, 0, 0), True),
    ("a load at a multiple of 16 bytes", False, (4, 3, 1), True),
    ("a load beyond the row's end", False, (64, 0, 0), True),
    ("a load of a plane that does not exist", False, (0, 0, FAR), True),
    ("a load before the row", False, (-4, 0, 0), True),
    ("a load before the first row", False, (0, -1, 0), True),
    ("a load of plane -1", False, (0, 0, -1), True),
    ("a load at 4 bytes of a row", False, (1, 0, 0), False),
    ("a load at 8 bytes before a row", False, (-2, 0, 0), False),
    ("a store at the tensor's first element", True, (0, 0, 0), True),
    ("a store at a multiple of 16 bytes", True, (4, 3, 1), True),
    ("a store beyond the row's end", True, (64, 0, 0), True),
    ("a store beyond the last row", True, (0, 24, 0), True),
    ("a store to a plane that does not exist", True, (0, 0, FAR), True),
    ("a store at 4 bytes of a row", True, (1, 0, 0), False),
    ("a store before the row", True, (-4, 0, 0), False),
    ("a store before the first row", True, (0, -1, 0), False),
    ("a store to plane -1", True, (0, 0, -1), False),
]

PTX = """
.version 8.0
.target sm_90
.address_size 64
.entry k(.param .align 64 .b8 map[128], .param .u64 seen, .param .s32 x, .param .s32 y,
         .param .s32 z, .param .u32 stores)
{
  .shared .align 1024 .b8 tile[2048];
  .shared .align 8 .b64 bar;
  .reg .b64 %d, %o;
  .reg .b32 %x, %y, %z, %s, %t, %b, %n, %a, %v;
  .reg .f32 %f;
  .reg .pred %p;
  mov.b64 %d, map;
  cvta.param.u64 %d, %d;
  ld.param.u64 %o, [seen];
  cvta.to.global.u64 %o, %o;
  ld.param.s32 %x, [x];
  ld.param.s32 %y, [y];
  ld.param.s32 %z, [z];
  ld.param.u32 %s, [stores];
  mov.b32 %t, tile;
  mov.b32 %b, bar;
  setp.ne.u32 %p, %s, 0;
  @%p bra STORE;
  mbarrier.init.shared::cta.b64 [%b], 1;
  fence.mbarrier_init.release.cluster;
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [%b], 2048;
  cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes
      [%t], [%d, {%x, %y, %z}], [%b];
WAIT:
  mbarrier.try_wait.parity.shared::cta.b64 %p, [%b], 0;
  @!%p bra WAIT;
  mov.b32 %n, 0;
READ:
  add.u32 %a, %t, %n;
  ld.shared.b32 %v, [%a];
  st.global.b32 [%o], %v;
  add.u64 %o, %o, 4;
  add.u32 %n, %n, 4;
  setp.lt.u32 %p, %n, 2048;
  @%p bra READ;
  ret;
STORE:
  mov.b32 %n, 0;
FILL:
  add.u32 %a, %t, %n;
  shr.u32 %v, %n, 2;
  add.u32 %v, %v, 1000;
  cvt.rn.f32.u32 %f, %v;
  st.shared.f32 [%a], %f;
  add.u32 %n, %n, 4;
  setp.lt.u32 %p, %n, 2048;
  @%p bra FILL;
  fence.proxy.async.shared::cta;
  cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group [%d, {%x, %y, %z}], [%t];
  cp.async.bulk.commit_group;
  cp.async.bulk.wait_group 0;
  ret;
}
"""


class Refused(Exception):
    """The driver's error of one call."""


def copy(stores, place, swizzle):
    """What one copy leaves: of a load the box, of a store the tensor."""
    cuda = ctypes.CDLL("libcuda.so.1")

    def call(name, *arguments):
        code = getattr(cuda, name)(*arguments)
        if code:
            text = ctypes.c_char_p()
            cuda.cuGetErrorName(code, ctypes.byref(text))
            raise Refused(f"{name}: {(text.value or b'').decode()} ({code})")

    device, context = ctypes.c_int(), ctypes.c_void_p()
    module, function = ctypes.c_void_p(), ctypes.c_void_p()
    call("cuInit", 0)
    call("cuDeviceGet", ctypes.byref(device), 0)
    call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
    call("cuCtxSetCurrent", context)
    call("cuModuleLoadData", ctypes.byref(module), PTX.encode())
    call("cuModuleGetFunction", ctypes.byref(function), module, b"k")
    tensor = numpy.arange(numpy.prod(SHAPE), dtype=numpy.float32).reshape(SHAPE)
    seen = numpy.zeros(BOX, numpy.float32)
    addresses = []
    for array in (tensor, seen):
        addresses.append(ctypes.c_uint64())
        call("cuMemAlloc_v2", ctypes.byref(addresses[-1]), ctypes.c_size_t(array.nbytes))
        call(
            "cuMemcpyHtoD_v2",
            addresses[-1],
            ctypes.c_void_p(array.ctypes.data),
            ctypes.c_size_t(array.nbytes),
        )
    room = (ctypes.c_char * 192)()
    encoded = (ctypes.addressof(room) + 63) // 64 * 64
    call(
        "cuTensorMapEncodeTiled",
        ctypes.c_void_p(encoded),
        7,  # f32
        ctypes.c_uint32(3),
        addresses[0],
        (ctypes.c_uint64 * 3)(*reversed(SHAPE)),
        (ctypes.c_uint64 * 2)(SHAPE[2] * 4, SHAPE[1] * SHAPE[2] * 4),
        (ctypes.c_uint32 * 3)(BOX[1], BOX[0], 1),
        (ctypes.c_uint32 * 3)(1, 1, 1),
        0,
        swizzle,
        2,
        0,
    )
    numbers = [ctypes.c_int(n) for n in (*place, int(stores))]
    values = [encoded, ctypes.addressof(addresses[1]), *(ctypes.addressof(n) for n in numbers)]
    arguments = (ctypes.c_void_p * len(values))(*values)
    call("cuLaunchKernel", function, 1, 1, 1, 1, 1, 1, 0, None, arguments, None)
    call("cuCtxSynchronize")
    result, address = (tensor, addresses[0]) if stores else (seen, addresses[1])
    call(
        "cuMemcpyDtoH_v2",
        ctypes.c_void_p(result.ctypes.data),
        address,
        ctypes.c_size_t(result.nbytes),
    )
    return result


def expected(stores, place):
    x, y, z = place
    tensor = numpy.arange(numpy.prod(SHAPE), dtype=numpy.float32).reshape(SHAPE)
    seen = numpy.zeros(BOX, numpy.float32)
    for row in range(BOX[0]):
        for column in range(BOX[1]):
            at = (z, y + row, x + column)
            if all(0 <= n < extent for n, extent in zip(at, SHAPE)):
                if stores:
                    tensor[at] = 1000 + row * BOX[1] + column
                else:
                    seen[row, column] = tensor[at]
    return tensor if stores else seen


def one(number, swizzle):
    """What comes of a case, in this process."""
    _, stores, place, _ = CASES[number]
    try:
        found = copy(stores, place, swizzle)
    except Refused as error:
        return str(error)
    # Swizzled bytes lie elsewhere in a box; what they are is the other run's to say.
    if swizzle == 0 and (found != expected(stores, place)).any():
        return "wrong numbers"
    return "works"


def apart(number, swizzle):
    """The same, in a process of its own."""
    line = [sys.executable, __file__, "--one", str(number), str(swizzle)]
    try:
        done = subprocess.run(line, capture_output=True, text=True, timeout=60)
    except subprocess.TimeoutExpired:
        return "does not end"
    return done.stdout.strip() or f"exit {done.returncode}: {done.stderr.strip()[-300:]}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--one", nargs=2, type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(one(*options.one))
        return 0
    runs = [(number, swizzle) for number in range(len(CASES)) for swizzle in (0, 3)]
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        for (number, swizzle), found in zip(runs, pool.map(lambda run: apart(*run), runs)):
            text, _, place, legal = CASES[number]
            wrong = legal and found != "works"
            failed += wrong
            mark = "FAIL" if wrong else "ok  " if legal == (found == "works") else "note"
            swizzled = "swizzled" if swizzle else "plain"
            print(f"{mark} {text} {place}, {swizzled}: {found}", flush=True)
    print(f"{len(runs) - failed} as the compiler takes it, {failed} not")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
