"""Where things are. Nothing heavy is imported here: the watchdog needs no PyTorch."""

import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# An unpacked release, or a build folder: where bin/tilec is.
HOME = os.environ.get("TILE_HOME") or (
    ROOT if os.path.exists(os.path.join(ROOT, "bin")) else os.path.join(ROOT, "build")
)
TILEC = os.path.join(HOME, "bin", "tilec")
sys.path[:0] = [
    path
    for path in (os.path.join(ROOT, "python"), os.path.join(HOME, "python"))
    if os.path.isdir(path)
]
