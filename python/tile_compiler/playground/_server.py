"""The playground's server: files of the page, and calls of tilec for what the page asks.

It listens on this machine alone. Each request for work carries a word that only the page knows, so
that no other page of the browser can have code compiled or run here.
"""

import argparse
import ast
import http.server
import json
import os
import secrets
import struct
import subprocess
import sys
import tempfile
import threading
import webbrowser

from .. import _compiler

HERE = os.path.dirname(os.path.abspath(__file__))
FILES = {
    "/": ("index.html", "text/html"),
    "/page.css": ("page.css", "text/css"),
    "/page.js": ("page.js", "text/javascript"),
    "/editor.js": ("editor.js", "text/javascript"),
}
MOST_SOURCE = 1 << 20  # bytes
SECONDS = 120  # that one call of tilec may take
SHOWN_ROWS, SHOWN_COLUMNS = 8, 7
NPY_TYPES = {
    "f2": "e",
    "f4": "f",
    "f8": "d",
    "i1": "b",
    "u1": "B",
    "i2": "h",
    "u2": "H",
    "i4": "i",
    "u4": "I",
    "i8": "q",
    "u8": "Q",
    "b1": "?",
}


class Refused(Exception):
    """What the page asked for is wrong; the message says why."""


def call(words, folder):
    """Runs tilec: its exit code, standard output, and diagnostics."""
    try:
        done = subprocess.run(
            [_compiler.find()] + words + ["--diagnostics-format=json"],
            capture_output=True,
            cwd=folder,
            timeout=SECONDS,
        )
    except subprocess.TimeoutExpired:
        raise Refused(
            f"tilec {words[0]} took more than {SECONDS} seconds and was stopped"
        ) from None
    said = done.stderr.decode(errors="replace")
    return (
        done.returncode,
        done.stdout.decode(errors="replace"),
        _compiler.readDiagnostics(said, done.returncode),
        said,
    )


def split(text):
    """Options as the page gives them, word by word; only those that choose what is compiled and
    run.
    """
    words = text.split()
    allowed = (
        "-D",
        "--random",
        "--shape",
        "--config",
        "--with",
        "--target",
        "--kernel",
        "--seed",
        "-O",
    )
    expects = False
    for word in words:
        name = word.split("=")[0]
        if expects:
            expects = False
        elif name in (
            "-D",
            "--random",
            "--shape",
            "--config",
            "--with",
            "--target",
            "--kernel",
            "--seed",
        ):
            expects = "=" not in word
        elif not word.startswith(("-D", "-O")):
            raise Refused(f"'{word}' is no option that the playground takes: {', '.join(allowed)}")
    return words


def keep(words, names):
    """Of options, those with one of these names, and their values."""
    kept, takes = [], False
    for word in words:
        if takes:
            kept.append(word)
            takes = False
        elif any(
            word == name
            or word.startswith(name + "=")
            or (name in ("-D", "-O") and word.startswith(name))
            for name in names
        ):
            kept.append(word)
            takes = word in names and word not in ("-O",)
    return kept


