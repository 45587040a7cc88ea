#!/usr/bin/env python3
"""Runs every test of this folder against an older release and against this build, and prints both
verdicts.

  compare.py RELEASE [--build FOLDER] [--table FILE]
  compare.py --rows

RELEASE is an unpacked portable release (bin/, lib/, python/). A row of README.md passes if its
tests fail there and pass here. The unit tests that rows name cannot be linked with a release; their
rows say so, and `commit` has the test's first version. Exit code 1 where a test of this folder
passes at the release, or fails here. --rows looks instead whether each row names tests that there
are, and each test of this folder has a row.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import textwrap

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
PASSES = {"PASS", "XPASS"}
# What an older version spells otherwise, so that a test of it reaches the defect: (test, from, to).
SPELLED = (
    (
        "tiles-without-layouts.mlir",
        'module attributes {tile_gpu.target = #tile_gpu.target<"sm_90a">}',
        "module",
    ),
)


def rows():
    """(defect, [name of a test]) of README.md."""
    with open(os.path.join(HERE, "README.md"), encoding="utf-8") as stream:
        for line in stream:
            cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip())[1:-1]]
            if line.startswith("## Open"):
                return
            if len(cells) == 2 and cells[0] not in ("defect", "---"):
                yield cells[0], re.findall(r"`([^`]*)`", cells[1])


def configure(folder, build, release):
    """A folder in which lit finds tools, libraries and modules: those of the release, the rest of
    this build.
    """
    source = dict(
        re.findall(
            r'^config\.(\w+) = "(.*)"$',
            open(os.path.join(build, "test", "lit.site.cfg.py"), encoding="utf-8").read(),
            re.MULTILINE,
        )
    )
    here = build
    if release:
        here = os.path.join(folder, "build")
        for part in ("bin", "lib"):
            os.makedirs(os.path.join(here, part))
            for origin in (os.path.join(release, part), os.path.join(build, part)):
                for name in sorted(os.listdir(origin)):
                    place = os.path.join(here, part, name)
                    if not os.path.lexists(place):
                        os.symlink(os.path.join(origin, name), place)
        if os.path.exists(os.path.join(build, "sysroot")):
            os.symlink(os.path.join(build, "sysroot"), os.path.join(here, "sysroot"))
    with open(os.path.join(folder, "lit.site.cfg.py"), "w", encoding="utf-8") as stream:
        stream.write(
            "".join(
                f"config.{name} = {value!r}\n"
                for name, value in {**source, "tile_source": ROOT, "tile_build": here}.items()
            )
        )
        stream.write(
            f"lit_config.load_config(config, {os.path.join(ROOT, 'test', 'lit.cfg.py')!r})\n"
        )
        tests = HERE
        if release:
            tests = os.path.join(folder, "regressions")
            os.makedirs(tests)
            for name in os.listdir(HERE):
                os.symlink(os.path.join(HERE, name), os.path.join(tests, name))
            for name, old, new in SPELLED:
                with open(os.path.join(HERE, name), encoding="utf-8") as test:
                    text = test.read()
                assert old in text, name
                os.remove(os.path.join(tests, name))
                with open(os.path.join(tests, name), "w", encoding="utf-8") as test:
                    test.write(text.replace(old, new))
        stream.write(
            f"config.test_source_root, config.test_exec_root = {tests!r},"
            f" {os.path.join(folder, 'out')!r}\n"
        )
        if release:
            stream.write(
                "config.substitutions.insert(0, ('%source/python',"
                f" {os.path.join(release, 'python')!r}))\n"
            )
            stream.write(
                "config.substitutions.insert(0, ('%examples',"
                f" {os.path.join(release, 'examples')!r}))\n"
            )
    return folder


def explain(output, folder):
    """Why a test failed, from lit's log: what a check looked for and what was there, else the first
    error, else how the command ended.
    """

    def clean(text, length=100):
        text = re.sub(re.escape(folder) + r"\S*/", "", text.strip())
        text = text.replace(HERE + "/", "").replace(ROOT + "/", "").replace(folder, "")
        text = re.sub(r"\S*/(?=[^/ ]+\.(tile|py|test|c|mlir)\b)", "", " ".join(text.split()))
        text = text[: length - 3] + "..." if len(text) > length else text
        return "`" + text.replace("`", "'").replace("|", "\\|") + "`"

    lines = [line[4:] for line in output.splitlines() if line.startswith("# | ")]
    if "FileCheck error: '<stdin>' is empty" in output:
        lines = [line for line in lines if "FileCheck" not in line]
        if not lines:
            return "says nothing"
    for number, line in enumerate(lines):
        if re.search(r"error: \S+: (expected string|excluded string|is not on)", line):
            # The check's line of the test, and the first line of what it was given.
            wanted = clean(lines[number + 1])
            given = [re.match(r" *1: (.*)", each) for each in lines[number:]]
            given = next((clean(match.group(1)) for match in given if match), "")
            found = f"; it begins {given}" if given else ""
            return ("not wanted: " if "excluded" in line else "lacks ") + wanted + found
    for pattern in (r"Assertion|LLVM ERROR|PLEASE submit|Fatal Python", r"\berror:|Error\b|rror: "):
        for line in lines:
            if re.search(pattern, line) and "FileCheck error" not in line:
                return clean(line)
    if lines:
        return clean(lines[-1])
    statuses = re.findall(r"command failed with exit status: (-?\d+)", output)
    return f"ends with {statuses[-1]}" if statuses else "fails"


def verdicts(build, release, jobs):
    """{file of this folder: (lit's verdict, why it failed)}."""
    with tempfile.TemporaryDirectory(prefix="tile-regressions-") as folder:
        configure(folder, build, release)
        result = os.path.join(folder, "result.json")
        subprocess.run(
            ["lit", "-q", f"-j{jobs}", "-o", result, folder],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            check=False,
        )
        with open(result, encoding="utf-8") as stream:
            tests = json.load(stream)["tests"]
        return {
            test["name"].split(" :: ")[1]: (
                test["code"],
                "" if test["code"] in PASSES else explain(test["output"], folder),
            )
            for test in tests
        }


def firstCommit(path):
    log = subprocess.run(
        ["git", "-C", ROOT, "log", "--follow", "--diff-filter=A", "--format=%h", "--", path],
        capture_output=True,
        text=True,
        check=False,
    ).stdout.split()
    return log[-1] if log else "-"


def checkRows():
    """What rows name and is not there, and tests without a row."""
    units, wrong, seen = "", [], set()
    for folder, _, names in os.walk(os.path.join(ROOT, "test", "unit")):
        for name in names:
            if name.endswith(".cpp"):
                with open(os.path.join(folder, name), encoding="utf-8") as stream:
                    units += f"{name} {stream.read()}"
    for defect, names in rows():
        if not names:
            wrong.append(f"no test: {defect}")
        for name in names:
            seen.add(name)
            isFile = os.path.exists(os.path.join(HERE, name))
            isFile = isFile or os.path.exists(os.path.join(ROOT, name))
            # A test of test/unit, its group or both: `Limits.*`, `ScratchTest`, `Npy.KeysOnce`.
            group, _, case = name.removesuffix(".*").rpartition(".")
            isUnit = re.search(rf"\b{re.escape(case)}\b", units) and group in units
            if not isFile and not isUnit:
                wrong.append(f"{name}: there is no such test")
    tests = {name for name in os.listdir(HERE) if name.endswith((".test", ".tile", ".mlir"))}
    wrong += [f"{name}: no row" for name in sorted(tests - seen - {"rows.test"})]
    print("\n".join(wrong + [f"{len(seen)} tests named, {len(wrong)} wrong"]))
    return 1 if wrong else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("release", nargs="?")
    parser.add_argument("--rows", action="store_true", help="look at the rows alone")
    parser.add_argument("--build", default=os.path.join(ROOT, "build"))
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--name", default="an unpacked release", help="what the table calls it")
    parser.add_argument("--table", help="write the table to this file, too")
    options = parser.parse_args()
    if options.rows:
        return checkRows()
    if not options.release:
        parser.error("expected an unpacked release, or --rows")
    build = os.path.abspath(options.build)
    old, new = (
        verdicts(build, os.path.abspath(options.release), options.jobs),
        verdicts(build, "", options.jobs),
    )
    version = subprocess.run(
        [os.path.join(options.release, "bin", "tilec"), "--version"],
        capture_output=True,
        text=True,
        check=False,
    ).stdout.split("\n")[0]
    lines, bad, seen = (
        [
            "# Each test of this folder at an older version and here",
            "",
            textwrap.fill(
                f"Written by `compare.py RELEASE --table FILE`. Old: {version.strip()},"
                f" {options.name}. Tests elsewhere are run with their folder, and those of"
                " test/unit cannot be linked with a release.",
                100,
            ),
            "",
            "| defect | test | since | old | how it fails there | new |",
            "|---|---|---|---|---|---|",
        ],
        0,
        set(),
    )

    def add(defect, name):
        nonlocal bad
        if name in old:
            seen.add(name)
            (was, why), (now, problem) = old[name], new[name]
            isWrong = was in PASSES or now not in PASSES
            bad += isWrong
            ending = " wrong" if isWrong else ""
            since = firstCommit(os.path.join("test", "regressions", name))
            lines.append(
                f"| {defect} | `{name}` | {since} | {was} | {why} | {now} {problem}{ending}|"
            )
        else:
            lines.append(f"| {defect} | `{name}` | elsewhere | | | |")

    for defect, names in rows():
        for name in names:
            add(defect, name)
    for name in sorted(set(old) - seen - {"rows.test"}):
        add("(no row in README.md)", name)
        bad += 1
    text = "\n".join(lines) + "\n"
    print(text, end="")
    if options.table:
        with open(options.table, "w", encoding="utf-8") as stream:
            stream.write(text)
    print(
        f"{len(old)} tests, {sum(code not in PASSES for code, _ in old.values())} fail there,"
        f" {sum(code in PASSES for code, _ in new.values())} pass here, {bad} wrong"
    )
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
