"""Binaries that tilec compiled, their kernels, and calls of them: `load`, `Module`, `Kernel`,
`Prepared`.
"""

import ctypes
import math
import os
import sys
import warnings

from . import _library
from ._library import Error
from ._tensors import asStream, asTensor, torchScope


class PerformanceWarning(UserWarning):
    """What makes a module slower than it could be, for instance that the driver compiles its
    PTX.
    """


_SIGNED = {"i8": 8, "i16": 16, "i32": 32, "i64": 64}
_UNSIGNED = {"bool": 1, "u8": 8, "u16": 16, "u32": 32, "u64": 64}


def version():
    """Version of the runtime library."""
    return _library.get().tile_runtime_version().decode()


_READ_ONLY = 21  # TILE_ERROR_NULL: no memory that the kernel could write
_DEVICES = {None: 0, "cuda": 1, "cpu": 2}


def load(path, device=None, key=None):
    """Loads a package, or a cubin or PTX file with the manifest that tilec wrote beside it; `bytes`
    and other buffers are a package's content. `device` is "cuda" or "cpu"; None takes CUDA where
    there is a driver with a device, else a package's code for the CPU. `key`, a public key of
    minisign ("RW...", or the text of its file), asks for a package that is signed with its
    counterpart: PATH.minisig must be the signature of PATH.
    """
    if device not in _DEVICES:
        raise ValueError(f"device is {device!r}, expected 'cuda', 'cpu' or None")
    handle, library = ctypes.c_void_p(), _library.get()
    if key is not None:
        if isinstance(path, (bytes, bytearray, memoryview)):
            raise TypeError("with key, path is the name of a package: its signature lies beside it")
        error = library.tile_module_load_signed(
            _library.encodePath(path), key.encode(), _DEVICES[device], ctypes.byref(handle)
        )
    elif isinstance(path, (bytes, bytearray, memoryview)):
        content = bytes(path)
        error = library.tile_module_load_package(
            content, len(content), _DEVICES[device], ctypes.byref(handle)
        )
    else:
        error = library.tile_module_load_device(
            _library.encodePath(path), _DEVICES[device], ctypes.byref(handle)
        )
    _library.check(error)
    return Module(handle, path, key)


class Module:
    """The kernels of one binary, by name: `module["softmax"]`."""

    def __init__(self, handle, content=None, key=None):
        self._handle = handle
        self._content, self._key = (
            content,
            key,
        )  # the path, or the package itself, and who must have signed it
        self._kernels = {}
        self._warned = 0

    def __del__(self):
        # At the interpreter's end the library may be gone before its modules.
        if getattr(self, "_handle", None) and _library is not None and not sys.is_finalizing():
            _library.get().tile_module_free(self._handle)

    @property
    def target(self):
        """What the binary is compiled for, "sm_90a"."""
        return _library.get().tile_module_target(self._handle).decode()

    @property
    def device(self):
        """ "cuda", or "cpu": tensors then lie in host memory, and a call returns when the kernel
        has ended.
        """
        return "cpu" if _library.get().tile_module_device(self._handle) == 2 else "cuda"

    def keys(self):
        """Names of the kernels, in the order of the source."""
        library = _library.get()
        count = library.tile_module_kernel_count(self._handle)
        return [
            library.tile_kernel_name(library.tile_module_kernel_at(self._handle, i)).decode()
            for i in range(count)
        ]

    def __iter__(self):
        return iter(self.keys())

    def __getitem__(self, name):
        if name not in self._kernels:
            handle = ctypes.c_void_p()
            _library.check(
                _library.get().tile_module_kernel(self._handle, name.encode(), ctypes.byref(handle))
            )
            self._kernels[name] = Kernel(self, handle)
        return self._kernels[name]

    def __len__(self):
        return len(self.keys())

    def __reduce__(self):
        """For pickle: the path, absolute, or the package itself; it is loaded again where it is
        unpickled.
        """
        if self._content is None:
            raise TypeError("a module that was not loaded by tile.load cannot be pickled")
        content = (
            os.path.abspath(os.fspath(self._content))
            if isinstance(self._content, (str, os.PathLike))
            else bytes(self._content)
        )
        return load, (content, self.device, self._key)

    def __getattr__(self, name):
        if name.startswith("_") or name not in self.keys():
            raise AttributeError(
                f"the module has no kernel '{name}'; there are " + ", ".join(self.keys())
                if name[:1] != "_"
                else name
            )
        return self[name]

    def __dir__(self):
        return [*super().__dir__(), *self.keys()]

    def prepare(self):
        """Loads the binary into the current context now, for instance before a graph is
        captured.
        """
        _library.check(_library.get().tile_module_prepare(self._handle))
        self._warn(3)

    def _warn(self, level):
        """Passes on what the runtime has to say; `level` tells whose call it is about."""
        while (text := _library.get().tile_module_warning(self._handle, self._warned)) is not None:
            self._warned += 1
            warnings.warn(text.decode(errors="replace"), PerformanceWarning, stacklevel=level)

    def __repr__(self):
        return f"<tile.Module for {self.target}: {', '.join(self.keys())}>"


