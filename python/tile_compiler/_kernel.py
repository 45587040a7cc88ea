"""Kernels of a loaded binary and calls of them: `Kernel`, `Prepared`."""

import ctypes
import sys

from . import _library
from ._arguments import convert, flatten, layoutOf, nameAt, scalarBits
from ._library import Error
from ._signature import signatureOf
from ._tensors import asStream, asTensor, torchScope


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
        arguments, torchDevice, keep = convert(self, *flatten(values, named))
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
        arguments, _, keep = convert(self, *flatten(values, named))
        handle = ctypes.c_void_p()
        error = _library.get().tile_kernel_prepare(
            self._handle, arguments, len(arguments), ctypes.byref(handle)
        )
        del keep
        _library.check(error)
        return Prepared(self, handle, [layoutOf(argument) for argument in arguments])

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
        arguments, _, keep = convert(self, *flatten(values, named))
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
                arguments[i].bits = scalarBits(given[name], dtype, whats[i])
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

    def __repr__(self):
        return "<tile.Kernel " + "; ".join(self.signatures) + ">"


def _kernelOf(module, name):
    return module[name]


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
        arguments, torchDevice, keep = convert(self._kernel, *flatten(values, named))
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
            given = layoutOf(argument)
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
                        f"{self._kernel.name}: '{nameAt(self._kernel, i)}' has {what}"
                        f" {show(found)}, but was prepared with {show(expected)}; prepare another"
                        " call, or call the kernel itself",
                        code,
                    )

    def __repr__(self):
        return f"<tile.Prepared {self._kernel.name}" + (
            f", variant {self.variant}>" if self.variant else ">"
        )
