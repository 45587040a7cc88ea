"""Calls of the kernels of checks.tile, each wrong in one way: prints their codes and messages.

calls.py CHECKS.so PREFIX: by generated C, as a shared object. calls.py BINARY: by the runtime
library that TILE_RUNTIME_LIB names, from a binary with its manifest. With a word behind these,
other calls: `variant` of a variant by its own name, `driver` of matmul, which needs more of the
driver, `single` of matmul on a GPU with one multiprocessor. effects.py makes right calls."""

import ctypes
import os
import sys

import fake_cuda

BOOL, I8, I16, I32, I64, U8, U16, U32, U64, F16, BF16, F32, F64, I4, U4 = (
    0,
    1,
    2,
    3,
    4,
    5,
    6,
    7,
    8,
    9,
    10,
    11,
    12,
    15,
    16,
)
words = sys.argv[1:]
part = words.pop() if words[-1] in ("variant", "driver", "effects", "host", "single") else "all"


class Generated:
    """Kernels that generated C carries."""

    def __init__(self, path, prefix):
        self.library = ctypes.CDLL(os.path.abspath(path))
        self.message = getattr(self.library, prefix + "_message")
        self.message.restype = ctypes.c_char_p

    def call(self, kernel, array, count, flags):
        code = getattr(self.library, kernel + "_call")(
            array, ctypes.c_size_t(count), stream, ctypes.c_uint32(flags)
        )
        return code, self.message().decode() if code else ""

    def callVariant(self, kernel, instance, variant, x, y, rows, columns):
        code = getattr(self.library, f"{kernel}_{instance}_{variant}_launch")(
            ctypes.c_void_p(x.data),
            ctypes.c_void_p(y.data),
            ctypes.c_int64(rows),
            ctypes.c_int64(columns),
            None,
            0,
        )
        return code, self.message().decode() if code else ""


class Library:
    """Kernels of a binary, by the runtime library."""

    def __init__(self, path):
        self.library = ctypes.CDLL(os.environ["TILE_RUNTIME_LIB"])
        for name in ("load", "kernel"):
            getattr(self.library, "tile_module_" + name).restype = ctypes.c_void_p
        self.library.tile_kernel_launch.restype = ctypes.c_void_p
        self.library.tile_error_message.restype = ctypes.c_char_p
        self.module = ctypes.c_void_p()
        code, text = self.take(
            self.library.tile_module_load(path.encode(), ctypes.byref(self.module))
        )
        assert not code, text

    def take(self, error):
        """The code and the text of an error, which is given back."""
        code = self.library.tile_error_code(ctypes.c_void_p(error)) if error else 0
        text = self.library.tile_error_message(ctypes.c_void_p(error)).decode() if error else ""
        self.library.tile_error_free(ctypes.c_void_p(error))
        return code, text

    def find(self, kernel):
        handle = ctypes.c_void_p()
        code, text = self.take(
            self.library.tile_module_kernel(self.module, kernel.encode(), ctypes.byref(handle))
        )
        assert not code, text
        return handle

    def call(self, kernel, array, count, flags):
        return self.take(
            self.library.tile_kernel_launch(
                self.find(kernel), array, ctypes.c_size_t(count), stream, flags
            )
        )

    def callVariant(self, kernel, instance, variant, x, y, rows, columns):
        array = (fake_cuda.Argument * 2)(x, y)
        return self.take(
            self.library.tile_kernel_launch(
                self.find(f"{kernel}:{variant}"), array, ctypes.c_size_t(2), None, 0
            )
        )


stream = None if part == "host" else ctypes.c_void_p(0x77)
side = Generated(*words) if len(words) == 2 else Library(words[0])
fake = fake_cuda.load()
keep = []
SYMBOLS = ",".join(
    """gather count twice_T_f16 twice_T_f32 plus times wide nibbles axis axes strided many product
    backward matmul_T_f16 softmax_T_f16 softmax_T_f16_short cut packed""".split()
    + [f"cover_T_{name}" for name in ("i8", "f16", "f32", "f64", "i64")]
    + [f"into_T_{name}" for name in "i8 u16 i16 u32 i32 u64 i64 f16 bf16 f32 f64".split()]
    + [""]
).encode()


