"""Tests of the Python module. The driver is a fake: what a launch hands to it is read back from its
record.
"""

import contextlib
import ctypes
import functools
import json
import os
import struct
import sys
import tempfile
import types
import unittest
import warnings

import numpy
import tile_compiler as tile
from tile_compiler._library import native


class FakeCuda(ctypes.Structure):
    """The record of the fake driver, as in test/unit/runtime/FakeCuda.h, up to what is read
    here.
    """

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
    ]


library = ctypes.CDLL(os.environ["TILE_LIBCUDA"])
library.fakeCuda.restype = ctypes.POINTER(FakeCuda)
fake = library.fakeCuda().contents


class Cai:
    """A tensor by __cuda_array_interface__."""

    def __init__(self, data, typestr, shape, strides=None):
        self.__cuda_array_interface__ = {
            "data": (data, False),
            "typestr": typestr,
            "shape": shape,
            "strides": strides,
            "version": 3,
        }


class Dlpack:
    """A tensor by __dlpack__: NumPy's export, told to be on a CUDA device."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, stream=None):
        return self.array.__dlpack__()

    def __dlpack_device__(self):
        return (2, 0)


def kernel(dtype):
    scalars = [
        ("w", "i64", 3),
        ("eps", dtype if dtype == "f16" else "f32", 1e-5),
        ("flag", "bool", True),
    ]
    tensor = lambda name, access: {
        "name": name,
        "kind": "tensor",
        "access": access,
        "dtype": dtype,
        "align": 4,
        "line": 2,
        "dims": ["N"],
        "strides": ["*"],
    }
    params = [tensor("x", "in"), tensor("y", "out")]
    params += [
        {"name": name, "kind": "scalar", "dtype": d, "line": 3, "default": value}
        for name, d, value in scalars
    ]
    return {
        "name": "scale",
        "symbol": "scale_T_" + dtype,
        "file": "scale.tile",
        "line": 1,
        "doc": "y = x",
        "constants": {"T": dtype},
        "dims": [{"name": "N", "min": 1, "max": 100}],
        "params": params,
        "contracts": [],
        "grid": ["N"],
        "arguments": [{"param": p["name"]} for p in params] + [{"dim": "N"}],
        "launch": {"threads": 32},
    }


def write(folder, target="sm_90"):
    path = os.path.join(folder, "scale.ptx")
    with open(path, "w") as ptx:
        ptx.write(".version 8.0\n")
    with open(path + ".json", "w") as manifest:
        json.dump(
            {
                "format": "tile-manifest",
                "version": 4,
                "compiler": "t",
                "target": target,
                "binary": {"bytes": 13, "hash": "xxh3-128:7c2d7bf9b72f08718d453f297d05e41f"},
                "kernels": [kernel("f16"), kernel("f32"), kernel("bf16"), join()],
            },
            manifest,
        )
    return path


class TorchTensor:
    """A tensor of PyTorch, as far as the module looks at one."""

    reads = 0

    def __init__(self, data, dtype, shape, strides=None, device=0):
        self.data, self.dtype, self.shape, self.device = data, dtype, tuple(shape), device
        self.strides = strides or tuple(int(numpy.prod(shape[i + 1 :])) for i in range(len(shape)))
        self.is_cuda = device >= 0

    def data_ptr(self):
        TorchTensor.reads += 1
        return self.data

    def stride(self):
        return self.strides

    def get_device(self):
        return self.device

    def is_neg(self):
        return False


class TorchDtype:
    def __init__(self, name):
        self.name = name

    def __str__(self):
        return "torch." + self.name


@functools.lru_cache
def torchModule():
    torch = types.ModuleType("torch")
    TorchTensor.__module__, TorchTensor.__name__ = "torch", "Tensor"
    torch.Tensor, torch.float32, torch.uint8 = (
        TorchTensor,
        TorchDtype("float32"),
        TorchDtype("uint8"),
    )
    torch._C = types.SimpleNamespace(
        _cuda_getCurrentRawStream=lambda device: 70 + device, _cuda_getDevice=lambda: 0
    )
    torch.cuda = types.SimpleNamespace(
        current_stream=lambda device: types.SimpleNamespace(cuda_stream=70 + device),
        device=lambda device: contextlib.nullcontext(),
    )
    return torch


def makeTorch():
    """Imports a module that stands for PyTorch: streams 70 and on are current, one for each
    device.
    """
    sys.modules["torch"] = torchModule()
    return torchModule()


class DlTensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("deviceType", ctypes.c_int32),
        ("deviceId", ctypes.c_int32),
        ("rank", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("offset", ctypes.c_uint64),
    ]


class Exchange:
    """A tensor by DLPack's C exchange interface: an f32 vector of 7 at 0x3000, on stream 77."""

    shape = (ctypes.c_int64 * 1)(7)

    @ctypes.CFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.POINTER(DlTensor))
    def read(value, tensor):
        tensor[0] = DlTensor(value.data, 2, 0, 1, 2, 32, 1, Exchange.shape, None, 16)
        return 0

    @ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int32, ctypes.c_int32, ctypes.POINTER(ctypes.c_void_p))
    def stream(deviceType, device, result):
        result[0] = 77
        return 0

    table = (ctypes.c_uint64 * 7)(
        1 | 3 << 32,
        0,
        0,
        0,
        0,
        ctypes.cast(read, ctypes.c_void_p).value,
        ctypes.cast(stream, ctypes.c_void_p).value,
    )
    makeCapsule = ctypes.pythonapi.PyCapsule_New
    makeCapsule.restype, makeCapsule.argtypes = (
        ctypes.py_object,
        [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p],
    )
    __dlpack_c_exchange_api__ = makeCapsule(ctypes.addressof(table), b"dlpack_exchange_api", None)

    def __init__(self, data):
        self.data = data


