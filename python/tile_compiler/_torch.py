"""Kernels as operators of PyTorch: schema, fake kernel over symbolic sizes and gradients, all from
the manifest.
"""

import sys

from ._library import Error
from ._outputs import _bytesOfPairs
from ._tensors import FLOATS, TORCH_NAMES

_operators = {}


def register(function, name, backward=None, batch=None, autocast=None):
    """`torch.library.custom_op` of a `Function`; see `Function.torch_op`."""
    torch = sys.modules.get("torch")
    if torch is None:
        import torch
    if not hasattr(torch.library, "custom_op"):
        raise Error(f"torch_op needs PyTorch 2.4 or newer, found {torch.__version__}")
    operands = _Operands(function)
    if batch is not None and batch not in operands.dimensions():
        raise ValueError(
            f"{function.name} has no dimension '{batch}' for 'batch'; there are"
            f" {', '.join(operands.dimensions())}"
        )
    if autocast is not None and not hasattr(torch.library, "register_autocast"):
        raise Error(f"torch_op's autocast needs PyTorch 2.6 or newer, found {torch.__version__}")
    operator = torch.library.custom_op(
        name, operands.call, mutates_args=operands.mutated, schema=operands.schema()
    )
    operator.register_fake(operands.fake)
    if backward is not None:
        if operands.mutated:
            raise ValueError(
                f"{function.name} writes {', '.join(operands.mutated)} in place, so it has no"
                " gradient; leave 'backward' out"
            )
        _registerGradient(operator, name, operands, backward)
    if hasattr(operator, "register_vmap") and not operands.mutated:
        operator.register_vmap(_Batches(operands, _packet(torch, name), batch))
    if autocast is not None:
        for device in ("cpu", "cuda"):
            operator.register_autocast(device, autocast)
    _operators[name] = operator  # PyTorch holds it weakly
    return _packet(torch, name)


def _packet(torch, name):
    """torch.ops.NAMESPACE.NAME, which PyTorch's tracers know."""
    namespace, _, word = name.partition("::")
    return getattr(getattr(torch.ops, namespace), word)


