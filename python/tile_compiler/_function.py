"""Kernels that are compiled when they are called: `compile`, `Function`, `Program`."""

import json
import os
import sys
import threading
import weakref

from . import _cache, _compiler, _device, _library, _outputs
from . import _dtypes
from ._arguments import flatten
from ._launch import load
from ._library import Error
from ._signature import advise, describeParam, fits, signatureOf
from ._source import Source, spell
from ._tensors import asTensor

_SHAPES = (None, "opt", "class", "exact")
_BITS = {name: bits for name, bits, *_ in _dtypes.ROWS}
_NUMBERS = frozenset((int, float, bool))
# Of native.c: what a call depends on as bytes, in a quarter of the time of attributes.
_keyOf = getattr(_library.native, "keyOf", lambda values, flags: None)
_BY_SHAPE, _BY_VALUE, _BY_ROWS = 1, 2, 4
_numpyArray = None  # NumPy's type of arrays, once there is one


def compile(source, *, kernel=None, include=(), config=None, shapes=None, constants=None, **named):
    """Kernels of a file `NAME.tile`, or of a source text: a `Function` where there is one kernel,
    or `kernel` names one; else a `Program` of all of them. Keywords bind compile-time parameters
    and attributes, as in `BLOCK=1024, warps=8`; `constants` does the same for names that are taken.
    `include` lists folders to search for imports, `config` is a file that `tilec tune` or
    `Function.tune` wrote. `shapes` names the extents that code for a GPU is compiled for: "opt"
    those that the source declares, once; "class" those of each call, rounded to powers of two;
    "exact" these very ones. The default is "class" where a `tune` clause has choices for them, else
    "opt". Raises `CompileError`.
    """
    if shapes not in _SHAPES:
        raise ValueError(f"shapes is {shapes!r}, expected 'opt', 'class', 'exact' or None")
    text = Source(source, include, config, {**(constants or {}), **named})
    if shapes is None:
        shapes = "class" if config is None and text.isTuned else "opt"
    program = Program(text, kernel, None if shapes == "opt" else shapes)
    return program[program.keys()[0]] if kernel or len(program.keys()) == 1 else program


def _rowDivisor(shape):
    """The power of two up to 32 that divides the length of a tensor's rows: vectors of 16 bytes and
    TMA ask for no more. 1 where no row follows another.
    """
    length = shape[-1] if len(shape) > 1 else 1
    return min(length & -length, 32) if length else 32


def _path(config):
    """A configuration, as text: a path may be an object."""
    return None if config is None else os.fspath(config)


def _read(path):
    with open(path, "rb") as file:
        return file.read()


class Program:
    """The kernels of one source, by name: `program["softmax"]` or `program.softmax`."""

    def __init__(self, source, kernel, shapes):
        records = source.interface(kernel)
        self._functions = {
            name: Function(source, [one for one in records if one["name"] == name], shapes)
            for name in dict.fromkeys(record["name"] for record in records)
        }

    def keys(self):
        """Names of the kernels, in the order of the source."""
        return list(self._functions)

    def __iter__(self):
        return iter(self._functions)

    def __len__(self):
        return len(self._functions)

    def __getitem__(self, name):
        if name not in self._functions:
            raise KeyError(f"there is no kernel '{name}'; there are " + ", ".join(self._functions))
        return self._functions[name]

    def __getattr__(self, name):
        if name.startswith("_") or name not in self._functions:
            raise AttributeError(
                f"there is no kernel '{name}'; there are "
                + ", ".join(self.__dict__.get("_functions", ()))
            )
        return self._functions[name]

    def __dir__(self):
        return [*super().__dir__(), *self._functions]

    def __call__(self, *values, **named):
        raise TypeError(
            "this source has several kernels; call one of them: " + ", ".join(self._functions)
        )

    def __reduce__(self):
        first = next(iter(self._functions.values()))
        return _restore, (first._source.recipe(), None, first._shapes)

    def __repr__(self):
        return f"<tile.Program: {', '.join(self._functions)}>"


