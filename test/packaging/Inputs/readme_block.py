"""Prints the first block of Python in a page: readme_block.py PAGE."""

import re
import sys

with open(sys.argv[1], encoding="utf-8") as file:
    print(re.search(r"^```python\n(.*?)^```", file.read(), re.M | re.S)[1])
