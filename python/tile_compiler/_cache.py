"""What was compiled, kept on disk for later processes and in memory for this one. The folder is
that of the C interface (tile_compile.h), which reads and writes it; here are its name, counters,
and what is held in memory.
"""

import ctypes
import itertools
import os
import threading
import warnings

from . import _library

_lock = threading.Lock()
_counters = {"memory": 0, "disk": 0, "compiled": 0}
_hits = (
    itertools.count()
)  # of what was found in memory by calls that must cost little: counting takes no lock
_taken = 0  # of them, in the counters already; reading counts, too
hit = _hits.__next__
_chosen = None
_problems = set()  # of folders that are not used, each said once
_memories = []  # functions that forget what they hold in memory
_kept = []  # files that live as long as this process


def cache_folder(path=None):
    """The folder in which compiled kernels are kept; with `path`, it is that one from now on. By
    default `tile` in XDG_CACHE_HOME, which is ~/.cache where it is not set.
    """
    global _chosen
    if path is not None:
        _chosen = os.path.abspath(os.fspath(path))
    if _chosen:
        return _chosen
    library = _library.get()
    buffer = ctypes.create_string_buffer(library.tile_cache_folder(None, 0) + 1)
    library.tile_cache_folder(buffer, len(buffer))
    return os.fsdecode(buffer.value)


def cache_info():
    """How often this process found a kernel in memory, found one on disk, and compiled: {"memory":
    7, "disk": 1, "compiled": 2, "folder": "..."}.
    """
    folder = cache_folder()
    with _lock:
        _counters["memory"] += _takeHits()
        return dict(_counters, folder=folder)


def _takeHits():
    """How many hits there were since the last time. Called with the lock held."""
    global _taken
    count = next(_hits)
    found, _taken = count - _taken, count + 1
    return found


def clear():
    """Forgets every compiled kernel, in memory and on disk."""
    for forget in list(_memories):
        forget()
    _library.check(_library.get().tile_cache_clear(os.fsencode(cache_folder())))
    with _lock:
        _takeHits()
        _counters.update(dict.fromkeys(_counters, 0))


def onClear(forget):
    """Registers a function to be called by `clear`."""
    _memories.append(forget)


def count(what, times=1):
    with _lock:
        _counters[what] += times


def warnOf(problem):
    """Says once that a folder is not used: "'/tmp/x': others may write to it"."""
    if problem and problem not in _problems:
        _problems.add(problem)
        warnings.warn(
            f"compiled kernels are not kept in {problem}; choose another folder by"
            " tile.cache_folder(path)",
            RuntimeWarning,
            stacklevel=2,
        )


def keep(content, ending):
    """The path of a file with this content, as long as this process lives."""
    import tempfile

    file = tempfile.NamedTemporaryFile(prefix="tile-", suffix=ending)
    file.write(content)
    file.flush()
    _kept.append(file)
    return file.name
