"""Sends a message that is nested deep to the debug adapter and to the language server, and then
requests that must be answered."""

import json
import subprocess


def frame(text):
    return b"Content-Length: %d\r\n\r\n" % len(text) + text


def talk(name, command, messages, field):
    done = subprocess.run(command, input=b"".join(messages), capture_output=True, timeout=600)
    answers = [part for part in done.stdout.split(b"Content-Length: ") if part]
    numbers = [json.loads(part.split(b"\r\n\r\n", 1)[1]).get(field) for part in answers]
    print(f"the {name} answered {2 if 2 in numbers else numbers} and ended with {done.returncode}")


def ask(**message):
    return frame(json.dumps(message).encode())


DEEP = frame(b"[" * 1000000)
talk(
    "adapter",
    ["tilec", "debug", "--dap"],
    [
        ask(seq=1, type="request", command="initialize", arguments={}),
        DEEP,
        ask(seq=2, type="request", command="disconnect", arguments={}),
    ],
    "request_seq",
)
talk(
    "server",
    ["tilec", "lsp"],
    [
        ask(jsonrpc="2.0", id=1, method="initialize", params={"capabilities": {}}),
        DEEP,
        ask(jsonrpc="2.0", id=2, method="shutdown"),
        ask(jsonrpc="2.0", method="exit"),
    ],
    "id",
)
