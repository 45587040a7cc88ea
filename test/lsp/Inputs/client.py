"""A client of `tilec lsp` for tests: it keeps the texts of open documents as an editor does, and
answers with plain dictionaries."""

import json
import pathlib
import re
import subprocess
import time


class Client:
    """Starts the server and speaks the protocol. `encoding` is how columns are counted."""

    def __init__(self, command, root=None, encoding="utf-16", options=None):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.encoding = encoding
        self.number = 0
        self.texts = {}  # by URI
        self.diagnostics = {}  # by URI: the last that were published
        # By method: seconds of each request, and how many of them the server computed.
        self.latencies = {}
        answer = self.request(
            "initialize",
            {
                "processId": None,
                "rootUri": root and pathlib.Path(root).resolve().as_uri(),
                "capabilities": {"general": {"positionEncodings": [encoding]}},
                "initializationOptions": options or {},
            },
        )
        self.capabilities = answer["capabilities"]
        self.notify("initialized", {})

    # Messages.
    def send(self, message):
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self.process.stdin.flush()

    def read(self):
        length = None
        while True:
            line = self.process.stdout.readline()
            if not line:
                raise EOFError(f"the server ended with {self.process.wait()}")
            if line in (b"\r\n", b"\n"):
                break
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                length = int(value)
        message = json.loads(self.process.stdout.read(length))
        if message.get("method") == "textDocument/publishDiagnostics":
            self.diagnostics[message["params"]["uri"]] = message["params"]
        return message

    def times(self):
        """Seconds by the clock, and of the server's processor, whatever else the machine does."""
        try:
            with open(f"/proc/{self.process.pid}/schedstat", encoding="ascii") as file:
                return time.perf_counter(), int(file.read().split()[0]) / 1e9
        except OSError:
            return time.perf_counter(), 0.0

    def notify(self, method, params):
        self.send({"method": method, "params": params})

    def request(self, method, params, fails=False):
        self.number += 1
        begin = self.times()
        self.send({"id": self.number, "method": method, "params": params})
        while True:
            message = self.read()
            if message.get("id") == self.number and "method" not in message:
                break
        self.latencies.setdefault(method, []).append(
            tuple(now - then for now, then in zip(self.times(), begin))
        )
        if fails:
            return message["error"]["message"]
        if "error" in message:
            raise RuntimeError(f"{method}: {message['error']}")
        return message["result"]

    # Documents.
    def open(self, uri, text, version=1):
        self.texts[uri] = text
        self.notify(
            "textDocument/didOpen",
            {"textDocument": {"uri": uri, "languageId": "tile", "version": version, "text": text}},
        )
        self.versions = getattr(self, "versions", {})
        self.versions[uri] = version

    def close(self, uri):
        self.notify("textDocument/didClose", {"textDocument": {"uri": uri}})
        del self.texts[uri], self.versions[uri]

    def position(self, uri, offset):
        """Line and column of a place in the text, which is counted in characters."""
        text = self.texts[uri]
        begin = text.rfind("\n", 0, offset) + 1
        line = text[begin:offset]
        column = (
            len(line.encode()) if self.encoding == "utf-8" else len(line.encode("utf-16-le")) // 2
        )
        return {"line": text.count("\n", 0, offset), "character": column}

    def offset(self, uri, position):
        lines = self.texts[uri].split("\n")
        line, column = lines[position["line"]], position["character"]
        cut = (
            line.encode()[:column].decode()
            if self.encoding == "utf-8"
            else line.encode("utf-16-le")[: 2 * column].decode("utf-16-le")
        )
        return sum(len(each) + 1 for each in lines[: position["line"]]) + len(cut)

    def range(self, uri, begin, end):
        return {"start": self.position(uri, begin), "end": self.position(uri, end)}

    def edit(self, uri, begin, end, text):
        """Replaces characters begin to end."""
        change = {"range": self.range(uri, begin, end), "text": text}
        self.versions[uri] += 1
        self.texts[uri] = self.texts[uri][:begin] + text + self.texts[uri][end:]
        self.notify(
            "textDocument/didChange",
            {
                "textDocument": {"uri": uri, "version": self.versions[uri]},
                "contentChanges": [change],
            },
        )

    def apply(self, workspace_edit):
        """Makes the changes of a WorkspaceEdit or a list of TextEdits by URI."""
        for uri, edits in workspace_edit["changes"].items():
            places = [
                (
                    self.offset(uri, edit["range"]["start"]),
                    self.offset(uri, edit["range"]["end"]),
                    edit["newText"],
                )
                for edit in edits
            ]
            for begin, end, text in sorted(places, reverse=True):
                self.edit(uri, begin, end, text)

    def wait_for_diagnostics(self, uri):
        """The diagnostics of the document's newest version."""
        while self.diagnostics.get(uri, {}).get("version") != self.versions[uri]:
            self.read()
        return self.diagnostics[uri]["diagnostics"]

    def ask(self, method, uri, offset=None, **more):
        params = {"textDocument": {"uri": uri}, **more}
        if offset is not None:
            params["position"] = self.position(uri, offset)
        return self.request("textDocument/" + method, params)

    def find(self, uri, text, nth=0, inside=0):
        """The offset of the nth occurrence of `text`, and `inside` characters more."""
        at = -1
        for _ in range(nth + 1):
            at = self.texts[uri].index(text, at + 1)
        return at + inside

    def end(self):
        self.request("shutdown", None)
        self.notify("exit", None)
        self.process.stdin.close()
        return self.process.wait()


def uri_of(path):
    return pathlib.Path(path).resolve().as_uri()


def thousand_lines(examples):
    """A file of at least 1,000 lines made of the examples that import nothing."""
    parts, lines = [], 0
    while lines <= 1000:
        for path in sorted(pathlib.Path(examples).glob("*/*.tile")):
            text = path.read_text()
            if "import" in text or lines > 1000:
                continue
            for name in set(re.findall(r"^(?:fn|const)\s+(\w+)", text, re.M)):
                text = re.sub(rf"\b{name}\b", f"{name}_{len(parts)}", text)
            text = re.sub(
                r"^kernel (\w+)", rf"kernel \1_{len(parts)}", text, flags=re.M
            )  # nothing refers to kernels
            parts.append(text)
            lines += text.count("\n") + 1
    return "\n".join(parts)