class _Plan:
    """Calls by positions, with arguments of the same types as one before: their kernel, and the
    outputs to be made.
    """

    __slots__ = ("function", "kernel", "isTensor", "missing", "makers")

    def __init__(self, function, kernel, places, missing):
        self.function, self.kernel, self.missing = function, kernel, missing
        self.isTensor = [function._isTensor[i] for i in places]
        self.makers = {}  # by shapes, and by values of scalars

    def __call__(self, values, stream, check):
        if not self.missing:
            self.kernel(*values, stream=stream, check=check)
            return None
        key = _keyOf(values, _BY_SHAPE | _BY_VALUE) or tuple(
            [value.shape if isTensor else value for value, isTensor in zip(values, self.isTensor)]
        )
        makers = self.makers.get(key)
        if makers is None:
            places = dict(
                zip(
                    (i for i in range(len(values) + len(self.missing)) if i not in self.missing),
                    values,
                )
            )
            if len(self.makers) >= 1024:
                self.makers.clear()
            makers = self.makers[key] = self.function._makers(self.kernel, places, self.missing)
        made = [make() for make in makers]
        values = list(values)
        for i, one in zip(self.missing, made):
            values.insert(i, one)
        self.kernel(*values, stream=stream, check=check)
        return made[0] if len(made) == 1 else tuple(made)


