"""Where unpacked releases, older ones too, have what the benchmarks take from them."""

import os


def moduleFolder(home):
    """The module for Python, which was `tile` in the first versions."""
    names = [os.path.join(home, "python", name) for name in ("tile_compiler", "tile")]
    return next(filter(os.path.isdir, names), names[0])
