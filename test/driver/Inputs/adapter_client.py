"""A client of the debug adapter protocol, scripted: adapter_client.py TILEC KERNEL FOLDER. It plays
a session as an editor would, checks the answers, and prints them.
"""

import json
import subprocess
import sys


class Client:
    def __init__(self, command):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.sequence = 0
        self.events = []

    def read(self):
        length = 0
        while True:
            line = self.process.stdout.readline()
            assert line, "the adapter has ended"
            if line == b"\r\n":
                break
            name, value = line.decode().split(":")
            length = int(value) if name == "Content-Length" else length
        return json.loads(self.process.stdout.read(length))

    def send(self, command, **arguments):
        self.sequence += 1
        text = json.dumps(
            {"seq": self.sequence, "type": "request", "command": command, "arguments": arguments}
        ).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(text) + text)
        self.process.stdin.flush()
        return self.sequence

    def ask(self, command, **arguments):
        """The response; events on the way are kept."""
        number = self.send(command, **arguments)
        while True:
            message = self.read()
            if message["type"] == "response" and message["request_seq"] == number:
                return message
            self.events.append(message)

    def get(self, command, **arguments):
        response = self.ask(command, **arguments)
        assert response["success"], response
        return response["body"]

    def wait(self, event):
        while True:
            for i, message in enumerate(self.events):
                if message["event"] == event:
                    return self.events.pop(i)["body"]
            self.events.append(self.read())


def place(client):
    frame = client.get("stackTrace", threadId=1)["stackFrames"][0]
    return frame["line"], frame


def main(tilec, kernel, folder):
    client = Client([tilec, "debug", "--dap"])
    abilities = client.get("initialize", adapterID="tile", linesStartAt1=True)
    assert abilities["supportsConfigurationDoneRequest"] and abilities["supportsDataBreakpoints"]
    assert [each["filter"] for each in abilities["exceptionBreakpointFilters"]] == ["nan", "inf"]

    # Before the launch there is nothing to ask for; a launch that is wrong is refused, and the next
    # one works.
    refused = client.ask("threads")
    assert not refused["success"] and "launched" in refused["message"], refused
    refused = client.ask("launch", program=kernel, args=["--arg", "nothing=1"])
    assert not refused["success"], refused
    arguments = ["--arg", f"x={folder}/x.npy", "--arg", f"s={folder}/s.npy"]
    refused = client.ask("launch", program=kernel, args=arguments, programId=17)
    assert not refused["success"] and "the grid has 4 programs" in refused["message"], refused
    client.get("launch", program=kernel, args=arguments, programId=2)
    client.wait("initialized")
    lines = client.get(
        "setBreakpoints",
        source={"path": kernel},
        breakpoints=[{"line": 13}, {"line": 17, "condition": "root is nan"}],
    )
    assert all(each["verified"] for each in lines["breakpoints"]), lines
    wrong = client.get(
        "setBreakpoints",
        source={"path": "std/none.tile"},
        breakpoints=[{"line": 1, "condition": "so what"}],
    )
    assert not wrong["breakpoints"][0]["verified"] and "message" in wrong["breakpoints"][0], wrong
    client.get("setExceptionBreakpoints", filters=["nan"])
    client.get("configurationDone")

    # The line, then a step into the call.
    stopped = client.wait("stopped")
    assert stopped["reason"] == "breakpoint" and stopped["hitBreakpointIds"], stopped
    line, frame = place(client)
    assert line == 13, frame
    assert client.get("threads")["threads"][0]["name"] == "program 2"
    client.get("stepIn", threadId=1)
    assert client.wait("stopped")["reason"] == "step" and place(client)[0] == 3

    # The planted NaN, and its cause.
    client.get("continue", threadId=1)
    stopped = client.wait("stopped")
    assert stopped["reason"] == "exception" and "math.sqrt" in stopped["text"], stopped
    line, frame = place(client)
    assert line == 4, frame
    assert len(client.get("stackTrace", threadId=1)["stackFrames"]) == 2
    why = client.get("exceptionInfo", threadId=1)["details"]["message"]
    assert why == "math.sqrt gave nan\n  from shifted = -0.25", why
    assert client.get("evaluate", expression="cause")["result"] == why
    scopes = {
        each["name"]: each["variablesReference"]
        for each in client.get("scopes", frameId=frame["id"])["scopes"]
    }
    variables = {
        each["name"]: each
        for each in client.get("variables", variablesReference=scopes["Variables"])["variables"]
    }
    assert variables["shifted"]["value"] == "-0.25" and variables["spread"]["value"] == "0", (
        variables
    )
    tensors = {
        each["name"]: each
        for each in client.get("variables", variablesReference=scopes["Tensors"])["variables"]
    }
    rows = client.get("variables", variablesReference=tensors["x"]["variablesReference"])[
        "variables"
    ]
    assert len(rows) == 4 and rows[2]["name"] == "[2]", rows
    elements = client.get("variables", variablesReference=rows[2]["variablesReference"])[
        "variables"
    ]
    assert len(elements) == 40 and elements[1]["value"] == "81", elements[:3]
    assert client.get("evaluate", expression="x[3, 0]")["result"] == "120"
    refused = client.ask("evaluate", expression="y[9]")
    assert not refused["success"] and "2 dimensions" in refused["message"], refused

    # Out of the call; the condition; an element that changes; the end.
    client.get("stepOut", threadId=1)
    assert client.wait("stopped")["reason"] == "step" and place(client)[0] == 14
    client.get("continue", threadId=1)
    assert client.wait("stopped")["reason"] == "breakpoint" and place(client)[0] == 17
    client.get("setBreakpoints", source={"path": kernel}, breakpoints=[])
    data = client.get("dataBreakpointInfo", name="y[2, 20]")
    client.get(
        "setDataBreakpoints", breakpoints=[{"dataId": data["dataId"], "accessType": "write"}]
    )
    client.get("next", threadId=1)
    assert client.wait("stopped")["reason"] == "step" and place(client)[0] == 15
    client.get("continue", threadId=1)
    stopped = client.wait("stopped")
    assert stopped["reason"] == "data breakpoint" and "y[2, 20] = nan" in stopped["text"], stopped
    client.get("continue", threadId=1)
    client.wait("exited")
    client.wait("terminated")
    client.get("disconnect")
    assert client.process.wait(timeout=120) == 0
    print("session done:", why.replace("\n", ";"))


main(*sys.argv[1:])
