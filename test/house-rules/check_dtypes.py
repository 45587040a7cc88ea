"""Compares texts that have to stand alone with manifest/Dtypes.def: check_dtypes.py ROOT. They are
the enumerators of compiler, runtime and public header, what the launcher's core says and decodes
(generated C carries it), the table of the Python package and the enumeration of the package's
schema.

With --update it writes them first.
"""

import os
import re
import sys

HEADER = '''"""The dtypes of the language, written from manifest/Dtypes.def by
test/house-rules/check_dtypes.py --update.
"""

# (name, bits, family, DLPack's type code, NumPy's type string without the order of bytes, the name
# in PyTorch, and in NumPy or ml_dtypes), None where there is none.
'''


def rows(root):
    """The table's rows: of all dtypes, and of floats."""
    with open(os.path.join(root, "manifest", "Dtypes.def"), encoding="utf-8") as file:
        text = file.read()

    def read(macro):
        return [
            [column.strip().strip('"') for column in row.split(",")]
            for row in re.findall(rf"^{macro}\((.*)\)$", text, re.M)
        ]

    return read("DTYPE"), read("FLOAT")


def filled(text, pattern, content):
    """`text` with `content` in the place of the one group of `pattern`."""
    found = list(re.finditer(pattern, text, re.S))
    if len(found) != 1:
        raise SystemExit(f"there is no one place for the dtypes: {pattern}")
    return text[: found[0].start(1)] + content + text[found[0].end(1) :]


def texts(root):
    """[(path, what it has, what it should have)]"""
    dtypes, floats = rows(root)
    found = []

    def place(path, pattern, content):
        with open(os.path.join(root, path), encoding="utf-8") as file:
            text = file.read()
        found.append((path, text, filled(text, pattern, content)))

    written = "      /* Written from manifest/Dtypes.def. */\n"
    names = [f"  TILE_{row[0].upper()}" for row in dtypes]
    enumerators = "".join(f"  {row[0]},\n" for row in dtypes)
    place("manifest/Dtype.h", r"enum class Dtype : uint8_t \{\n(.*?)\};", enumerators[:-2] + "\n")
    place("frontend/Sema/DTypes.h", r"enum class DType : uint8_t \{\n(.*?)  Index\n", enumerators)
    place(
        "runtime/include/tile_types.h",
        r"typedef enum tile_dtype \{\n(.*?)\} tile_dtype;",
        ",\n".join(names) + "\n",
    )
    place(
        "launch/core/Message.c",
        r"static const char \*const names\[\] = \{\n([^}]*?)  \};\n  return dtype",
        written + "".join(f'      "{row[1]}",\n' for row in dtypes),
    )
    place(
        "launch/core/Value.c",
        r"\} formats\[\] = \{\n(.*?)  \};\n",
        written
        + "".join(
            f"      {{TILE_{name.upper()}, {', '.join(format)}}},\n"
            for name, *format, _, _ in floats
        ),
    )
    place(
        "formats/package.schema.json",
        r'"dtype": \{"enum": (\["bool"[^]]*\])',
        "[" + ", ".join(f'"{row[1]}"' for row in dtypes) + "]",
    )
    table = HEADER + "ROWS = (\n"
    for _, name, bits, family, _, _, dlpack, _, npy, array in dtypes:
        code = dlpack if int(dlpack) >= 0 else None
        quoted = [f'"{each}"' if each else None for each in (npy, array)]
        table += f'    ("{name}", {bits}, "{family}", {code}, {quoted[0]}, {quoted[1]}),\n'
    path = os.path.join("python", "tile_compiler", "_dtypes.py")
    text = ""
    if os.path.exists(os.path.join(root, path)):
        with open(os.path.join(root, path), encoding="utf-8") as file:
            text = file.read()
    found.append((path, text, table + ")\n"))
    return found


def main(root, *options):
    problems = 0
    every = texts(root)
    for path, text, wanted in every:
        if text.split() == wanted.split():  # clang-format breaks lines
            continue
        if "--update" in options:
            with open(os.path.join(root, path), "w", encoding="utf-8") as file:
                file.write(wanted)
        else:
            problems += 1
            print(
                f"{path} has other dtypes than manifest/Dtypes.def: check_dtypes.py ROOT --update"
            )
    print(f"{len(every)} files, {problems} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
