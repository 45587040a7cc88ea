"""The table of operations by dtypes that the conformance tests cover, with the reason of each hole;
docs/Coverage.md.
"""

import re
import sys
import textwrap

import elementwise
import products
import tilecases
from formats import ALL, BITS, FLOAT8, FLOATS, INTEGERS, NIBBLES, SIGNED, UNSIGNED, isFloat

# Why an operation has no such dtype. The letter stands in the table; the text below it.
REASONS = {
    "s": (
        "storage types (8-bit floats, packed 4-bit integers) are loaded, moved, converted and,"
        " 8-bit floats, multiplied by `dot`; nothing else"
    ),
    "f": "of floats alone",
    "i": "of integers alone",
    "b": "of bools alone",
    "n": "of numbers, not of bools",
    "w": "of integers of 32 bits or more: cast first, so that the sum is not lost to overflow",
    "x": "index is not stored and has no bits of its own: positions are computed with",
    "d": "`dot` has the forms that the products below list",
    "o": "tensors of packed 4-bit integers are `in` only",
    "c": "bool is not converted to: compare with `!= 0`",
    "r": "random words are u32 and random numbers f32: convert them",
    "g": "not tested here",
}


def reason(name, dtype, has):
    """The letter for a hole."""
    if name in ("rand", "randn", "random_bits"):
        return "r"
    if name.startswith("dot"):
        return "d"
    if dtype in NIBBLES and name.startswith(("store", "atomic", "scatter")):
        return "o"
    if dtype in FLOAT8 + NIBBLES:
        return "s"
    if dtype == "index" and (
        name.startswith(("store", "atomic", "scatter", "gather")) or name == "bitcast"
    ):
        return "x"
    if set(has) <= {"bool"}:
        return "b"
    if dtype == "bool":
        return (
            "f"
            if set(has) <= set(FLOATS)
            else "i"
            if set(has) <= set(INTEGERS + ["index"])
            else "n"
        )
    if not isFloat(dtype) and set(has) <= set(FLOATS):
        return "f"
    if isFloat(dtype) and not set(has) & set(FLOATS):
        return "i"
    if not isFloat(dtype) and dtype != "index" and BITS[dtype] < 32:
        return "w"
    return "g"


def rows():
    """(section, [(operation, dtypes that it is tested with)])."""
    yield (
        "Element-wise",
        [(o.name, o.dtypes) for o in elementwise.TABLE if not o.name.startswith("as ")],
    )
    yield "Tiles", [(o.name, o.dtypes) for o in tilecases.TILES]
    yield "Accesses", [(o.name, o.dtypes) for o in tilecases.ACCESSES]


def refused():
    """(operation, dtype, text) of each hole that the type rules ask for, where it can be written
    down.
    """
    for operation in elementwise.TABLE + tilecases.TILES:
        text = operation.text if hasattr(operation, "text") else operation.forms[0].text
        for dtype in ALL:
            if (
                dtype in operation.dtypes
                or operation.name.startswith("as ")
                or reason(operation.name, dtype, operation.dtypes) in "gor"
            ):
                continue
            same = (
                "i16"
                if dtype == "index"
                else {"bool": "i8", "i4": "u8", "u4": "i8"}.get(dtype, "i32")
            )
            if operation.name in ("any", "all", "count"):
                text = text.replace("m1", "x1")
            yield operation.name, dtype, text.format(T=dtype, S=same, n1=4, n2=4, n3=4)
    for dtype in ALL:
        for to in ("bool", "i4", "u4"):
            if dtype != to:
                yield f"as {to}", dtype, f"a as {to}"


def table(names, columns, cell):
    lines = ["| | " + " | ".join(columns) + " |", "|---" * (len(columns) + 1) + "|"]
    for name in names:
        lines.append(f"| {name} | " + " | ".join(cell(name, column) for column in columns) + " |")
    return lines


def wrapped(paragraph, indent=""):
    return textwrap.wrap(paragraph, 100, subsequent_indent=indent, break_on_hyphens=False)


def text():
    lines = [
        "# Coverage of the conformance tests",
        "",
        *wrapped(
            "Written by `test/conformance/run.py --coverage docs/Coverage.md` from the tables that"
            " the tests are generated from; a test compares. ● is tested, on the CPU by"
            " `./dev test` and on a GPU by `./dev gpu-test`, each with the classes of shapes empty,"
            " one element, cut by the tensor's end, no power of two, several blocks, and with"
            " special values (NaN, infinities, signed zeros, subnormal numbers, extremes). A letter"
            " is a hole and names its reason; that each is refused is tested too."
        ),
        "",
    ]
    for letter, why in REASONS.items():
        lines += wrapped(f"- **{letter}**: {why}", "  ")
    holes = 0
    for section, operations in rows():
        known = dict(operations)
        lines += ["", f"## {section}", ""]
        escape = lambda name: "`" + name.replace("|", "\\|") + "`"
        names = {escape(name): name for name in known}
        lines += table(
            names,
            ALL,
            lambda shown, dtype: (
                "●"
                if dtype in known[names[shown]]
                else reason(names[shown], dtype, known[names[shown]])
            ),
        )
    lines += ["", "## Conversions (`as`; rows: from, columns: to)", ""]
    lines += table(
        [f"`{dtype}`" for dtype in elementwise.CASTS_FROM],
        elementwise.CASTS_TO + ["bool"] + NIBBLES,
        lambda shown, to: "●" if to in elementwise.CASTS_TO else "c" if to == "bool" else "o",
    )
    lines += [
        "",
        "## Products",
        "",
        *wrapped(
            "Each with extents of one, cut, no powers of two, none along K, and several blocks,"
            " both operands plain and the right one transposed, with numbers whose sums are exact,"
            " normal numbers, and NaN and infinities:"
        ),
        "",
    ]
    lines += [f"- `{product.name}`" for product in products.TABLE]
    return "\n".join(lines) + "\n"


def main(write, check):
    content = text()
    if write:
        with open(write, "w", encoding="utf-8") as file:
            file.write(content)
        return 0
    with open(check, encoding="utf-8") as file:
        same = file.read() == content
    if not same:
        print(f"{check} is out of date: run test/conformance/run.py --coverage {check}")
    return 0 if same else 1
