"""The fake CUDA driver of the unit tests from Python: its record, and tile_argument."""

import ctypes
import os


class Argument(ctypes.Structure):
    _fields_ = [
        ("kind", ctypes.c_int32),
        ("dtype", ctypes.c_int32),
        ("data", ctypes.c_void_p),
        ("rank", ctypes.c_int32),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("bytes", ctypes.c_int64),
        ("bits", ctypes.c_uint64),
    ]


class Memset(ctypes.Structure):
    _fields_ = [
        ("address", ctypes.c_ulonglong),
        ("pitch", ctypes.c_size_t),
        ("width", ctypes.c_size_t),
        ("rows", ctypes.c_size_t),
        ("value", ctypes.c_uint),
        ("cellBytes", ctypes.c_uint),
        ("stream", ctypes.c_void_p),
    ]


class Map(ctypes.Structure):
    _fields_ = [(name, ctypes.c_int) for name in ("dataType", "swizzle", "promotion")]
    _fields_ += [
        ("rank", ctypes.c_uint),
        ("address", ctypes.c_uint64),
        ("extents", ctypes.c_uint64 * 5),
        ("strides", ctypes.c_uint64 * 5),
        ("box", ctypes.c_uint32 * 5),
    ]


class Memory(ctypes.Structure):
    _fields_ = [
        ("begin", ctypes.c_ulonglong),
        ("end", ctypes.c_ulonglong),
        ("type", ctypes.c_uint),
        ("managed", ctypes.c_uint),
        ("device", ctypes.c_int),
    ]


class UserObject(ctypes.Structure):
    _fields_ = [("value", ctypes.c_void_p), ("destroy", ctypes.c_void_p), ("graph", ctypes.c_int)]


class FakeCuda(ctypes.Structure):
    """test/unit/runtime/FakeCuda.h."""

    _fields_ = [
        (name, ctypes.c_int)
        for name in ("major", "minor", "optinShared", "staticShared", "loadResult", "launchResult")
    ]
    _fields_ += [("symbols", ctypes.c_char_p), ("argumentCount", ctypes.c_int)]
    _fields_ += [
        (name, ctypes.c_int)
        for name in ("loads", "unloads", "launches", "retains", "memsets", "maxDynamicShared")
    ]
    _fields_ += [
        ("grid", ctypes.c_uint * 3),
        ("block", ctypes.c_uint * 3),
        ("shared", ctypes.c_uint),
        ("stream", ctypes.c_void_p),
        ("arguments", ctypes.c_uint64 * 16),
        ("lastFunction", ctypes.c_char * 64),
        ("memset", Memset * 16),
        ("current", ctypes.c_void_p),
        ("contextId", ctypes.c_ulonglong),
        ("encodeResult", ctypes.c_int),
        ("processors", ctypes.c_int),
        ("blocksPerProcessor", ctypes.c_int),
        ("encodings", ctypes.c_int),
        ("allocations", ctypes.c_int),
        ("frees", ctypes.c_int),
        ("cluster", ctypes.c_uint),
        ("map", Map * 8),
        ("memory", Memory * 4),
        ("device", ctypes.c_int),
        ("pointerQueries", ctypes.c_int),
    ]
    _fields_ += [
        (name, ctypes.c_int)
        for name in ("capturing", "streamAge", "isBusy", "lacksPools", "lacksStreamIds")
    ]
    _fields_ += [(name, ctypes.c_size_t) for name in ("memoryBytes", "liveBytes", "peakBytes")]
    _fields_ += [("nextAddress", ctypes.c_ulonglong)]
    _fields_ += [
        (name, ctypes.c_int)
        for name in (
            "asyncAllocations",
            "asyncFrees",
            "eventRecords",
            "eventWaits",
            "captureMode",
            "userObjectCount",
        )
    ]
    _fields_ += [("freeStream", ctypes.c_void_p), ("userObjects", UserObject * 64)]


def load():
    """The driver that TILE_LIBCUDA names."""
    library = ctypes.CDLL(os.environ["TILE_LIBCUDA"])
    library.fakeCuda.restype = ctypes.POINTER(FakeCuda)
    return library.fakeCuda().contents


def reset(fake, manifest):
    """Makes the driver like the device that the manifest is for, and forgets what happened."""
    target = manifest["target"].rstrip("af")
    context, contextId = fake.current, fake.contextId
    ctypes.memset(ctypes.addressof(fake), 0, ctypes.sizeof(fake))
    fake.current, fake.contextId = context, contextId
    fake.major, fake.minor = int(target[3:-1]), int(target[-1])
    fake.optinShared, fake.processors, fake.blocksPerProcessor = 232448, 132, 1
    fake.symbols = "".join(kernel["symbol"] + "," for kernel in manifest["kernels"]).encode()


def record(fake):
    """What a launch left behind, as something to compare."""

    def plain(value):
        if isinstance(value, ctypes.Array):
            return value.value if isinstance(value, bytes) else [plain(v) for v in value]
        if isinstance(value, ctypes.Structure):
            return {name: plain(getattr(value, name)) for name, *_ in value._fields_}
        return value

    names = (
        "launches",
        "memsets",
        "grid",
        "block",
        "shared",
        "stream",
        "arguments",
        "lastFunction",
        "cluster",
        "encodings",
        "memset",
        "map",
    )
    return {name: plain(getattr(fake, name)) for name in names}
