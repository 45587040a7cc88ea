"""Reads matmul.html: the counts of a real report are at the lines of the product and its loop."""

import json
import re

with open("matmul.html", encoding="utf-8") as file:
    document = json.loads(re.search(r"(?s)id=.document.>(.*?)</script>", file.read())[1])
assert document["profile"]["file"] == "matmul.csv", document["profile"]["file"]
(kernel,) = document["profile"]["kernels"]
assert (kernel["launches"], kernel["samples"], kernel["executed"]) == (1, 2370, 2906880), kernel
text = document["sources"][0]["text"].split("\n")
lines = {
    text[each["line"] - 1].strip().partition(" ")[0]: (each["file"], each["samples"])
    for each in kernel["lines"]
}
assert (lines["acc"], lines["for"], lines["c[m,"]) == ((0, 2049), (0, 58), (0, 97)), lines
