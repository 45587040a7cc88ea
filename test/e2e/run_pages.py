#!/usr/bin/env python3
"""Runs the code of the documentation's pages: every block must do what the page says.

```tile      a file if it declares a kernel or function, else statements, which are put into the
kernel below; must compile to
             the tile dialect. A line ending in `// error: text` must be refused with a message that
             contains the text, and the block must compile without such lines. What comes later
             (E0501) is let pass, and is marked so in the text.
```tile NAME a file that is kept for the page's later blocks
```python    a script, in the folder of the page's files, with python/ on its path
```console   as in README.md (run_readme.py)
"""

import argparse
import concurrent.futures
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import run_readme  # noqa: E402

# What statements of a page can name.
HEAD = """kernel page[T: dtype = f32, B: int = 64](
    x: in f32[M, N], h: in f16[M, N], v: in f32[N], q: in i32[N], y: inout f32[M, N])
  grid (i: cdiv(M, 16), j: cdiv(N, 64))
{
  let m = block(i, 16);
  let n = block(j, 64);
"""
BLOCK = re.compile(r"^```(tile|console|python)(?: (\S+))?\n(.*?)^```", re.M | re.S)
ERROR = re.compile(r"^(.*?)\s*// error: (.*)$")


def compiles(tilec, folder, text):
    """What is wrong with a source, or ''."""
    with tempfile.NamedTemporaryFile("w", suffix=".tile", dir=folder, encoding="utf-8") as file:
        file.write(text)
        file.flush()
        done = subprocess.run(
            [tilec, file.name, "--emit=tile", "-o", os.devnull],
            capture_output=True,
            text=True,
            timeout=120,
        )
        return done.stderr if done.returncode else ""


def isLater(said):
    """Whether the compiler refuses only what is not built yet."""
    errors = re.findall(r" error: .*\[(\w+)\]$", said, re.M)
    return bool(errors) and set(errors) == {"E0501"}


def asFile(text):
    if re.search(r"^kernel\b", text, re.M):
        return text
    if re.search(r"^(fn \w|const \w+ *[:=]|import )", text, re.M):
        return text + "kernel page(y: out f32[]) { y[] = 1.0; }\n"
    return HEAD + text + "}\n"


def checkTile(tilec, folder, text):
    """Problems of one block of source."""
    lines = text.splitlines()
    errors = {k: match for k, line in enumerate(lines) if (match := ERROR.match(line))}
    right = "\n".join(line for k, line in enumerate(lines) if k not in errors) + "\n"
    problem = compiles(tilec, folder, asFile(right))
    if problem and not isLater(problem):
        yield "does not compile:\n" + problem
    for k, match in errors.items():
        wrong = (
            "\n".join(
                match[1] if j == k else line
                for j, line in enumerate(lines)
                if j not in errors or j == k
            )
            + "\n"
        )
        said = compiles(tilec, folder, asFile(wrong))
        if match[2] not in said and not isLater(said):
            yield f"expected the error '{match[2]}' of\n  {match[1]}\nfound\n{said or 'none'}"


def checkPage(tilec, binaries, path):
    """(number of blocks, problems) of a page."""
    with open(path, encoding="utf-8") as stream:
        page = stream.read()
    problems, count = [], 0
    with tempfile.TemporaryDirectory(prefix="tile-page-") as folder:
        os.makedirs(os.path.join(folder, "build"))
        os.symlink(binaries, os.path.join(folder, "build", "bin"))
        os.symlink(os.path.join(ROOT, "examples"), os.path.join(folder, "examples"))
        env = {**os.environ, "PYTHONPATH": os.path.join(ROOT, "python"), "NO_COLOR": "1"}
        for match in BLOCK.finditer(page):
            kind, name, text = match.groups()
            line = page.count("\n", 0, match.start()) + 1
            count += 1
            found = []
            if kind == "tile":
                found = list(checkTile(tilec, folder, text))
                if name:
                    with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                        file.write(text)
            elif kind == "python":
                done = subprocess.run(
                    [sys.executable, "-c", text],
                    cwd=folder,
                    env=env,
                    capture_output=True,
                    text=True,
                    timeout=300,
                )
                found = [done.stderr[-1500:]] if done.returncode else []
            else:
                for command, expected in run_readme.commands(match[0]):
                    if (
                        ".cubin" in command and not run_readme.hasPtxas()
                    ) or "--device cuda" in command:
                        continue
                    command = re.sub(r"\bpython3\b", sys.executable, command)
                    done = subprocess.run(
                        ["bash", "-c", command],
                        cwd=folder,
                        env=env,
                        capture_output=True,
                        text=True,
                        timeout=300,
                    )
                    missing = [each for each in expected if each not in done.stdout + done.stderr]
                    if (done.returncode and not expected) or missing:
                        found.append(
                            f"{command}\n  exit code {done.returncode}; not printed:"
                            f" {missing}\n{done.stdout}{done.stderr}"
                        )
            problems += [f"{os.path.relpath(path, ROOT)}:{line}: {problem}" for problem in found]
    return count, problems


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--build", default=os.path.join(ROOT, "build"))
    parser.add_argument("pages", nargs="+")
    options = parser.parse_args()
    binaries = os.path.abspath(os.path.join(options.build, "bin"))
    blocks, problems = 0, []
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for count, found in pool.map(
            lambda page: checkPage(os.path.join(binaries, "tilec"), binaries, page), options.pages
        ):
            blocks += count
            problems += found
    for problem in problems:
        print(problem)
    print(f"{blocks} blocks, {len(problems)} failed")
    return 1 if problems or not blocks else 0


if __name__ == "__main__":
    sys.exit(main())
