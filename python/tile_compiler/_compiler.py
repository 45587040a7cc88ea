"""Calls of tilec: where it is, what it says, as exceptions and warnings with source lines."""

import ctypes
import json
import os
import warnings

from . import _cache, _library
from ._library import Error


class CompileError(Error):
    """A kernel that does not compile. `diagnostics` are the compiler's, as `tilec
    --diagnostics-format=json` writes them: objects with `severity`, `code`, `message`, `place`,
    `labels`, `notes` and `fixIts`.
    """

    def __init__(self, diagnostics, source=None):
        super().__init__("\n".join(renderOne(one, source) for one in diagnostics))
        self.diagnostics = diagnostics

    def _render_traceback_(self):
        """For IPython: the messages, without the frames that led to the compiler."""
        return ["CompileError:"] + str(self).splitlines()

    def _repr_html_(self):
        import html

        return f"<pre>{html.escape(str(self))}</pre>"


class CompileWarning(UserWarning):
    """What the compiler warns of."""


# Modules of Python that take longer to import than all of this package are imported where they are
# needed.


def _which(name):
    """A program's path in the folders of PATH, or None."""
    for folder in os.environ.get("PATH", "").split(os.pathsep):
        path = os.path.join(folder, name)
        if folder and os.path.isfile(path) and os.access(path, os.X_OK):
            return path
    return None


def folder():
    """A temporary folder, as a context."""
    import tempfile

    return tempfile.TemporaryDirectory(prefix="tile-")


def find():
    """Path of tilec: TILEC, else beside this package, in a release, in TILE_HOME, in a build, on
    PATH.
    """
    if os.environ.get("TILEC"):
        return os.environ["TILEC"]
    here = os.path.dirname(os.path.abspath(__file__))
    root = os.path.dirname(os.path.dirname(here))
    folders = [
        os.path.join(here, "bin"),
        os.path.join(root, "bin"),
        os.path.join(root, "build", "bin"),
    ]
    if os.path.basename(os.path.dirname(here)) == "dist-packages":  # of Debian, in /usr/lib/python3
        folders.append(os.path.join(os.path.dirname(os.path.dirname(root)), "bin"))
    if os.environ.get("TILE_HOME"):
        folders.insert(0, os.path.join(os.environ["TILE_HOME"], "bin"))
    for one in folders:
        if os.access(os.path.join(one, "tilec"), os.X_OK):
            return os.path.join(one, "tilec")
    path = _which("tilec")
    if path is None:
        raise Error(
            "the compiler tilec is not found; set TILEC to its path. Looked into "
            + ", ".join(folders)
            + " and PATH"
        )
    return path


def _assembler():
    """A ptxas that another package has brought into this environment, for tilec, which finds those
    of the machine; or None.
    """
    if os.environ.get("TILE_PTXAS") or _which("ptxas"):
        return None
    packages = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    import glob

    found = glob.glob(os.path.join(packages, "nvidia", "*", "bin", "ptxas"))
    found += glob.glob(os.path.join(packages, "triton", "backends", "nvidia", "bin", "ptxas"))
    return next((path for path in sorted(found) if os.access(path, os.X_OK)), None)


OUTPUT_PACKAGE, OUTPUT_INTERFACE = 0, 1
_JSON = 1
_WRONG = 12  # TILE_ERROR_COMPILE: the source or the call is, and the message is the compiler's


def _list(texts):
    """Texts as C wants them: an array of pointers with a null at its end."""
    return (ctypes.c_char_p * (len(texts) + 1))(*(os.fsencode(text) for text in texts), None)


def compile(
    source,
    path,
    output,
    target,
    kernel=None,
    constants=(),
    attributes=(),
    extents=(),
    divisors=(),
    includes=(),
    config=None,
):
    """What tilec makes of a source text or of a file, (bytes, diagnostics), by tile_compile.h: kept
    on disk, made by one process of many. Constants, attributes, extents and divisors are
    NAME=VALUE.
    """
    library, assembler = _library.get(), _assembler()
    encode = lambda text: None if text is None else os.fsencode(text)  # noqa: E731
    if source is not None and "\0" in source:
        raise ValueError("the source has a zero byte")
    request = _library.CompileRequest(
        size=ctypes.sizeof(_library.CompileRequest),
        path=encode(path),
        source=None if source is None else source.encode(),
        target=encode(target),
        kernel=encode(kernel),
        constants=_list(constants),
        attributes=_list(attributes),
        extents=_list(extents),
        divisors=_list(divisors),
        includes=_list(includes),
        config=encode(config),
        output=output,
        flags=_JSON,
        compiler=encode(find()),
        assembler=encode(assembler),
        cache=encode(_cache.cache_folder()),
    )
    handle = ctypes.c_void_p()
    error = library.tile_compile_bytes(ctypes.byref(request), ctypes.byref(handle))
    if error and library.tile_error_code(error) == _WRONG:
        text = library.tile_error_message(error).decode(errors="replace")
        library.tile_error_free(error)
        found = readDiagnostics(text, 1)
        raise CompileError([one for one in found if one["severity"] == "error"] or found, source)
    _library.check(error)
    try:
        size = ctypes.c_size_t()
        address = library.tile_compiled_bytes(handle, ctypes.byref(size))
        payload = ctypes.string_at(address, size.value)
        _cache.count("disk" if library.tile_compiled_was_kept(handle) else "compiled")
        _cache.warnOf(library.tile_compiled_cache_problem(handle).decode(errors="replace"))
        messages = library.tile_compiled_messages(handle).decode(errors="replace")
    finally:
        library.tile_compiled_free(handle)
    return payload, readDiagnostics(messages, 0)


