"""Tensors of other packages, read by their protocols: address, dtype, shape and strides. Nothing is
copied.
"""

import contextlib
import ctypes
import sys

from . import _library
from ._dtypes import ROWS

# Codes of __cuda_array_interface__. NumPy's notation has no bf16 and no f8: V2 and V1 are taken as
# their bits.
_TYPESTR = {npy: name for name, _, _, _, npy, _ in ROWS if npy} | {"V2": "bf16"}
DTYPES = {array: name for name, _, _, _, _, array in ROWS if array}
# Names of PyTorch and of NumPy with ml_dtypes.
TORCH_NAMES = {dtype: name for name, dtype in DTYPES.items()}
FLOATS = tuple(name for name, _, family, _, _, _ in ROWS if family == "Float")
FLOAT8 = tuple(name for name, bits, family, _, _, _ in ROWS if family == "Float" and bits == 8)
# DLPack's type codes and the widths in bits that they take here.
_DLPACK = {(code, bits): name for name, bits, _, code, _, _ in ROWS if code is not None}
_DLPACK_CUDA = {2, 13}  # device memory, managed memory
DLPACK_HOST = {1, 3}  # host memory, pinned for CUDA or not


class Tensor:
    """A tensor on the device, as the runtime wants it. Strides are in elements, None for dense
    row-major.
    """

    __slots__ = ("data", "dtype", "shape", "strides", "torchDevice", "keep", "isReadOnly")

    def __init__(self, data, dtype, shape, strides, torchDevice=None, keep=None, isReadOnly=False):
        self.data, self.dtype, self.torchDevice, self.keep, self.isReadOnly = (
            data,
            dtype,
            torchDevice,
            keep,
            isReadOnly,
        )
        rank = len(shape)
        self.shape = (ctypes.c_int64 * rank)(*shape)
        self.strides = None if strides is None else (ctypes.c_int64 * rank)(*strides)

    def mayBe(self, dtype):
        """Whether the elements are of that dtype; raw bytes are f8 of either kind, bytes are pairs
        of 4-bit integers.
        """
        return (
            self.dtype == dtype
            or (self.dtype == "V1" and dtype in FLOAT8)
            or self._holdsPairsOf(dtype)
        )

    def _holdsPairsOf(self, dtype):
        return dtype in ("i4", "u4") and self.dtype in ("u8", "i8", "V1") and len(self.shape) > 0

    def fill(self, argument, expected):
        """Writes this tensor into a tile_argument; `expected` decides what raw bytes are."""
        argument.kind = _library.TENSOR
        if self._holdsPairsOf(expected):
            self._countPairs()
        dtype = expected if self.mayBe(expected) else self.dtype
        argument.dtype = _library.get().tile_dtype_from_name(dtype.encode())
        argument.data = self.data
        argument.rank = len(self.shape)
        argument.shape = ctypes.cast(self.shape, ctypes.POINTER(ctypes.c_int64))
        if self.strides is not None:
            argument.strides = ctypes.cast(self.strides, ctypes.POINTER(ctypes.c_int64))

    def _countPairs(self):
        """Extents and strides in elements where two of them share a byte: bytes lie along the last
        dimension.
        """
        rank = len(self.shape)
        self.shape = (ctypes.c_int64 * rank)(*self.shape[:-1], 2 * self.shape[-1])
        if self.strides is not None:
            # A last stride other than 1 stays, so that the launcher refuses it.
            self.strides = (ctypes.c_int64 * rank)(
                *(2 * stride for stride in self.strides[:-1]), self.strides[-1]
            )


def isTorch(kind):
    """Whether a type is PyTorch's tensor, or made of it."""
    return any(
        base.__module__.partition(".")[0] == "torch" and base.__name__ == "Tensor"
        for base in kind.__mro__
    )


def isNumpyNumber(value):
    """Whether a value is a scalar of NumPy, which has an array's interface and is a number. Kinds
    of arrays, as `memmap` and `matrix`, are none.
    """
    return type(value).__module__ == "numpy" and isinstance(value, sys.modules["numpy"].generic)


