"""Checks that every folder of examples is whole: check_examples.py ROOT.

NAME.tile that opens with a comment, a README of a line or two, reference.py with at least five
cases, and a reference in PyTorch of the same name in test/gpu/references.py. docs/Examples.md says
of each what its README says.
"""

import ast
import os
import re
import sys


def main(root):
    problems, count = [], 0
    with open(os.path.join(root, "test", "gpu", "references.py"), encoding="utf-8") as file:
        tree = ast.parse(file.read())
    torch = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    torch |= {
        alias.name for node in tree.body if isinstance(node, ast.ImportFrom) for alias in node.names
    }
    for node in tree.body:
        if isinstance(node, ast.Assign):
            torch |= {
                name.id
                for target in node.targets
                for name in ast.walk(target)
                if isinstance(name, ast.Name)
            }
    with open(os.path.join(root, "docs", "Examples.md"), encoding="utf-8") as file:
        page = file.read()
    examples = os.path.join(root, "examples")
    for name in sorted(os.listdir(examples)):
        folder = os.path.join(examples, name)
        # Programs that deploy a kernel have a folder without one.
        if not os.path.isdir(folder) or not any(
            part in (name + ".tile", "reference.py") for part in os.listdir(folder)
        ):
            continue
        count += 1
        text = {}
        for part in (name + ".tile", "README.md", "reference.py"):
            path = os.path.join(folder, part)
            if os.path.exists(path):
                with open(path, encoding="utf-8") as file:
                    text[part] = file.read()
            else:
                problems.append(f"examples/{name} has no {part}")
        if not text.get(name + ".tile", "//").startswith("//"):
            problems.append(f"examples/{name}/{name}.tile opens with no comment")
        if text.get("README.md", "x").count("\n") > 3:
            problems.append(f"examples/{name}/README.md is longer than three lines")
        if len(re.findall(r"\bCase\(", text.get("reference.py", "Case(" * 9))) < 5:
            problems.append(f"examples/{name}/reference.py has fewer than five cases")
        words = " ".join(text.get("README.md", "").split()).replace("|", "\\|")
        if f"| [`{name}`](../examples/{name}/{name}.tile) | {words} |" not in page:
            problems.append(
                f"docs/Examples.md does not say of {name} what examples/{name}/README.md says"
            )
        if name not in torch:
            problems.append(f"examples/{name} has no reference in test/gpu/references.py")
    print("\n".join(problems + [f"{count} examples, {len(problems)} problems"]))
    return 1 if problems or not count else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
