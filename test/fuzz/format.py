#!/usr/bin/env python3
"""Writes valid sources in odd layouts and formats them: `tilec fmt` must take each, keep every
token and comment in its order, do nothing more when it runs again, leave no blank at the end of a
line, and not change the program (the same text from --emit=tile).

  format.py [--tilec PROGRAM] [--count 10000] [--seed 1] [--log FILE [--commit HASH]]
            [--keep FOLDER]

What is varied: blanks, tabs, line breaks of three kinds, form feeds, lines that are joined,
comments of three kinds between any two tokens, in Unicode too, commas behind the last of a list,
parentheses around numbers, spellings of numbers, messages in Unicode, a mark of UTF-8. Tokens are
read here anew, so that the check does not rest on the compiler's lexer. --log appends a line of
JSON: seed, texts, those whose programs were compared (a source of functions alone has none),
findings, and the commit of the sources. test/fuzz/results/format.jsonl is the record of 10,000.
"""

import argparse
import glob
import json
import os
import random
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SOURCES = (
    "examples/*/*.tile",
    "library/std/*.tile",
    "test/driver/Inputs/*.tile",
    "test/e2e/Inputs/**/*.tile",
    "test/frontend/**/*.tile",
    "test/gpu/agree/*.tile",
    "test/language/Inputs/*.tile",
)
BATCH = 50  # files that one process formats

TOKEN = re.compile(
    r"""(?P<blank>[ \t\r\n\f]+)
      | (?P<line>//[^\r\n]*)
      | (?P<block>/\*.*?\*/)
      | (?P<string>"(?:[^"\\\r\n]|\\[^\r\n])*")
      | (?P<number>0x[0-9a-fA-F][0-9a-fA-F_]*|0b[01][01_]*
          |[0-9][0-9_]*\.[0-9][0-9_]*(?:[eE][+-]?[0-9][0-9_]*)?|[0-9][0-9_]*[eE][+-]?[0-9][0-9_]*
          |[0-9][0-9_]*)
      | (?P<word>[a-zA-Z_][a-zA-Z0-9_]*)
      | (?P<sign>\.\.=|<<=|>>=|\.\.|==|!=|<=|>=|&&|\|\||<<|>>|[-+*/%&|^]=|[][(){},;:.<>+*/%&|^!~=-])
    """,
    re.VERBOSE | re.DOTALL,
)
WORDS = ("a comment", "größe, 大小, 𝛼 ≤ β", "x = y; }", "/", "*", '"', "// twice", "\t tabs \t", "")


def tokens_of(text):
    """(kind, text) of all tokens, comments among them; None for what is no source."""
    found, at = [], 1 if text.startswith("\ufeff") else 0
    while at < len(text):
        match = TOKEN.match(text, at)
        if not match:
            return None
        at = match.end()
        if match.lastgroup != "blank":
            found.append((match.lastgroup, match.group()))
    return found


def respell(number, choose):
    """Another spelling of the same number."""
    if re.fullmatch(r"[1-9][0-9]*", number):
        value = int(number)
        middle = choose.randrange(len(number)) + 1
        return choose.choice(
            (hex(value), hex(value).upper().replace("X", "x"), bin(value))
            + (number[:middle] + "_" + number[middle:], number + "_", "0" + number)
        )
    if re.fullmatch(r"[0-9]+\.[0-9]+", number):
        return number + choose.choice(("0", "_0", "e0", "E+0", "e-0_0"))
    return number


def comment(choose, newline):
    text = choose.choice(WORDS)
    kind = choose.randrange(5)
    if kind == 0:
        return ["/*" + text.replace("*/", "").rstrip("*") + " */"]
    if kind == 1:
        return [
            "/** one" + newline + "\t   " + text + "  " + newline + "   " + newline + " two **/"
        ]
    return [("//", "// ", "//// ")[kind - 2] + text.replace("/", "-"), newline]