def asTensor(value, what, onHost=False):
    """`value` as a Tensor, or None if it is of no kind of tensor. `what` stands in messages:
    "softmax: 'x'". It must lie on the device, or in host memory where the code is for the CPU.
    """
    kind = type(value)
    if kind is Tensor:
        return value
    if isTorch(kind):
        return _fromTorch(value, what, onHost)
    interface = getattr(value, "__cuda_array_interface__", None)
    if interface is not None:
        if onHost:
            raise _placeError(what, "on the CUDA device", onHost)
        return _fromInterface(interface, value, what)
    isNumber = isNumpyNumber(value)
    if (
        hasattr(value, "__array_interface__")
        and not isNumber
        and (onHost or getattr(value, "shape", ()) != ())
    ):
        if not onHost and not hasattr(value, "__dlpack__"):
            raise _placeError(what, "in host memory", onHost)
        if onHost:
            if kind.__module__.startswith("numpy.ma") and sys.modules["numpy"].ma.is_masked(value):
                raise _library.Error(
                    f"{what} has masked elements, expected elements that lie in memory as they"
                    " are; pass x.filled(...), and the mask, if the kernel wants it, as a bool"
                    " tensor"
                )
            return _fromInterface(value.__array_interface__, value, what)
    if hasattr(value, "__dlpack__") and hasattr(value, "__dlpack_device__") and not isNumber:
        return _fromDlpack(value, what, onHost)
    return None


def _placeError(what, where, onHost):
    return _library.Error(
        f"{what} is {where}, expected "
        + (
            "an array in host memory: this code is for the CPU"
            if onHost
            else "a tensor on the CUDA device"
        ),
        21,
    )


_torchIsKnown = False


def _introduceTorch():
    """Tells the quick path about PyTorch: its tensors' type and dtypes, its current stream and
    device.
    """
    global _torchIsKnown
    _torchIsKnown = True
    torch = sys.modules.get("torch")
    internals = getattr(torch, "_C", None)
    if _library.native is None or not hasattr(internals, "_cuda_getCurrentRawStream"):
        return
    code = _library.get().tile_dtype_from_name
    dtypes = {
        getattr(torch, name): code(dtype.encode())
        for name, dtype in DTYPES.items()
        if hasattr(torch, name)
    }
    _library.native.setTorch(
        torch.Tensor, dtypes, internals._cuda_getCurrentRawStream, internals._cuda_getDevice
    )


def noDtype(what, found):
    """The error of an argument whose elements are nothing that a kernel knows."""
    known = ", ".join(row[0] for row in ROWS)
    return TypeError(
        f"{what} is of {found}, which is no dtype of tile; convert it to what the kernel takes, one"
        f" of {known}"
    )


def _fromTorch(value, what, onHost):
    if not _torchIsKnown:
        _introduceTorch()
    if onHost and str(value.device) != "cpu":
        raise _placeError(what, f"on device '{value.device}'", onHost)
    if not onHost and not value.is_cuda:
        raise _placeError(what, f"in host memory (device '{value.device}')", onHost)
    name = str(value.dtype).partition(".")[2]
    if name not in DTYPES:
        raise noDtype(what, str(value.dtype))
    if value.is_neg():  # what native.c leaves to this path
        raise _library.Error(
            f"{what} is a view that PyTorch negates when it reads it (Tensor.is_neg), expected"
            " elements that lie in memory as they are; pass x.resolve_neg()"
        )
    return Tensor(
        value.data_ptr(),
        DTYPES[name],
        value.shape,
        value.stride(),
        None if onHost else value.device,
        value,
    )