class _Instance:
    """What a call needs to know about one instance: its parameters' names, kinds and dtypes, and
    which are written.
    """

    def __init__(self, handle):
        library = _library.get()
        self.signature = library.tile_instance_signature(handle).decode()
        self.params = []
        self.isOut, self.isWritten = [], []
        info = _library.ParamInfo()
        for i in range(library.tile_instance_param_count(handle)):
            library.tile_instance_param(handle, i, ctypes.byref(info))
            dtype = library.tile_dtype_name(info.dtype).decode()
            self.params.append(
                (info.name.decode(), info.kind == _library.SCALAR, dtype, bool(info.has_default))
            )
            self.isOut.append(info.access == 1)
            self.isWritten.append(info.kind == _library.TENSOR and info.access != 0)


class Kernel(_library.Launcher):
    """All instances of one kernel. Call it with tensors and numbers in the source's order, or by
    name:

    kernel(x, y, stream=None, check=True) launches on `stream` (a number, or PyTorch's or CuPy's
    stream; PyTorch's current one for PyTorch's tensors, else the default stream) and does not wait.
    With `check=False` the caller vouches for the arguments; with `check="memory"` the driver is
    asked, too, whether each tensor lies where the kernel reaches it. A list or tuple of tensors
    stands for an array parameter `xs: in T[M] * n`.
    """

    def __init__(self, module, handle):
        library = _library.get()
        self._module = module  # keeps the binary loaded
        self._onHost = module.device == "cpu"
        self._handle = handle
        self.name = self.__name__ = library.tile_kernel_name(handle).decode()
        self.__doc__ = library.tile_kernel_doc(handle).decode() or None
        self._instances = [
            _Instance(library.tile_kernel_instance(handle, i))
            for i in range(library.tile_kernel_instance_count(handle))
        ]
        self.bind(_library.launchAddress(), handle.value, self._onHost, self._quickParams(), None)

    def _quickParams(self):
        """What the quick path must know of the parameters: (name, is scalar, dtype, has default, is
        written) of each, the dtype of a tensor only where two elements share a byte. -1 for the
        dtype of a scalar leaves it to the slow path; None leaves all.
        """
        code = _library.get().tile_dtype_from_name
        merged = None
        for instance in self._instances:
            params = [
                [
                    name,
                    int(scalar),
                    code(dtype.encode()) if scalar or dtype in ("i4", "u4") else -1,
                    int(default),
                    int(isWritten),
                ]
                for (name, scalar, dtype, default), isWritten in zip(
                    instance.params, instance.isWritten
                )
            ]
            if merged is None:
                merged = params
            if [p[:2] + p[3:] for p in params] != [p[:2] + p[3:] for p in merged]:
                return None
            for ours, theirs in zip(merged, params):
                if ours[2] != theirs[2] and not ours[1]:
                    return None
                ours[2] = ours[2] if ours[2] == theirs[2] else -1
        return tuple(map(tuple, merged))

    def __reduce__(self):
        return _kernelOf, (self._module, self.name)

    @property
    def __signature__(self):
        return signatureOf(
            [
                (
                    name,
                    hasDefault,
                    " or ".join(
                        dict.fromkeys(
                            f"{one.params[i][2]}" for one in self._instances if i < len(one.params)
                        )
                    ),
                    None,
                )
                for i, (name, _, _, hasDefault) in enumerate(self._instances[0].params)
            ]
        )

    def _fail(self, error):
        """Raises an error that the quick path got."""
        _library.check(error)

    @property
    def signatures(self):
        """One line for each instance, as in the source."""
        return [instance.signature for instance in self._instances]

    def _slowCall(self, *values, stream=None, check=True, **named):
        """A call that the quick path does not know: of any kind of array and number, or a wrong
        one.
        """
        arguments, torchDevice, keep = self._convert(*_flatten(values, named))
        flags = _library.launchFlags(check)
        with torchScope(torchDevice):
            error = _library.get().tile_kernel_launch(
                self._handle, arguments, len(arguments), asStream(stream, torchDevice), flags
            )
        del keep
        _library.check(error)
        self._module._warn(3 if _library.native else 4)

    def _afterFirst(self):
        """After the first call by the quick path: it has found the device, and with it what there
        is to warn of.
        """
        self._module._warn(3)

    def prepare(self, *values, **named):
        """Chooses the variant and checks the arguments once, and launches nothing: a `Prepared`
        call for other tensors of the same shapes and strides.
        """
        arguments, _, keep = self._convert(*_flatten(values, named))
        handle = ctypes.c_void_p()
        error = _library.get().tile_kernel_prepare(
            self._handle, arguments, len(arguments), ctypes.byref(handle)
        )
        del keep
        _library.check(error)
        return Prepared(self, handle, [_layout(argument) for argument in arguments])

    def function(self):
        """This kernel as what `tile.compile` gives: it makes outputs that are not given, and is
        called inside of jax.jit.
        """
        from . import _package

        if self._module._content is None:
            raise Error(f"{self.name}: its module was not loaded from a package")
        return _package.function(self.name, self._module)

    def torch_op(self, name, backward=None, batch=None, autocast=None):
        """Registers this kernel as an operator of PyTorch, in a process without the compiler; see
        `Function.torch_op`.
        """
        if callable(getattr(backward, "function", None)):
            backward = backward.function()
        return self.function().torch_op(name, backward, batch, autocast)

    def plan(self, *values, **named):
        """What a call would do, without touching the device: {"programs": 128, "grid": [128]}."""
        arguments, _, keep = self._convert(*_flatten(values, named))
        plan = _library.LaunchPlan()
        error = _library.get().tile_kernel_plan(
            self._handle, arguments, len(arguments), ctypes.byref(plan), None, 0
        )
        del keep
        _library.check(error)
        return {"programs": plan.programs, "grid": list(plan.extents[: plan.axes])}

    def outputs(self, *values, **named):
        """Dtype and shape of every `out` parameter that is not given, as they follow from the
        others, so that a caller can make them: {"y": ("f16", (128, 512))}. Does not touch the
        device.
        """
        library = _library.get()
        names = [param[0] for param in self._instances[0].params]
        given = {**{names[i]: value for i, value in enumerate(values) if i < len(names)}, **named}
        strange = next((name for name in given if name not in names), None)
        if strange is not None:
            raise TypeError(
                f"{self.name}: '{strange}' is no parameter; there are " + ", ".join(names)
            )
        whats = [f"{self.name}: '{name}'" for name in names]
        tensors = {
            i: asTensor(given[name], whats[i], self._onHost)
            for i, name in enumerate(names)
            if given.get(name) is not None and not self._instances[0].params[i][1]
        }
        # Numbers have the dtype that they have in the instance which takes the tensors.
        instance = next(
            (
                one
                for one in self._instances
                if all(
                    tensor is None or tensor.mayBe(one.params[i][2])
                    for i, tensor in tensors.items()
                )
            ),
            self._instances[0],
        )
        arguments = (_library.Argument * len(names))()
        for i, (name, _, dtype, _) in enumerate(instance.params):
            arguments[i].kind = _library.DEFAULT
            if tensors.get(i) is not None:
                tensors[i].fill(arguments[i], dtype)
            elif given.get(name) is not None:
                arguments[i].kind = _library.SCALAR
                arguments[i].dtype = library.tile_dtype_from_name(dtype.encode())
                arguments[i].bits = _scalarBits(given[name], dtype, whats[i])
        found = {}
        shape = _library.Shape()
        for i, (name, isScalar, _, _) in enumerate(instance.params):
            if (
                not isScalar
                and arguments[i].kind == _library.DEFAULT
                and self._instances[0].isOut[i]
            ):
                _library.check(
                    library.tile_kernel_shape(
                        self._handle, arguments, len(arguments), i, ctypes.byref(shape)
                    )
                )
                found[name] = (
                    library.tile_dtype_name(shape.dtype).decode(),
                    tuple(shape.extents[: shape.rank]),
                )
        return found

    def _convert(self, values, named):
        """(array of tile_argument, PyTorch's device or None, objects that must live until the
        launch has been made).
        """
        tensors = {}
        torchDevice = None
        places = [(i, self._nameAt(i), value) for i, value in enumerate(values)]
        places += [(name, name, value) for name, value in named.items()]
        for place, name, value in places:
            if isinstance(value, (bool, int, float)) or value is None:
                continue
            tensor = asTensor(value, f"{self.name}: '{name}'", self._onHost)
            if tensor is None:
                continue
            tensors[place] = tensor
            torchDevice = tensor.torchDevice if torchDevice is None else torchDevice
        instance, ordered = self._choose(values, named, tensors)
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
                        f"{self.name}: '{name}' is written by the kernel, but the array given is"
                        " read-only; give a writable one, or a copy",
                        _READ_ONLY,
                    )
                tensors[place].fill(argument, dtype)
            else:
                if not isScalar and not isinstance(value, (bool, int, float)):
                    self._refuseTensor(i, name, value)
                argument.kind = _library.SCALAR
                argument.dtype = _library.get().tile_dtype_from_name(dtype.encode())
                argument.bits = _scalarBits(value, dtype, f"{self.name}: '{name}'")
        return arguments, torchDevice, (tensors, values, named)

    def _refuseTensor(self, index, name, value):
        """Raises for what was given for a tensor and is neither a tensor nor a number."""
        dtypes = dict.fromkeys(
            one.params[index][2] for one in self._instances if index < len(one.params)
        )
        found = "None" if value is None else f"of type {type(value).__name__}"
        raise TypeError(
            f"{self.name}: '{name}' is {found}, expected a tensor of {' or '.join(dtypes)}:"
            " anything with "
            + ("__array_interface__" if self._onHost else "__cuda_array_interface__")
            + " or __dlpack__"
        )

    def _nameAt(self, index):
        params = self._instances[0].params
        return params[index][0] if index < len(params) else f"argument {index}"

    def _choose(self, values, named, tensors):
        """The instance whose tensors have the dtypes given, else the first, and the arguments in
        its order as (place, value), place None for a default. The runtime makes the real choice;
        here only numbers need a dtype.
        """
        first = None
        for instance in self._instances:
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
                    f"{self.name}: '{name}' is "
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
                first = first or (None, f"{self.name}: '{missing[0]}' is missing")
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

    def __repr__(self):
        return "<tile.Kernel " + "; ".join(self.signatures) + ">"


