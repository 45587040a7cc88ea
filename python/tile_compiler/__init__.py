"""Compiles and launches kernels of the language Tile.

    softmax = tile.compile("softmax.tile")  # a file, or the source itself
    y = softmax(x)  # compiled for x's device and dtype on the first call; y is made like x

    kernel = tile.load("softmax.tilepkg")["softmax"]    # what tilec compiled before
    kernel(x, y)

Every argument is checked against the kernel's contract; a wrong one raises `tile.Error`, which
names the parameter. A tensor is anything with `__cuda_array_interface__` or `__dlpack__`:
PyTorch's, CuPy's, JAX's; code for the CPU takes NumPy's arrays and others in host memory. No
package but this one is imported.
"""

from ._cache import cache_folder, cache_info, clear
from ._compiler import CompileError, CompileWarning
from ._function import Function, Program, compile
from ._kernel import Kernel, Prepared
from ._launch import Module, PerformanceWarning, load, version
from ._library import Error

__all__ = [
    "CompileError",
    "CompileWarning",
    "Error",
    "Function",
    "Kernel",
    "Module",
    "PerformanceWarning",
    "Prepared",
    "Program",
    "cache_folder",
    "cache_info",
    "clear",
    "compile",
    "load",
    "version",
]


def __getattr__(name):
    if name == "__version__":
        return version()
    raise AttributeError(f"module 'tile_compiler' has no attribute '{name}'")
