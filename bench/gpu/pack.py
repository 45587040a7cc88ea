"""Kernels of others that are built already, from the folder that TILE_PEERS names: archives
(NAME.tar.xz of Python packages, NAME.so.xz of libraries), or a folder where these are unpacked.

They serve measuring alone and are no part of this project. What is missing is an exception, and so
a reason in the record of the contender that wanted it.
"""

import concurrent.futures
import contextlib
import ctypes
import hashlib
import importlib
import lzma
import os
import shutil
import sys
import tarfile
import tempfile

from .items import Contender
from .lib import torch

# The file of each library, and the namespace of its operations in PyTorch.
LIBRARIES = {
    "fa3": ("fa3_xformers.so", "flash_attn_3"),
    "fa3-cu13": ("_vllm_fa3_C.abi3.so", "_vllm_fa3_C"),
    "vllm": ("_C_stable_libtorch.abi3.so", "_C"),
}
_loaded = {}


class Missing(RuntimeError):
    """A peer that is not there."""


def prepare():
    """Unpacks the archives and lets Python find the packages; the folder, or None without one.
    Later calls, also of other processes, find what the first has unpacked.
    """
    named = os.environ.get("TILE_PEERS")
    if not named or not os.path.isdir(named):
        return None
    packed = sorted(name for name in os.listdir(named) if name.endswith(".xz"))
    folder = os.path.abspath(named)
    if packed:
        sizes = [(name, os.path.getsize(os.path.join(named, name))) for name in packed]
        mark = hashlib.sha1(repr((folder, sizes)).encode()).hexdigest()[:12]
        folder = os.path.join(tempfile.gettempdir(), f"tile-peers-{mark}")
        if not os.path.isdir(folder):
            _unpack(os.path.abspath(named), packed, folder)
    if folder not in sys.path:
        sys.path.append(folder)  # behind what is installed
    os.environ.setdefault("CUDA_HOME", "/usr/local/cuda")
    os.environ.setdefault("DG_JIT_CACHE_DIR", os.path.join(folder, "deep_gemm_cache"))
    return folder


def _unpack(source, names, folder):
    """All archives into a new folder that appears when it is complete."""
    beside = tempfile.mkdtemp(prefix="tile-peers-", dir=tempfile.gettempdir())
    os.makedirs(os.path.join(beside, "lib"))

    def one(name):
        with lzma.open(os.path.join(source, name)) as stream:
            if name.endswith(".tar.xz"):
                with tarfile.open(fileobj=stream) as archive:
                    archive.extractall(beside, filter="data")
            else:
                target = os.path.join(beside, "lib", name.removesuffix(".xz"))
                with open(target, "wb") as out:
                    shutil.copyfileobj(stream, out, 1 << 22)

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        list(pool.map(one, names))
    with contextlib.suppress(OSError):  # another process was first
        os.rename(beside, folder)
    shutil.rmtree(beside, ignore_errors=True)


def _folder():
    folder = prepare()
    if folder is None:
        raise Missing("TILE_PEERS names no folder of prebuilt kernels")
    return folder


def library(name):
    """The operations of one of LIBRARIES."""
    if name not in _loaded:
        file, namespace = LIBRARIES[name]
        path = os.path.join(_folder(), "lib", file)
        if not os.path.exists(path):
            raise Missing(f"{file} is not in TILE_PEERS")
        runtime = os.path.join(_folder(), "lib", "libcudart.so.12")
        if name == "fa3" and os.path.exists(runtime):
            ctypes.CDLL(runtime)  # what it is linked to, where PyTorch has a later one
        torch.ops.load_library(path)
        _loaded[name] = getattr(torch.ops, namespace)
    return _loaded[name]


def module(name):
    """A Python package of the folder, or one that is installed."""
    prepare()
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise Missing(f"{name}: {error}") from error


def filled(operation, positional, **named):
    """A call of an operation all of whose arguments are required: those that are not named are
    None.
    """
    wanted = [argument.name for argument in operation.default._schema.arguments]
    known = dict(zip(wanted, positional)) | named
    line = [known.get(name) for name in wanted]
    return lambda: operation(*line)


def peer(who, build, variant="", **more):
    """A contender of the pack: it may have to load a library or to compile at its first call."""

    def patient(data):
        with torch.no_grad():
            made = build(data)

        def call():
            with torch.no_grad():
                return made()

        for name in ("restore", "view", "noGraph"):
            if hasattr(made, name):
                setattr(call, name, getattr(made, name))
        return call

    more.setdefault("patience", 90.0)
    return Contender(who, patient, variant, **more)
