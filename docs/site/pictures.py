#!/usr/bin/env python3
"""Draws the pictures of docs/pictures: pictures.py --tilec PROGRAM --out FOLDER. It needs chromium.

Pages are shown at 1280 pixels, as a reader has them; test/driver/pages.test reads the same pages.
"""

import argparse
import os
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "test", "driver", "Inputs"))
sys.path.insert(0, os.path.join(ROOT, "python"))
import browser  # noqa: E402
import shrink  # noqa: E402

KERNEL = os.path.join("examples", "matmul", "matmul.tile")
SHAPE = ["-D", "T=f16", "--shape", "M=4096,N=4096,K=4096"]


def drawExplain(tilec, folder, out):
    page = os.path.join(folder, "explain.html")
    subprocess.run([tilec, "explain", KERNEL, *SHAPE, "--html", page], cwd=ROOT, check=True)
    for tab, theme, height in (
        ("overview", "light", 900),
        ("code", "dark", 860),
        ("layouts", "light", 900),
        ("memory", "light", 720),
        ("schedule", "light", 640),
    ):
        address = browser.address(page, tab, theme)
        if tab == "code":
            address = address.replace("#", "&line=24#")
        browser.picture(address, os.path.join(out, f"explain-{tab}.png"), height=height)
    diff = os.path.join(folder, "diff.html")
    subprocess.run(
        [
            tilec,
            "explain",
            "--diff",
            KERNEL,
            "stages=3",
            "stages=6",
            *SHAPE,
            "--config",
            "BM=128,BN=256,BK=64,SPLIT=1,warps=8",
            "--html",
            diff,
        ],
        cwd=ROOT,
        check=True,
    )
    browser.picture(browser.address(diff), os.path.join(out, "explain-diff.png"), height=900)


def drawBench(folder, out):
    page = os.path.join(folder, "bench.html")
    subprocess.run([sys.executable, os.path.join(ROOT, "bench", "page.py"), "-o", page], check=True)
    browser.picture(browser.address(page), os.path.join(out, "bench.png"), height=1400)


def drawPlayground(tilec, out):
    import threading
    from tile_compiler import playground

    os.environ["TILEC"] = tilec
    server = playground.Server()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        browser.picture(
            server.address + "?example=softmax&do=run",
            os.path.join(out, "playground.png"),
            wait=30000,
            height=760,
        )
    finally:
        server.shutdown()


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("--tilec", required=True)
    parser.add_argument("--out", required=True)
    options = parser.parse_args()
    if browser.find() is None:
        parser.error("chromium is not found: apt-get install chromium")
    os.makedirs(options.out, exist_ok=True)
    tilec = os.path.abspath(options.tilec)
    with tempfile.TemporaryDirectory() as folder:
        drawExplain(tilec, folder, os.path.abspath(options.out))
        drawBench(folder, os.path.abspath(options.out))
    drawPlayground(tilec, os.path.abspath(options.out))
    for name in sorted(os.listdir(options.out)):
        if name.endswith(".png"):
            shrink.shrink(os.path.join(options.out, name))


if __name__ == "__main__":
    main()
