"""Arguments of a call as the runtime takes them, `tile_argument`: tensors as they lie in memory,
numbers as bits of a dtype, lists element by element.
"""

import ctypes
import math

from . import _library
from ._library import Error
from ._tensors import asTensor

_SIGNED = {"i8": 8, "i16": 16, "i32": 32, "i64": 64}
_UNSIGNED = {"bool": 1, "u8": 8, "u16": 16, "u32": 32, "u64": 64}
_READ_ONLY = 21  # TILE_ERROR_NULL: no memory that the kernel could write


def convert(kernel, values, named):
    """(array of tile_argument, PyTorch's device or None, objects that must live until the launch
    has been made).
    """
    tensors = {}
    torchDevice = None
    places = [(i, nameAt(kernel, i), value) for i, value in enumerate(values)]
    places += [(name, name, value) for name, value in named.items()]
    for place, name, value in places:
        if isinstance(value, (bool, int, float)) or value is None:
            continue
        tensor = asTensor(value, f"{kernel.name}: '{name}'", kernel._onHost)
        if tensor is None:
            continue
        tensors[place] = tensor
        torchDevice = tensor.torchDevice if torchDevice is None else torchDevice
    instance, ordered = _choose(kernel, values, named, tensors)
    arguments = (_library.Argument * len(ordered))()
    for i, (place, value) in enumerate(ordered):
        name, isScalar, dtype, _ = (
            instance.params[i] if i < len(instance.params) else (str(i), True, "f32", False)
        )
        argument = arguments[i]
        if place is None:
            argument.kind = _library.DEFAULT
        elif place in tensors:
            if tensors[place].isReadOnly and i < len(instance.params) and instance.isWritten[i]:
                raise Error(
                    f"{kernel.name}: '{name}' is written by the kernel, but the array given is"
                    " read-only; give a writable one, or a copy",
                    _READ_ONLY,
                )
            tensors[place].fill(argument, dtype)
        else:
            if not isScalar and not isinstance(value, (bool, int, float)):
                _refuseTensor(kernel, i, name, value)
            argument.kind = _library.SCALAR
            argument.dtype = _library.get().tile_dtype_from_name(dtype.encode())
            argument.bits = scalarBits(value, dtype, f"{kernel.name}: '{name}'")
    return arguments, torchDevice, (tensors, values, named)


def _refuseTensor(kernel, index, name, value):
    """Raises for what was given for a tensor and is neither a tensor nor a number."""
    dtypes = dict.fromkeys(
        one.params[index][2] for one in kernel._instances if index < len(one.params)
    )
    found = "None" if value is None else f"of type {type(value).__name__}"
    raise TypeError(
        f"{kernel.name}: '{name}' is {found}, expected a tensor of {' or '.join(dtypes)}:"
        " anything with "
        + ("__array_interface__" if kernel._onHost else "__cuda_array_interface__")
        + " or __dlpack__"
    )


def nameAt(kernel, index):
    params = kernel._instances[0].params
    return params[index][0] if index < len(params) else f"argument {index}"


def _choose(kernel, values, named, tensors):
    """The instance whose tensors have the dtypes given, else the first, and the arguments in
    its order as (place, value), place None for a default. The runtime makes the real choice;
    here only numbers need a dtype.
    """
    first = None
    for instance in kernel._instances:
        ordered = list(enumerate(values))
        names = [param[0] for param in instance.params]
        rest = dict(named)
        for name, _, _, _ in instance.params[len(values) :]:
            ordered.append((name, rest.pop(name)) if name in rest else (None, None))
        while ordered and ordered[-1][0] is None:
            ordered.pop()
        if rest:
            name = next(iter(rest))
            first = first or (
                None,
                f"{kernel.name}: '{name}' is "
                + (
                    "given twice"
                    if name in names
                    else "no parameter; there are " + ", ".join(names)
                ),
            )
            continue
        missing = [
            names[i]
            for i, (place, _) in enumerate(ordered)
            if place is None and not instance.params[i][3]
        ]
        if missing:
            first = first or (None, f"{kernel.name}: '{missing[0]}' is missing")
            continue
        if all(
            place not in tensors
            or i >= len(instance.params)
            or tensors[place].mayBe(instance.params[i][2])
            for i, (place, _) in enumerate(ordered)
        ):
            return instance, ordered
        if first is None or first[0] is None:
            first = (instance, ordered)
    if first[0] is None:
        raise TypeError(first[1])
    return first


def layoutOf(argument):
    """(dtype, extents, strides in elements) of a tensor's tile_argument, None of another. Strides
    that no element is behind count as 0, so that equal layouts compare equal.
    """
    if argument.kind != _library.TENSOR:
        return None
    shape = tuple(argument.shape[: argument.rank])
    dense = [math.prod(shape[i + 1 :]) for i in range(len(shape))]
    strides = argument.strides[: argument.rank] if argument.strides else dense
    return (
        argument.dtype,
        shape,
        tuple(0 if extent <= 1 else stride for extent, stride in zip(shape, strides)),
    )


def flatten(values, named):
    """Arguments with the elements of lists and tuples in their place: `xs=[a, b]` becomes xs[0] and
    xs[1].
    """
    flat, flatNamed = [], {}
    for value in values:
        flat.extend(value) if isinstance(value, (list, tuple)) else flat.append(value)
    for name, value in named.items():
        if isinstance(value, (list, tuple)):
            flatNamed.update((f"{name}[{i}]", element) for i, element in enumerate(value))
        else:
            flatNamed[name] = value
    return flat, flatNamed


def scalarBits(value, dtype, what):
    """Bits of a Python or NumPy number in `dtype`."""
    if value is None:
        raise TypeError(f"{what} is None, expected a number of {dtype}")
    # float() would take the text of a number, and an array is one where it has one element.
    if isinstance(value, (str, bytes, bytearray)):
        raise TypeError(f"{what} is of type {type(value).__name__}, expected a number of {dtype}")
    if getattr(value, "ndim", 0):
        shape = ", ".join(map(str, value.shape))
        raise TypeError(f"{what} is an array of shape [{shape}], expected a number of {dtype}")
    width = _SIGNED.get(dtype) or _UNSIGNED.get(dtype)
    if width:
        try:
            number = int(bool(value)) if dtype == "bool" else value.__index__()
        except AttributeError:
            raise TypeError(f"{what} is {value!r}, expected an integer of {dtype}") from None
        low = -(1 << (width - 1)) if dtype in _SIGNED else 0
        if not low <= number < low + (1 << width):
            raise OverflowError(f"{what} is {number}, which is no value of {dtype}")
        return number & ((1 << width) - 1)
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise TypeError(
            f"{what} is of type {type(value).__name__}, expected a number of {dtype}, or a tensor"
            " with __cuda_array_interface__ or __dlpack__"
        ) from None
    except OverflowError:
        number = math.inf if value > 0 else -math.inf
    bits = ctypes.c_uint64()
    _library.check(
        _library.get().tile_scalar_bits(
            _library.get().tile_dtype_from_name(dtype.encode()), number, ctypes.byref(bits)
        )
    )
    return bits.value
