"""Kernels as operators of PyTorch: schema, fake kernel over symbolic sizes and gradients, all from the manifest."""
import sys

from ._library import Error
from ._outputs import _bytesOfPairs
from ._tensors import TORCH_NAMES

_FLOATS = ("f16", "bf16", "f32", "f64", "f8e4m3", "f8e5m2")
_operators = {}


def register(function, name, backward):
    """`torch.library.custom_op` of a `Function`; see `Function.torch_op`."""
    torch = sys.modules.get("torch")
    if torch is None:
        import torch
    if not hasattr(torch.library, "custom_op"):
        raise Error(f"torch_op needs PyTorch 2.4 or newer, found {torch.__version__}")
    operands = _Operands(function)
    operator = torch.library.custom_op(name, operands.call, mutates_args=operands.mutated, schema=operands.schema())
    operator.register_fake(operands.fake)
    if backward is not None:
        if operands.mutated:
            raise ValueError(f"{function.name} writes {', '.join(operands.mutated)} in place, so it has no gradient; leave 'backward' out")
        _registerGradient(operator, name, operands, backward)
    _operators[name] = operator       # PyTorch holds it weakly
    return _packet(torch, name)


def _packet(torch, name):
    """torch.ops.NAMESPACE.NAME, which PyTorch's tracers know."""
    namespace, _, word = name.partition("::")
    return getattr(getattr(torch.ops, namespace), word)


class _Operands:
    """A kernel's parameters as an operator's: the arguments are those that are not `out`, arrays of tensors one list each."""

    def __init__(self, function):
        self.function = function
        self.outs = [param["name"] for param, isOut in zip(function._params, function._isOut) if isOut]
        self.groups = {}         # argument: indices of its parameters
        for i in function._inputs:
            self.groups.setdefault(function._names[i].partition("[")[0], []).append(i)
        self.mutated = [name for name, indices in self.groups.items() if function._params[indices[0]].get("access") == "inout"]

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
            elif isinstance(default, str):      # inf and nan, which a schema cannot spell
                texts.append(f"{kind}? {name}=None")
            else:
                texts.append(f"{kind} {name}={default}")
        outs = ["Tensor"] * len(self.outs)
        return f"({', '.join(reversed(texts))}) -> " + (outs[0] if len(outs) == 1 else f"({', '.join(outs)})")

    def _scalarKind(self, i):
        dtypes = {record["params"][i]["dtype"] for record in self.function._records}
        if dtypes == {"bool"}:
            return "bool"
        floats = [dtype in _FLOATS for dtype in dtypes]
        return "float" if all(floats) else "Scalar" if any(floats) else "SymInt"

    def bind(self, arguments):
        """Arguments in the schema's order by name; those that are None stand for defaults."""
        return {name: value for name, value in zip(self.groups, arguments) if value is not None}

    def call(self, *arguments, **named):
        """The operator itself."""
        return self.function(**self.bind(arguments), **named)

    def fake(self, *arguments, **named):
        """Outputs without contents, whose shapes are expressions of those of the inputs."""
        torch = sys.modules["torch"]
        given = {**self.bind(arguments), **named}
        places = {i: (given[name][k] if self.isArray(name) else given[name])
                  for name, indices in self.groups.items() if name in given for k, i in enumerate(indices)}
        tensors = {i: value for i, value in places.items() if self.function._isTensor[i]}
        record = next((one for one in self.function._records if all(_fits(torch, value, one["params"][i]) for i, value in tensors.items())),
                      None)
        if record is None:
            raise Error(f"{self.function.name}: no instance takes these dtypes and ranks; there are\n  " + "\n  ".join(self.function.signatures))
        names = {param["name"]: places.get(i, param.get("default")) for i, param in enumerate(record["params"]) if param["kind"] == "scalar"}
        _bindDimensions([(record["params"][i]["dims"], _shapeOf(value, record["params"][i])) for i, value in tensors.items()], names)
        like, made = next(iter(tensors.values())), []
        for i, isOut in enumerate(self.function._isOut):
            if isOut:
                dtype, shape = _bytesOfPairs(record["params"][i]["dtype"], [_evaluate(torch, dim, names) for dim in record["params"][i]["dims"]])
                made.append(like.new_empty(list(shape), dtype=getattr(torch, TORCH_NAMES[dtype])))
        return None if not made else made[0] if len(made) == 1 else tuple(made)


