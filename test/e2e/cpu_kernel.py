"""Runs kernels of the tile dialect on the CPU for tests: tile-opt, then clang to a shared library,
then ctypes.
"""

import ctypes
import os
import re
import subprocess
import tempfile

import numpy as np

# What stands for each dtype in an array: the numbers, or the bits where NumPy has no such type.
NUMPY = {
    "bool": np.bool_,
    "i8": np.int8,
    "i16": np.int16,
    "i32": np.int32,
    "i64": np.int64,
    "u8": np.uint8,
    "u16": np.uint16,
    "u32": np.uint32,
    "u64": np.uint64,
    "f16": np.float16,
    "bf16": np.uint16,
    "f32": np.float32,
    "f64": np.float64,
    "f8e4m3": np.uint8,
    "f8e5m2": np.uint8,
}


class Kernels:
    """The kernels of one module; `bits` is the width of vectors that dot may use."""

    def __init__(self, text, bits=256, flags=("-O2", "-march=native")):
        self.folder = tempfile.TemporaryDirectory()
        path = os.path.join(self.folder.name, "kernels")
        with open(path + ".mlir", "w") as file:
            # What was made for a GPU runs on the CPU here: mlir-translate knows no target of ours.
            file.write(re.sub(r" attributes \{tile_gpu.target = [^}]*\}", "", text))
        self._run(
            "tile-opt",
            path + ".mlir",
            f"--tile-cpu-pipeline=vector-bits={bits}",
            "-o",
            path + ".llvm.mlir",
        )
        self._run("mlir-translate", "--mlir-to-llvmir", path + ".llvm.mlir", "-o", path + ".ll")
        # What a processor lacks is a call: of the compiler's own library here, of tilec's there.
        self._run(
            "clang",
            *flags,
            "-Wno-override-module",
            "-shared",
            "-fPIC",
            "-x",
            "ir",
            path + ".ll",
            "-o",
            path + ".so",
            "-lm",
        )
        self.library = ctypes.CDLL(path + ".so")
        # Bytes that a kernel's tiles take, to which its last argument points.
        self.tiles = {
            name: int(size)
            for name, size in re.findall(
                r"llvm\.func @(\w+)\(.*tile\.scratch_bytes = (\d+)",
                open(path + ".llvm.mlir").read(),
            )
        }
        self.ir = open(path + ".ll").read()

    @staticmethod
    def _run(*command):
        result = subprocess.run(command, capture_output=True, text=True)
        if result.returncode:
            raise SystemExit(f"{' '.join(command)}:\n{result.stderr[:4000]}")

    def run(self, name, arguments, end, begin=0):
        """Runs programs begin to end - 1. Arrays are passed by address, Python ints as 64 bits,
        NumPy scalars as they are.
        """
        cells, keep = [], []
        for value in arguments:
            if isinstance(value, np.ndarray):
                cell = np.array(value.ctypes.data, dtype=np.int64)
            else:
                cell = np.array(value, dtype=np.int64 if isinstance(value, int) else None)
            keep.append(cell)
            cells.append(cell.ctypes.data)
        if name in self.tiles:
            memory = np.full(self.tiles[name] + 63, 0xA5, dtype=np.uint8)
            cell = np.array((memory.ctypes.data + 63) // 64 * 64, dtype=np.int64)
            keep += [memory, cell]
            cells.append(cell.ctypes.data)
        table = (ctypes.c_void_p * max(len(cells), 1))(*cells)
        getattr(self.library, name)(table, ctypes.c_int64(begin), ctypes.c_int64(end))


def check(what, found, expected, tolerance=0.0):
    """Compares, NaN equal to NaN, and ends the test with the first difference."""
    found, expected = np.asarray(found), np.asarray(expected)
    if found.shape != expected.shape:
        raise SystemExit(f"{what}: expected shape {expected.shape}, found {found.shape}")
    same = np.isclose(
        found.astype(np.float64),
        expected.astype(np.float64),
        rtol=tolerance,
        atol=tolerance,
        equal_nan=True,
    )
    if not same.all():
        at = tuple(int(i) for i in np.argwhere(~same)[0])
        raise SystemExit(
            f"{what}: at {at} expected {expected[at]}, found {found[at]} ({(~same).sum()} differ)"
        )
    print(f"{what}: ok")
