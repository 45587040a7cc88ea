"""Pages as a browser shows them: chromium without a window. `read(url)` is the document after its
scripts ran.
"""

import os
import re
import shutil
import subprocess
import tempfile

NAMES = ("chromium", "chromium-browser", "google-chrome")


def find():
    return next((path for path in map(shutil.which, NAMES) if path), None)


def _call(words, url, wait):
    with tempfile.TemporaryDirectory() as profile:
        command = (
            [
                find(),
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--hide-scrollbars",
                "--disable-dev-shm-usage",
                "--force-color-profile=srgb",
                "--allow-file-access-from-files",
                f"--user-data-dir={profile}",
                f"--virtual-time-budget={wait}",
            ]
            + words
            + [url]
        )
        return subprocess.run(command, capture_output=True, timeout=300)


def address(path, tab="", theme="light"):
    return "file://" + os.path.abspath(path) + f"?theme={theme}" + (f"#{tab}" if tab else "")


def read(url, wait=4000, width=1280, height=900):
    """The document when its scripts have run; an error of a script is an AssertionError."""
    done = _call(
        [f"--window-size={width},{height}", "--dump-dom", "--enable-logging=stderr", "--v=0"],
        url,
        wait,
    )
    said = [line for line in done.stderr.decode(errors="replace").splitlines() if "CONSOLE" in line]
    assert not said, said
    return done.stdout.decode(errors="replace")


def act(path, script):
    """A copy of a page with a script behind its own, which plays its reader; where it is."""
    with open(path, encoding="utf-8") as file:
        page = file.read()
    copy = path.replace(".html", ".acted.html")
    with open(copy, "w", encoding="utf-8") as file:
        file.write(
            page.replace(
                "</body>",
                f"<script>addEventListener('load', () => {{ {script} }});</script></body>",
            )
        )
    return copy


def picture(url, path, wait=4000, width=1280, height=900):
    _call([f"--window-size={width},{height}", f"--screenshot={os.path.abspath(path)}"], url, wait)
    with open(path, "rb") as file:
        head = file.read(24)
    assert head[:8] == b"\x89PNG\r\n\x1a\n" and int.from_bytes(head[16:20], "big") == width, path


def words(document):
    """The text of a document as a reader sees it, without scripts and styles."""
    text = re.sub(r"<(script|style)\b.*?</\1>", " ", document, flags=re.S)
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", text))
