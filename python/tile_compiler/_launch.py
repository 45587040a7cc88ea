"""Binaries that tilec compiled: `load`, `Module`."""

import ctypes
import os
import sys
import warnings

from . import _library
from ._kernel import Kernel


class PerformanceWarning(UserWarning):
    """What makes a module slower than it could be, for instance that the driver compiles its
    PTX.
    """


def version():
    """Version of the runtime library."""
    return _library.get().tile_runtime_version().decode()


_DEVICES = {None: 0, "cuda": 1, "cpu": 2}


def load(path, device=None, key=None):
    """Loads a package, or a cubin or PTX file with the manifest that tilec wrote beside it; `bytes`
    and other buffers are a package's content. `device` is "cuda" or "cpu"; None takes CUDA where
    there is a driver with a device, else a package's code for the CPU. `key`, a public key of
    minisign ("RW...", or the text of its file), asks for a package that is signed with its
    counterpart: PATH.minisig must be the signature of PATH.
    """
    if device not in _DEVICES:
        raise ValueError(f"device is {device!r}, expected 'cuda', 'cpu' or None")
    handle, library = ctypes.c_void_p(), _library.get()
    if key is not None:
        if isinstance(path, (bytes, bytearray, memoryview)):
            raise TypeError("with key, path is the name of a package: its signature lies beside it")
        error = library.tile_module_load_signed(
            _library.encodePath(path), key.encode(), _DEVICES[device], ctypes.byref(handle)
        )
    elif isinstance(path, (bytes, bytearray, memoryview)):
        content = bytes(path)
        error = library.tile_module_load_package(
            content, len(content), _DEVICES[device], ctypes.byref(handle)
        )
    else:
        error = library.tile_module_load_device(
            _library.encodePath(path), _DEVICES[device], ctypes.byref(handle)
        )
    _library.check(error)
    return Module(handle, path, key)


class Module:
    """The kernels of one binary, by name: `module["softmax"]`."""

    def __init__(self, handle, content=None, key=None):
        self._handle = handle
        self._content, self._key = (
            content,
            key,
        )  # the path, or the package itself, and who must have signed it
        self._kernels = {}
        self._warned = 0

    def __del__(self):
        # At the interpreter's end the library may be gone before its modules.
        if getattr(self, "_handle", None) and _library is not None and not sys.is_finalizing():
            _library.get().tile_module_free(self._handle)

    @property
    def target(self):
        """What the binary is compiled for, "sm_90a"."""
        return _library.get().tile_module_target(self._handle).decode()

    @property
    def device(self):
        """ "cuda", or "cpu": tensors then lie in host memory, and a call returns when the kernel
        has ended.
        """
        return "cpu" if _library.get().tile_module_device(self._handle) == 2 else "cuda"

    def keys(self):
        """Names of the kernels, in the order of the source."""
        library = _library.get()
        count = library.tile_module_kernel_count(self._handle)
        return [
            library.tile_kernel_name(library.tile_module_kernel_at(self._handle, i)).decode()
            for i in range(count)
        ]

    def __iter__(self):
        return iter(self.keys())

    def __getitem__(self, name):
        if name not in self._kernels:
            handle = ctypes.c_void_p()
            _library.check(
                _library.get().tile_module_kernel(self._handle, name.encode(), ctypes.byref(handle))
            )
            self._kernels[name] = Kernel(self, handle)
        return self._kernels[name]

    def __len__(self):
        return len(self.keys())

    def __reduce__(self):
        """For pickle: the path, absolute, or the package itself; it is loaded again where it is
        unpickled.
        """
        if self._content is None:
            raise TypeError("a module that was not loaded by tile.load cannot be pickled")
        content = (
            os.path.abspath(os.fspath(self._content))
            if isinstance(self._content, (str, os.PathLike))
            else bytes(self._content)
        )
        return load, (content, self.device, self._key)

    def __getattr__(self, name):
        if name.startswith("_") or name not in self.keys():
            raise AttributeError(
                f"the module has no kernel '{name}'; there are " + ", ".join(self.keys())
                if name[:1] != "_"
                else name
            )
        return self[name]

    def __dir__(self):
        return [*super().__dir__(), *self.keys()]

    def prepare(self):
        """Loads the binary into the current context now, for instance before a graph is
        captured.
        """
        _library.check(_library.get().tile_module_prepare(self._handle))
        self._warn(3)

    def _warn(self, level):
        """Passes on what the runtime has to say; `level` tells whose call it is about."""
        while (text := _library.get().tile_module_warning(self._handle, self._warned)) is not None:
            self._warned += 1
            warnings.warn(text.decode(errors="replace"), PerformanceWarning, stacklevel=level)

    def __repr__(self):
        return f"<tile.Module for {self.target}: {', '.join(self.keys())}>"