class _Operands:
    """A kernel's parameters as an operator's: the arguments are those that are not `out`, arrays of
    tensors one list each.
    """

    def __init__(self, function):
        self.function = function
        self.outs = [
            param["name"] for param, isOut in zip(function._params, function._isOut) if isOut
        ]
        self.groups = {}  # argument: indices of its parameters
        for i in function._inputs:
            self.groups.setdefault(function._names[i].partition("[")[0], []).append(i)
        tensors = {
            name: [record["params"][indices[0]] for record in function._records]
            for name, indices in self.groups.items()
            if function._isTensor[indices[0]]
        }
        # Whether elements must lie densely, and the bytes that addresses are multiples of.
        self.layouts = {
            name: (
                any(not param.get("strides") for param in params),
                max(param.get("align") or 1 for param in params),
            )
            for name, params in tensors.items()
        }
        self.mutated = [
            name
            for name, indices in self.groups.items()
            if function._params[indices[0]].get("access") == "inout"
        ]

    def dimensions(self):
        return list(
            dict.fromkeys(
                dim["name"] for record in self.function._records for dim in record["dims"]
            )
        )

    def dimsOf(self, name, rank):
        """The extents of a parameter as the manifest has them, in an instance where it has that
        rank; None where there is none.
        """
        for record in self.function._records:
            for param in record["params"]:
                if param["name"] == name and len(param.get("dims", ())) == rank:
                    return param["dims"]
        return None

    def isArray(self, name):
        return "[" in self.function._names[self.groups[name][0]]

    def schema(self):
        texts, behind = [], True
        # A default counts where all that follow have one.
        for name in reversed(self.groups):
            i = self.groups[name][0]
            param = self.function._params[i]
            if param["kind"] == "tensor":
                kind = "Tensor[]" if self.isArray(name) else "Tensor"
                if name in self.mutated:
                    letter = chr(ord("a") + self.mutated.index(name))
                    kind = f"Tensor({letter}!)[]" if self.isArray(name) else f"Tensor({letter}!)"
                texts.append(f"{kind} {name}")
                behind = False
                continue
            kind = self._scalarKind(i)
            default = param.get("default")
            if default is None or not behind:
                texts.append(f"{kind} {name}")
                behind = False
            elif isinstance(default, str):  # inf and nan, which a schema cannot spell
                texts.append(f"{kind}? {name}=None")
            else:
                texts.append(f"{kind} {name}={default}")
        outs = ["Tensor"] * len(self.outs)
        return f"({', '.join(reversed(texts))}) -> " + (
            outs[0] if len(outs) == 1 else f"({', '.join(outs)})"
        )

    def _scalarKind(self, i):
        dtypes = {record["params"][i]["dtype"] for record in self.function._records}
        if dtypes == {"bool"}:
            return "bool"
        floats = [dtype in FLOATS for dtype in dtypes]
        return "float" if all(floats) else "Scalar" if any(floats) else "SymInt"

    def bind(self, arguments):
        """Arguments in the schema's order by name; those that are None stand for defaults."""
        return {name: value for name, value in zip(self.groups, arguments) if value is not None}

    def call(self, *arguments, **named):
        """The operator itself. It takes views of any kind, as PyTorch's operators do: those that
        the kernel would refuse are copied.
        """
        given = {**self.bind(arguments), **named}
        back = []
        for name, value in given.items():
            if not self.function._isTensor[self.groups[name][0]]:
                continue
            if self.isArray(name):
                given[name] = [self._suit(name, one, back) for one in value]
            else:
                given[name] = self._suit(name, value, back)
        made = self.function(**given)
        for original, copy in back:
            original.copy_(copy)
        return made

    def _suit(self, name, value, back):
        """The tensor, or a copy whose elements lie as the kernel wants them; `back` gets those that
        must be written back.
        """
        isDense, align = self.layouts[name]
        if (value.is_contiguous() or not isDense) and value.data_ptr() % align == 0:
            return value
        torch = sys.modules["torch"]
        copy = value.clone(memory_format=torch.contiguous_format)
        if name in self.mutated:
            back.append((value, copy))
        return copy

    def fake(self, *arguments, **named):
        """Outputs without contents, whose shapes are expressions of those of the inputs."""
        torch = sys.modules["torch"]
        given = {**self.bind(arguments), **named}
        places = {
            i: given[name][k] if self.isArray(name) else given[name]
            for name, indices in self.groups.items()
            if name in given
            for k, i in enumerate(indices)
        }
        tensors = {i: value for i, value in places.items() if self.function._isTensor[i]}
        record = next(
            (
                one
                for one in self.function._records
                if all(_fits(torch, value, one["params"][i]) for i, value in tensors.items())
            ),
            None,
        )
        if record is None:
            raise Error(
                f"{self.function.name}: no instance takes these dtypes and ranks; there are\n  "
                + "\n  ".join(self.function.signatures)
            )
        names = {
            param["name"]: places.get(i, param.get("default"))
            for i, param in enumerate(record["params"])
            if param["kind"] == "scalar"
        }
        _bindDimensions(
            [
                (record["params"][i]["dims"], _shapeOf(value, record["params"][i]))
                for i, value in tensors.items()
            ],
            names,
        )
        like, made = next(iter(tensors.values())), []
        for i, isOut in enumerate(self.function._isOut):
            if isOut:
                dtype, shape = _bytesOfPairs(
                    record["params"][i]["dtype"],
                    [_evaluate(torch, dim, names) for dim in record["params"][i]["dims"]],
                )
                made.append(like.new_empty(list(shape), dtype=getattr(torch, TORCH_NAMES[dtype])))
        return None if not made else made[0] if len(made) == 1 else tuple(made)


