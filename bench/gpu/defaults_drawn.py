"""Cases of bench/defaults.py whose shapes a seed draws: rows of models/drawn.py that are one launch
of ours.
"""

from .defaults import Case
from .models import drawn


class Drawn(Case):
    """The first of an item's contenders that are ours."""

    def __init__(self, item, part):
        super().__init__(
            item.family,
            part.name,
            part.fixed,
            part.shape,
            make=lambda: item,
            names="",
            outputs="",
            kernel=part.kernel,
        )
        self.part = part

    def values(self, data):
        return self.part.arguments(data)


def cases(seed, count):
    found = []
    for item in drawn.items(seed, count):
        parts = next(each.parts for each in item.contenders(item) if each.who == "tile")
        if len(parts) == 1:
            found.append(Drawn(item, parts[0]))
    return found
