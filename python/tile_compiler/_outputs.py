"""Outputs that a call makes: arrays of the same package, and on the same device, as its inputs."""

import functools
import importlib
import math
import sys

from . import _tensors
from ._dtypes import ROWS
from ._library import Error

_NUMPY = {name: npy for name, _, _, _, npy, _ in ROWS if npy}


def _bytesOfPairs(dtype, shape):
    """4-bit integers are pairs in bytes along the last dimension."""
    if dtype not in ("i4", "u4"):
        return dtype, shape
    return dtype[0] + "8", (*shape[:-1], (shape[-1] + 1) // 2)


def _numpyDtype(module, dtype):
    if dtype in _NUMPY:
        return module.dtype(_NUMPY[dtype])
    try:
        return module.dtype(
            getattr(importlib.import_module("ml_dtypes"), _tensors.TORCH_NAMES[dtype])
        )
    except ImportError:
        raise Error(
            f"an output is of {dtype}, which NumPy has with the package ml_dtypes only; install"
            " that, or pass the output"
        ) from None


def maker(like, dtype, shape):
    """A function that makes arrays of `dtype` and `shape`, uninitialised, of the kind of the array
    `like`.
    """
    dtype, shape = _bytesOfPairs(dtype, shape)
    kind = type(like)
    if _tensors.isTorch(kind):
        torch = sys.modules["torch"]
        strides = [math.prod(shape[i + 1 :]) for i in range(len(shape))]
        # Half the time of torch.empty, which looks at more kinds of arguments.
        return functools.partial(
            torch.empty_strided,
            tuple(shape),
            tuple(strides),
            dtype=getattr(torch, _tensors.TORCH_NAMES[dtype]),
            device=like.device,
        )
    package = kind.__module__.partition(".")[0]
    if package == "cupy":
        module = importlib.import_module("cupy")
        return functools.partial(
            _onDevice, like.device, module.empty, shape, _numpyDtype(module, dtype)
        )
    if hasattr(like, "__array_interface__"):
        module = importlib.import_module("numpy")
        return functools.partial(module.empty, shape, _numpyDtype(module, dtype))
    raise Error(
        f"no output can be made like an array of {kind.__module__}.{kind.__name__}; pass the"
        " outputs, too"
    )


def _onDevice(device, make, shape, dtype):
    with device:
        return make(shape, dtype)
