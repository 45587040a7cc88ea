"""Kernels by hand in CUDA C++ from the folder that TILE_BLUEPRINTS names: what a person reached on
the same work. They serve measuring alone and take part only if --who names them (`blueprint`).

A file FOLDER/NAME.cu is compiled by nvcc for sm_90a when it is first wanted (a kernel for an older
GPU to that GPU's PTX first), and kept in a temporary folder by its contents.
"""

import ctypes
import functools
import hashlib
import os
import subprocess
import tempfile

from .items import Contender
from .lib import torch
from .pack import Missing

MAP_BYTES, MAP_ALIGN = 128, 64  # of a CUtensorMap
BF16, PROMOTE_256, SWIZZLE_128 = 9, 3, 3  # of CUtensorMapDataType, ...L2promotion, ...Swizzle
HOPPER, AMPERE = ("compute_90a", "sm_90a"), ("compute_80", "sm_90")  # PTX, machine code
SHARED_LIMIT = 8  # CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES


@functools.cache
def _driver():
    torch.zeros(1, device="cuda")  # makes the primary context current
    return ctypes.CDLL("libcuda.so.1")


def _check(result, what):
    if result:
        raise RuntimeError(f"{what}: CUDA's driver returned {result}")


def cubin(name, arch=HOPPER):
    """The path of the cubin of TILE_BLUEPRINTS/`name`.cu; needs nvcc, but no GPU. arch: whose PTX
    and whose machine code.
    """
    folder = os.environ.get("TILE_BLUEPRINTS")
    if not folder:
        raise Missing("TILE_BLUEPRINTS names no folder of kernels by hand")
    source = os.path.join(folder, name + ".cu")
    digest = hashlib.sha1()
    for entry in sorted(os.scandir(os.path.dirname(source)), key=lambda entry: entry.name):
        if entry.is_file() and not entry.name.endswith(".py"):
            with open(entry.path, "rb") as stream:
                digest.update(stream.read())
    path = os.path.join(
        tempfile.gettempdir(), f"tile-{os.path.basename(name)}-{digest.hexdigest()[:12]}.cubin"
    )
    if not os.path.exists(path):
        with tempfile.TemporaryDirectory() as made:
            out = os.path.join(made, "a.cubin")
            line = ["nvcc", "-O3", "-std=c++17", "-gencode=arch={},code={}".format(*arch)]
            subprocess.run([*line, "-cubin", "-o", out, source], check=True)
            os.replace(out, path)
    return path


@functools.cache
def _module(path):
    module = ctypes.c_void_p()
    _check(_driver().cuModuleLoad(ctypes.byref(module), path.encode()), path)
    return module


def function(name, symbol, shared, arch=HOPPER):
    """The kernel `symbol` of `name`.cu, with `shared` bytes of shared memory for a launch."""
    found = ctypes.c_void_p()
    _check(
        _driver().cuModuleGetFunction(
            ctypes.byref(found), _module(cubin(name, arch)), symbol.encode()
        ),
        symbol,
    )
    _check(_driver().cuFuncSetAttribute(found, SHARED_LIMIT, shared), symbol)
    return found


def tensorMap(tensor, extents, strides, box):
    """A map of a bf16 tensor in tiles `box`, rows of 128 bytes swizzled; `strides` are bytes of all
    dimensions but the first, which is the one that lies in a row.
    """
    room = ctypes.create_string_buffer(MAP_BYTES + MAP_ALIGN)
    at = (ctypes.addressof(room) + MAP_ALIGN - 1) // MAP_ALIGN * MAP_ALIGN
    rank, wide, narrow = len(extents), ctypes.c_uint64, ctypes.c_uint32
    result = _driver().cuTensorMapEncodeTiled(
        ctypes.c_void_p(at),
        BF16,
        rank,
        ctypes.c_void_p(tensor.data_ptr()),
        (wide * rank)(*extents),
        (wide * max(rank - 1, 1))(*strides),
        (narrow * rank)(*box),
        (narrow * rank)(*[1] * rank),
        0,
        SWIZZLE_128,
        PROMOTE_256,
        0,
    )
    _check(result, f"map of {extents} in {box}")
    return (ctypes.c_char * MAP_BYTES).from_buffer_copy(ctypes.string_at(at, MAP_BYTES))


def launcher(kernel, grid, threads, shared, arguments):
    """A call that enqueues `kernel` on PyTorch's stream; arguments: maps, tensors, ints, floats."""
    kept = []
    for argument in arguments:
        if isinstance(argument, torch.Tensor):
            value = ctypes.c_void_p(argument.data_ptr())
        elif isinstance(argument, int):
            value = ctypes.c_int(argument)
        elif isinstance(argument, float):
            value = ctypes.c_float(argument)
        else:
            value = argument
        kept.append((value, argument))
    pointers = (ctypes.c_void_p * len(kept))(*(ctypes.addressof(value) for value, _ in kept))

    def call():
        stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
        launch = _driver().cuLaunchKernel
        _check(launch(kernel, grid, 1, 1, threads, 1, 1, shared, stream, pointers, None), "launch")

    call.kept = kept
    return call


def contender(name, build, variant, arch=HOPPER):
    """One kernel of `name`.cu: build(data) as of any contender."""
    return Contender(
        "blueprint", build, variant, compile=lambda data: cubin(name, arch), optional=True
    )
