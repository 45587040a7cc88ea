"""Kernels of packages as functions that make their outputs: nothing is compiled, tilec need not be
there.
"""

import io
import json
import os
import zipfile

from . import _function
from ._launch import load
from ._library import Error


def function(name, module):
    """A `Function` of a kernel of a module that was loaded from a package, or from a file with its
    manifest.
    """
    content = module._content
    isPath = isinstance(content, (str, os.PathLike))
    if isPath and not zipfile.is_zipfile(content):
        with open(os.fspath(content) + ".json", encoding="utf-8") as file:
            units = [json.load(file)]
    else:
        with zipfile.ZipFile(content if isPath else io.BytesIO(content)) as archive:
            units = json.loads(archive.read("manifest.json"))["modules"]
    for unit in units:
        records = [one for one in unit["kernels"] if one["name"] == name]
        generic = [one for one in records if not one.get("specialize")]
        if records:
            return Loaded(name, generic or records, module)
    raise Error(f"there is no kernel '{name}' in the manifest", 9)


class Loaded(_function.Function):
    """A kernel of a package, for the devices that it has code for."""

    def __init__(self, name, records, module):
        super().__init__(None, records, None)
        self._content, self._key, self._modules = (
            module._content,
            module._key,
            {module.device: module},
        )

    def _compile(self, places, place=None):
        device = (place or self._placeOf(places))[0]
        if device not in self._modules:
            self._modules[device] = load(self._content, device, self._key)
        return self._modules[device][self.name]

    def __reduce__(self):
        return function, (self.name, next(iter(self._modules.values())))

    def explain(self, *values, **named):
        raise Error(
            f"{self.name}: the cost model needs the source; tile.compile gives a kernel that"
            " explains itself"
        )

    def tune(self, *values, **named):
        raise Error(
            f"{self.name}: tuning needs the source; tile.compile gives a kernel that can be tuned"
        )