def vary(source, choose):
    """A program of the same meaning in another layout."""
    tokens = tokens_of(source)
    newline = choose.choice(("\n", "\n", "\r\n", "\r"))
    # How often something is done to a place: some texts are changed a little, others all over.
    often = choose.choice((0.01, 0.05, 0.3))
    comments = choose.choice((0.0, 0.01, 0.05, 0.3))
    breaks = choose.choice((0.0, 0.02, 0.1, 0.5))
    joined = choose.random() < 0.2
    out = ["\ufeff"] if choose.random() < 0.05 else []
    brackets, before, last = [], None, ""
    for i, (kind, text) in enumerate(tokens):
        after = tokens[i + 1][1] if i + 1 < len(tokens) else ""
        if kind == "number" and choose.random() < often:
            text = respell(text, choose)
        if kind == "line" and choose.random() < often:
            text += choose.choice((" ", "\t", " \u00e9\u4e2d", " /* no block", "  "))
        if kind == "string" and " " in text and choose.random() < often:  # a message
            text = text[:-1] + " größe 大 𝛼" + text[-1]
        # Where an operand stands, so does one in parentheses.
        operand = before in ("=", "+", "*", "/", "%", "<", ">", "==", "return", "&&", "||")
        if operand and kind == "number" and choose.random() < often:
            text = choose.choice(
                ("(" + text + ")", "((" + text + "))", "( " + text + newline + ")")
            )
        if text in "([{":
            brackets.append([text, 0])
        if text == "," and brackets:
            brackets[-1][1] += 1
        if text in (")", "]", "}"):
            opened, commas = brackets.pop()
            # A comma behind the last of a list of two or more.
            if opened == "[" or (opened == "(" and commas):
                if last not in ("", "[", ",", ":", ";") and choose.random() < often:
                    out.append(choose.choice((",", " ,", "," + newline)))
        out.append(text)
        before = text if kind in ("sign", "word") else None
        last = last if kind in ("line", "block") else text
        # What stands before the next token.
        if kind == "line":
            out.append(newline)
        gap = ""
        glued = (text[-1:] + after[:1]).isalnum() or "_" in (text[-1:], after[:1])
        if glued or kind in ("number", "word") or tokens_of(text + after) is None:
            gap = " "
        elif "." in text + after or re.fullmatch(r"[-+*/%&|^<>=!.]+", text + after[:1]):
            gap = " "
        if not joined and choose.random() < 0.7:
            gap = " "
        if text in ("{", "}", ";") and not joined and choose.random() < 0.8:
            gap = newline + " " * choose.randrange(8)
        if choose.random() < often:
            gap = choose.choice(
                ("\t", "   ", "\f ", newline, newline + newline, newline * 4, " \t")
            )
        if choose.random() < breaks:
            gap = newline * choose.choice((1, 1, 1, 2, 3)) + " " * choose.randrange(12)
        out.append(gap)
        if choose.random() < comments:
            apart = (" ", "\t", newline) + ("",) * (text != "/")
            out += [choose.choice(apart)] + comment(choose, newline)
            out.append(choose.choice((" ", newline, "\t")))
    out.append(choose.choice(("", "\n", newline, newline * 3, "  ", "\t// the end")))
    return "".join(out)


