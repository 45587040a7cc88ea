"""The playground's server without a browser: what it answers to the page, and what it refuses."""

import json
import os
import sys
import threading
import urllib.error
import urllib.request

sys.path.insert(0, os.path.join(sys.argv[1], "python"))
from tile_compiler import playground  # noqa: E402

SOURCE = """kernel add(x: in f32[N], y: out f32[N])
  where N in 1..=1000
  grid (i: cdiv(N, 64))
{
  let n = block(i, 64);
  y[n] = x[n] + %s;
}
"""


def ask(server, what, source, options=""):
    request = urllib.request.Request(
        server.address + "api/" + what,
        method="POST",
        data=json.dumps({"source": source, "options": options}).encode(),
        headers={"X-Tile-Token": server.token},
    )
    with urllib.request.urlopen(request, timeout=300) as answer:
        return json.loads(answer.read())


def main():
    server = playground.Server()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    assert ask(server, "check", SOURCE % "1.0")["diagnostics"] == []
    (wrong,) = ask(server, "check", SOURCE % "z")["diagnostics"]
    assert wrong["code"] == "E0201" and wrong["place"]["begin"]["line"] == 6, wrong
    done = ask(server, "run", SOURCE % "x[n]", "--random N=20 --seed 3")
    (output,) = done["outputs"]
    assert (
        output["name"] == "y"
        and output["shape"] == [20]
        and len(output["rows"][0]) == 7
        and output["dtype"] == "f32"
    ), done
    page = ask(server, "explain", SOURCE % "1.0", "--target sm_80")["page"]
    assert page.startswith("<!doctype html>") and "sm_80" in page
    refused = ask(server, "run", SOURCE % "1.0", "--random N=20 --out y=/tmp/anywhere.npy")
    assert "'--out' is no option" in refused["said"], refused
    for path, headers in (
        ("api/run", {}),
        ("api/check", {"X-Tile-Token": "guess"}),
        ("api/none", {"X-Tile-Token": server.token}),
    ):
        try:
            urllib.request.urlopen(
                urllib.request.Request(server.address + path, data=b"{}", headers=headers),
                timeout=60,
            )
            raise AssertionError(path)
        except urllib.error.HTTPError as error:
            assert error.code == 403, error
    try:
        urllib.request.urlopen(server.address + "../_server.py", timeout=60)
        raise AssertionError("a file was served")
    except urllib.error.HTTPError as error:
        assert error.code == 404, error
    server.shutdown()
    print("playground done")


main()
