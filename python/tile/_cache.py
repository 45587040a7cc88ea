"""What was compiled, kept on disk for later processes and in memory for this one.

One file holds one entry: a line of JSON, then the payload. The line has the payload's SHA-256 and the files that it was made of with
theirs, so that a damaged or outdated entry is made again. Entries are made under a lock of their own, by one process at a time, and
appear whole.
"""
import contextlib
import fcntl
import hashlib
import json
import os
import tempfile
import threading
import warnings

_FORMAT = "tile-cache 1"
_lock = threading.Lock()
_counters = {"memory": 0, "disk": 0, "compiled": 0}
_chosen = None
_problem = {}        # folder: why it is not used
_memories = []       # functions that forget what they hold in memory


def cache_folder(path=None):
    """The folder in which compiled kernels are kept; with `path`, it is that one from now on. By default `tile` in XDG_CACHE_HOME,
    which is ~/.cache where it is not set."""
    global _chosen
    if path is not None:
        _chosen = os.path.abspath(os.fspath(path))
    if _chosen:
        return _chosen
    return os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache"), "tile")


def cache_info():
    """How often this process found a kernel in memory, found one on disk, and compiled: {"memory": 7, "disk": 1, "compiled": 2,
    "folder": "..."}."""
    with _lock:
        return dict(_counters, folder=cache_folder())


def clear():
    """Forgets every compiled kernel, in memory and on disk."""
    for forget in list(_memories):
        forget()
    folder = cache_folder()
    names = os.listdir(folder) if os.path.isdir(folder) else []
    for name in names:
        if name.endswith(".entry"):
            with contextlib.suppress(FileNotFoundError):
                os.remove(os.path.join(folder, name))
    with _lock:
        _counters.update(dict.fromkeys(_counters, 0))


def onClear(forget):
    """Registers a function to be called by `clear`."""
    _memories.append(forget)


def count(what):
    with _lock:
        _counters[what] += 1


def hashOf(*parts):
    """SHA-256 of texts and bytes, each with its length, as hexadecimal digits."""
    digest = hashlib.sha256()
    for part in parts:
        data = part if isinstance(part, bytes) else str(part).encode(errors="surrogateescape")
        digest.update(len(data).to_bytes(8, "little") + data)
    return digest.hexdigest()


def hashOfFile(path):
    """SHA-256 of a file's content, or None where it cannot be read."""
    try:
        with open(path, "rb") as file:
            return hashOf(file.read())
    except OSError:
        return None


def obtain(key, make):
    """The payload under `key`: from disk, else `make()`, which returns it with the paths that it depends on."""
    folder = _usable(cache_folder())
    if folder is None:
        count("compiled")
        return make()[0]
    path = os.path.join(folder, key + ".entry")
    payload = _read(path)
    if payload is None:
        with open(os.path.join(folder, key + ".lock"), "a") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)    # goes with the file, and with the process
            payload = _read(path)
            if payload is None:
                payload, dependencies = make()
                count("compiled")
                _write(path, payload, dependencies)
                return payload
    count("disk")
    return payload


def keep(content, ending):
    """The path of a file with this content, whose name follows from it."""
    folder = _usable(cache_folder()) or tempfile.mkdtemp(prefix="tile-")
    path = os.path.join(folder, hashOf(content)[:32] + ending)
    with tempfile.NamedTemporaryFile(dir=folder, suffix=".tmp", delete=False) as file:
        file.write(content)
    os.replace(file.name, path)
    return path


def _usable(folder):
    """The folder, made where it is missing, or None, after one warning, where it cannot be used or others could write to it."""
    if folder in _problem:
        return None
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        status = os.stat(folder)
        if status.st_uid != os.geteuid():
            problem = "it belongs to another user"
        elif status.st_mode & 0o022:
            problem = "others may write to it"
        elif not os.access(folder, os.W_OK | os.X_OK):
            problem = "it is read-only"
        else:
            return folder
    except OSError as error:
        problem = error.strerror
    _problem[folder] = problem
    warnings.warn(f"compiled kernels are not kept in '{folder}': {problem}; choose another folder by tile.cache_folder(path)",
                  RuntimeWarning, stacklevel=2)
    return None


def _read(path):
    """The payload of an entry whose content and dependencies are unchanged, else None."""
    try:
        with open(path, "rb") as file:
            content = file.read()
    except OSError:
        return None
    line, _, payload = content.partition(b"\n")
    try:
        head = json.loads(line)
        good = head["format"] == _FORMAT and head["payload"] == hashOf(payload)
        good = good and all(hashOfFile(name) == content for name, content in head["dependencies"])
    except (ValueError, KeyError, TypeError):
        return None
    return payload if good else None


def _write(path, payload, dependencies):
    """Puts an entry in place; where the disk is full, there is none."""
    head = {"format": _FORMAT, "payload": hashOf(payload), "dependencies": [[name, hashOfFile(name)] for name in dependencies]}
    temporary = None
    try:
        with tempfile.NamedTemporaryFile(dir=os.path.dirname(path), suffix=".tmp", delete=False) as file:
            temporary = file.name
            file.write(json.dumps(head).encode() + b"\n" + payload)
        os.replace(temporary, path)
    except OSError:
        if temporary:
            with contextlib.suppress(OSError):
                os.remove(temporary)