def _fromInterface(interface, value, what):
    typestr = interface["typestr"]
    code = typestr[1:]
    if typestr[0] == ">" and code[1:] != "1":
        raise TypeError(
            f"{what} is big-endian (type '{typestr}'), expected elements in little-endian order;"
            " convert it, with NumPy by x.astype(x.dtype.newbyteorder('<'))"
        )
    if code not in _TYPESTR and code != "V1":
        raise noDtype(what, f"type '{typestr}'")
    size = int(code[1:])
    strides = interface.get("strides")
    if strides is not None:
        if any(stride % size for stride in strides):
            raise TypeError(
                f"{what} has strides {strides} that are no multiples of its elements of {size}"
                " bytes"
            )
        strides = [stride // size for stride in strides]
    address, isReadOnly = interface["data"]
    return Tensor(
        address,
        _TYPESTR.get(code, code),
        interface["shape"],
        strides,
        keep=value,
        isReadOnly=bool(isReadOnly),
    )


class _DlTensor(ctypes.Structure):
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


class _DlVersioned(ctypes.Structure):
    """DLManagedTensorVersioned: the major version tells the layout, bit 0 of the flags that nobody
    may write.
    """

    _fields_ = [
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("context", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("tensor", _DlTensor),
    ]


def _exportDlpack(value, what):
    """The capsule of a tensor: of DLPack 1 where its package knows that, which tells whether the
    tensor is read-only.
    """
    try:
        try:
            return value.__dlpack__(max_version=(1, 0))
        except TypeError:  # of a package from before DLPack 1
            return value.__dlpack__()
    except BufferError as error:
        raise _library.Error(f"{what} cannot be read by DLPack: {error}", 21) from None


def _fromDlpack(value, what, onHost):
    device, _ = value.__dlpack_device__()
    if int(device) not in (DLPACK_HOST if onHost else _DLPACK_CUDA):
        raise _placeError(
            what,
            (
                f"on DLPack device {int(device)}"
                if onHost
                else f"in host memory (DLPack device {int(device)})"
            ),
            onHost,
        )
    capsule = _exportDlpack(value, what)
    isNamed, pointer = ctypes.pythonapi.PyCapsule_IsValid, ctypes.pythonapi.PyCapsule_GetPointer
    isNamed.argtypes = [ctypes.py_object, ctypes.c_char_p]
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    # Read, not consumed: the capsule stays ours, and frees the export when it goes.
    isReadOnly = False
    if isNamed(capsule, b"dltensor_versioned"):
        versioned = _DlVersioned.from_address(pointer(capsule, b"dltensor_versioned"))
        if versioned.major > 1:
            raise TypeError(
                f"{what} comes by DLPack {versioned.major}, which this version of tile does not"
                " know"
            )
        tensor, isReadOnly = versioned.tensor, bool(versioned.flags & 1)
    else:
        tensor = _DlTensor.from_address(pointer(capsule, b"dltensor"))
    dtype = _DLPACK.get((tensor.code, tensor.bits))
    if dtype is None or tensor.lanes != 1:
        raise TypeError(
            f"{what} is of DLPack type ({tensor.code}, {tensor.bits}, {tensor.lanes}), which is no"
            " dtype of tile"
        )
    strides = tensor.strides[: tensor.rank] if tensor.strides else None
    return Tensor(
        (tensor.data or 0) + tensor.offset,
        dtype,
        tensor.shape[: tensor.rank],
        strides,
        keep=(value, capsule),
        isReadOnly=isReadOnly,
    )


def asStream(stream, torchDevice):
    """A stream as its handle: a number, an object of PyTorch (`cuda_stream`), CuPy (`ptr`) or the
    `__cuda_stream__` protocol; for None PyTorch's current stream if a tensor is PyTorch's, else the
    default stream.
    """
    if stream is None:
        return (
            sys.modules["torch"].cuda.current_stream(torchDevice).cuda_stream
            if torchDevice is not None
            else None
        )
    if isinstance(stream, int):
        return stream
    protocol = getattr(stream, "__cuda_stream__", None)
    if protocol is not None:
        return (protocol() if callable(protocol) else protocol)[1]
    for attribute in ("cuda_stream", "ptr"):
        if hasattr(stream, attribute):
            return int(getattr(stream, attribute))
    raise TypeError(
        f"stream is of type {type(stream).__name__}, expected a number or a CUDA stream"
    )


def torchScope(torchDevice):
    """Makes the device of PyTorch's tensors current while a launch is made."""
    if torchDevice is None:
        return contextlib.nullcontext()
    return sys.modules["torch"].cuda.device(torchDevice)
