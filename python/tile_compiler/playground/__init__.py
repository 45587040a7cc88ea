"""A page on this machine to try kernels: edit, check, explain and run on the CPU. `python -m
tile_compiler.playground`.
"""

from ._server import Server, main

__all__ = ["Server", "main"]
