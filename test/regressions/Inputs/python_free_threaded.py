"""Imports tile as a free-threaded interpreter would: python_free_threaded.py PACKAGE, for the
CPU.
"""

import importlib.machinery
import sys
import sysconfig

import numpy

sysconfig.get_config_vars()["Py_GIL_DISABLED"] = 1
loaded = []
execute = importlib.machinery.ExtensionFileLoader.exec_module
importlib.machinery.ExtensionFileLoader.exec_module = lambda self, module: (
    loaded.append(module.__name__),
    execute(self, module),
)

import tile_compiler as tile  # noqa: E402  (after what it must see)

assert "tile_native" not in loaded and tile._library.native is None, (
    "loaded a module of the limited API"
)
x, mean = numpy.ones((3, 5), "f4"), numpy.zeros((3, 1), "f4")
tile.load(sys.argv[1], device="cpu")["row_mean"](x, mean)
assert (mean == 1).all()
