"""A kernel compiled and called with nothing but Python itself, for versions that no NumPy is
installed for.
"""

import array
import sys
import sysconfig

import tile_compiler as tile


class Floats:
    """As much of an array as the kernel needs."""

    def __init__(self, numbers):
        self.data = array.array("f", numbers)
        address, count = self.data.buffer_info()
        self.shape = (count,)
        self.__array_interface__ = {
            "version": 3,
            "shape": self.shape,
            "typestr": "<f4",
            "data": (address, False),
            "strides": None,
        }


kernel = tile.compile(
    "kernel twice(x: in f32[N], y: out f32[N]) where N in 1..=4096, align(x, 4), align(y, 4) "
    "grid (i: cdiv(N, 64)) { let n = block(i, 64); y[n] = x[n] + x[n]; }"
)
x, y = Floats(range(100)), Floats([0] * 100)
for _ in range(3):
    kernel(x, y)
assert list(y.data) == [2 * n for n in range(100)], list(y.data)
try:
    kernel(x, Floats([0] * 7))
except tile.Error as error:
    assert "N = 7" in str(error), error
else:
    raise SystemExit("a wrong call succeeded")
gil = "" if getattr(sys, "_is_gil_enabled", lambda: True)() else ", without the GIL"
threads = "t" if sysconfig.get_config_var("Py_GIL_DISABLED") else ""
print(
    f"{sys.version_info[0]}.{sys.version_info[1]}{threads}{gil}:"
    f" {'with' if tile._library.native else 'without'} tile_native"
)