class _Batches:
    """The rule of torch.vmap. Where `batch` names a dimension whose elements a kernel treats one by
    one, as the rows of a softmax, a batch of tensors is one of more rows, and one launch; else
    there is a launch for each element.
    """

    def __init__(self, operands, operation, batch):
        self.operands, self.operation, self.batch = operands, operation, batch

    def __call__(self, info, places, *arguments, **named):
        torch = sys.modules["torch"]
        size = info.batch_size
        joined = self._join(places, arguments, size)
        outs = [self._dimsOfOutput(out) for out in self.operands.outs]
        if joined is not None and all(self._leads(dims) for dims in outs):
            made = self.operation(*joined, **named)
            made = [
                one.reshape(size, -1, *one.shape[1:])
                for one in (made if isinstance(made, tuple) else (made,))
            ]
        else:
            rows = [
                self.operation(
                    *(_element(value, place, i) for value, place in zip(arguments, places)), **named
                )
                for i in range(size)
            ]
            made = [
                torch.stack(one)
                for one in zip(*(row if isinstance(row, tuple) else (row,) for row in rows))
            ]
        return (made[0], 0) if len(made) == 1 else (tuple(made), (0,) * len(made))

    def _dimsOfOutput(self, name):
        return next(
            param["dims"]
            for param in self.operands.function._records[0]["params"]
            if param["name"] == name
        )

    def _leads(self, dims):
        """Whether a tensor has the batch's dimension first, and nowhere else."""
        return (
            bool(dims)
            and dims[0] == self.batch
            and not any(_mentions(dim, self.batch) for dim in dims[1:])
        )

    def _join(self, places, arguments, size):
        """The arguments with the batch as part of their rows, or None where that is not
        possible.
        """
        if self.batch is None:
            return None
        joined = []
        for name, value, place in zip(self.operands.groups, arguments, places):
            if self.operands.isArray(name):
                return None
            if not hasattr(value, "reshape"):
                joined.append(value)
                continue
            dims = self.operands.dimsOf(name, value.dim() - (place is not None))
            if dims is None:
                return None
            if self._leads(dims):
                value = (
                    value.unsqueeze(0).expand(size, *value.shape)
                    if place is None
                    else value.movedim(place, 0)
                )
                joined.append(value.reshape(size * value.shape[1], *value.shape[2:]))
            elif place is None and not any(_mentions(dim, self.batch) for dim in dims):
                joined.append(value)
            else:
                return None
        return joined


def _mentions(one, name):
    """Whether an expression of the manifest has a dimension in it."""
    return one == name or (isinstance(one, list) and any(_mentions(part, name) for part in one[1:]))


def _element(value, place, i):
    """Element i of a batched argument; lists have a place for each element."""
    if isinstance(value, (list, tuple)):
        return [
            _element(one, at, i)
            for one, at in zip(
                value, place if isinstance(place, (list, tuple)) else [place] * len(value)
            )
        ]
    return value if place is None else value.select(place, i)


def _shapeOf(value, param):
    shape = list(value.shape)
    if param["dtype"] in ("i4", "u4"):
        shape[-1] = 2 * shape[-1]
    return shape


def _fits(torch, value, param):
    dtype = param["dtype"]
    isPair = dtype in ("i4", "u4") and value.dtype in (torch.uint8, torch.int8)
    if not isPair and (
        dtype not in TORCH_NAMES or value.dtype != getattr(torch, TORCH_NAMES[dtype], None)
    ):
        return False
    return value.dim() == len(param["dims"]) and all(
        not isinstance(dim, int) or extent == dim
        for dim, extent in zip(param["dims"], _shapeOf(value, param))
    )


