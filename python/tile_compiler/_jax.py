"""Kernels inside of functions that JAX compiles, by its foreign function interface."""

import ctypes
import importlib

from . import _library, _outputs, _tensors
from ._arguments import scalarBits
from ._library import Error

_NAME = "tile_launch"
_PLATFORMS = {"cpu": "cpu", "gpu": "CUDA", "cuda": "CUDA"}
_registered = set()
# address: kernel. A compiled function of JAX calls the kernel by its address for as long as JAX
# keeps the function.
_held = {}


def _register(jax, platform):
    if platform in _registered:
        return
    address = ctypes.cast(_library.get().tile_xla_launch, ctypes.c_void_p).value
    ffi = getattr(jax, "ffi", None)
    if ffi is None or not hasattr(ffi, "register_ffi_target"):
        raise Error(f"a call from JAX needs JAX 0.5 or newer, found {jax.__version__}")
    new = ctypes.pythonapi.PyCapsule_New
    new.restype, new.argtypes = (
        ctypes.py_object,
        [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p],
    )
    ffi.register_ffi_target(_NAME, new(address, None, None), platform=platform)
    _registered.add(platform)


def isTraced(value):
    """Whether an array stands for values that are not there yet: inside of jax.jit and the like."""
    return hasattr(value, "aval") and type(value).__name__.endswith("Tracer")


def call(function, places):
    """The outputs of a call with JAX's arrays, which may be traced. `places` are values by the
    parameters' numbers.
    """
    jax = importlib.import_module("jax")
    numpy = importlib.import_module("numpy")
    platform = jax.default_backend()
    if platform not in _PLATFORMS:
        raise Error(
            f"{function.name}: JAX runs on '{platform}', and kernels on CPUs and NVIDIA's GPUs"
            " alone"
        )
    _register(jax, _PLATFORMS[platform])
    for i, value in places.items():
        if not function._isTensor[i] and isTraced(value):
            raise TypeError(
                f"{function.name}: '{function._names[i]}' is a number that JAX traces; make it"
                " static, as by jax.jit(..., static_argnums=...), or a tensor of the kernel"
            )
    # Of a traced array there is nothing but dtype and shape, and no more is needed.
    standing = {
        i: (
            _standIn(value, f"{function.name}: '{function._names[i]}'")
            if function._isTensor[i]
            else value
        )
        for i, value in places.items()
    }
    with function._lock:
        kernel = function._compile(standing, ("cpu", None) if platform == "cpu" else ("cuda", 0))
    missing = [i for i, isOut in enumerate(function._isOut) if isOut]
    shapes = (
        kernel.outputs(**{function._names[i]: value for i, value in standing.items()})
        if missing
        else {}
    )
    _held[kernel._handle.value] = kernel
    params, operands, results, aliases = [], [], [], {}
    for i, isOut in enumerate(function._isOut):
        name, _, dtype, _ = kernel._instances[0].params[i]
        what = f"{function.name}: '{name}'"
        if i in places and isOut:
            raise TypeError(f"{what} is an output, which JAX makes: leave it out")
        if isOut:
            params += [1, len(results), 0]
            results.append(_resultOf(jax, *shapes[name]))
        elif not function._isTensor[i]:
            if i not in places:
                params += [3, 0, 0]
                continue
            bits = scalarBits(places[i], dtype, what)
            params += [
                2,
                bits - (1 << 64) if bits >> 63 else bits,
                _library.get().tile_dtype_from_name(dtype.encode()),
            ]
        elif function._params[i].get("access") == "inout":
            aliases[len(operands)] = len(results)
            params += [1, len(results), 0]
            results.append(jax.ShapeDtypeStruct(places[i].shape, places[i].dtype))
            operands.append(places[i])
        else:
            params += [0, len(operands), 0]
            operands.append(places[i])
    launch = jax.ffi.ffi_call(
        _NAME, results, input_output_aliases=aliases, vmap_method="sequential"
    )
    found = launch(
        *operands, kernel=numpy.int64(kernel._handle.value), params=numpy.array(params, numpy.int64)
    )
    return found[0] if len(found) == 1 else tuple(found)


def _standIn(value, what):
    if not hasattr(value, "dtype") or not hasattr(value, "shape"):
        raise TypeError(f"{what} is of type {type(value).__name__}, expected an array")
    if value.dtype.name not in _tensors.DTYPES:
        raise _tensors.noDtype(what, str(value.dtype))
    return _tensors.Tensor(0, _tensors.DTYPES[value.dtype.name], tuple(value.shape), None)


def _resultOf(jax, dtype, shape):
    dtype, shape = _outputs._bytesOfPairs(dtype, shape)
    return jax.ShapeDtypeStruct(tuple(shape), jax.numpy.dtype(_tensors.TORCH_NAMES[dtype]))