def longs(values):
    keep.append((ctypes.c_int64 * max(len(values), 1))(*values))
    return keep[-1]


def tensor(dtype, address, shape, strides=None, size=0):
    return fake_cuda.Argument(
        0, dtype, address, len(shape), longs(shape), longs(strides) if strides else None, size, 0
    )


def scalar(dtype, bits):
    return fake_cuda.Argument(1, dtype, None, 0, None, None, 0, bits)


def gather(rows=64, columns=16, **changed):
    call = {
        "x": tensor(F32, 0x100000, [rows, columns]),
        "off": tensor(I32, 0x200000, [rows + 1]),
        "y": tensor(F32, 0x300000, [2 * rows, columns], [columns, 1]),
        "z": tensor(F32, 0x400000, [rows]),
        "n": scalar(I32, 5),
        "m": scalar(U8, 3),
        "eps": scalar(F32, 0x3F000000),
        "flag": scalar(BOOL, 1),
    }
    call.update(changed)
    return call


def reset(device=0):
    ctypes.memset(ctypes.addressof(fake), 0, ctypes.sizeof(fake))
    fake.major, fake.optinShared, fake.blocksPerProcessor = 9, 232448, 1
    fake.processors = 1 if part == "single" else 132
    fake.symbols = SYMBOLS
    fake.current, fake.contextId = ctypes.addressof(fake), 1
    fake.memory[0] = fake_cuda.Memory(0x100000, 0x900000, 2, 0, device)


def launch(
    what,
    call,
    kernel="gather",
    flags=0,
    count=None,
    isNull=False,
    device=0,
    refused=0,
    encoded=0,
    isFull=False,
):
    reset(device)
    fake.memsets = 16 if isFull else 0
    fake.launchResult, fake.encodeResult = refused, encoded
    values = list(call.values())
    array = (fake_cuda.Argument * len(values))(*values)
    code, text = side.call(
        kernel, None if isNull else array, len(values) if count is None else count, flags
    )
    print(f"{what}: {code} {text}")
    return code


def changed(argument, **fields):
    for name, value in fields.items():
        setattr(argument, name, value)
    return argument


def products(**more):
    """Three dimensions whose product has 90 bits."""
    call = {name: tensor(F32, (at + 1) << 40, [2**30]) for at, name in enumerate("abc")}
    call.update(more)
    call["y"] = tensor(F32, 0x400000, [1])
    return call


