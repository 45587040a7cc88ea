"""Measures a candidate that is wrong with `tilec tune --serve`: first unchecked, then checked."""

import json
import socket
import subprocess
import sys

HERE, THERE = socket.socketpair()
PROCESS = subprocess.Popen(["tilec", "tune", sys.argv[1], "--serve", "--threads", "1"], stdin=THERE)
THERE.close()
REPLIES = HERE.makefile("r")


def measure(check):
    request = {
        "config": "B=64",
        "shape": "N=256",
        "image": "",
        "reference": "B=32",
        "reference_image": "",
        "expected": {},
        "check": check,
        "fewest": 3,
        "most": 3,
        "enough": 1,
    }
    HERE.sendall((json.dumps(request) + "\n").encode())
    while (reply := json.loads(REPLIES.readline()))["status"] == "prepared":
        pass
    return reply["status"] + " " + reply.get("reason", "")


print("without a check:", measure(False))
print("with one:", measure(True))
HERE.shutdown(socket.SHUT_RDWR)
PROCESS.wait(timeout=600)
