"""Checks that editors/ knows every word of the language: check_editors.py ROOT compares with
grammar, built-ins and attributes.

With --update it writes built-ins and dtypes of the compiler's tables into the editors' files first.
"""

import json
import os
import re
import sys
import textwrap


def read(root, *path):
    with open(os.path.join(root, *path), encoding="utf-8") as file:
        return file.read()


def words(root):
    """{word: the kind of word that it is} of the language."""
    lexer = read(root, "grammar", "TileLexer.g4")
    found = {word: "keyword" for word in re.findall(r"^[A-Z]+ *: '([A-Za-z]+)' ;", lexer, re.M)}
    found |= {
        word: "reserved"
        for word in re.findall(r"'(\w+)'", re.search(r"^RESERVED : (.*)$", lexer, re.M)[1])
    }
    found |= {
        word: "built-in"
        for word in re.findall(r'\{"(\w+)", F::', read(root, "frontend", "Sema", "Builtins.cpp"))
    }
    found |= {word: "dtype" for word in dtypes(root)}
    attributes = read(root, "frontend", "Sema", "Attributes.cpp")
    for line in re.findall(r"names = \{(.*?)\};", attributes, re.S):
        found |= {word: "attribute" for word in re.findall(r'"(\w+)"', line)}
    return found


def dtypes(root):
    """The dtypes in the table's order, and the one that no memory holds."""
    return re.findall(r'^DTYPE\(\w+, "(\w+)"', read(root, "manifest", "Dtypes.def"), re.M) + [
        "index"
    ]


def rewrite(root, path, pattern, text):
    """Puts `text` in the place of the one match of `pattern` in a file."""
    old = read(root, *path)
    if len(re.findall(pattern, old, re.S)) != 1:
        raise SystemExit(f"{'/'.join(path)} has no place for the built-ins: {pattern}")
    with open(os.path.join(root, *path), "w", encoding="utf-8") as file:
        file.write(re.sub(pattern, lambda _: text, old, flags=re.S))


def update(root):
    """Writes the built-ins and dtypes, in the tables' order, into the editors' files."""
    types = " ".join([*dtypes(root), "int", "float", "string", "dtype"])
    rewrite(
        root,
        ("editors", "vim", "syntax", "tile.vim"),
        r"(?:syntax keyword tileType [^\n]*\n)+",
        "".join(f"syntax keyword tileType {line}\n" for line in textwrap.wrap(types, 72)),
    )
    lines = textwrap.wrap(types, 92)
    quoted = "\n".join(f'    "{line}{" " if line is not lines[-1] else ""}"' for line in lines)
    rewrite(
        root,
        ("editors", "pygments", "tile_pygments", "__init__.py"),
        r"(?<=\n)TYPES = \(.*?\)\.split\(\)",
        f"TYPES = (\n{quoted}\n).split()",
    )
    rewrite(
        root,
        ("editors", "vscode", "tile.tmLanguage.json"),
        r'(?<="storage\.type\.tile",\n      "match": "\\\\b\()[^()]*(?=\))',
        types.replace(" ", "|"),
    )
    table = read(root, "frontend", "Sema", "Builtins.cpp")
    rows = re.findall(r'\{"(\w+)", F::(\w+),', table)
    names = [name for name, _ in rows]
    lines = textwrap.wrap(" ".join(names), 92)
    quoted = "\n".join(f'    "{line}{" " if line is not lines[-1] else ""}"' for line in lines)
    rewrite(
        root,
        ("editors", "pygments", "tile_pygments", "__init__.py"),
        r"BUILTINS = \(.*?\)\.split\(\)",
        f"BUILTINS = (\n{quoted}\n).split()",
    )
    vim = "".join(
        f'syntax match tileBuiltin "\\v<({line.replace(" ", "|")})>\\ze\\s*\\("\n'
        for line in textwrap.wrap(" ".join(name for name in names if name != "where"), 58)
    )
    rewrite(
        root,
        ("editors", "vim", "syntax", "tile.vim"),
        r"(?:syntax match tileBuiltin [^\n]*\n)+",
        vim,
    )
    # Of two names that begin alike the longer one stands first.
    plain = sorted(
        (name for name, family in rows if family not in ("Range", "Access") and name != "where"),
        key=lambda name: (-len(name), name),
    )
    rewrite(
        root,
        ("editors", "vscode", "tile.tmLanguage.json"),
        r"(?<=\\b\()static_assert\|[a-z0-9_|]*(?=\))",
        "|".join(plain),
    )


def main(root, *options):
    if "--update" in options:
        update(root)
    vim = read(root, "editors", "vim", "syntax", "tile.vim")
    known = set(
        re.findall(r"\w+", " ".join(re.findall(r"^syntax (?:keyword|match) (.*)$", vim, re.M)))
    )
    grammar = json.loads(read(root, "editors", "vscode", "tile.tmLanguage.json"))
    patterns = [
        rule[key]
        for rule in grammar["patterns"]
        for key in ("match", "begin", "end")
        if key in rule
    ]
    shown = set()
    for pattern in patterns:
        re.compile(pattern)
        shown |= set(re.findall(r"\w+", re.sub(r"\\[bswdv]", " ", pattern)))
    coloured = set(
        re.findall(r"\w+", read(root, "editors", "pygments", "tile_pygments", "__init__.py"))
    )
    problems = [
        f"editors/{name} does not know the {kind} '{word}'"
        for name, has in (("vim", known), ("vscode", shown), ("pygments", coloured))
        for word, kind in sorted(words(root).items())
        if word not in has
    ]
    number = next(
        rule["match"] for rule in grammar["patterns"] if "numeric" in rule.get("name", "")
    )
    problems += [
        f"'{text}' is no number to editors/vscode"
        for text in ("42", "1_000", "0xff", "0b10", "1.5", "2e-5")
        if not re.fullmatch(number, text)
    ]
    json.loads(read(root, "editors", "vscode", "package.json"))
    print("\n".join(problems + [f"{len(words(root))} words, {len(problems)} problems"]))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
