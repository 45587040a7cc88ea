#!/usr/bin/env python3
"""Counts the lines of matmul, softmax and attention in .tile and in Triton, as we wrote both:
lines.py ROOT.

Without comments, docstrings and blank lines. Of a .tile file counts the kernel with its imports and
the constants and functions that it uses; of a module in Triton the kernel with the functions that
it calls, each with its decorator. What Triton leaves to the host is left out on both sides: grid,
checks of arguments and tuning, which in .tile are the kernel's clauses. The count with them stands
behind. Also checks that no kernel in .tile has a mask or an address.
"""

import ast
import os
import re
import sys

PAIRS = [
    ("matmul", ["matmul", "gelu"], "triton_matmul.py", "matmul_pointers", "GELU, bias"),
    ("softmax_rows", ["softmax_rows"], "triton_rows.py", "softmax", "rows in one tile"),
    (
        "attention",
        ["attention"],
        "triton_attention.py",
        "attention",
        "grouped queries, causal or not",
    ),
]


def tileLines(text, wanted, clauses):
    """Lines of a kernel with what it uses of its file, with or without its clauses."""
    text = re.sub(r"//.*", "", text)
    if not clauses:
        text = re.sub(
            r"^  (?:where|grid|with|tune|specialize)\b.*?(?=^\{)", "", text, flags=re.M | re.S
        )
    lines = [line for line in text.splitlines() if line.strip()]
    parts, name = {"import": []}, "import"
    for line in lines:
        if match := re.match(r"(?:kernel|fn|const) (\w+)", line):
            name = match[1]
            parts[name] = []
        parts[name].append(line)
    wanted, seen = [name for name in wanted if name in parts], ["import"]
    while wanted:
        name = wanted.pop()
        if name not in seen:
            seen.append(name)
            wanted += [
                other
                for other in parts
                if any(re.search(rf"\b{other}\b", line) for line in parts[name])
            ]
    return [line for name in parts if name in seen for line in parts[name]]


def tritonLines(text, kernel):
    """Lines of a Triton kernel with the functions of its module that it calls."""
    tree = ast.parse(text)
    functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    source, wanted, seen, lines = text.splitlines(), [kernel], [], []
    while wanted:
        name = wanted.pop()
        if name in seen:
            continue
        seen.append(name)
        node = functions[name]
        wanted += [
            call.id
            for call in ast.walk(node)
            if isinstance(call, ast.Name) and call.id in functions
        ]
        hidden = set()
        if ast.get_docstring(node):
            hidden = set(range(node.body[0].lineno, node.body[0].end_lineno + 1))
        for number in range(node.decorator_list[0].lineno, node.end_lineno + 1):
            line = source[number - 1].strip()
            if line and not line.startswith("#") and number not in hidden:
                lines.append(line)
    return lines


def main(root):
    worse = 0
    for example, parts, module, function, what in PAIRS:
        with open(
            os.path.join(root, "examples", example, example + ".tile"), encoding="utf-8"
        ) as file:
            text = file.read()
        ours, whole = tileLines(text, parts, False), tileLines(text, parts, True)
        with open(os.path.join(root, "bench", "gpu", module), encoding="utf-8") as file:
            theirs = tritonLines(file.read(), function)
        masks = [
            line
            for line in whole
            if re.search(r"\bmask\b|\bstride\b|\bpointer\b|\*\s*[A-Z]\s*\+", line)
        ]
        print(
            f"{example}: {len(ours)} lines in .tile ({len(whole)} with clauses), {len(theirs)} in"
            f" Triton ({what})"
        )
        for line in masks:
            print(f"  a mask or an address: {line.strip()}")
        worse += len(ours) >= len(theirs) or bool(masks)
    print("shorter in all" if not worse else f"not shorter in {worse}")
    return 1 if worse else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