def _bindDimensions(pairs, names):
    """Adds what the extents say of named dimensions: bare names first, then `name + c`, `name - c`
    and `c * name`.
    """
    for dims, shape in pairs:
        for dim, extent in zip(dims, shape):
            if isinstance(dim, str):
                names.setdefault(dim, extent)
    for dims, shape in pairs:
        for dim, extent in zip(dims, shape):
            if not isinstance(dim, list) or len(dim) != 3:
                continue
            operator, left, right = dim
            if isinstance(left, str) and isinstance(right, int) and operator in ("+", "-"):
                names.setdefault(left, extent - right if operator == "+" else extent + right)
            elif operator == "*" and isinstance(left, int) and isinstance(right, str):
                names.setdefault(right, extent // left)
            elif operator == "*" and isinstance(left, str) and isinstance(right, int):
                names.setdefault(left, extent // right)


def _evaluate(torch, one, names):
    """An expression of the manifest over sizes, which may be symbols."""
    if isinstance(one, str):
        if one not in names:
            raise Error(f"an extent does not follow from the inputs: '{one}' has no value")
        return names[one]
    if not isinstance(one, list):
        return one
    parts = [_evaluate(torch, part, names) for part in one[1:]]
    operators = {
        "+": lambda a, b: a + b,
        "-": lambda a, b: a - b,
        "*": lambda a, b: a * b,
        "/": lambda a, b: a // b,
        "%": lambda a, b: a % b,
        "cdiv": lambda a, b: (a + b - 1) // b,
        "min": torch.sym_min,
        "max": torch.sym_max,
        "neg": lambda a: -a,
        "next_pow2": lambda a: 1 << max(int(a) - 1, 0).bit_length(),
    }
    if one[0] not in operators:
        raise Error(f"an extent is computed by '{one[0]}', which a fake kernel does not know")
    return operators[one[0]](*parts)


def _registerGradient(operator, name, operands, backward):
    """Gradients by a kernel, whose parameters tell what is what: `dy` is the gradient of the output
    y, `dx` as an output that of the input x, other names are the inputs and outputs themselves; or
    by a function (values by name, gradients by name) -> gradients by name.
    """
    torch = sys.modules["torch"]
    names = list(operands.groups)
    if callable(getattr(backward, "torch_op", None)):
        paired = _Operands(backward)
        operation = backward.torch_op(name + "_backward")
        known = {"d" + out for out in operands.outs} | set(names) | set(operands.outs)
        strange = [one for one in paired.groups if one not in known]
        strange += [one for one in paired.outs if not (one.startswith("d") and one[1:] in names)]
        if strange:
            raise ValueError(
                f"'{strange[0]}' of {backward.name} is neither an argument nor an output of"
                f" {operands.function.name}, nor the gradient 'd...' of one; pass a function as"
                " 'backward'"
            )
        needed = [one for one in paired.groups if one in names or one in operands.outs]

        def compute(values, gradients):
            found = operation(
                *(gradients[one] if one in gradients else values[one] for one in paired.groups)
            )
            return dict(
                zip(
                    (one[1:] for one in paired.outs),
                    found if isinstance(found, tuple) else (found,),
                )
            )

    else:
        needed = names + operands.outs

        def compute(values, gradients):
            return backward(values, {key[1:]: value for key, value in gradients.items()})

    def remember(ctx, inputs, output):
        values = {
            **dict(zip(names, inputs)),
            **dict(zip(operands.outs, output if isinstance(output, tuple) else (output,))),
        }
        tensors = [one for one in needed if isinstance(values.get(one), torch.Tensor)]
        ctx.save_for_backward(*(values[one] for one in tensors))
        ctx.tensors, ctx.others = (
            tensors,
            {one: values.get(one) for one in needed if one not in tensors},
        )
        ctx.shapes = [
            (value.shape, value.dtype, value.device)
            for value in (values[out] for out in operands.outs)
        ]

    def differentiate(ctx, *gradients):
        values = {**dict(zip(ctx.tensors, ctx.saved_tensors)), **ctx.others}
        given = {}
        for out, gradient, (shape, dtype, device) in zip(operands.outs, gradients, ctx.shapes):
            # Of a sum it is one number seen as many.
            given["d" + out] = (
                torch.zeros(shape, dtype=dtype, device=device)
                if gradient is None
                else gradient.contiguous()
            )
        found = compute(values, given)
        return tuple(found.get(one) for one in names)

    operator.register_autograd(differentiate, setup_context=remember)
