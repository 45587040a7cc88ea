"""Names the module as it was named first."""

import os, tile
from tile import load
import tile_compiler as tile
