"""Generated programs as trees: expressions and statements, and their text. meaning.py runs them."""

import math
import os
import sys

sys.path.insert(
    0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "conformance")
)
from formats import isFloat


class Node:
    """An expression: what kind it is, its dtype and shape, the expressions it is made of, and what
    else its kind needs.
    """

    __slots__ = ("kind", "dtype", "shape", "args", "attr")

    def __init__(self, kind, dtype, shape, args=(), **attr):
        self.kind, self.dtype, self.shape, self.args, self.attr = (
            kind,
            dtype,
            tuple(shape),
            list(args),
            attr,
        )


class Statement:
    """`let`, `var`, `set`, `for`, `blocks`, `while`, `if`, `store`, `return`: name, expressions,
    bodies, and the rest.
    """

    __slots__ = ("kind", "name", "args", "bodies", "attr")

    def __init__(self, kind, name=None, args=(), bodies=(), **attr):
        self.kind, self.name, self.args, self.bodies, self.attr = (
            kind,
            name,
            list(args),
            [list(body) for body in bodies],
            attr,
        )


class Tensor:
    """A parameter: its extents are names or numbers."""

    def __init__(self, name, access, dtype, dims, strides=None):
        self.name, self.access, self.dtype, self.dims, self.strides = (
            name,
            access,
            dtype,
            list(dims),
            strides,
        )
        self.small = False  # holds whole numbers from -2 to 2
        self.offset = 0  # elements of an allocation ahead of it


class Program:
    """A whole kernel with the values of its dimensions and scalars."""

    def __init__(self):
        self.dims, self.contracts, self.tensors, self.scalars, self.grid = {}, [], [], {}, []
        self.functions, self.body, self.extents, self.attributes = [], [], [], []
        self.special = []  # conditions of variants


# --- text ---


def number(value, dtype):
    if dtype == "bool":
        return "true" if value else "false"
    if isFloat(dtype):
        if math.isnan(value) or math.isinf(value):
            return "nan" if math.isnan(value) else "inf" if value > 0 else "(-inf)"
        text = repr(float(value))
        if "e" not in text and "." not in text:
            text += ".0"
        return f"({text})" if text.startswith("-") else text
    return f"({value})" if value < 0 else str(value)


def shapeText(shape):
    return "[" + ", ".join(map(str, shape)) + "]"


def text(node):
    a, kind, attr = node.args, node.kind, node.attr
    if kind == "const":
        value = number(attr["value"], node.dtype)
        if not node.shape:
            return (
                value if node.dtype == "bool" or attr.get("plain") else f"({value} as {node.dtype})"
            )
        return f"full({node.dtype}, {shapeText(node.shape)}, {value})"
    if kind == "name":
        return attr["name"]
    if kind == "binary":
        return f"({text(a[0])} {attr['op']} {text(a[1])})"
    if kind == "unary":
        return f"({attr['op']}{text(a[0])})"
    if kind == "call":
        named = "".join(f", {key}: {value}" for key, value in attr.get("named", {}).items())
        return f"{attr['name']}({', '.join(text(x) for x in a)}{named})"
    if kind == "cast":
        return f"({text(a[0])} as {node.dtype})"
    if kind == "scan":
        reverse = ", reverse: true" if attr["reverse"] else ""
        return f"scan({attr['function']}, {text(a[0])}, axis: {attr['axis']}{reverse})"
    if kind == "subscript":
        return f"{text(a[0])}[{', '.join(attr['text'])}]"
    if kind == "permute":
        return (
            f"{text(a[0])}.T"
            if attr["isT"]
            else f"permute({text(a[0])}, {shapeText(attr['order'])})"
        )
    if kind == "reshape":
        return f"reshape({text(a[0])}, {shapeText(node.shape)})"
    if kind == "broadcast":
        return f"broadcast({text(a[0])}, {shapeText(node.shape)})"
    if kind == "bitcast":
        return f"bitcast({text(a[0])}, {node.dtype})"
    if kind == "iota":
        return f"iota({attr['range']})" if a else f"iota({node.shape[0]})"
    if kind == "start":
        return f"{attr['range']}.start"
    if kind == "take":
        return f"take({text(a[0])}, {text(a[1])}, axis: {attr['axis']})"
    if kind == "form":
        return attr["template"].format(*(text(x) for x in a))
    if kind == "gather":
        return f"gather({attr['tensor'].name}[{', '.join(text(x) for x in a)}])"
    if kind == "rows":
        return f"gather({attr['tensor'].name}[{text(a[0])}, {attr['range']}])"
    if kind == "load":
        access = accessText(node.attr["access"])
        extra = []
        if "pad" in attr:
            extra.append(f"pad: {number(attr['pad'], node.dtype)}")
        if attr.get("mask"):
            extra.append(f"mask: {text(attr['mask'])}")
        return f"load({', '.join([access] + extra)})" if extra else access
    if kind == "inside":
        return f"inside({accessText(attr['access'])})"
    if kind == "tuple":
        return f"{attr['name']}({', '.join(text(x) for x in a)})[{attr['index']}]"
    raise KeyError(kind)