def join():
    """The manifest of a kernel `join(xs: in f32[N] * 2, y: out f32[N])`."""
    tensor = lambda name, access: {
        "name": name,
        "kind": "tensor",
        "access": access,
        "dtype": "f32",
        "align": 4,
        "line": 2,
        "dims": ["N"],
    }
    params = [tensor("xs[0]", "in"), tensor("xs[1]", "in"), tensor("y", "out")]
    return {
        "name": "join",
        "symbol": "join",
        "file": "join.tile",
        "line": 1,
        "doc": "",
        "constants": {},
        "dims": [{"name": "N", "min": 1, "max": 100}],
        "params": params,
        "contracts": [],
        "grid": ["N"],
        "arguments": [{"param": p["name"]} for p in params] + [{"dim": "N"}],
        "launch": {"threads": 32},
    }


class PythonModule(unittest.TestCase):
    def setUp(self):
        fake.major, fake.argumentCount, fake.launchResult = 9, 6, 0
        fake.symbols = b"scale_T_f16,scale_T_f32,scale_T_bf16,join,"
        self.folder = tempfile.TemporaryDirectory()
        self.module = tile.load(write(self.folder.name))
        self.scale = self.module["scale"]

    def tearDown(self):
        self.folder.cleanup()

    def testArrays(self):
        join, tensor = self.module["join"], lambda data, n=5: Cai(data, "<f4", (n,))
        fake.argumentCount = 4
        for call in (
            lambda: join([tensor(4096), tensor(8192)], tensor(12288)),
            lambda: join(y=tensor(12288), xs=(tensor(4096), tensor(8192))),
            lambda: join(tensor(4096), tensor(8192), tensor(12288)),
        ):
            fake.launches = 0
            call()
            self.assertEqual(list(fake.arguments[:4]), [4096, 8192, 12288, 5])
        with self.assertRaises(tile.Error) as caught:
            join([tensor(4096), tensor(8192, 6)], tensor(12288))
        self.assertIn("'xs[1]'", str(caught.exception))
        with self.assertRaises(TypeError) as caught:
            join(xs=[tensor(4096)], y=tensor(12288))
        self.assertIn("'xs[1]' is missing", str(caught.exception))

    def raises(self, kind, text, call):
        with self.assertRaises(kind) as caught:
            call()
        self.assertIn(text, str(caught.exception))

    def testModule(self):
        self.assertEqual(self.module.target, "sm_90")
        self.assertEqual(list(self.module), ["scale", "join"])
        self.assertEqual(self.scale.__doc__, "y = x")
        self.assertEqual(len(self.scale.signatures), 3)
        self.assertTrue(self.scale.signatures[1].startswith("scale[T = f32](x: in f32[N; *]"))
        self.assertRegex(tile.version(), r"^\d+\.\d+\.\d+$")

    def testLaunch(self):
        before = fake.launches
        self.scale(
            Cai(0x1000, "<f4", (7,)),
            Cai(0x8000, "<f4", (7,), (8,)),
            5,
            eps=2.0,
            flag=False,
            stream=99,
        )
        self.assertEqual(fake.launches, before + 1)
        self.assertEqual(fake.lastFunction, b"scale_T_f32")
        self.assertEqual((fake.grid[0], fake.block[0], fake.stream), (7, 32, 99))
        self.assertEqual(list(fake.arguments[:3]), [0x1000, 0x8000, 5])
        self.assertEqual(fake.arguments[3], struct.unpack("<I", struct.pack("<f", 2.0))[0])
        self.assertEqual((fake.arguments[4] & 255, fake.arguments[5]), (0, 7))

    def testDefaultsAndNames(self):
        self.scale(y=Cai(0x8000, "<f2", (7,)), x=Cai(0x1000, "<f2", (7,)), eps=numpy.float32(1))
        self.assertEqual(fake.lastFunction, b"scale_T_f16")
        self.assertEqual(list(fake.arguments[:4]), [0x1000, 0x8000, 3, 0x3C00])

    def testBf16(self):
        self.scale(Cai(0x1000, "<V2", (7,)), Cai(0x8000, "|V2", (7,)), numpy.int32(-1))
        self.assertEqual(fake.lastFunction, b"scale_T_bf16")
        self.assertEqual(fake.arguments[2], 2**64 - 1)

    def testDlpack(self):
        x, y = numpy.zeros((6, 2), "f4")[:, 1], numpy.zeros(6, "f4")
        self.scale(Dlpack(x), Dlpack(y))
        self.assertEqual(list(fake.arguments[:2]), [x.ctypes.data, y.ctypes.data])
        self.assertEqual(fake.arguments[5], 6)

    def testPlan(self):
        before = fake.launches
        self.assertEqual(
            self.scale.plan(Cai(0x1000, "<f4", (7,)), Cai(0x8000, "<f4", (7,))),
            {"programs": 7, "grid": [7]},
        )
        self.assertEqual(fake.launches, before)

    def testStreams(self):
        class Torch:
            cuda_stream = 5

        class Protocol:
            def __cuda_stream__(self):
                return (0, 6)

        for stream, expected in ((Torch(), 5), (Protocol(), 6), (None, None)):
            self.scale(Cai(0x1000, "<f4", (7,)), Cai(0x8000, "<f4", (7,)), stream=stream)
            self.assertEqual(fake.stream, expected)
        self.raises(
            TypeError,
            "stream is of type str",
            lambda: self.scale(Cai(1, "<f4", (7,)), Cai(1, "<f4", (7,)), stream="s"),
        )

    def testWrongCalls(self):
        x, y = Cai(0x1000, "<f4", (7,)), Cai(0x8000, "<f4", (7,))
        self.raises(tile.Error, "has no kernel 'nothing'", lambda: self.module["nothing"])
        self.raises(TypeError, "scale: 'x' is missing", lambda: self.scale(y=y))
        self.raises(
            tile.Error,
            "expected 2 to 5 arguments (x, y, w, eps, flag), found 1",
            lambda: self.scale(x),
        )
        self.raises(
            TypeError,
            "'z' is no parameter; there are x, y, w, eps, flag",
            lambda: self.scale(x, y, z=1),
        )
        self.raises(TypeError, "'y' is given twice", lambda: self.scale(x, y, y=y))
        self.raises(
            TypeError, "'w' is 1.5, expected an integer of i64", lambda: self.scale(x, y, 1.5)
        )
        self.raises(OverflowError, "is no value of i64", lambda: self.scale(x, y, 2**63))
        self.raises(TypeError, "'eps' is of type str", lambda: self.scale(x, y, eps="much"))
        self.raises(TypeError, "'eps' is None", lambda: self.scale(x, y, eps=None))
        self.raises(
            tile.Error, "'x' is in host memory", lambda: self.scale(numpy.zeros(7, "f4"), y)
        )
        self.raises(
            TypeError, "'x' is of type '<c8'", lambda: self.scale(Cai(0x1000, "<c8", (7,)), y)
        )
        self.raises(
            tile.Error,
            "'y' has N = 6 in dimension 0, but 'x' has N = 7",
            lambda: self.scale(x, Cai(0x8000, "<f4", (6,))),
        )
        self.raises(
            tile.Error,
            "no variant takes (f32[7], f16[7])",
            lambda: self.scale(x, Cai(0x8000, "<f2", (7,))),
        )
        fake.launchResult = 700
        self.raises(
            tile.Error, "scale: cannot launch: CUDA_ERROR_ILLEGAL_ADDRESS", lambda: self.scale(x, y)
        )

    def quickly(self, call):
        """Runs a call that must not take the slow path, where there is a quick one."""
        slow = type(self.scale)._slowCall
        if native:
            type(self.scale)._slowCall = lambda *values, **named: self.fail("took the slow path")
        try:
            return call()
        finally:
            type(self.scale)._slowCall = slow

    def testTorch(self):
        torch = makeTorch()
        try:
            x, y = (
                TorchTensor(0x1000, torch.float32, (7,)),
                TorchTensor(0x8000, torch.float32, (7,), (2,)),
            )
            self.scale(x, y)
            self.assertEqual(
                (fake.lastFunction, fake.stream, list(fake.arguments[:2])),
                (b"scale_T_f32", 70, [0x1000, 0x8000]),
            )
            before = fake.launches
            self.quickly(lambda: self.scale(x, y, -5, flag=False, stream=9))
            self.assertEqual((fake.launches, fake.stream, fake.grid[0]), (before + 1, 9, 7))
            self.assertEqual((fake.arguments[2], fake.arguments[4] & 255), (2**64 - 5, 0))
            self.quickly(lambda: self.scale(x=x, y=y))
            self.assertEqual((fake.stream, fake.arguments[2], fake.arguments[5]), (70, 3, 7))
            self.quickly(
                lambda: self.raises(
                    tile.Error,
                    "'y' has N = 6 in dimension 0, but 'x' has N = 7",
                    lambda: self.scale(x, TorchTensor(0x8000, torch.float32, (6,))),
                )
            )
            self.quickly(
                lambda: self.scale(x, TorchTensor(0x8000, torch.float32, (6,)), check=False)
            )
            # What the quick path leaves to the other: another device, host memory, numbers that do
            # not fit.
            self.scale(TorchTensor(0x1000, torch.float32, (7,), device=1), y, stream=3)
            self.raises(
                tile.Error,
                "'x' is in host memory",
                lambda: self.scale(TorchTensor(1, torch.float32, (7,), device=-1), y),
            )
            self.raises(OverflowError, "is no value of i64", lambda: self.scale(x, y, 2**63))
        finally:
            del sys.modules["torch"]

    @unittest.skipIf(not native, "without python/native.c")
    def testExchange(self):
        self.quickly(lambda: self.scale(Exchange(0x3000), Exchange(0x8000), 4))
        self.assertEqual(
            (fake.lastFunction, fake.stream, list(fake.arguments[:3])),
            (b"scale_T_f32", 77, [0x3010, 0x8010, 4]),
        )

    def testPrepared(self):
        x, y = Cai(0x1000, "<f4", (7,)), Cai(0x8000, "<f4", (7,), (8,))
        self.raises(
            tile.Error,
            "'y' has N = 6 in dimension 0, but 'x' has N = 7",
            lambda: self.scale.prepare(x, Cai(0x8000, "<f4", (6,))),
        )
        before = fake.launches
        prepared = self.scale.prepare(x, y, 5, eps=2.0)
        self.assertEqual((fake.launches, prepared.variant), (before, ""))
        prepared(Cai(0x2000, "<f4", (7,)), Cai(0x9000, "<f4", (7,), (8,)), 6, eps=3.0, stream=4)
        self.assertEqual(
            (fake.lastFunction, fake.stream, list(fake.arguments[:3])),
            (b"scale_T_f32", 4, [0x2000, 0x9000, 6]),
        )
        self.assertEqual(
            (fake.arguments[3], fake.arguments[5]),
            (struct.unpack("<I", struct.pack("<f", 3.0))[0], 7),
        )
        self.raises(
            tile.Error,
            "expected 4 values, as many as arguments were prepared, found 2",
            lambda: prepared(x, y),
        )
        self.raises(tile.Error, "'x' is null", lambda: prepared(Cai(0, "<f4", (7,)), y, 6, eps=3.0))
        self.raises(tile.Error, "has no variant 'fast'", lambda: prepared.pin("fast"))
        torch = makeTorch()
        try:
            x, y = (
                TorchTensor(0x1000, torch.float32, (7,)),
                TorchTensor(0x8000, torch.float32, (7,)),
            )
            self.scale(x, y)
            prepared = self.scale.prepare(x, y)
            if native:
                type(prepared)._slowCall, slow = (
                    lambda *values, **named: self.fail("took the slow path"),
                    type(prepared)._slowCall,
                )
                prepared(TorchTensor(0x3000, torch.float32, (7,)), y)
                self.assertEqual(
                    (fake.stream, list(fake.arguments[:3]), fake.grid[0]),
                    (70, [0x3000, 0x8000, 3], 7),
                )
                type(prepared)._slowCall = slow
            self.raises(
                tile.Error,
                "scale: 'y' has shape [6], but was prepared with [7]",
                lambda: prepared(x, TorchTensor(0x8000, torch.float32, (6,))),
            )
        finally:
            del sys.modules["torch"]

    @unittest.skipIf(not native, "without python/native.c")
    def testPreparedExchange(self):
        prepared = self.scale.prepare(Cai(0x1000, "<f4", (7,)), Cai(0x8000, "<f4", (7,)), 4)
        prepared(Exchange(0x3000), Exchange(0x9000), 4)
        self.assertEqual((fake.stream, list(fake.arguments[:3])), (77, [0x3010, 0x9010, 4]))

    def testMemoryCheck(self):
        x, y = Cai(0x1000, "<f4", (7,)), Cai(0x8000, "<f4", (7,))
        self.raises(
            tile.Error,
            "'x' lies in host memory that the driver does not know",
            lambda: self.scale(x, y, check="memory"),
        )
        self.raises(
            ValueError,
            "check is 'all', expected True, False or 'memory'",
            lambda: self.scale(x, y, check="all"),
        )
        self.scale(x, y)

    def testWarning(self):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            self.scale(Cai(0x1000, "<f4", (7,)), Cai(0x8000, "<f4", (7,)))
            self.assertEqual(caught, [])  # a file of PTX for this very device
            module = tile.load(write(self.folder.name, "sm_80"))
            for _ in range(2):
                module["scale"](Cai(0x1000, "<f4", (7,)), Cai(0x8000, "<f4", (7,)))
            self.assertEqual(
                [(one.category, os.path.basename(one.filename)) for one in caught],
                [(tile.PerformanceWarning, "python_module.py")],
            )
            self.assertIn(
                "has no cubin for the device, sm_90: the driver compiles its PTX for sm_80",
                str(caught[0].message),
            )
            if native:
                module = tile.load(write(self.folder.name, "sm_80"))
                module["scale"](Exchange(0x3000), Exchange(0x8000), 4)
                self.assertEqual(
                    [os.path.basename(one.filename) for one in caught[1:]], ["python_module.py"]
                )

    def testUnchecked(self):
        self.scale(Cai(0x1000, "<f4", (7,)), Cai(0x8000, "<f4", (6,)), check=False)
        self.assertEqual(fake.grid[0], 7)

    def testLoadErrors(self):
        self.raises(tile.Error, "cannot read 'absent.cubin'", lambda: tile.load("absent.cubin"))
        self.raises(
            tile.Error, "compiled for 'cpu'", lambda: tile.load(write(self.folder.name, "cpu"))
        )


if __name__ == "__main__":
    unittest.main()
