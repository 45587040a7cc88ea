"""Compares the page of bench/page.py with the records it is drawn from: read_page.py FILE.html
gpu.json. The ratios are taken from the records once more, and each must stand at a dot at the right
place of the axis. The dots of rows of models, which stand in no group or in a folded
list, are not compared.
"""

import html.parser
import json
import math
import sys


class Page(html.parser.HTMLParser):
    """Elements that are open must be closed in order; nothing is loaded."""

    def __init__(self):
        super().__init__()
        self.open, self.groups = [], []

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        assert "src" not in attributes and "href" not in attributes, attributes
        if tag == "meta":
            return
        self.open.append(tag)
        if tag == "g" and self.isCompared():
            self.groups.append({"title": "", "text": []})
        if tag == "circle" and self.isCompared():
            self.groups[-1]["x"] = float(attributes["cx"])

    def handle_startendtag(self, tag, attributes):
        if tag == "circle" and self.isCompared():
            self.groups[-1]["x"] = float(dict(attributes)["cx"])

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, tag

    def isCompared(self):
        """Whether this stands in a group that no list folds away."""
        return "g" in self.open and "details" not in self.open

    def handle_data(self, data):
        if self.isCompared() and self.open[-1] == "title":
            self.groups[-1]["title"] += data
        elif self.isCompared() and self.open[-1] == "text":
            self.groups[-1]["text"].append(data)


def main(path, records):
    with open(path, encoding="utf-8") as file:
        page = Page()
        page.feed(file.read())
    assert not page.open, page.open
    with open(records, encoding="utf-8") as file:
        results = json.load(file)
    expected, unpacked = [], 0
    for item in results["items"]:
        rates = {}
        for record in results["records"]:
            if (
                all(record[key] == item[key] for key in ("op", "shape", "dtype"))
                and "rate" in record
            ):
                rates[record["who"]] = max(rates.get(record["who"], 0), record["rate"])
        others = [
            rate
            for who, rate in rates.items()
            if who not in ("tile", "tile-plain", "cublas-plain", "copy", "cublas-f16")
        ]
        if "tile" in rates and others:
            expected.append(rates["tile"] / max(others))
        if "cublas-f16" in rates:
            unpacked += 1
            expected.append(rates["tile"] / rates["cublas-f16"])
    dots = [group for group in page.groups if "x" in group]
    shown = [float(group["text"][-1].split()[0]) for group in dots]
    assert sorted(f"{ratio:.2f}" for ratio in expected) == sorted(f"{ratio:.2f}" for ratio in shown)
    # The axis is logarithmic: places and logarithms of the ratios lie on one line.
    exact = {}
    for group, ratio in zip(dots, shown):
        exact.setdefault(ratio, group["x"])
    (low, lowX), (high, highX) = min(exact.items()), max(exact.items())
    for ratio, x in exact.items():
        at = lowX + (highX - lowX) * math.log(ratio / low) / math.log(high / low)
        assert abs(at - x) < 12, (ratio, x, at)
    assert unpacked == 3, unpacked
    print(len(dots), "items")


main(*sys.argv[1:])
