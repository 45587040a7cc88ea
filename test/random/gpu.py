"""Launches many kernels on the GPU from one process: a context of CUDA costs half a second, a
kernel of a few elements nothing.

tilec writes a cubin, or PTX for the driver's assembler where there is no ptxas; the package `tile`
launches it on memory that comes from libcuda by ctypes. Needs no other package.
"""

import ctypes
import os
import shutil
import subprocess
import sys
import time

import numpy as np

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TYPESTR = {"bf16": "<V2", "f8e4m3": "|V1", "f8e5m2": "|V1"}
LIBRARY = os.environ.get("TILE_LIBCUDA") or "libcuda.so.1"
GUARD = 512  # bytes on either side of a tensor on a card
SECONDS = 20  # a kernel that takes longer hangs


def isPresent():
    """Whether there is a driver; nothing is opened."""
    try:
        return bool(ctypes.CDLL(LIBRARY))
    except OSError:
        return False


class Broken(Exception):
    """The context cannot be used any more: why."""


class Array:
    """Device memory of a NumPy array, as the launcher takes it, `offset` elements behind where an
    allocation begins. Bytes around it tell of stores there; the emulated device does so by itself,
    and of loads too, where an allocation has nothing else.
    """

    def __init__(self, driver, values, dtype, offset=0):
        self.driver, self.values = driver, np.array(values, order="C")  # 0-d stays so
        around = 0 if "TILE_LIBCUDA" in os.environ else GUARD
        self.ahead = around + offset * self.values.itemsize
        self.stored = np.full(self.ahead + self.values.nbytes + around, 0xA5, np.uint8)
        inner = self.stored[self.ahead : self.ahead + self.values.nbytes]
        inner[:] = np.frombuffer(self.values.tobytes(), np.uint8)
        self.memory = ctypes.c_uint64()
        size = max(self.stored.nbytes, 1)
        driver.call("cuMemAlloc_v2", ctypes.byref(self.memory), ctypes.c_size_t(size))
        if self.stored.nbytes:
            driver.call(
                "cuMemcpyHtoD_v2",
                self.memory,
                ctypes.c_void_p(self.stored.ctypes.data),
                ctypes.c_size_t(self.stored.nbytes),
            )
        self.pointer = ctypes.c_uint64(self.memory.value + self.ahead)
        self.__cuda_array_interface__ = {
            "shape": self.values.shape,
            "typestr": TYPESTR.get(dtype, self.values.dtype.str),
            "version": 3,
            "data": (self.pointer.value, False),
            "strides": None,
        }

    def read(self):
        """What the device has left; an error where something is stored around it."""
        if not self.stored.nbytes:
            return self.values
        self.driver.call(
            "cuMemcpyDtoH_v2",
            ctypes.c_void_p(self.stored.ctypes.data),
            self.memory,
            ctypes.c_size_t(self.stored.nbytes),
        )
        end = self.ahead + self.values.nbytes
        outside = np.flatnonzero(
            np.concatenate([self.stored[: self.ahead], self.stored[end:]]) != 0xA5
        )
        if outside.size:
            raise RuntimeError(f"{outside.size} bytes around a tensor were stored to")
        inner = self.stored[self.ahead : end].tobytes()
        return np.frombuffer(inner, self.values.dtype).reshape(self.values.shape)

    def free(self):
        self.driver.call("cuMemFree_v2", self.memory)


class Driver:
    """libcuda with the primary context of device 0."""

    def __init__(self, home):
        os.environ.setdefault("TILE_HOME", home)
        os.environ.setdefault("CUDA_CACHE_DISABLE", "1")
        sys.path[:0] = [
            folder
            for folder in (os.path.join(home, "python"), os.path.join(ROOT, "python"))
            if os.path.isdir(folder)
        ]
        import tile_compiler as tile

        self.tile, self.library = tile, ctypes.CDLL(LIBRARY)
        requested = os.environ.get("TILE_PTXAS")
        self.assembles = requested != "none" and bool(
            requested or shutil.which("ptxas") or os.path.exists("/usr/local/cuda/bin/ptxas")
        )
        device, context, numbers = (
            ctypes.c_int(),
            ctypes.c_void_p(),
            [ctypes.c_int(), ctypes.c_int()],
        )
        self.call("cuInit", 0)
        self.call("cuDeviceGet", ctypes.byref(device), 0)
        for attribute, number in zip((75, 76), numbers):  # the compute capability
            self.call("cuDeviceGetAttribute", ctypes.byref(number), attribute, device)
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        self.call("cuCtxSetCurrent", context)
        self.target = f"sm_{numbers[0].value}{numbers[1].value}" + (
            "a" if numbers[0].value >= 9 else ""
        )

    def call(self, name, *arguments):
        code = getattr(self.library, name)(*arguments)
        if code:
            text = ctypes.c_char_p()
            self.library.cuGetErrorName(code, ctypes.byref(text))
            raise Broken(f"{name}: {(text.value or b'').decode()} ({code})")

    def wait(self):
        """Until the kernel has ended."""
        end = time.monotonic() + SECONDS
        while True:
            code = self.library.cuStreamQuery(ctypes.c_void_p(0))
            if code != 600:  # CUDA_ERROR_NOT_READY
                break
            if time.monotonic() > end:
                raise Broken(f"the kernel has not ended after {SECONDS} s")
            time.sleep(0.0005)
        self.call("cuCtxSynchronize")

    def run(self, tilec, source, level, arguments, outputs, again=False):
        """{name: what the kernel writes}. `arguments`: {name: (stored values, dtype) or a number}
        in order; behind the dtype how many elements lie ahead of a tensor.
        `again`: launched twice.
        """
        image = f"{source}.{level}." + ("cubin" if self.assembles else "ptx")
        done = subprocess.run(
            [tilec, source, f"-O{level}", "--target", self.target, "-o", image],
            capture_output=True,
            text=True,
        )
        if done.returncode:
            raise RuntimeError(f"exit {done.returncode}: {done.stderr.strip()[-1200:]}")
        kernel = self.tile.load(image, "cuda")["k"]
        given = {
            name: Array(self, *value) if isinstance(value, tuple) else value
            for name, value in arguments.items()
        }
        for _ in range(2 if again else 1):
            kernel(*given.values())
            self.wait()
        found = {name: given[name].read() for name in outputs}
        for value in given.values():
            if isinstance(value, Array):
                value.free()
        return found
