"""Stands for ptxas: writes a cubin that has of each kernel nothing but its products by wgmma, at
some levels not all. LOSES holds a letter for each level from -O0 on: `a`: all products are there,
`l`: the first is left out, `r`: its sums go nowhere; behind them, `h` and `g`: an instruction for
two tests of which the first or the second alone is kept, `b`: one of which both are.
"""

import os
import re
import struct
import sys

TWO_TESTS = 0x0000000000C8781C  # PLOP3.LUT with 0xc8 for its second result
RESULTS = {"h": 0x000FC80004F0F000, "g": 0x000FC800049EF000, "b": 0x000FC8000490F000}
PRODUCT, NOWHERE = 0x03E00000101879F0, 0xFF0000  # HGMMA R24, and the bits of no register


def section(name, kind, at, size):
    return struct.pack("<IIQQQQIIQQ", name, kind, 0, 0, at, size, 0, 0, 16, 0)


def elf(kernels):
    names, code, heads = b"\0", b"", [section(0, 0, 0, 0)]
    for kernel, instructions in kernels.items():
        text = b"".join(struct.pack("<QQ", *words) for words in instructions)
        heads.append(section(len(names), 1, 64 + len(code), len(text)))
        names, code = names + f".text.{kernel}".encode() + b"\0", code + text
    heads.append(section(len(names), 3, 64 + len(code), len(names) + 10))
    names += b".shstrtab\0"
    body = code + names
    body += bytes(-len(body) % 16)
    ident = b"\x7fELF\2\1\1" + bytes(9)
    head = struct.pack("<HHIQQQIHHHHHH", 2, 190, 1, 0, 0, 64 + len(body), 0, 64, 0, 0, 64,
                       len(heads), len(heads) - 1)  # fmt: skip
    return ident + head + body + b"".join(heads)


level = int(next(word for word in sys.argv if re.fullmatch("-O[0-3]", word))[2:])
output = sys.argv.index("-o")
with open(sys.argv[output - 1], encoding="utf-8") as file:
    ptx = file.read()
kernels = {}
for entry in ptx.split(".entry ")[1:]:
    products = [PRODUCT] * entry.count("wgmma.mma_async")
    form = os.environ["LOSES"][level]
    if form == "l":
        products = products[1:]
    elif form == "r":
        products[0] |= NOWHERE
    instructions = [(word, 0) for word in products]
    if form in RESULTS:
        instructions.append((TWO_TESTS, RESULTS[form]))
    kernels[re.match(r"\w+", entry)[0]] = instructions
with open(sys.argv[output + 1], "wb") as file:
    file.write(elf(kernels))
