"""A source that is compiled for calls: its compile requests, its interface, its builds."""

import json
import os
import re

from . import _compiler, _library
from ._tensors import DTYPES

# What a keyword of `compile` may mean beside a compile-time parameter.
ATTRIBUTES = frozenset(
    (
        "warps",
        "stages",
        "persistent",
        "grouped",
        "cluster",
        "consumers",
        "occupancy",
        "maxreg",
        "fp",
    )
)


def spell(value):
    """A value as the command line wants it: dtypes of NumPy and PyTorch by their names."""
    if isinstance(value, bool):
        return "true" if value else "false"
    name = getattr(value, "name", None) or str(value).rpartition(".")[2]
    if not isinstance(value, (int, float, str)) or isinstance(value, type):
        if name in DTYPES:
            return DTYPES[name]
    return str(value)


class Source:
    """A source with what is fixed for all of its kernels, and calls of the compiler for it."""

    def __init__(self, source, include, config, constants):
        isText = isinstance(source, str) and ("{" in source or "\n" in source)
        self.text = source if isText else None
        self.path = None if isText else os.path.abspath(os.fspath(source))
        if not isText and not os.path.isfile(self.path):
            raise FileNotFoundError(
                f"there is no file '{os.fspath(source)}', and it is no source of a kernel, either"
            )
        self.include = [os.path.abspath(os.fspath(one)) for one in include]
        self.config = None if config is None else os.path.abspath(os.fspath(config))
        self.constants = {name: spell(value) for name, value in constants.items()}
        self.warned = set()  # warnings that were passed on
        self.declared = frozenset()  # compile-time parameters, as soon as the interface is known

    @property
    def isTuned(self):
        """True if the source has a `tune` clause."""
        text = self.text
        if text is None:
            with open(self.path, encoding="utf-8", errors="replace") as file:
                text = file.read()
        return re.search(r"\btune\s*\{", re.sub(r"//.*", "", text)) is not None

    def recipe(self):
        """What makes an equal one."""
        return (
            self.text if self.text is not None else self.path,
            self.include,
            self.config,
            self.constants,
        )

    def settings(self, **more):
        """(compile-time parameters, attributes) of every call, each a list of NAME=VALUE."""
        pairs = {**self.constants, **more}.items()
        isAttribute = [name in ATTRIBUTES and name not in self.declared for name, _ in pairs]
        return tuple(
            [f"{name}={value}" for (name, value), one in zip(pairs, isAttribute) if one is wanted]
            for wanted in (False, True)
        )

    def request(self, folder, kernel, more=None, **fields):
        """Path of a compile request in `folder` (docs/CompileRequest.md): this source, one of its
        kernels, what its parameters are bound to, and more fields."""
        constants, attributes = self.settings(**(more or {}))
        return _compiler.writeRequest(
            folder,
            inputs=[os.fspath(self.asFile(folder))],
            kernel=kernel,
            defines=dict(one.split("=", 1) for one in constants),
            attributes=dict(one.split("=", 1) for one in attributes),
            includes=[os.fspath(one) for one in self.include],
            **fields,
        )

    def asFile(self, folder):
        """The source's path; a text goes into a file in `folder`, for commands that read it several
        times.
        """
        if self.path is not None:
            return self.path
        path = os.path.join(folder, "kernel.tile")
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.text)
        return path

    def interface(self, kernel):
        """The manifest's records of all instances, with their shapes and dtypes; their
        configuration means nothing.
        """
        try:
            text = self.build("cpu", kernel, output=_compiler.OUTPUT_INTERFACE)
        except _compiler.CompileError as error:
            try:  # what only `tune` chooses has a value on a GPU alone
                anyGPU = _library.get().tile_target_name(8, 0).decode()
                text = self.build(anyGPU, kernel, output=_compiler.OUTPUT_INTERFACE)
            except _compiler.CompileError:
                raise error from None
        records = json.loads(text)["kernels"]
        self.declared = frozenset(name for record in records for name in record["constants"])
        return records

    def build(
        self,
        target,
        kernel,
        chosen=None,
        extents=None,
        divisors=None,
        output=_compiler.OUTPUT_PACKAGE,
    ):
        """The bytes that tilec makes: a package, or the interface. Warnings are passed on once."""
        constants, attributes = self.settings(**(chosen or {}))
        payload, said = _compiler.compile(
            self.text,
            self.path,
            output,
            target,
            kernel,
            constants,
            attributes,
            [f"{name}={n}" for name, n in (extents or {}).items()],
            [f"{name}={n}" for name, n in (divisors or {}).items()],
            self.include,
            self.config,
        )
        self.warned.update(_compiler.warn(said, self.text, self.warned, 6))
        return payload
