"""The server says of each example of a diagnostic what the compiler says of it, and as much:
agree.py TILEC EXAMPLES. Examples whose call has options of its own are left to the compiler."""

import os
import pathlib
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "Inputs"))
import client as lsp

# A kernel with more work than an editor may wait for, a file without kernels, which may be one that
# is being written, and symbols that clash only in what is compiled.
NOT_SAID = {"E0325", "E0414", "E0419"}


def main(tilec, folder):
    server = lsp.Client([tilec, "lsp"], folder)
    problems, count = [], 0
    for path in sorted(pathlib.Path(folder).glob("*.tile")):
        expected = path.with_suffix(".txt").read_text()
        call = re.search(r"^Call: tilec (\S+) --emit=tile -o -$", expected, re.M)
        if not call or path.stem in NOT_SAID:
            continue
        wanted = re.findall(r"^\S+?:(\d+):(\d+): (?:error|warning): .*\[(\w+)\]$", expected, re.M)
        uri = lsp.uri_of(path)
        server.open(uri, path.read_text(encoding="utf-8", errors="replace"))
        found = [
            (str(each["range"]["start"]["line"] + 1), each["code"])
            for each in server.wait_for_diagnostics(uri)
        ]
        server.close(uri)
        count += 1
        lacking = {(line, code) for line, column, code in wanted} - set(found)
        if lacking:
            problems.append(f"{path.stem}: lacks {sorted(lacking)}, found {found}")
    server.end()
    print("\n".join(problems + [f"{count} examples, {len(problems)} problems"]))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
