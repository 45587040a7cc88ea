"""Launches twice over the debug adapter: while the kernel is stopped, and with wrong arguments."""

import json
import subprocess
import sys

KERNEL = sys.argv[1]
PROCESS = subprocess.Popen(
    ["tilec", "debug", "--dap"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
)
EVENTS = []


def read():
    length = 0
    while (line := PROCESS.stdout.readline()) != b"\r\n":
        assert line, "the adapter has ended"
        length = int(line.split(b":")[1])
    return json.loads(PROCESS.stdout.read(length))


def ask(number, command, **arguments):
    message = {"seq": number, "type": "request", "command": command, "arguments": arguments}
    text = json.dumps(message).encode()
    PROCESS.stdin.write(b"Content-Length: %d\r\n\r\n" % len(text) + text)
    PROCESS.stdin.flush()
    while (message := read())["type"] != "response":
        EVENTS.append(message["event"])
    return message


def wait(event):
    while event not in EVENTS:
        EVENTS.append(read().get("event"))
    EVENTS.remove(event)


ARGUMENTS = ["--arg", "x=x.npy", "--arg", "s=s.npy"]
assert ask(1, "launch", program=KERNEL, args=ARGUMENTS, programId=2)["success"]
print("a wrong one:", ask(2, "launch", program=KERNEL, args=["--arg", "nothing=1"])["message"])
ask(3, "setBreakpoints", source={"path": KERNEL}, breakpoints=[{"line": 4}])
ask(4, "configurationDone")
wait("stopped")
print("while stopped:", ask(5, "launch", program=KERNEL, args=ARGUMENTS)["message"])
line = ask(6, "stackTrace", threadId=1)["body"]["stackFrames"][0]["line"]
value = ask(7, "evaluate", expression="shifted")["body"]["result"]
ask(8, "continue", threadId=1)
wait("terminated")
ask(9, "disconnect")
assert PROCESS.wait(timeout=600) == 0
print("the first goes on at", line, "with", value)