def callAll():
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
    launch("negative rows", gather(x=tensor(F32, 0x100000, [-1, 16])))
    launch("equation", gather(z=tensor(F32, 0x400000, [65])))
    launch("form", gather(y=tensor(F32, 0x300000, [127, 16], [16, 1])))
    launch("range", gather(64, 0))
    launch("scalar range", gather(n=scalar(I32, 101)))
    launch("contract", gather(n=scalar(I32, 70)))
    launch("float contract", gather(eps=scalar(F32, 0x3E000000)))
    launch("multiple", gather(64, 12))
    launch("scalar of an empty call", gather(0, n=scalar(I32, 101)))
    launch("stride", gather(x=tensor(F32, 0x100000, [64, 16], [32, 2])))
    launch("dense", gather(off=tensor(I32, 0x200000, [65], [2])))
    launch("negative stride", gather(z=tensor(F32, 0x400000, [64], [-1])))
    launch("zero stride", gather(z=tensor(F32, 0x400000, [64], [0])))
    launch("overlapping rows", gather(y=tensor(F32, 0x300000, [128, 16], [8, 1])))
    launch("memory", gather(x=tensor(F32, 0x100000, [64, 16], size=4095)))
    launch("alignment", gather(y=tensor(F32, 0x300020, [128, 16], [16, 1])))
    launch("overlap", gather(y=tensor(F32, 0x100800, [128, 16], [16, 1])))
    launch("alias", gather(z=tensor(F32, 0x100000, [64])))
    launch(
        "interleaved",
        gather(
            x=tensor(F32, 0x100000, [64, 8], [32, 1]),
            y=tensor(F32, 0x100040, [128, 8], [32, 1]),
            z=tensor(F32, 0x400000, [64]),
        ),
    )
    launch("grid", {"x": tensor(F32, 0x100000, [2**40], size=0)}, kernel="twice")
    launch("fill", {"c": tensor(F64, 0x100000, [4])}, kernel="count")
    launch("residency", gather(), flags=2, device=3)
    launch("no instance", {"x": tensor(F64, 0x100000, [4])}, kernel="twice")
    launch("empty", gather(0))
    launch(
        "one row",
        gather(
            x=tensor(F32, 0x100000, [1, 8], [64, 1]),
            off=tensor(I32, 0x200000, [2]),
            y=tensor(F32, 0x300000, [2, 8], [64, 1]),
            z=tensor(F32, 0x400000, [1], [77]),
            n=scalar(I32, 1),
        ),
    )
    launch("null of two", {"x": tensor(F32, 0x100000, [4])}, kernel="twice", isNull=True)
    launch("below a sum", {"x": tensor(F32, 0x100000, [1])}, kernel="plus")
    launch("no multiple", {"x": tensor(F32, 0x100000, [7])}, kernel="times")
    launch("64 bits", {"x": tensor(F32, 0x100000, [4]), "k": scalar(U64, 2**63)}, kernel="wide")
    launch("63 bits", {"x": tensor(F32, 0x100000, [4]), "k": scalar(U64, 2**63 - 1)}, kernel="wide")
    launch(
        "half a byte",
        {"x": tensor(I4, 0x100000, [4, 3]), "y": tensor(F32, 0x200000, [4, 3])},
        kernel="nibbles",
    )
    launch(
        "half a byte of a row",
        {"x": tensor(I4, 0x100000, [4, 4], [5, 1]), "y": tensor(F32, 0x200000, [4, 4])},
        kernel="nibbles",
    )
    launch("overflow of an axis", products(), kernel="axis")
    launch("overflow of axes", products(), kernel="axes")
    launch(
        "too many programs",
        products(b=tensor(F32, 2 << 40, [2]), c=tensor(F32, 3 << 40, [1])),
        kernel="axes",
    )
    launch(
        "overflow of a stride", products(x=tensor(F32, 0x100000, [2, 2], [4, 1])), kernel="strided"
    )
    launch(
        "backward",
        {
            "a": tensor(F32, 0x100000, [4]),
            "x": tensor(F32, 0x200000, [2, 2], [-4, 1]),
            "y": tensor(F32, 0x300000, [1]),
        },
        kernel="backward",
    )
    launch(
        "elements",
        {"x": tensor(F32, 0x100000, [2**30, 2**30], [0, 0]), "y": tensor(F32, 0x400000, [1])},
        kernel="many",
    )
    launch("overflow of a dimension", products(x=tensor(F32, 0x100000, [5])), kernel="product")
    launch("refused", {"x": tensor(F32, 0x100000, [4])}, kernel="twice", refused=1)


def matrices():
    return {name: tensor(F16, (at + 1) << 20, [64, 64]) for at, name in enumerate("abc")}


def callDriver():
    """The driver refuses what these ask for, or lacks it."""
    launch("map", matrices(), kernel="matmul", encoded=1)
    launch("residency", matrices(), kernel="matmul", flags=2)
    launch("cluster", matrices(), kernel="matmul")
    showLaunch()
    launch(
        "odd",
        {
            name: tensor(F16, (at + 1) << 20, shape)
            for at, (name, shape) in enumerate(
                {"a": [600, 64], "b": [64, 64], "c": [600, 64]}.items()
            )
        },
        kernel="matmul",
    )
    showLaunch()


def callSingle():
    """Clusters of two, of which the GPU has no room for one: at least one is launched."""
    launch("single", matrices(), kernel="matmul")
    showLaunch()


def callVariant():
    reset()
    x, y = (tensor(F16, at, [2, 2048]) for at in (0x100000, 0x200000))
    print("variant: %d %s" % side.callVariant("softmax", "T_f16", "short", x, y, 2, 2048))


def showLaunch():
    if fake.launches:
        print(
            f"  launches: {fake.launches} of {list(fake.grid)} blocks of {list(fake.block)}, "
            f"clusters of {fake.cluster}, {fake.shared} bytes shared, stream {fake.stream or 0:#x}"
        )


PARTS = {"all": callAll, "driver": callDriver, "variant": callVariant, "single": callSingle}
if __name__ == "__main__":
    PARTS[part]()