def readNpy(path):
    """Shape and first rows of a .npy file, as text: the playground needs no NumPy."""
    with open(path, "rb") as file:
        magic = file.read(8)
        size = (
            struct.unpack("<H", file.read(2))[0]
            if magic[6] == 1
            else struct.unpack("<I", file.read(4))[0]
        )
        header = ast.literal_eval(file.read(size).decode("latin1"))
        data = file.read()
    shape, kind = header["shape"], header["descr"][1:]
    if kind not in NPY_TYPES:
        return {"shape": list(shape), "rows": [], "dtype": header["descr"]}
    width = struct.calcsize(NPY_TYPES[kind])
    dtype = "bool" if kind == "b1" else kind[0] + str(8 * int(kind[1:]))
    columns = shape[-1] if shape else 1
    count = len(data) // width
    rows = []
    for row in range(min(SHOWN_ROWS, count // columns if columns else 0)):
        shown = min(columns, SHOWN_COLUMNS)
        rows.append(
            [
                format(value, ".5g") if kind[0] == "f" else str(value)
                for value in struct.unpack_from(
                    "<" + NPY_TYPES[kind] * shown, data, row * columns * width
                )
            ]
        )
    return {
        "shape": list(shape),
        "rows": rows,
        "dtype": dtype,
        "cut": columns > SHOWN_COLUMNS or count > SHOWN_ROWS * columns,
    }


class Work:
    """What the page may ask for, on a source in a folder of its own."""

    def __init__(self, request):
        self.source = request.get("source", "")
        if not isinstance(self.source, str) or len(self.source.encode()) > MOST_SOURCE:
            raise Refused("the source is too long")
        self.words = split(str(request.get("options", "")))

    def within(self, work):
        with tempfile.TemporaryDirectory(prefix="tile-playground-") as folder:
            with open(os.path.join(folder, "kernel.tile"), "w", encoding="utf-8") as file:
                file.write(self.source)
            return work(folder)

    def check(self):
        def work(folder):
            _, _, diagnostics, _ = call(
                ["check", "kernel.tile"] + keep(self.words, ("-D", "--kernel")), folder
            )
            return {"diagnostics": diagnostics}

        return self.within(work)

    def explain(self):
        def work(folder):
            words = keep(
                self.words, ("-D", "--kernel", "--shape", "--config", "--with", "--target")
            )
            code, _, diagnostics, said = call(
                ["explain", "kernel.tile", "--html", "page.html"] + words, folder
            )
            if code:
                return {"diagnostics": diagnostics, "said": said}
            with open(os.path.join(folder, "page.html"), encoding="utf-8") as file:
                return {"diagnostics": diagnostics, "page": file.read()}

        return self.within(work)

    def run(self):
        def work(folder):
            words = keep(self.words, ("-D", "--kernel", "--random", "--seed", "-O"))
            definitions = keep(self.words, ("-D", "--kernel"))
            code, said, diagnostics, more = call(
                ["kernel.tile", "--print-abi", "--stop-after=tile", "--target", "cpu"]
                + definitions,
                folder,
            )
            if code:
                return {"diagnostics": diagnostics, "said": more}
            outputs = sorted(
                {
                    param["name"]
                    for kernel in json.loads(said)["kernels"]
                    for param in kernel["params"]
                    if param.get("access") in ("out", "inout")
                }
            )
            asked = [word for name in outputs for word in ("--out", f"{name}={name}.npy")]
            code, said, diagnostics, more = call(
                ["run", "kernel.tile", "-g", "--time"] + words + asked, folder
            )
            if code:
                return {"diagnostics": diagnostics, "said": more}
            return {
                "diagnostics": diagnostics,
                "said": said,
                "outputs": [
                    dict(readNpy(os.path.join(folder, name + ".npy")), name=name)
                    for name in outputs
                ],
            }

        return self.within(work)


class Handler(http.server.BaseHTTPRequestHandler):
    """One request. `server` is a Server."""

    def log_message(self, *words):
        pass

    def answer(self, status, kind, body):
        self.send_response(status)
        self.send_header("Content-Type", kind + "; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        self.wfile.write(body)

    def isLocal(self):
        """Whether the browser asked for this machine by name: else another page has sent it
        here.
        """
        return self.headers.get("Host", "") in self.server.hosts

    def do_GET(self):
        found = FILES.get(self.path.split("?")[0])
        if not self.isLocal() or found is None:
            return self.answer(404, "text/plain", b"not found\n")
        with open(os.path.join(HERE, found[0]), encoding="utf-8") as file:
            text = file.read().replace("@token@", self.server.token)
        return self.answer(200, found[1], text.encode())

    def do_POST(self):
        name = self.path.removeprefix("/api/") if hasattr(str, "removeprefix") else self.path[5:]
        length = int(self.headers.get("Content-Length") or 0)
        if (
            not self.isLocal()
            or self.headers.get("X-Tile-Token") != self.server.token
            or name not in ("check", "explain", "run")
        ):
            return self.answer(403, "text/plain", b"refused\n")
        if length > 2 * MOST_SOURCE:
            return self.answer(413, "text/plain", b"too long\n")
        try:
            request = json.loads(self.rfile.read(length))
            with self.server.oneAtATime:
                result = getattr(Work(request), name)()
        except Refused as refused:
            result = {"diagnostics": [], "said": str(refused)}
        except (ValueError, OSError) as error:
            return self.answer(400, "text/plain", f"{error}\n".encode())
        return self.answer(200, "application/json", json.dumps(result).encode())


class Server(http.server.ThreadingHTTPServer):
    """Serves the playground on this machine; port 0 takes a free one."""

    daemon_threads = True

    def __init__(self, port=0):
        super().__init__(("127.0.0.1", port), Handler)
        self.token = secrets.token_urlsafe(18)
        self.oneAtATime = threading.Lock()
        self.hosts = {f"{name}:{self.server_port}" for name in ("127.0.0.1", "localhost")}

    @property
    def address(self):
        return f"http://127.0.0.1:{self.server_port}/"


def main(arguments=None):
    parser = argparse.ArgumentParser(
        prog="python -m tile_compiler.playground", description=__doc__.partition("\n\n")[0]
    )
    parser.add_argument("--port", type=int, default=8765, help="0 takes a free one (default: 8765)")
    parser.add_argument("--no-browser", action="store_true", help="do not open the page")
    options = parser.parse_args(arguments)
    try:
        server = Server(options.port)
    except OSError as error:
        print(
            f"port {options.port} cannot be opened: {error}; --port 0 takes a free one",
            file=sys.stderr,
        )
        return 2
    print(f"the playground is at {server.address} (Ctrl-C ends it)", flush=True)
    if not options.no_browser:
        webbrowser.open(server.address)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        pass
    return 0