class Access:
    """A view of a tensor and a subscript for each of its dimensions: ("int", node), ("range", name)
    or ("at", start, size, step, end or None, shift or None). `view`: list of steps, ("T",),
    ("index", position of the dimension, node), ("slice", dimension, low, high).
    """

    def __init__(self, tensor, view, subscripts):
        self.tensor, self.view, self.subscripts = tensor, view, subscripts

    def nodes(self):
        for step in self.view:
            yield from (x for x in step if isinstance(x, Node))
        for part in self.subscripts:
            yield from (x for x in part if isinstance(x, Node))


def accessText(access):
    base = access.tensor.name
    rank = len(access.tensor.dims)
    for step in access.view:
        if step[0] == "T":
            base += ".T"
            continue
        subscripts = [":"] * rank
        if step[0] == "index":
            base += f"[{text(step[2])}]"  # of the first dimension: the missing subscripts are `:`
            rank -= 1
            continue
        else:
            subscripts[step[1]] = f"{text(step[2])}..{text(step[3])}"
        base += f"[{', '.join(subscripts)}]"
    parts = []
    for part in access.subscripts:
        if part[0] == "int":
            parts.append(text(part[1]))
        elif part[0] == "range":
            parts.append(part[1])
        else:
            parts.append(rangeText(part))
    return f"{base}[{', '.join(parts)}]"


def rangeText(part):
    if part[0] == "block":
        return f"block({text(part[1])}, {part[2]})"
    _, start, size, step, end, shift = part
    words = (
        f"at({text(start)}, {size}"
        + (f", step: {step}" if step != 1 else "")
        + (f", end: {text(end)}" if end else "")
        + ")"
    )
    return words + (f" + {text(shift)}" if shift else "")


def statementText(statement, indent):
    pad, s = "  " * indent, statement
    block = lambda body: "{\n" + "".join(statementText(x, indent + 1) for x in body) + pad + "}"
    if s.kind in ("let", "var"):
        return f"{pad}{s.kind} {s.name} = {text(s.args[0])};\n"
    if s.kind == "range":
        return f"{pad}let {s.name} = {rangeText(s.attr['part'])};\n"
    if s.kind == "set":
        return f"{pad}{s.name} {s.attr.get('op', '')}= {text(s.args[0])};\n"
    if s.kind == "swap":
        return f"{pad}({s.name}, {s.attr['other']}) = ({s.attr['other']}, {s.name});\n"
    if s.kind == "for":
        step = f" step {text(s.args[2])}" if len(s.args) > 2 else ""
        dots = "..=" if s.attr.get("closed") else ".."
        return (
            f"{pad}for {s.name} in {text(s.args[0])}{dots}{text(s.args[1])}{step}"
            f" {block(s.bodies[0])}\n"
        )
    if s.kind == "blocks":
        low = f"{text(s.args[0])}, " if s.attr.get("low", True) else ""
        attribute = f" with {s.attr['attribute']}" if s.attr.get("attribute") else ""
        return (
            f"{pad}for {s.name} in blocks({low}{text(s.args[1])}, {s.attr['size']}){attribute}"
            f" {block(s.bodies[0])}\n"
        )
    if s.kind == "while":
        return f"{pad}while {text(s.args[0])} {block(s.bodies[0])}\n"
    if s.kind == "if":
        other = f" else {block(s.bodies[1])}" if len(s.bodies) > 1 else ""
        return f"{pad}if {text(s.args[0])} {block(s.bodies[0])}{other}\n"
    if s.kind == "store":
        if s.attr.get("mask"):
            return (
                f"{pad}store({accessText(s.attr['access'])}, {text(s.args[0])}, mask:"
                f" {text(s.attr['mask'])});\n"
            )
        return f"{pad}{accessText(s.attr['access'])} = {text(s.args[0])};\n"
    if s.kind in ("return", "break", "continue"):
        return f"{pad}{s.kind};\n"
    raise KeyError(s.kind)


def programText(program):
    parameters = []
    for t in program.tensors:
        strides = "; " + ", ".join(map(str, t.strides)) if t.strides else ""
        parameters.append(f"{t.name}: {t.access} {t.dtype}[{', '.join(map(str, t.dims))}{strides}]")
    parameters += [f"{name}: {dtype}" for name, (dtype, _) in program.scalars.items()]
    lines = [f"fn {f.name}({', '.join(f.parameters)}) {{ {f.body} }}\n" for f in program.functions]
    where = f"  where {', '.join(program.contracts)}\n" if program.contracts else ""
    special = "".join(f"  specialize {condition}\n" for condition in program.special)
    attributes = f"  with {', '.join(program.attributes)}\n" if program.attributes else ""
    grid = ", ".join(f"{name}: {text(extent)}" for name, extent in program.grid)
    return (
        "".join(lines)
        + f"kernel k({', '.join(parameters)})\n{where}{special}  grid ({grid})\n{attributes}{{\n"
        + "".join(statementText(s, 1) for s in program.body)
        + "}\n"
    )