class Checker:
    def __init__(self, tilec, folder):
        self.tilec, self.folder = tilec, folder

    def run(self, *arguments):
        return subprocess.run(
            [self.tilec, *arguments], capture_output=True, timeout=600, cwd=self.folder
        )

    def read(self, name):
        with open(os.path.join(self.folder, name), "rb") as file:
            return file.read()

    def write(self, name, content):
        os.makedirs(os.path.dirname(os.path.join(self.folder, name)), exist_ok=True)
        with open(os.path.join(self.folder, name), "wb") as file:
            file.write(content)

    def program(self, name):
        """What the compiler makes of a file; None if it refuses it."""
        done = self.run(name, "--emit=tile", "-o", "-", "--target", "sm_90a")
        return None if done.returncode else done.stdout

    def check(self, texts):
        """[(path, text)] -> [(what is wrong or None, whether the programs were compared)]."""
        names = [os.path.join(str(i), "formatted", path) for i, (path, _) in enumerate(texts)]
        odd = [os.path.join(str(i), "odd", path) for i, (path, _) in enumerate(texts)]
        for name, other, (_, text) in zip(names, odd, texts):
            self.write(name, text.encode())
            self.write(other, text.encode())
        messages = self.run("fmt", *names).stderr.decode(errors="replace")
        once = [self.read(name) for name in names]
        messages += self.run("fmt", *names).stderr.decode(errors="replace")
        results = []
        for i, (name, (_, text)) in enumerate(zip(names, texts)):
            wrong = self.compare(text, once[i], self.read(name))
            before = None
            errors = [
                line
                for line in messages.splitlines()
                if line.startswith(f"{name}:") and " error: " in line
            ]
            if errors:
                wrong = "refused: " + errors[0]
            else:
                before = self.program(odd[i])
                if before is not None and before != self.program(name):
                    wrong = wrong or "the program has changed"
            results.append((wrong, before is not None))
        return results

    @staticmethod
    def compare(text, once, twice):
        if once != twice:
            return "formatting again changes it"
        formatted = once.decode()

        def stripped(text):
            return [(kind, token.rstrip()) for kind, token in tokens_of(text)]

        if stripped(text) != stripped(formatted):
            return "tokens or comments have changed"
        outside = re.sub(r"/\*.*?\*/|//[^\r\n]*|\"[^\"\n]*\"", "x", formatted, flags=re.DOTALL)
        if re.search(r"[ \t]\n|\t|\r|\f|\n\n\n", outside) or not formatted.endswith("\n"):
            return "blanks are left that no formatted file has"
        return None


def read_sources(tilec):
    """(path below a folder, text) of the sources that the formatter takes. Examples import files
    that lie beside them under the names that the compiler knows, so they need no folder."""
    paths = [
        path
        for pattern in SOURCES
        for path in sorted(glob.glob(os.path.join(ROOT, pattern), recursive=True))
    ]
    done = subprocess.run(
        [tilec, "fmt", "--check", "--color", "never", "--error-limit", "0", *paths],
        capture_output=True,
    )
    # A mistake has a place; that a file is not formatted has none.
    refused = set(re.findall(r"^(.*\.tile):\d+:\d+: error: ", done.stderr.decode(), re.MULTILINE))
    sources = []
    for path in paths:
        if path not in refused:
            with open(path, encoding="utf-8", newline="") as file:
                sources.append((os.path.basename(path), file.read()))
    return sources


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("--tilec", default=os.path.join(ROOT, "build", "bin", "tilec"))
    parser.add_argument("--count", type=int, default=10000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--log")
    parser.add_argument("--commit", help="what tilec was built from (default: this checkout)")
    parser.add_argument("--keep", help="a folder for the texts that go wrong")
    options = parser.parse_args()
    choose = random.Random(options.seed)
    sources = read_sources(options.tilec)
    done = compared = 0
    findings = []
    while done < options.count:
        with tempfile.TemporaryDirectory(prefix="tile-format-") as folder:
            checker = Checker(options.tilec, folder)
            texts = []
            while len(texts) < min(BATCH, options.count - done):
                path, source = choose.choice(sources)
                texts.append((path, vary(source, choose)))
            for i, (wrong, isCompared) in enumerate(checker.check(texts)):
                compared += isCompared
                if not wrong:
                    continue
                findings.append(f"{done + i}: {wrong}")
                print(f"FAIL text {done + i} of seed {options.seed}: {wrong}", flush=True)
                if options.keep:
                    os.makedirs(options.keep, exist_ok=True)
                    name = os.path.join(options.keep, f"{options.seed}-{done + i}.tile")
                    with open(name, "wb") as file:
                        file.write(texts[i][1].encode())
        done += len(texts)
    print(f"{done} texts of {len(sources)} sources, {compared} programs, {len(findings)} wrong")
    if options.log:
        commit = (
            options.commit
            or subprocess.run(
                ["git", "-C", ROOT, "rev-parse", "--short", "HEAD"],
                capture_output=True,
                text=True,
                check=True,
            ).stdout.strip()
        )
        line = {
            "seed": options.seed,
            "texts": done,
            "programs": compared,
            "commit": commit,
            "findings": findings,
        }
        with open(options.log, "a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
