"""Where the compiler and the runtime are that a program of this folder tries on a GPU."""

import argparse
import os

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def parse(description):
    """The command line: `home`, a release or a build folder, absolute, and `target`."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--home", default=os.environ.get("TILE_HOME") or os.path.join(ROOT, "build")
    )
    parser.add_argument("--target", default="sm_90a")
    options = parser.parse_args()
    options.home = os.path.abspath(options.home)
    return options
