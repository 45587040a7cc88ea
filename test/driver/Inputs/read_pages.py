"""Reads the pages of tilec in a browser, after their scripts ran: read_pages.py TILEC SOURCE_ROOT
FOLDER.
"""

import os
import re
import subprocess
import sys
import threading

import browser

# How far the page is wider than the window, tab by tab; nothing may be cut off.
MEASURE = (
    "document.documentElement.dataset.wide = (document.documentElement.dataset.wide || '') + ' ' + "
    "(document.documentElement.scrollWidth - innerWidth);"
)


def check(document, *expected):
    text = browser.words(document)
    for words in expected:
        assert words in text, f"expected '{words}' in: {text[:3000]}"


def checkWidth(document):
    wide = re.search(r'data-wide="([^"]*)"', document)
    assert wide and all(int(each) <= 0 for each in wide[1].split()), wide and wide[1]


def count(document, pattern):
    return len(re.findall(pattern, document))


def readExplain(tilec, root, folder):
    page = os.path.join(folder, "explain.html")
    kernel = os.path.join("examples", "matmul", "matmul.tile")
    words = ["-D", "T=f16", "--shape", "M=4096,N=4096,K=4096"]
    subprocess.run([tilec, "explain", kernel, *words, "--html", page], cwd=root, check=True)
    with open(os.path.join(root, kernel), encoding="utf-8") as file:
        line = next(i for i, text in enumerate(file, 1) if "acc = dot(" in text)
    acted = browser.act(
        page,
        "for (const [id] of tabs) { openTab(id); "
        + MEASURE
        + f" }}pinLine(0, {line}); openTab('layouts');const links ="
        " [...document.querySelectorAll('#view-layouts .list a')];const shown ="
        " document.querySelector('#chart-registers') ?"
        " document.querySelectorAll('#chart-registers .cell').length :"
        " 0;document.body.dataset.cells = shown;links.find(each =>"
        " each.textContent.includes('swizzle 128')).click();" + MEASURE,
    )
    document = browser.read(browser.address(acted))
    checkWidth(document)
    # The overview.
    check(
        document,
        "matmul_T_f16",
        "sm_90a",
        "estimated time",
        "registers of a thread",
        "shared memory",
        "occupancy",
        "of the roof",
        "tensor cores, 16 bits",
        "products by wgmma",
        "BM = ",
    )
    for picture in ("roofline", "occupancy", "candidates", "timeline", "memory", "banks"):
        assert count(document, f'<svg[^>]* id="chart-{picture}"') == 1, picture
    # The code: the product's line is lit in the source, the IR and the machine code.
    pinned = re.findall(r'class="row has pinned"', document)
    assert len(pinned) >= 3, len(pinned)
    check(document, "acc = dot(a[m, k], b[k, n], acc);", "tile_gpu.wgmma", "instructions of")
    # Layouts: a window of 16 x 32 elements; a bank for each word of a swizzled tile, without
    # conflicts.
    assert 'data-cells="512"' in document, re.search(r'data-cells="\d*"', document)
    check(document, "8 rows of 16 bytes: no bank conflict", "swizzle of 128 bytes")
    # Memory, schedule, model, passes.
    check(
        document,
        "ring of 128x64xf16",
        "warpgroup 1",
        "tensor cores busy",
        "copies behind work",
        "cannot be used",
        "tile-gpu-use-tma",
        "Refused, and why",
    )
    assert count(document, 'class="bar"') > 40


def readComparison(tilec, root, folder):
    page = os.path.join(folder, "diff.html")
    source = os.path.join(root, "test", "driver", "Inputs", "explain_product.tile")
    subprocess.run(
        [
            tilec,
            "explain",
            "--diff",
            source,
            "warps=8",
            "warps=4",
            "--target",
            "sm_80",
            "--html",
            page,
        ],
        check=True,
    )
    document = browser.read(browser.address(browser.act(page, MEASURE)))
    checkWidth(document)
    check(
        document,
        "Comparison",
        "A: warps=8",
        "B: warps=4",
        "threads of a block 256 128 −50.0%",
        "Settings that differ",
        "Passes that changed one side only",
    )
    assert count(document, 'class="row add"') and count(document, 'class="row del"')


def readBench(root, folder):
    page = os.path.join(folder, "bench.html")
    subprocess.run([sys.executable, os.path.join(root, "bench", "page.py"), "-o", page], check=True)
    document = browser.read(browser.address(browser.act(page, MEASURE)))
    checkWidth(document)
    check(
        document,
        "speed over the best peer",
        "Matrix products",
        "Attention",
        "How fast beside the best peer",
    )
    assert count(document, "<circle") >= 40


def readPlayground(tilec, root):
    """The playground's page, run and checked; and who may not ask it."""
    import urllib.error
    import urllib.request

    sys.path.insert(0, os.path.join(root, "python"))
    os.environ["TILEC"] = tilec
    from tile_compiler import playground

    server = playground.Server()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        document = browser.read(server.address + "?example=softmax&do=run", wait=60000)
        check(document, "Tile playground", "y: f32[6, 40]", "median of", "grid (row: M)")
        for headers in (
            {},
            {"X-Tile-Token": "guess"},
            {"X-Tile-Token": server.token, "Host": "elsewhere.example"},
        ):
            request = urllib.request.Request(
                server.address + "api/check", data=b"{}", headers=headers
            )
            try:
                urllib.request.urlopen(request)
                raise AssertionError(headers)
            except urllib.error.HTTPError as error:
                assert error.code == 403, error
    finally:
        server.shutdown()


def main(tilec, root, folder):
    readExplain(tilec, root, folder)
    readComparison(tilec, root, folder)
    readBench(root, folder)
    readPlayground(tilec, root)
    picture = os.path.join(folder, "explain.png")
    browser.picture(browser.address(os.path.join(folder, "explain.html"), "code", "dark"), picture)
    assert os.path.getsize(picture) > 20000
    print("pages read")


main(*[os.path.abspath(path) for path in sys.argv[1:]])
