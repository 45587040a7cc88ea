"""Twelve scalars of different dtypes through the runtime's C interface, with constants between
them: scalar_abi.py BUILD SOURCE.
"""

import ctypes
import os
import subprocess
import sys
import tempfile

import numpy as np

build, source = sys.argv[1:]
os.environ["TILE_RUNTIME_LIB"] = os.path.join(build, "lib", "libtile_runtime.so")
sys.path.insert(0, os.path.join(source, "python"))
from tile_compiler import _library  # noqa: E402

SCALARS = [
    ("a", "f16", 1.5),
    ("b", "i8", -7),
    ("c", "bf16", -2.25),
    ("d", "u8", 200),
    ("e", "f32", 3.75),
    ("f", "i16", -300),
    ("g", "f64", 0.1),
    ("h", "u16", 65535),
    ("i", "i64", -(2**60)),
    ("j", "i32", 12),
    ("k", "u32", 2**31),
    ("l", "bool", 1),
]
TEXT = (
    """kernel take[C: int = -3, F: float = -0.5, W: string in {"on", "off"} = "on"](
    x: in f32[N], """
    + ", ".join(f"{name}: {dtype}" for name, dtype, _ in SCALARS)
    + """, y: out f64[12, N]) where N in 1..=64 specialize j in {12} specialize N % 4 == 0
{
"""
    + "".join(
        f"  y[{n}, at(0, 64)] = full(f64, [64], 0.0) + ({name} as f64);\n"
        for n, (name, _, _) in enumerate(SCALARS)
    )
    + "}\n"
)

with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "k.tile")
    open(path, "w").write(TEXT)
    package = os.path.join(folder, "k.tilepkg")
    subprocess.run(
        ["tilec", path, "--target", "cpu", "-o", package, "-D", "C=-8", "-D", "F=-1.5"], check=True
    )
    # The names of constants are no part of symbols; negative and fractional ones give valid names
    # too.
    several = os.path.join(
        folder, "several.tile"
    )  # an extent tells the instances apart, and for fractions which tensor there is
    tensors = "y: out f64[C + 20, N], z: in f32[N] if F > 0.0)"
    open(several, "w").write(TEXT.replace("y: out f64[12, N])", tensors))
    subprocess.run(
        [
            "tilec",
            several,
            "--target",
            "sm_80",
            "-o",
            os.path.join(folder, "k.ptx"),
            "-D",
            "C=-8,4",
            "-D",
            "F=-1.5,2e-3",
        ],
        check=True,
    )
    library = _library.get()
    for name in ("tile_module_load_device", "tile_kernel_launch"):
        getattr(library, name).restype = ctypes.c_void_p
    library.tile_module_load_device.argtypes = [ctypes.c_char_p, ctypes.c_int32, ctypes.c_void_p]
    module, kernel = ctypes.c_void_p(), ctypes.c_void_p()
    _library.check(library.tile_module_load_device(package.encode(), 2, ctypes.byref(module)))
    _library.check(library.tile_module_kernel(module, b"take", ctypes.byref(kernel)))
    for n in (5, 8):
        for changed in (12, 13):  # the constant of a variant, and another value
            x, y = np.zeros(n, np.float32), np.full((12, n), -1.0)
            arguments = (_library.Argument * 14)()
            shapes = [(ctypes.c_int64 * 1)(n), (ctypes.c_int64 * 2)(12, n)]
            for place, array, shape, dtype in (
                (0, x, shapes[0], b"f32"),
                (13, y, shapes[1], b"f64"),
            ):
                arguments[place].kind = _library.TENSOR
                arguments[place].dtype = library.tile_dtype_from_name(dtype)
                arguments[place].data = array.ctypes.data
                arguments[place].rank = len(shape)
                arguments[place].shape = ctypes.cast(shape, ctypes.POINTER(ctypes.c_int64))
            for place, (name, dtype, value) in enumerate(SCALARS, 1):
                value = changed if name == "j" else value
                arguments[place].kind = _library.SCALAR
                arguments[place].dtype = library.tile_dtype_from_name(dtype.encode())
                bits = ctypes.c_uint64()
                _library.check(
                    library.tile_scalar_bits(
                        arguments[place].dtype, float(value), ctypes.byref(bits)
                    )
                )
                arguments[place].bits = bits.value
            _library.check(library.tile_kernel_launch(kernel, arguments, 14, None, 0))
            for row, (name, dtype, value) in enumerate(SCALARS):
                want = float(changed if name == "j" else value)
                assert (y[row] == want).all(), (n, name, y[row], want)
    library.tile_module_free(module)
