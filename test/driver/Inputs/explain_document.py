"""Checks the document of `tilec explain --json` against what is known otherwise:
explain_document.py FILE.json SOURCE.tile.

Layouts against the PTX manual's fragments and its formula of the 128-byte swizzle, lines against
the text of the source, shared memory and the schedule against what no plan may break.
"""

import json
import sys


def imageOf(bases, number, rank):
    at = [0] * rank
    for bit, basis in enumerate(bases):
        if number >> bit & 1:
            at = [a ^ b for a, b in zip(at, basis)]
    return at


def checkRegisters(layout):
    """Every element is held; an accumulator of wgmma as in the PTX manual, "Register fragments"."""
    rank = len(layout["shape"])
    held = set()
    for warp in range(1 << len(layout["warp"])):
        for lane in range(32):
            for register in range(1 << len(layout["register"])):
                parts = [
                    imageOf(layout[k], n, rank)
                    for k, n in (("register", register), ("lane", lane), ("warp", warp))
                ]
                at = tuple(a ^ b ^ c for a, b, c in zip(*parts))
                held.add(at)
                if "tile_gpu.wgmma" in layout["ops"] and rank == 2 and register < 4:
                    assert (
                        at[0] % 16 == lane // 4 + 8 * (register // 2)
                        and at[1] == lane % 4 * 2 + register % 2
                    ), (lane, register, at)
    count = 1
    for extent in layout["shape"]:
        count *= extent
    assert len(held) == count, (layout["name"], len(held), count)


