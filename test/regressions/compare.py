#!/usr/bin/env python3
"""Runs every test of this folder against an older release and against this build, and prints both
verdicts.

  compare.py RELEASE [--build FOLDER] [--table FILE]

RELEASE is an unpacked portable release (bin/, lib/, python/). A row of README.md passes if its
tests fail there and pass here. The unit tests that rows name cannot be linked with a release; their
rows say so, and `commit` has the test's first version. Exit code 1 where a test of this folder
passes at the release, or fails here.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
PASSES = {"PASS", "XPASS"}


def rows():
    """(defect, [name of a test]) of README.md."""
    with open(os.path.join(HERE, "README.md"), encoding="utf-8") as stream:
        for line in stream:
            cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip())[1:-1]]
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
        stream.write(
            f"config.test_source_root, config.test_exec_root = {HERE!r},"
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


def verdicts(build, release, jobs):
    """{file of this folder: lit's verdict}."""
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
            return {
                test["name"].split(" :: ")[1]: test["code"] for test in json.load(stream)["tests"]
            }


def firstCommit(path):
    log = subprocess.run(
        ["git", "-C", ROOT, "log", "--follow", "--diff-filter=A", "--format=%h", "--", path],
        capture_output=True,
        text=True,
        check=False,
    ).stdout.split()
    return log[-1] if log else "-"


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("release")
    parser.add_argument("--build", default=os.path.join(ROOT, "build"))
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--table", help="write the table to this file, too")
    options = parser.parse_args()
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
        [f"Old: {version}", "", "| row | commit | test | old | new |", "|---|---|---|---|---|"],
        0,
        set(),
    )

    def add(defect, name):
        nonlocal bad
        if name in old:
            seen.add(name)
            wrong = old[name] in PASSES or new[name] not in PASSES
            bad += wrong
            lines.append(
                f"| {defect} | {firstCommit(os.path.join('test', 'regressions', name))} | `{name}`"
                f" | {old[name]} | {new[name]} |" + (" wrong" if wrong else "")
            )
        else:
            lines.append(f"| {defect} | - | `{name}` | elsewhere | elsewhere |")

    for defect, names in rows():
        for name in names:
            add(defect, name)
    for name in sorted(set(old) - seen):
        add("(no row in README.md)", name)
        bad += 1
    text = "\n".join(lines) + "\n"
    print(text, end="")
    if options.table:
        with open(options.table, "w", encoding="utf-8") as stream:
            stream.write(text)
    print(
        f"{len(old)} tests, {sum(code not in PASSES for code in old.values())} fail at the release,"
        f" {sum(code in PASSES for code in new.values())} pass here, {bad} wrong"
    )
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