def _shapeOf(value, param):
    shape = list(value.shape)
    if param["dtype"] in ("i4", "u4"):
        shape[-1] = 2 * shape[-1]
    return shape


def _fits(torch, value, param):
    dtype = param["dtype"]
    isPair = dtype in ("i4", "u4") and value.dtype in (torch.uint8, torch.int8)
    if not isPair and (dtype not in TORCH_NAMES or value.dtype != getattr(torch, TORCH_NAMES[dtype], None)):
        return False
    return value.dim() == len(param["dims"]) and all(not isinstance(dim, int) or extent == dim
                                                     for dim, extent in zip(param["dims"], _shapeOf(value, param)))


def _bindDimensions(pairs, names):
    """Adds what the extents say of named dimensions: bare names first, then `name + c`, `name - c` and `c * name`."""
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
    operators = {"+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b, "/": lambda a, b: a // b,
                 "%": lambda a, b: a % b, "cdiv": lambda a, b: (a + b - 1) // b, "min": torch.sym_min, "max": torch.sym_max,
                 "neg": lambda a: -a, "next_pow2": lambda a: 1 << max(int(a) - 1, 0).bit_length()}
    if one[0] not in operators:
        raise Error(f"an extent is computed by '{one[0]}', which a fake kernel does not know")
    return operators[one[0]](*parts)


def _registerGradient(operator, name, operands, backward):
    """Gradients by a kernel, whose parameters tell what is what: `dy` is the gradient of the output y, `dx` as an output that of the input
    x, other names are the inputs and outputs themselves; or by a function (values by name, gradients by name) -> gradients by name."""
    torch = sys.modules["torch"]
    names = list(operands.groups)
    if callable(getattr(backward, "torch_op", None)):
        paired = _Operands(backward)
        operation = backward.torch_op(name + "_backward")
        known = {"d" + out for out in operands.outs} | set(names) | set(operands.outs)
        strange = [one for one in paired.groups if one not in known]
        strange += [one for one in paired.outs if not (one.startswith("d") and one[1:] in names)]
        if strange:
            raise ValueError(f"'{strange[0]}' of {backward.name} is neither an argument nor an output of {operands.function.name}, nor the "
                             "gradient 'd...' of one; pass a function as 'backward'")
        needed = [one for one in paired.groups if one in names or one in operands.outs]

        def compute(values, gradients):
            found = operation(*(gradients[one] if one in gradients else values[one] for one in paired.groups))
            return dict(zip((one[1:] for one in paired.outs), found if isinstance(found, tuple) else (found,)))
    else:
        needed = names + operands.outs

        def compute(values, gradients):
            return backward(values, {key[1:]: value for key, value in gradients.items()})

    def remember(ctx, inputs, output):
        values = {**dict(zip(names, inputs)), **dict(zip(operands.outs, output if isinstance(output, tuple) else (output,)))}
        tensors = [one for one in needed if isinstance(values.get(one), torch.Tensor)]
        ctx.save_for_backward(*(values[one] for one in tensors))
        ctx.tensors, ctx.others = tensors, {one: values.get(one) for one in needed if one not in tensors}
        ctx.shapes = [(value.shape, value.dtype, value.device) for value in (values[out] for out in operands.outs)]

    def differentiate(ctx, *gradients):
        values = {**dict(zip(ctx.tensors, ctx.saved_tensors)), **ctx.others}
        given = {}
        for out, gradient, (shape, dtype, device) in zip(operands.outs, gradients, ctx.shapes):
            # Of a sum it is one number seen as many.
            given["d" + out] = torch.zeros(shape, dtype=dtype, device=device) if gradient is None else gradient.contiguous()
        found = compute(values, given)
        return tuple(found.get(one) for one in names)

    operator.register_autograd(differentiate, setup_context=remember)
