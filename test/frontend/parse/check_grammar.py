"""Compares the grammar of docs/language/Source.md with that of the parser: check_grammar.py ROOT
[--update].

The page shows grammar/TileParser.g4 without labels, tokens as they are written.
"""

import os
import re
import sys


def grammar(root):
    """The parser's rules in the page's form."""
    with open(os.path.join(root, "grammar", "TileLexer.g4"), encoding="utf-8") as file:
        tokens = dict(re.findall(r"^([A-Z_]+) *: ('(?:[^'\\]|\\.)*') *;", file.read(), re.M))
    with open(os.path.join(root, "grammar", "TileParser.g4"), encoding="utf-8") as file:
        text = re.sub(r"//.*", "", file.read().split("}", 1)[1])
    lines = []
    for name, body in re.findall(r"^(\w+)\s*:(.*?)\s;[ \t]*$", text, re.M | re.S):
        body = re.sub(r"#\s*\w+", "", body)
        body = re.sub(r"\b\w+=(?=\w)", "", body)
        body = re.sub(r"\b[A-Z][A-Z_]*\b", lambda match: tokens.get(match[0], match[0]), body)
        alternatives = [" ".join(part.split()) for part in splitTop(body)]
        line = f"{name:<12}: " + alternatives[0]
        for part in alternatives[1:]:
            if (
                len(line.splitlines()[-1]) + len(part) + 5 > 118
                or len(alternatives) > 3
                and any(len(a) > 30 for a in alternatives)
            ):
                line += "\n" + " " * 12 + "| " + part
            else:
                line += " | " + part
        lines.append(line + " ;")
    lines.append(
        "INT         : DIGITS | '0x' [0-9a-fA-F_]+ | '0b' [01_]+ ;\nFLOAT       : DIGITS '.' DIGITS"
        " EXPONENT? | DIGITS EXPONENT ;"
    )
    return "\n".join(lines) + "\n"


def splitTop(body):
    """Alternatives at the top level of a rule."""
    parts, depth, quoted, start = [], 0, False, 0
    for k, sign in enumerate(body):
        if sign == "'":
            quoted = not quoted
        elif not quoted:
            depth += (sign == "(") - (sign == ")")
            if sign == "|" and depth == 0:
                parts.append(body[start:k])
                start = k + 1
    return parts + [body[start:]]


def main(root, update):
    path = os.path.join(root, "docs", "language", "Source.md")
    with open(path, encoding="utf-8") as file:
        page = file.read()
    shown = re.search(r"(?<=^```\n)program .*?(?=^```)", page, re.M | re.S)
    wanted = grammar(root)
    if update:
        with open(path, "w", encoding="utf-8") as file:
            file.write(page[: shown.start()] + wanted + page[shown.end() :])
        return 0
    if shown[0] == wanted:
        print(f"{len(re.findall(r'^[a-z]', wanted, re.M | re.I))} rules agree")
        return 0
    print(
        "docs/language/Source.md shows another grammar than grammar/TileParser.g4; check_grammar.py"
        " . --update writes it"
    )
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], "--update" in sys.argv))
