"""Reads the pages of the bench and the playground in a browser, after their scripts ran: read_pages.py TILEC SOURCE_ROOT FOLDER."""
import os
import re
import subprocess
import sys
import threading

import browser

# How far the page is wider than the window, tab by tab; nothing may be cut off.
MEASURE = "document.documentElement.dataset.wide = (document.documentElement.dataset.wide || '') + ' ' + " \
          "(document.documentElement.scrollWidth - innerWidth);"


def check(document, *expected):
    text = browser.words(document)
    for words in expected:
        assert words in text, f"expected '{words}' in: {text[:3000]}"


def checkWidth(document):
    wide = re.search(r'data-wide="([^"]*)"', document)
    assert wide and all(int(each) <= 0 for each in wide[1].split()), wide and wide[1]


def count(document, pattern):
    return len(re.findall(pattern, document))


def readBench(root, folder):
    page = os.path.join(folder, "bench.html")
    subprocess.run([sys.executable, os.path.join(root, "bench", "page.py"), "-o", page], check=True)
    document = browser.read(browser.address(browser.act(page, MEASURE)))
    checkWidth(document)
    check(document, "speed over the best peer", "Matrix products", "Attention", "How fast beside the best peer")
    assert count(document, "<circle") >= 40


def readPlayground(tilec, root):
    """The playground's page, run and checked; and who may not ask it."""
    import urllib.error
    import urllib.request
    sys.path.insert(0, os.path.join(root, "python"))
    os.environ["TILEC"] = tilec
    from tile import playground
    server = playground.Server()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        document = browser.read(server.address + "?example=softmax&do=run", wait=60000)
        check(document, "Tile playground", "y: f32[6, 40]", "median of", "grid (row: M)")
        for headers in ({}, {"X-Tile-Token": "guess"}, {"X-Tile-Token": server.token, "Host": "elsewhere.example"}):
            request = urllib.request.Request(server.address + "api/check", data=b"{}", headers=headers)
            try:
                urllib.request.urlopen(request)
                raise AssertionError(headers)
            except urllib.error.HTTPError as error:
                assert error.code == 403, error
    finally:
        server.shutdown()


def main(tilec, root, folder):
    readBench(root, folder)
    readPlayground(tilec, root)
    print("pages read")


main(*[os.path.abspath(path) for path in sys.argv[1:]])
