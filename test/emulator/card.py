"""Compiles softmax for the device at hand; prints its card and how often the compiler ran."""

import sys

import tile_compiler as tile
from tile_compiler import _compiler, _device

_compiler.compile(
    None, sys.argv[1], _compiler.OUTPUT_PACKAGE, "sm_90a", "softmax", ["T=bf16"],
    extents=["M=8192", "N=50257"],
)  # fmt: skip
print(_device.cardOf(("cuda", 0)), "compiled:", tile.cache_info()["compiled"])
