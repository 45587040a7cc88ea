"""Calls of the kernels of checks.tile by generated C, each wrong in one way: prints their codes and messages.

wrong_calls.py CHECKS.so PREFIX"""
import ctypes
import sys

import fake_cuda

F32, F64, I32, U8, BOOL = 11, 12, 3, 5, 0
generated, prefix = ctypes.CDLL(sys.argv[1]), sys.argv[2]
message = getattr(generated, prefix + "_message")
message.restype = ctypes.c_char_p
fake = fake_cuda.load()
keep = []


def longs(values):
    keep.append((ctypes.c_int64 * max(len(values), 1))(*values))
    return keep[-1]


def tensor(dtype, address, shape, strides=None, size=0):
    return fake_cuda.Argument(0, dtype, address, len(shape), longs(shape), longs(strides) if strides else None, size, 0)


def scalar(dtype, bits):
    return fake_cuda.Argument(1, dtype, None, 0, None, None, 0, bits)


def gather(rows=64, columns=16, **changed):
    call = {"x": tensor(F32, 0x100000, [rows, columns]), "off": tensor(I32, 0x200000, [rows + 1]),
            "y": tensor(F32, 0x300000, [2 * rows, columns], [columns, 1]), "z": tensor(F32, 0x400000, [rows]),
            "n": scalar(I32, 5), "m": scalar(U8, 3), "eps": scalar(F32, 0x3f000000), "flag": scalar(BOOL, 1)}
    call.update(changed)
    return call


def launch(what, call, kernel="gather", flags=0, count=None, isNull=False, device=0):
    ctypes.memset(ctypes.addressof(fake), 0, ctypes.sizeof(fake))
    fake.major, fake.optinShared, fake.processors, fake.blocksPerProcessor = 9, 232448, 132, 1
    fake.symbols, fake.current, fake.contextId = b"gather,count,twice_T_f16,twice_T_f32,", ctypes.addressof(fake), 1
    fake.memory[0] = fake_cuda.Memory(0x100000, 0x900000, 2, 0, device)
    values = list(call.values())
    array = (fake_cuda.Argument * len(values))(*values)
    code = getattr(generated, kernel + "_call")(None if isNull else array, ctypes.c_size_t(len(values) if count is None else count),
                                                None, ctypes.c_uint32(flags))
    print(f"{what}: {code} {message().decode() if code else ''}")


def changed(argument, **fields):
    for name, value in fields.items():
        setattr(argument, name, value)
    return argument


launch("right", gather())
launch("no array", gather(), isNull=True)
launch("no shape", gather(x=changed(tensor(F32, 0x100000, [64, 16]), shape=None)))
launch("flags", gather(), flags=64)
launch("count", gather(), count=4)
launch("null", gather(x=tensor(F32, 0, [64, 16])))
launch("kind", gather(n=tensor(I32, 0x500000, [1])))
launch("default", gather(n=changed(scalar(I32, 5), kind=2)))
launch("dtype", gather(off=tensor(F32, 0x200000, [65])))
launch("unknown dtype", gather(off=tensor(99, 0x200000, [65])))
launch("rank", gather(x=tensor(F32, 0x100000, [64])))
launch("huge rank", gather(x=changed(tensor(F32, 0, [64, 16]), rank=1 << 30)))
launch("negative", gather(z=tensor(F32, 0x400000, [-1])))
launch("equation", gather(z=tensor(F32, 0x400000, [65])))
launch("form", gather(y=tensor(F32, 0x300000, [127, 16], [16, 1])))
launch("range", gather(64, 0))
launch("scalar range", gather(n=scalar(I32, 101)))
launch("contract", gather(n=scalar(I32, 70)))
launch("float contract", gather(eps=scalar(F32, 0x3e000000)))
launch("multiple", gather(64, 12))
launch("scalar of an empty call", gather(0, n=scalar(I32, 101)))
launch("stride", gather(x=tensor(F32, 0x100000, [64, 16], [32, 2])))
launch("dense", gather(off=tensor(I32, 0x200000, [65], [2])))
launch("negative stride", gather(z=tensor(F32, 0x400000, [64], [-1])))
launch("zero stride", gather(z=tensor(F32, 0x400000, [64], [0])))
launch("memory", gather(x=tensor(F32, 0x100000, [64, 16], size=4095)))
launch("alignment", gather(y=tensor(F32, 0x300020, [128, 16], [16, 1])))
launch("overlap", gather(y=tensor(F32, 0x100800, [128, 16], [16, 1])))
launch("alias", gather(z=tensor(F32, 0x100000, [64])))
launch("interleaved", gather(x=tensor(F32, 0x100000, [64, 8], [32, 1]), y=tensor(F32, 0x100040, [128, 8], [32, 1]),
                             z=tensor(F32, 0x400000, [64])))
launch("grid", {"x": tensor(F32, 0x100000, [2**40], size=0)}, kernel="twice")
launch("fill", {"c": tensor(F64, 0x100000, [4])}, kernel="count")
launch("residency", gather(), flags=2, device=3)
launch("no instance", {"x": tensor(F64, 0x100000, [4])}, kernel="twice")
launch("empty", gather(0))
launch("one row", gather(x=tensor(F32, 0x100000, [1, 8], [64, 1]), off=tensor(I32, 0x200000, [2]),
                         y=tensor(F32, 0x300000, [2, 8], [64, 1]), z=tensor(F32, 0x400000, [1], [77]), n=scalar(I32, 1)))