def _kernelOf(module, name):
    return module[name]


def signatureOf(params):
    """What `inspect.signature` gives, of (name, has a default, annotation, the default) for each
    parameter.
    """
    import inspect  # here, as it takes longer to import than all of this package

    kinds, found = inspect.Parameter, []
    for name, hasDefault, annotation, default in params:
        kind = kinds.POSITIONAL_OR_KEYWORD
        isBehind = any(one.default is not kinds.empty for one in found)
        if found and (found[-1].kind is kinds.KEYWORD_ONLY or (isBehind and not hasDefault)):
            kind = (
                kinds.KEYWORD_ONLY
            )  # Python has no parameter without a default behind one that has
        found.append(
            kinds(
                name.replace("[", "_").replace("]", ""),
                kind,
                default=default if hasDefault else kinds.empty,
                annotation=annotation,
            )
        )
    return inspect.Signature(found)


class Prepared(_library.Launcher):
    """A call that has been checked: `prepared = kernel.prepare(x, y)`, then `prepared(x2, y2)` with
    tensors of the same dtypes, shapes and strides; others are refused. Contracts are not looked at
    again; addresses are (`check=False` leaves all of that out). Arguments and streams are given as
    to the kernel.
    """

    def __init__(self, kernel, handle, layouts):
        self._kernel = kernel  # keeps the binary loaded
        self._handle = handle
        self._layouts = layouts
        self.bind(
            _library.launchAddress(isPrepared=True),
            handle.value,
            kernel._onHost,
            kernel._quickParams(),
            tuple(layouts),
        )

    def __del__(self):
        if getattr(self, "_handle", None) and _library is not None and not sys.is_finalizing():
            _library.get().tile_prepared_free(self._handle)

    @property
    def variant(self):
        """Name of the variant that runs, "" for the generic one."""
        library = _library.get()
        return library.tile_instance_variant(library.tile_prepared_instance(self._handle)).decode()

    def pin(self, variant):
        """Puts another variant in its place, "" for the generic one, if the shapes suit it."""
        _library.check(_library.get().tile_prepared_pin(self._handle, variant.encode()))

    def _fail(self, error):
        _library.check(error)

    def _afterFirst(self):
        self._kernel._module._warn(3)

    def _slowCall(self, *values, stream=None, check=True, **named):
        arguments, torchDevice, keep = self._kernel._convert(*_flatten(values, named))
        flags = _library.launchFlags(check)
        if check:
            self._compare(arguments)
        bits = (ctypes.c_uint64 * max(len(arguments), 1))(
            *((a.data or 0) if a.kind == _library.TENSOR else a.bits for a in arguments)
        )
        with torchScope(torchDevice):
            error = _library.get().tile_prepared_launch(
                self._handle, bits, len(arguments), asStream(stream, torchDevice), flags
            )
        del keep
        _library.check(error)
        self._kernel._module._warn(3 if _library.native else 4)

    def _compare(self, arguments):
        """Raises where a tensor is of another dtype, shape or strides than the one prepared."""
        for i, (argument, prepared) in enumerate(zip(arguments, self._layouts)):
            given = _layout(argument)
            for what, code, found, expected in zip(
                ("dtype", "shape", "strides"), (22, 24, 26), given or (), prepared or ()
            ):
                if found != expected:
                    show = (
                        (lambda dtype: _library.get().tile_dtype_name(dtype).decode())
                        if what == "dtype"
                        else list
                    )
                    raise Error(
                        f"{self._kernel.name}: '{self._kernel._nameAt(i)}' has {what}"
                        f" {show(found)}, but was prepared with {show(expected)}; prepare another"
                        " call, or call the kernel itself",
                        code,
                    )

    def __repr__(self):
        return f"<tile.Prepared {self._kernel.name}" + (
            f", variant {self.variant}>" if self.variant else ">"
        )


def _layout(argument):
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


def _flatten(values, named):
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


def _scalarBits(value, dtype, what):
    """Bits of a Python or NumPy number in `dtype`."""
    if value is None:
        raise TypeError(f"{what} is None, expected a number of {dtype}")
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
