"""Reads doc.json and page.html: the counts of lines and of the SASS listing, in both."""

import json
import re

with open("doc.json", encoding="utf-8") as file:
    document = json.load(file)
kernel = document["profile"]["kernels"][0]
sass = next(each["text"] for each in document["listings"] if each["stage"] == "sass").split("\n")
hot = [(sass[line - 1], samples, executed) for line, samples, executed in kernel["code"]]
assert [("STG" in text, *counts) for text, *counts in hot if counts[0] > 1000] == [
    (True, 1065, 256)
], hot
assert kernel["lines"][0] == {
    "file": 0,
    "line": 1,
    "samples": 25,
    "executed": 256,
    "stalls": {"math": 20, "wait": 5},
}, kernel
with open("page.html", encoding="utf-8") as file:
    held = re.search(r"(?s)id=.document.>(.*?)</script>", file.read())
assert json.loads(held[1]) == document
