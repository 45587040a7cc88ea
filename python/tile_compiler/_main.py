"""The command `tilec` of an installed wheel: the compiler that lies beside this package takes the
process over.
"""

import os
import sys

from . import _compiler


def main():
    path = _compiler.find()
    os.execv(path, [path, *sys.argv[1:]])