class Function:
    """A kernel that is compiled for the device and the dtypes of its arguments when it is first
    called with them.

    y = function(x) makes the outputs that are not given, as arrays of the same package and on the
    same device as the inputs, and returns them: one, or a tuple. Positional arguments stand for all
    parameters in the source's order, or, where that leaves some without a value, for those that are
    not `out`. `stream` and `check` are those of `Kernel`.
    """

    def __init__(self, source, records, shapes):
        first = records[0]
        self._source, self._records, self._shapes = source, records, shapes
        self._forget()
        self._lock = threading.Lock()
        self.__name__ = self.__qualname__ = self.name = first["name"]
        self.__doc__ = first.get("doc") or None
        self._params = first["params"]
        self._names = [param["name"] for param in self._params]
        self._isOut = [param.get("access") == "out" for param in self._params]
        self._isTensor = [param["kind"] == "tensor" for param in self._params]
        self._required = sum("default" not in param for param in self._params)
        self._inputs = [i for i, isOut in enumerate(self._isOut) if not isOut]
        # Extents that tell instances apart.
        self._axes = {
            i: [
                axis
                for axis in range(len(param["dims"]) if len(records) > 1 else 0)
                if any(
                    axis >= len(one["params"][i]["dims"])
                    or isinstance(one["params"][i]["dims"][axis], int)
                    for one in records
                )
            ]
            for i, param in enumerate(self._params)
            if self._isTensor[i]
        }
        # Names of rows' lengths, and what has to divide them so that a vector of 16 bytes moves
        # elements of every tensor with such rows.
        self._rows = {}
        for record in records:
            known = {dim["name"] for dim in record["dims"]}
            for param in record["params"]:
                name = param["dims"][-1] if len(param.get("dims", ())) > 1 else None
                if isinstance(name, str) and name in known and not param.get("strides"):
                    self._rows[name] = max(self._rows.get(name, 1), 128 // _BITS[param["dtype"]])
        self._keyFlags = (
            _BY_SHAPE if shapes or any(self._axes.values()) else _BY_ROWS if self._rows else 0
        )
        self._varying = [
            name
            for name in first["constants"]
            if len({json.dumps(one["constants"].get(name)) for one in records}) > 1
        ]
        _cache.onClear(_weakly(self))

    # ---- Calls

    # Two fast paths follow each other: here a plan for the types of the arguments, looked up for
    # calls by positions alone; then, in its kernel, the quick launch of native.c.
    def __call__(self, *values, stream=None, check=True, **named):
        key = None if named else _keyOf(values, self._keyFlags) or self._quickKey(values)
        plan = self._plans.get(key) if key is not None else None
        if plan is not None:
            _cache.hit()
            return plan(values, stream, check)
        global _numpyArray
        _numpyArray = getattr(sys.modules.get("numpy"), "ndarray", None)
        places = self._place(values, named)
        if any(_isJax(value) for value in places.values()):
            from . import _jax

            return _jax.call(self, places)
        kernel = self._find(places)
        missing = [i for i, isOut in enumerate(self._isOut) if isOut and i not in places]
        used = sorted([*places, *missing])
        if key is not None and len(places) == len(values) and used == list(range(len(used))):
            if len(self._plans) >= 1024:
                self._plans.clear()
            plan = self._plans[key] = _Plan(self, kernel, places, missing)
            return plan(values, stream, check)
        made = [make() for make in self._makers(kernel, places, missing)] if missing else ()
        places.update(zip(missing, made))
        rest = {self._names[i]: value for i, value in places.items()}
        ordered = []
        while self._names[len(ordered) :] and self._names[len(ordered)] in rest:
            ordered.append(rest.pop(self._names[len(ordered)]))
        kernel(*ordered, stream=stream, check=check, **rest)
        return _unpack(made)

    def _quickKey(self, values):
        """What the kernel of a call by positions depends on: dtypes, ranks and devices, and shapes
        where extents choose an instance. None where attributes do not tell. For what keyOf of
        native.c does not know.
        """
        rank = "shape" if self._keyFlags & _BY_SHAPE else "ndim"
        hasRows = self._keyFlags & _BY_ROWS
        try:
            key = tuple(
                [
                    (
                        (kind, value.dtype, getattr(value, rank))
                        if (kind := type(value)) is _numpyArray
                        else (
                            kind
                            if kind in _NUMBERS
                            else (kind, value.dtype, getattr(value, rank), value.device)
                        )
                    )
                    for value in values
                ]
            )
            if hasRows:
                key += tuple(
                    [_rowDivisor(value.shape) for value in values if type(value) not in _NUMBERS]
                )
            hash(key)
        except (AttributeError, TypeError):
            return None
        return key

    def _place(self, values, named):
        """The arguments as {index of the parameter: value}."""
        if any(
            "[" in name for name in self._names
        ):  # an array of tensors, whose elements a list gives
            values, named = flatten(values, named)
        for name in named:
            if name not in self._names:
                raise TypeError(
                    f"{self.name}: '{name}' is no parameter; there are " + ", ".join(self._names)
                )
        order = range(len(self._names))
        isWhole = len(values) + len(named) >= self._required and not any(
            self._isTensor[i] and isinstance(value, (bool, int, float))
            for i, value in zip(order, values)
        )
        if not isWhole and any(self._isOut):
            order = self._inputs
        if len(values) > len(order):
            raise TypeError(
                f"{self.name}: takes at most {len(order)} arguments ("
                + ", ".join(self._names[i] for i in order)
                + f"), found {len(values)}"
            )
        places = dict(zip(order, values))
        for i, value in places.items():
            if isinstance(value, (list, tuple)):
                self._refuse(i, value)
        for name, value in named.items():
            if isinstance(value, (list, tuple)):
                self._refuse(self._names.index(name), value)
            if self._names.index(name) in places:
                raise TypeError(f"{self.name}: '{name}' is given twice")
            places[self._names.index(name)] = value
        for i in self._inputs:
            if i not in places and "default" not in self._params[i]:
                raise TypeError(f"{self.name}: '{self._names[i]}' is missing")
        return places

    def _find(self, places):
        """The kernel compiled for these arguments."""
        key = self._keyOf(places)
        kernel = self._ready.get(key) if key is not None else None
        if kernel is not None:
            _cache.count("memory")
            return kernel
        with self._lock:
            kernel = self._compile(places)
        if key is not None:
            if len(self._ready) >= 1024:
                self._ready.clear()
            self._ready[key] = kernel
        return kernel

    def _keyOf(self, places):
        """What the choice of a kernel depends on, as far as attributes tell; None where they do
        not.
        """
        key = []
        for i, value in places.items():
            if not self._isTensor[i]:
                continue
            kind, dtype, shape = (
                type(value),
                getattr(value, "dtype", None),
                getattr(value, "shape", None),
            )
            device = getattr(value, "device", None)
            if dtype is None or shape is None or (device is None and kind.__module__ != "numpy"):
                return None
            key.append(
                (
                    i,
                    kind,
                    dtype,
                    device,
                    len(shape),
                    (
                        tuple(shape)
                        if self._shapes
                        else tuple(shape[axis] for axis in self._axes[i] if axis < len(shape))
                    ),
                    _rowDivisor(shape) if self._rows else None,
                )
            )
        try:
            hash(tuple(key))
        except TypeError:
            return None
        return tuple(key)

    def _makers(self, kernel, places, missing):
        """Functions that make the outputs which are not given."""
        sizes = kernel.outputs(**{self._names[i]: value for i, value in places.items()})
        like = next((value for i, value in places.items() if self._isTensor[i]), None)
        if like is None:
            raise TypeError(
                f"{self.name}: there is no input to make outputs like; pass"
                f" '{self._names[missing[0]]}'"
            )
        return [_outputs.maker(like, *sizes[self._names[i]]) for i in missing]

    # ---- Compilation

    def _placeOf(self, places):
        """Where the first tensor lies."""
        for i, value in sorted(places.items()):
            if self._isTensor[i]:
                return _device.placeOf(value) or self._refuse(i, value)
        raise TypeError(f"{self.name}: no argument tells the device; pass the outputs, too")

    def _refuse(self, i, value):
        found = "None" if value is None else f"of type {type(value).__name__}"
        expected = (
            "a tensor: anything with __array_interface__, __cuda_array_interface__ or __dlpack__"
            if self._isTensor[i]
            else "a number"
        )
        raise TypeError(f"{self.name}: '{self._names[i]}' is {found}, expected {expected}")

    def _choose(self, places, device):
        """Compile-time parameters that follow from the arguments, {"T": "f16"}: those in which all
        fitting instances agree.
        """
        tensors = {
            i: asTensor(value, f"{self.name}: '{self._names[i]}'", device == "cpu")
            for i, value in places.items()
            if self._isTensor[i]
        }
        for i, tensor in tensors.items():
            if tensor is None:
                self._refuse(i, places[i])
        fitting = [
            record
            for record in self._records
            if all(fits(tensor, record["params"][i]) for i, tensor in tensors.items())
        ]
        if not fitting:
            given = ", ".join(
                f"{self._names[i]}: {tensor.dtype}{list(tensor.shape)}"
                for i, tensor in tensors.items()
            )
            advice = [
                advise(self._names[i], tensor, [record["params"][i] for record in self._records])
                for i, tensor in tensors.items()
            ]
            raise Error(
                f"{self.name}: no instance takes ({given}); there are\n  "
                + "\n  ".join(self.signatures)
                + "".join(f"\n{each}" for each in advice if each),
                10,
            )
        return (
            {
                name: spell(fitting[0]["constants"][name])
                for name in self._varying
                if all(
                    one["constants"].get(name) == fitting[0]["constants"][name] for one in fitting
                )
            },
            fitting[0],
            tensors,
        )

    def _extents(self, record, tensors):
        """The named dimensions as the tensors bind them."""
        known = {dim["name"] for dim in record["dims"]}
        return {
            name: extent
            for i, tensor in tensors.items()
            for name, extent in zip(record["params"][i]["dims"], tensor.shape)
            if isinstance(name, str) and name in known
        }

    def _describe(self, places, target=None, place=None):
        """(place, target, compile-time parameters that follow, extents) for arguments."""
        place = place or self._placeOf(places)
        chosen, record, tensors = self._choose(places, place[0])
        extents = self._extents(record, tensors)
        return (
            place,
            target or _device.targetOf(place),
            {**chosen, **self._source.constants},
            extents,
        )

    def _compile(self, places, place=None):
        """The kernel for arguments, on the device at `place` or where the first tensor lies."""
        place, target, chosen, extents = self._describe(places, None, place)
        shape, divisors = {}, {}
        if target != "cpu":
            divisors = {
                name: divisor if extents[name] % divisor == 0 else 1
                for name, divisor in self._rows.items()
                if name in extents
            }
        if self._shapes and target != "cpu":
            size = (lambda n: 1 << max(n - 1, 0).bit_length()) if self._shapes == "class" else int
            dims = {dim["name"]: dim for dim in self._records[0]["dims"]}
            shape = {
                name: min(size(extent), dims[name].get("max", 1 << 62))
                for name, extent in extents.items()
            }
        key = (target, *chosen.items(), *shape.items(), *divisors.items())
        if key in self._loaded:
            _cache.count("memory")
        else:
            self._loaded[key] = load(
                self._source.build(target, self.name, chosen, shape, divisors), device=place[0]
            )[self.name]
        return self._loaded[key]

    # ---- What one asks of it

    def explain(self, *values, target=None, asJson=False, **named):
        """The compiler's choice of a configuration for these arguments, why, and what it estimates:
        text, or with `asJson` an object. Extents can be given by name instead: `explain(M=16,
        N=8192)`. On the CPU the report is for `target`, by default what tilec compiles for.
        """
        known = {dim["name"] for record in self._records for dim in record["dims"]}
        extents = {
            name: named.pop(name)
            for name in list(named)
            if name in known and name not in self._names
        }
        chosen, card = {}, None
        if values or named:
            place, found, chosen, bound = self._describe(self._place(values, named))
            extents = {**bound, **extents}
            if target is None and place[0] == "cuda":
                target, card = found, _device.cardOf(place)
        with _compiler.folder() as folder:
            request = self._source.request(
                folder,
                self.name,
                chosen,
                targets=[target] if target else [],
                gpu=card,
                shape={name: int(extent) for name, extent in extents.items()},
                config=_path(self._source.config),
            )
            text = _compiler.run(["explain", "--request", request] + (["--json"] if asJson else []))
        return json.loads(text) if asJson else text.decode()

    def tune(self, *values, shapes=(), save=None, options=(), **named):
        """Measures configurations on the arguments' device, for their shapes and those of `shapes`
        ({"M": 16, "N": 4096}, ...), by `tilec tune`, and uses the best from now on. Returns its
        result, which `save` keeps in a file for `compile(config=...)`; `options` are more words for
        the search, such as "--budget=60". Nothing else ever tunes.
        """
        place, target, chosen, extents = self._describe(self._place(values, named))
        device = "cpu" if place[0] == "cpu" else f"cuda:{place[1]}"
        words = ["--device", device]
        for shape in [extents, *shapes]:
            words += ["--shape", ",".join(f"{name}={extent}" for name, extent in shape.items())]
        if self._source.config:
            words += ["--config", self._source.config]
        with _compiler.folder() as folder:
            targets = [] if device == "cpu" else [target]
            request = self._source.request(folder, self.name, chosen, targets=targets)
            result, work = os.path.join(folder, "result.json"), os.path.join(folder, "work")
            words += ["-o", result, "--work", work, *options]
            _compiler.run(["tune", "--request", request, *words])
            content = _read(result)
        if save is not None:
            with open(save, "wb") as file:
                file.write(content)
        self._source.config = (
            os.path.abspath(os.fspath(save)) if save is not None else _cache.keep(content, ".json")
        )
        self._forget()
        return json.loads(content)

    def torch_op(self, name, backward=None, batch=None, autocast=None):
        """Registers this kernel as PyTorch's operator `name`, "mylib::softmax", and returns
        torch.ops.mylib.softmax: `torch.compile` takes it into its graph, with sizes as symbols. Its
        arguments are the parameters that are not `out`; those are returned. `backward` is a kernel
        (`softmax_backward(y, dy) -> dx`: `dy` is the gradient of y) or a function of (values by
        name, gradients of outputs by name) that returns gradients of inputs by name. `batch` names
        a dimension whose elements the kernel treats one by one, "M" of a softmax of rows:
        `torch.vmap` is then one launch with more rows. Under `torch.autocast`, floating-point
        arguments become `autocast`, as torch.float16.
        """
        from . import _torch

        return _torch.register(self, name, backward, batch, autocast)

    def __reduce__(self):
        """For pickle: the source, which is compiled, or found in the cache, where it is
        unpickled.
        """
        return _restore, (self._source.recipe(), self.name, self._shapes)

    def _forget(self):
        # Plans by the types of positional arguments; kernels by attributes of all arguments, and by
        # what was compiled.
        self._plans, self._ready, self._loaded = {}, {}, {}

    @property
    def signature(self):
        """The kernel's head, as in the source, with all dtypes of each parameter."""
        return f"{self.name}({', '.join(self._describeParam(i) for i in range(len(self._params)))})"

    @property
    def signatures(self):
        """One line for each instance."""
        constants = [
            ", ".join(f"{name} = {value}" for name, value in record["constants"].items())
            for record in self._records
        ]
        return [
            self.name
            + (f"[{text}]" if text else "")
            + f"({', '.join(describeParam(one, [one['dtype']]) for one in record['params'])})"
            for text, record in zip(constants, self._records)
        ]

    def _describeParam(self, i):
        return describeParam(
            self._params[i], dict.fromkeys(record["params"][i]["dtype"] for record in self._records)
        )

    @property
    def __signature__(self):
        return signatureOf(
            [
                (
                    param["name"],
                    "default" in param or self._isOut[i],
                    self._describeParam(i).partition(": ")[2].partition(" = ")[0],
                    param.get("default"),
                )
                for i, param in enumerate(self._params)
            ]
        )

    def __repr__(self):
        return f"<tile.Function {self.signature}>"


def _restore(recipe, name, shapes):
    """A function, or for None a program, from what pickle has kept of it."""
    program = Program(Source(*recipe), name, shapes)
    return program if name is None else program[name]


def _unpack(made):
    return None if not made else made[0] if len(made) == 1 else tuple(made)


def _isJax(value):
    return type(value).__module__.partition(".")[0] in ("jax", "jaxlib")


def _weakly(function):
    """A function that makes another forget its kernels, and does not keep it alive."""
    reference = weakref.ref(function)
    return lambda: reference() is not None and reference()._forget()
