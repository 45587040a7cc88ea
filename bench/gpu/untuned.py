"""Our kernels as whoever has not tuned anything gets them: `tilec FILE --shape SHAPE`, with no
definitions but dtypes, sizes and what the result is. Variants that the command line names take part
beside each other instead.
"""

from .items import Contender
from .ours import ATTRIBUTES, Binary, Settings, available, declaresKernel, describe, source


class Part:
    """One launch.

    name, kernel   the example, and its kernel if it has another name
    shape          extents of the dimensions
    arguments      arguments(data): what is launched with, by name
    fixed          definitions: dtypes, sizes, variants of the result
    """

    def __init__(self, name, shape, arguments, fixed=None, kernel=None):
        self.name, self.kernel, self.shape = name, kernel or name, shape
        self.arguments, self.fixed = arguments, dict(fixed or {})

    def binary(self, release=None, choice=None):
        """choice: attributes of the kernel and definitions beside the fixed ones."""
        shape = ",".join(f"{name}={extent}" for name, extent in self.shape.items())
        attributes, definitions = {}, dict(self.fixed)
        for key, value in (choice or {}).items():
            (attributes if key in ATTRIBUTES else definitions)[key] = value
        return Binary.get(self.name, definitions, attributes, self.kernel, release, shape)


def defaults(parts, outputs, variant="", view=None):
    """Ours, and what --against or --set older adds: a list of contenders. parts: launches in their
    order; outputs(data): results by name; view(data, outputs): what of them is compared.
    """
    found = []
    for choice in Settings.variants or [{}]:
        name = ",".join(filter(None, (variant, describe(choice, {}) if choice else "")))
        found.append(_contender("tile", parts, outputs, name, view, None, choice))
    if Settings.against:
        other = Settings.against
        found.append(_contender(other.who, parts, outputs, variant, view, other, {}))
    return found


def _contender(who, parts, outputs, variant, view, release, choice):
    def build(data):
        launches = [
            (part.binary(release, choice).load()[part.kernel], part.arguments(data))
            for part in parts
        ]
        results = outputs(data)

        def call():
            for launch, values in launches:
                launch(**values)
            return results

        call.notes = max(
            (part.binary(release, choice).notes for part in parts),
            key=lambda notes: notes.get("spill_bytes", 0),
        )
        if view:
            call.view = lambda found: view(data, found)
        return call

    def compile(data):
        for part in parts:
            part.binary(release, choice).compile()

    contender = Contender(who, build, variant, compile=compile)
    contender.parts = parts
    return contender


def accepts(name, parameter, value):
    """Whether an example lists the value for a compile-time parameter: `D: int in {64, 128}`."""
    import re

    if not available(name):
        return False
    with open(source(name), encoding="utf-8") as stream:
        found = re.search(rf"\b{parameter}: \w+ in \{{([^}}]*)\}}", stream.read())
    return found is not None and str(value) in [each.strip() for each in found[1].split(",")]