def checkShared(layout):
    """Each element has bytes of its own; swizzled ones lie where TMA puts them."""
    rows, columns = layout["shape"]
    size, swizzle = layout["element_bytes"], layout["swizzle"]
    fast = layout["order"][0]
    seen = set()
    for r in range(rows):
        for c in range(columns):
            offset = 0
            for d, at in enumerate((r, c)):
                for bit, image in enumerate(layout["offsets"][d]):
                    if at >> bit & 1:
                        offset ^= image
            seen.add(offset)
            if swizzle == 128:
                along, across = (c, r) if fast == 1 else (r, c)
                lines = rows if fast == 1 else columns
                panel, byte = divmod(along * size, 128)
                assert (
                    offset
                    == panel * lines * 128
                    + across * 128
                    + (byte // 16 ^ across % 8) * 16
                    + byte % 16
                ), (r, c, offset)
    assert len(seen) == rows * columns and max(seen) + size <= layout["bytes"]


def checkLines(document, source):
    """The product's line leads to its operation in every stage."""
    line = next(
        i
        for i, text in enumerate(source.splitlines(), 1)
        if "dot(" in text and not text.strip().startswith("//")
    )
    marks = {
        "tile": "tile.dot",
        "tile-opt": "tile.dot",
        "gpu": "tile_gpu.wgmma",
        "ptx": "wgmma.mma_async",
        "sass": "HGMMA",
    }
    for listing in document["listings"]:
        places = {row[0]: list(zip(row[1::2], row[2::2])) for row in listing["places"]}
        found = [
            n
            for n, text in enumerate(listing["text"].split("\n"), 1)
            if marks[listing["stage"]] in text
        ]
        assert found, listing["stage"]
        if listing["stage"] == "sass":  # its line table is of the assembler's making
            assert any((0, line) in places.get(number, []) for number in found)
            continue
        for number in found:
            assert (0, line) in places.get(number, []), (
                listing["stage"],
                number,
                places.get(number),
            )
        assert "#tile_gpu.linear<" not in listing["text"], "layouts have short names"
    assert document["sources"][0]["text"] == source
    stages = [listing["stage"] for listing in document["listings"]]
    assert stages[:4] == ["tile", "tile-opt", "gpu", "ptx"], stages
    assert ("sass" in stages) != ("sass" in document.get("missing", {})), (
        stages,
        document.get("missing"),
    )


def checkMemory(memory):
    """What lives at the same time has bytes of its own, and all of it fits."""
    assert memory["items"] and memory["bytes"] <= memory["limit"]
    for i, a in enumerate(memory["items"]):
        assert a["offset"] + a["bytes"] <= memory["bytes"] and a["end"] <= memory["length"]
        for part in a.get("parts", []):
            assert (
                a["offset"] <= part["offset"]
                and part["offset"] + part["bytes"] <= a["offset"] + a["bytes"]
            )
        for b in memory["items"][:i]:
            if a["start"] <= b["end"] and b["start"] <= a["end"]:
                assert (
                    a["offset"] + a["bytes"] <= b["offset"]
                    or b["offset"] + b["bytes"] <= a["offset"]
                ), (a, b)


def checkTimeline(timeline, source):
    """One pipe of copies, one set of tensor cores; a product comes after its slot is full, a slot
    is filled after it was empty.
    """
    rows = timeline["rows"]
    ofRow = lambda name: sorted(
        (b["start"], b["end"]) for b in timeline["bars"] if rows[b["row"]] == name
    )
    for name in ("copies", "tensor cores"):
        bars = ofRow(name)
        assert bars and all(a[1] <= b[0] + 1 for a, b in zip(bars, bars[1:])), (name, bars)
    assert (
        rows[:2] == ["copies", "tensor cores"] and "producer" in rows and "warpgroup 1" in rows
    ), rows
    assert (
        max(b["trip"] for b in timeline["bars"] if b["kind"] == "product") == timeline["trips"] - 1
    )
    slots = [name for name in rows if "slot" in name]
    assert len(slots) == 4, slots  # stages(4)
    for name in slots:
        bars = sorted(
            (b["start"], b["end"], b["kind"]) for b in timeline["bars"] if rows[b["row"]] == name
        )
        assert [kind for _, _, kind in bars] == ["copy", "hold"] * (len(bars) // 2), bars
        assert all(a[1] <= b[0] + 1 for a, b in zip(bars, bars[1:])), bars
    full = min(b["start"] for b in timeline["bars"] if b["kind"] == "hold")
    assert min(b["start"] for b in timeline["bars"] if b["kind"] == "product") + 1 >= full
    lines = source.splitlines()
    assert all("dot(" in lines[b["line"] - 1] for b in timeline["bars"] if b["kind"] == "product")


def main(path, sourcePath):
    with open(path, encoding="utf-8") as file:
        document = json.load(file)
    with open(sourcePath, encoding="utf-8") as file:
        source = file.read()
    assert document["schema"] == 2 and document["target"] == "sm_90a", document["schema"]
    (kernel,) = document["kernels"]
    checkLines(document, source)
    for layout in kernel["layouts"]["registers"]:
        checkRegisters(layout)
    assert any("tile_gpu.wgmma" in layout["ops"] for layout in kernel["layouts"]["registers"])
    swizzled = [layout for layout in kernel["layouts"]["shared"] if layout["swizzle"] == 128]
    assert swizzled
    for layout in kernel["layouts"]["shared"]:
        checkShared(layout)
    checkMemory(kernel["shared_memory"])
    checkTimeline(kernel["timeline"], source)
    (schedule,) = kernel["schedules"]
    assert source.splitlines()[schedule["line"] - 1].lstrip().startswith("for "), schedule
    assert schedule["schedule"] == "product 1 is waited for at once", schedule
    runs = {run["pass"]: run for run in document["passes"] if run["changed"]}
    assert runs["tile-gpu-use-tma"]["difference"]["tile.load"] < 0, runs["tile-gpu-use-tma"]
    counts = {}
    for run in document["passes"]:
        if run["stage"] != "llvm":
            for name, count in run["difference"].items():
                counts[name] = counts.get(name, 0) + count
    assert counts["tile_gpu.wgmma"] == kernel["ops"]["tile_gpu.wgmma"] == 1
    estimate = kernel["estimate"]
    assert (
        estimate["operations"] == 2 * 4096**3 and estimate["peak_name"] == "tensor cores, 16 bits"
    ), estimate
    assert kernel["compiled"]["occupancy"]["blocks"] == 1


main(*sys.argv[1:])
