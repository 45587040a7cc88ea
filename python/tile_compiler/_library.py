"""The C interface of libtile_runtime by ctypes: structures, signatures, errors as exceptions."""

import ctypes
import importlib.machinery
import importlib.util
import os
import sys
import sysconfig

TENSOR, SCALAR, DEFAULT = 0, 1, 2
MAX_AXES = 8
_pointer, _size, _text = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p


class Error(RuntimeError):
    """A failure that the runtime reports. `code` is its tile_code."""

    def __init__(self, message, code=0):
        super().__init__(message)
        self.code = code


class Argument(ctypes.Structure):
    _fields_ = [
        ("kind", ctypes.c_int32),
        ("dtype", ctypes.c_int32),
        ("data", _pointer),
        ("rank", ctypes.c_int32),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("bytes", ctypes.c_int64),
        ("bits", ctypes.c_uint64),
    ]


class ParamInfo(ctypes.Structure):
    _fields_ = [
        ("name", _text),
        ("kind", ctypes.c_int32),
        ("dtype", ctypes.c_int32),
        ("access", ctypes.c_int32),
        ("rank", ctypes.c_int32),
        ("has_default", ctypes.c_int32),
        ("align", ctypes.c_uint32),
    ]


class Shape(ctypes.Structure):
    _fields_ = [
        ("dtype", ctypes.c_int32),
        ("rank", ctypes.c_int32),
        ("extents", ctypes.c_int64 * 8),
    ]


class CompileRequest(ctypes.Structure):
    _fields_ = [
        ("size", _size),
        ("path", _text),
        ("source", _text),
        ("target", _text),
        ("kernel", _text),
        ("constants", ctypes.POINTER(_text)),
        ("attributes", ctypes.POINTER(_text)),
        ("extents", ctypes.POINTER(_text)),
        ("divisors", ctypes.POINTER(_text)),
        ("includes", ctypes.POINTER(_text)),
        ("config", _text),
        ("output", ctypes.c_int32),
        ("flags", ctypes.c_uint32),
        ("compiler", _text),
        ("assembler", _text),
        ("cache", _text),
    ]


class LaunchPlan(ctypes.Structure):
    _fields_ = [
        ("instance", _pointer),
        ("programs", ctypes.c_int64),
        ("axes", ctypes.c_int32),
        ("extents", ctypes.c_int64 * MAX_AXES),
    ]


_SIGNATURES = {
    "tile_runtime_version": (_text, []),
    "tile_error_code": (ctypes.c_int, [_pointer]),
    "tile_error_message": (_text, [_pointer]),
    "tile_error_free": (None, [_pointer]),
    "tile_module_load": (_pointer, [_text, _pointer]),
    "tile_module_load_device": (_pointer, [_text, ctypes.c_int32, _pointer]),
    "tile_module_load_signed": (_pointer, [_text, _text, ctypes.c_int32, _pointer]),
    "tile_module_load_package": (_pointer, [_text, _size, ctypes.c_int32, _pointer]),
    "tile_module_device": (ctypes.c_int32, [_pointer]),
    "tile_kernel_shape": (
        _pointer,
        [_pointer, ctypes.POINTER(Argument), _size, _size, ctypes.POINTER(Shape)],
    ),
    "tile_module_prepare": (_pointer, [_pointer]),
    "tile_module_free": (None, [_pointer]),
    "tile_module_target": (_text, [_pointer]),
    "tile_module_kernel_count": (_size, [_pointer]),
    "tile_module_kernel_at": (_pointer, [_pointer, _size]),
    "tile_module_kernel": (_pointer, [_pointer, _text, _pointer]),
    "tile_kernel_launch": (
        _pointer,
        [_pointer, ctypes.POINTER(Argument), _size, _pointer, ctypes.c_uint32],
    ),
    "tile_module_warning": (_text, [_pointer, _size]),
    "tile_kernel_prepare": (_pointer, [_pointer, ctypes.POINTER(Argument), _size, _pointer]),
    "tile_prepared_launch": (
        _pointer,
        [_pointer, ctypes.POINTER(ctypes.c_uint64), _size, _pointer, ctypes.c_uint32],
    ),
    "tile_prepared_pin": (_pointer, [_pointer, _text]),
    "tile_prepared_instance": (_pointer, [_pointer]),
    "tile_prepared_free": (None, [_pointer]),
    "tile_instance_variant": (_text, [_pointer]),
    "tile_kernel_plan": (
        _pointer,
        [_pointer, ctypes.POINTER(Argument), _size, ctypes.POINTER(LaunchPlan), _pointer, _size],
    ),
    "tile_kernel_name": (_text, [_pointer]),
    "tile_kernel_doc": (_text, [_pointer]),
    "tile_kernel_instance_count": (_size, [_pointer]),
    "tile_kernel_instance": (_pointer, [_pointer, _size]),
    "tile_instance_signature": (_text, [_pointer]),
    "tile_instance_param_count": (_size, [_pointer]),
    "tile_instance_param": (ctypes.c_int, [_pointer, _size, ctypes.POINTER(ParamInfo)]),
    "tile_target_name": (_text, [ctypes.c_int32, ctypes.c_int32]),
    "tile_card_name": (_text, [_text]),
    "tile_dtype_name": (_text, [ctypes.c_int32]),
    "tile_dtype_from_name": (ctypes.c_int32, [_text]),
    "tile_compile_bytes": (_pointer, [ctypes.POINTER(CompileRequest), _pointer]),
    "tile_compiled_bytes": (_pointer, [_pointer, ctypes.POINTER(_size)]),
    "tile_compiled_messages": (_text, [_pointer]),
    "tile_compiled_was_kept": (ctypes.c_int, [_pointer]),
    "tile_compiled_cache_problem": (_text, [_pointer]),
    "tile_compiled_free": (None, [_pointer]),
    "tile_cache_folder": (_size, [_text, _size]),
    "tile_cache_clear": (_pointer, [_text]),
    "tile_xla_launch": (_pointer, [_pointer]),
    "tile_scalar_bits": (
        _pointer,
        [ctypes.c_int32, ctypes.c_double, ctypes.POINTER(ctypes.c_uint64)],
    ),
}
_library = None


