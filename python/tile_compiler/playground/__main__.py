"""`python -m tile_compiler.playground`."""

import sys

from ._server import main

sys.exit(main())