def warn(diagnostics, source, known=(), level=5):
    """Passes the warnings on, but for those whose text is in `known`; returns their texts."""
    texts = [renderOne(one, source) for one in diagnostics if one["severity"] == "warning"]
    for text in texts:
        if text not in known:
            warnings.warn(text, CompileWarning, stacklevel=level)
    return texts


def writeRequest(folder, **fields):
    """Path of a new compile request in `folder`, for --request; fields that say nothing are left
    out. Diagnostics are JSON, which `run` reads.
    """
    request = {"format": "tile-compile-request", "version": 1, "diagnostics_format": "json"}
    request.update((name, value) for name, value in fields.items() if value)
    path = os.path.join(folder, "request.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(request, file)
    return path


def run(words):
    """Standard output of `tilec WORDS`, which name a request of `writeRequest`, as bytes. Errors
    are raised, warnings are passed on.
    """
    import subprocess

    try:
        assembler = _assembler()
        done = subprocess.run(
            [find()] + words,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            env=dict(os.environ, TILE_PTXAS=assembler) if assembler else None,
        )
    except OSError as error:
        raise Error(f"tilec cannot be started: {error}") from None
    diagnostics = readDiagnostics(done.stderr.decode(errors="replace"), done.returncode)
    if done.returncode:
        raise CompileError(
            [one for one in diagnostics if one["severity"] == "error"] or diagnostics
        )
    warn(diagnostics, None)
    return done.stdout


def readDiagnostics(text, status):
    """The diagnostics of a call: one JSON object a line; other lines, of a call that is wrong as
    such, are errors without place.
    """
    found = []
    for line in text.splitlines():
        try:
            one = json.loads(line)
        except ValueError:
            one = None
        if isinstance(one, dict) and "severity" in one:
            found.append(one)
        elif status and line.strip():
            found.append(
                {
                    "severity": "error",
                    "code": "",
                    "message": line,
                    "place": None,
                    "labels": [],
                    "notes": [],
                    "fixIts": [],
                }
            )
    if status and not found:
        found.append(
            {
                "severity": "error",
                "code": "",
                "message": f"tilec ended with status {status} and without a message",
                "place": None,
                "labels": [],
                "notes": [],
                "fixIts": [],
            }
        )
    return found


def _lines(place, source):
    """The source lines of a file as a list, or none."""
    if place["file"] == "<stdin>":
        return source.splitlines() if source else []
    try:
        with open(place["file"], encoding="utf-8", errors="replace") as file:
            return file.read().splitlines()
    except OSError:
        return []


def _show(place, text, source):
    """A line of source with carets under a place, and a text behind them."""
    lines, begin, end = _lines(place, source), place["begin"], place["end"]
    if not 0 < begin["line"] <= len(lines):
        return []
    line = lines[begin["line"] - 1]
    # Columns count bytes.
    before = line.encode()[: begin["column"] - 1].decode(errors="replace")
    width = (
        end["column"] - begin["column"] if end["line"] == begin["line"] else len(line) - len(before)
    )
    number = str(begin["line"])
    blank = "".join("\t" if c == "\t" else " " for c in before)
    return [
        f" {number} | {line}",
        f" {' ' * len(number)} | {blank}{'^' * max(width, 1)}" + (f" {text}" if text else ""),
    ]


def _at(place):
    return f"{place['file']}:{place['begin']['line']}:{place['begin']['column']}: " if place else ""


def renderOne(one, source=None):
    """A diagnostic as text: place, message, source line, labels, notes, fixes."""
    code = f" [{one['code']}]" if one["code"] else ""
    lines = [f"{_at(one['place'])}{one['severity']}: {one['message']}{code}"]
    labels = [label for label in one["labels"] if label["place"]]
    if one["place"]:
        same = next((label["text"] for label in labels if label["place"] == one["place"]), "")
        lines += _show(one["place"], same, source)
    for label in labels:
        if label["place"] != one["place"]:
            lines += _show(label["place"], label["text"], source)
    for note in one["notes"]:
        lines.append(f"{_at(note['place'])}note: {note['text']}")
        lines += _show(note["place"], "", source) if note["place"] else []
    lines += [f"fix: {fix['text']}" for fix in one["fixIts"]]
    return "\n".join(lines)