def _candidates():
    """Where the library may be: TILE_RUNTIME_LIB alone if set, else beside this package, in a
    release, in TILE_HOME, in a build.
    """
    named = os.environ.get("TILE_RUNTIME_LIB")
    if named:
        return [named]
    here = os.path.dirname(os.path.abspath(__file__))
    root = os.path.dirname(os.path.dirname(here))
    folders = [
        here,
        os.path.join(here, "lib"),
        os.path.join(os.path.dirname(here), "lib"),
        os.path.join(root, "lib"),
    ]
    if os.environ.get("TILE_HOME"):
        folders.insert(0, os.path.join(os.environ["TILE_HOME"], "lib"))
    folders.append(os.path.join(root, "build", "lib"))
    if os.path.basename(os.path.dirname(here)) == "dist-packages":  # of Debian, in /usr/lib/python3
        folders.append(os.path.dirname(root))
    return [os.path.join(folder, "libtile_runtime.so") for folder in folders]


def get():
    """The library, loaded once."""
    global _library
    if _library is not None:
        return _library
    candidates = _candidates()
    path = next((path for path in candidates if os.path.exists(path)), None)
    if path is None:
        raise ImportError(
            "libtile_runtime.so is not found; set TILE_RUNTIME_LIB to its path. Looked at "
            + ", ".join(candidates)
        )
    try:
        library = ctypes.CDLL(path)
    except OSError as error:
        raise ImportError(f"libtile_runtime.so cannot be loaded: {error}") from None
    for name, (result, parameters) in _SIGNATURES.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, parameters
    _library = library
    return library


class _Launcher:
    """What tile_native.Launcher is, where there is no such module: every call takes the slow
    path.
    """

    def bind(self, launch, kernel, onHost, params, layouts):
        pass

    def __call__(self, *values, **named):
        return self._slowCall(*values, **named)


def _loadNative():
    """The module tile_native (python/native.c) beside the library, or None. A free-threaded Python
    lists .abi3.so among what it loads, but its objects are laid out otherwise: there the module
    would crash. It is built for the stable ABI of 3.10.
    """
    if (
        sysconfig.get_config_var("Py_GIL_DISABLED")
        or sys.version_info < (3, 10)
        or sys.implementation.name != "cpython"
    ):
        return None
    for candidate in _candidates():
        path = os.path.join(os.path.dirname(candidate), "tile_native.abi3.so")
        if os.path.exists(path) and not os.environ.get("TILE_NO_NATIVE"):
            try:
                loader = importlib.machinery.ExtensionFileLoader("tile_native", path)
                module = importlib.util.module_from_spec(
                    importlib.util.spec_from_loader("tile_native", loader)
                )
                loader.exec_module(module)
                return module
            except ImportError:  # of another Python than CPython 3.10 or later
                return None
    return None


native = _loadNative()
Launcher = native.Launcher if native else _Launcher


def launchAddress(isPrepared=False):
    """Address of tile_kernel_launch, or of tile_prepared_launch."""
    library = get()
    return ctypes.cast(
        library.tile_prepared_launch if isPrepared else library.tile_kernel_launch, ctypes.c_void_p
    ).value


def launchFlags(check):
    """The flags for what a call's `check` says: True, False or "memory"."""
    if isinstance(check, str) and check != "memory":
        raise ValueError(f"check is {check!r}, expected True, False or 'memory'")
    return 2 if check == "memory" else 0 if check else 1


def encodePath(path):
    """A path, of any kind that `open` takes, as bytes."""
    return os.fsencode(path)


def check(error):
    """Raises the error that a call returned, if it did."""
    if not error:
        return
    library = get()
    message, code = (
        library.tile_error_message(error).decode(errors="replace"),
        library.tile_error_code(error),
    )
    library.tile_error_free(error)
    raise Error(message, code)
