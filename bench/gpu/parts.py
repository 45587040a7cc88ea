"""Parts of a long run that take about as long as each other."""

import sys


def of(items, text):
    """The N-th of M parts "N/M" of about the same length, each a range of the items."""
    number, _, count = text.partition("/")
    if not (number.isdigit() and count.isdigit() and 1 <= int(number) <= int(count)):
        sys.exit(f"gpu.py: --part takes N/M with N from 1 to M, as in 2/6, but it is '{text}'")
    whole, before, found = sum(item.cost for item in items), 0.0, []
    for item in items:
        middle = before + item.cost / 2
        before += item.cost
        if int(middle / whole * int(count)) + 1 == int(number):
            found.append(item)
    return found
