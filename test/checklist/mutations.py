#!/usr/bin/env python3
"""Makes the mistakes that an audit made and no test noticed, one at a time: each is noticed now.

  mutations.py [--build FOLDER] [--only TEXT] [--quick] [--table FILE]

Sources, documents and Python are changed in a copy of the tree that is links but for the changed
file; files of the compiler are compiled with their change and linked into a tilec of its own, all
of them at once, since each test looks at one. A test has to pass without the change and to fail
with it. --quick leaves the compiler out. Prints a row for each, exit code 1 where one is not
noticed. Needs a build of tilec, tile_runtime, TileFakeCuda and TileRuntimeTests.
"""

import argparse
import os
import re
import shlex
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LIBRARY = "{python} {tree}/test/e2e/std_library.py {tilec}"
FIGURES = "{python} {root}/test/house-rules/check_figures.py {root} {tree}"
EXAMPLES = "{python} {tree}/test/e2e/run_examples.py --build {build} "
PYTHON = (
    "{tilec} {root}/examples/deploy/kernels.tile --target cpu -o {scratch}/k.tilepkg && "
    "PYTHONPATH={tree}/python {python} {root}/test/"
)
# Where a changed file of the library is found before the compiler's own: beside the test's kernels.
STD = "test/e2e/Inputs/std_library/std/"

# (what is changed, file, where it is put if elsewhere, from, to, the test that has to notice, how)
TEXTS = (
    (
        "quantize_i8 clamps at -128",
        "library/std/quantize.tile",
        STD + "quantize.tile",
        "clamp(round(x / scale), -127.0",
        "clamp(round(x / scale), -128.0",
        "test/e2e/std-library.test",
        LIBRARY,
    ),
    (
        "join_moments: a wrong share for counts of 1",
        "library/std/norms.tile",
        STD + "norms.tile",
        "n2 / max(n, 1.0)",
        "n2 / max(n, 2.5)",
        "test/e2e/std-library.test",
        LIBRARY,
    ),
    (
        "log_sigmoid = log(sigmoid(x)), -inf far below 0",
        "library/std/activations.tile",
        STD + "activations.tile",
        "min(x, 0.0) - log1p(exp(-abs(x)))",
        "log(sigmoid(x))",
        "test/e2e/std-library.test",
        LIBRARY,
    ),
    (
        "softmax: its maximum starts at -1e4",
        "examples/softmax/softmax.tile",
        None,
        "var top: f32 = lowest(f32);",
        "var top: f32 = -1e4;",
        "test/e2e/run_examples.py",
        EXAMPLES + "softmax",
    ),
    (
        "cross_entropy: its maximum starts at 0",
        "examples/cross_entropy/cross_entropy.tile",
        None,
        "var top: f32 = lowest(f32);",
        "var top: f32 = 0.0;",
        "test/e2e/run_examples.py",
        EXAMPLES + "cross_entropy",
    ),
    (
        "Python takes big-endian arrays",
        "python/tile_compiler/_tensors.py",
        None,
        'typestr[0] == ">" and code[1:] != "1"',
        "False",
        "test/regressions/python-arguments.test",
        PYTHON + "regressions/Inputs/python_arguments.py {scratch}/k.tilepkg",
    ),
    (
        "Python never frees a module",
        "python/tile_compiler/_launch.py",
        None,
        "_library.get().tile_module_free(self._handle)",
        "pass",
        "test/runtime/python-free.test",
        PYTHON + "runtime/Inputs/python_free.py {scratch}/k.tilepkg",
    ),
    (
        "README: 1.33 where a speed is 1.03",
        "README.md",
        None,
        "cuBLASLt | 1.03 |",
        "cuBLASLt | 1.33 |",
        "test/house-rules/figures.test",
        FIGURES,
    ),
    (
        "README: a launch's cost of 0.11 us",
        "README.md",
        None,
        r", 0\.31 us more",
        ", 0.11 us more",
        "test/house-rules/figures.test",
        FIGURES,
    ),
    (
        "README: 71 kernels",
        "README.md",
        None,
        r"`examples/` \| \d+ kernels",
        "`examples/` | 71 kernels",
        "test/house-rules/figures.test",
        FIGURES,
    ),
    (
        "Checklist: a row names another test that exists",
        "docs/Checklist.md",
        None,
        r"`test/driver/no-driver\.test` \|",
        "`test/driver/levels.test` |",
        "test/driver/checklist.test",
        "{python} {root}/test/driver/Inputs/checklist.py {tree}",
    ),
    (
        "Math.md: another error",
        "docs/Math.md",
        None,
        r"(?m)^\| exp \| 0\.97",
        "| exp | 9.70",
        "test/house-rules/figures.test",
        FIGURES,
    ),
    (
        "Packages.md: a reader takes any version",
        "docs/Packages.md",
        None,
        "takes its own version,",
        "takes any version,",
        "test/house-rules/figures.test",
        FIGURES,
    ),
    (
        "Architecture.md: the order of passes by an option that no tool has",
        "docs/Architecture.md",
        None,
        "--print-pipeline`",
        "--print-order`",
        "test/house-rules/references.test",
        "{python} {root}/test/house-rules/references.py {tree}",
    ),
)

# (what is changed, file, from, to, the test that has to notice), all in one compiler.
COMPILED = (
    (
        "tune: what was cut off loses its times, but for those given up as too slow",
        "driver/tune/TuneLog.cpp",
        "(isComplete && each->status",
        "(each->status",
        "test/regressions/tune-too-slow.test",
    ),
    (
        "--print-abi: before the passes for the GPU",
        "driver/compile/Emit.cpp",
        r"if \(!compiler\.run\(last\)\)",
        "if (!compiler.run(options.printABI ? Stage::Tile : last))",
        "test/regressions/print-abi.test",
    ),
    (
        "errors of ptxas without its message",
        "codegen/AssemblerErrors.cpp",
        r"parts\[4\]\.trim\(\)\.str\(\)",
        "std::string()",
        "test/regressions/assembler-error.test",
    ),
    (
        "the cache's key without --with, --shape and -D",
        "driver/cache/Cache.cpp",
        r'add\("--shape",[^;]*;\s*add\("-D",[^;]*;\s*add\("--with",[^;]*;',
        "",
        "test/driver/cache.test",
    ),
    (
        "--repro: imports are left out",
        "driver/package/Repro.cpp",
        r"const std::string &file : listImports\(options\)",
        "const std::string &file : std::vector<std::string>()",
        "test/regressions/repro-imports.test",
    ),
)
# (what is changed, file, from, to, unit test): in TileRuntimeTests.
UNIT = (
    (
        "an empty call without a generic variant is refused",
        "launch/core/Select.c",
        r"/\* Nothing runs of an empty call.*?\n    \}\n",
        "",
        "DispatchTest.AnEmptyCallNeedsNoVariantThatHolds",
    ),
)


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as stream:
        return stream.read()


def change(path, old, new):
    """The file's text with the change, which has one place: a text or a regular expression."""
    text = read(path)
    if text.count(old) == 1:
        return text.replace(old, new)
    text, count = re.subn(old, lambda match: new, text, flags=re.DOTALL)
    assert count == 1, f"{path}: {count} places for '{old}', expected 1"
    return text


def link(folder, path, text):
    """A tree of links to this one in which the file `path` has another text."""
    here, there = folder, ROOT
    parts = path.split("/")
    for depth, part in enumerate(parts):
        os.makedirs(here, exist_ok=True)
        for name in os.listdir(there) if os.path.isdir(there) else ():
            if name != part and not os.path.lexists(os.path.join(here, name)):
                os.symlink(os.path.join(there, name), os.path.join(here, name))
        here, there = os.path.join(here, part), os.path.join(there, part)
    with open(here, "w", encoding="utf-8") as stream:
        stream.write(text)


def holds(command):
    done = subprocess.run(command, shell=True, capture_output=True, cwd=ROOT, check=False)
    return done.returncode == 0


class Programs:
    """Programs of the build, linked with changed objects."""

    def __init__(self, build, folder):
        self.build, self.folder = build, folder

    def make(self, target, changes):
        """The path of the program `target` with these changes: (file, text)."""
        ninja = ["ninja", "-C", self.build, "-t", "commands", target]
        lines = subprocess.run(
            ninja, capture_output=True, text=True, check=True
        ).stdout.splitlines()
        program = os.path.join(self.folder, target)
        objects = []
        for path, text in changes:
            source = os.path.join(self.folder, os.path.basename(path))
            with open(source, "w", encoding="utf-8") as stream:
                stream.write(text)
            line = next(line for line in lines if f"-c {ROOT}/{path}" in line)
            objects.append(source + ".o")
            line = line.replace(f"-c {ROOT}/{path}", f"-c {source}")
            line = re.sub(r"-o \S+\.o( |$)", f"-o {objects[-1]} ", line)
            line = re.sub(r"-M[TF] \S+|-MD|^\S*ccache ", "", line)
            subprocess.run(shlex.split(line) + ["-w"], cwd=self.build, check=True)
        last = next(part for part in lines[-1].split(" && ") if f"-o bin/{target}" in part)
        # Before the archives: their own objects of these files are then not taken.
        last = last.replace(f"-o bin/{target}", f"{' '.join(objects)} -o {program}")
        subprocess.run(shlex.split(last), cwd=self.build, check=True)
        return program

    def lit(self, test, tilec):
        """A command that runs a test, with the build's programs but for tilec."""
        place = os.path.join(self.folder, f"lit{bool(tilec)}")
        here = os.path.join(place, "build")
        if not os.path.exists(place):
            os.makedirs(os.path.join(here, "bin"))
            for name in os.listdir(self.build):
                if name != "bin":
                    os.symlink(os.path.join(self.build, name), os.path.join(here, name))
            for name in os.listdir(os.path.join(self.build, "bin")):
                origin = tilec if tilec and name == "tilec" else f"{self.build}/bin/{name}"
                os.symlink(origin, os.path.join(here, "bin", name))
            site = read(os.path.join(self.build, "test", "lit.site.cfg.py"))
            site = re.sub(r"(?m)^config\.tile_build = .*$", f"config.tile_build = {here!r}", site)
            site += f"config.test_source_root = {ROOT + '/test'!r}\n"
            site += f"config.test_exec_root = {place + '/out'!r}\n"
            with open(os.path.join(place, "lit.site.cfg.py"), "w", encoding="utf-8") as stream:
                stream.write(site)
        return f"lit -q {place}/{test[len('test/') :]}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default=os.path.join(ROOT, "build"))
    parser.add_argument("--only", default="", help="mistakes whose row has this text")
    parser.add_argument("--quick", action="store_true", help="none in the compiler")
    parser.add_argument("--table", help="write the table to this file, too")
    options = parser.parse_args()
    build = os.path.abspath(options.build)
    lines, wrong = ["| mistake | in | noticed by |", "|---|---|---|"], 0

    def say(what, path, test, before, after):
        """A row: the test passed before the change, and after it."""
        nonlocal wrong
        wrong += not before or after
        verdict = "" if before and not after else ": not noticed" if before else ": fails anyway"
        lines.append(f"| {what} | `{path}` | `{test}`{verdict} |")
        print(lines[-1], flush=True)

    def isChosen(row):
        return options.only in " ".join(filter(None, row))

    with tempfile.TemporaryDirectory(prefix="tile-mutations-") as folder:
        passed = {}
        for number, row in enumerate(TEXTS):
            what, path, place, old, new, test, command = row
            if not isChosen(row):
                continue
            tree = os.path.join(folder, str(number))
            words = {"python": sys.executable, "tilec": f"{build}/bin/tilec", "build": build}
            words.update(root=ROOT, scratch=folder)
            environment = f"TILE_RUNTIME_LIB={build}/lib/libtile_runtime.so "
            command = "export " + environment + "&& " + command
            if command not in passed:
                passed[command] = holds(command.format(tree=ROOT, **words))
            text = change(path, old, new)
            link(tree, place or path, text)
            say(what, path, test, passed[command], holds(command.format(tree=tree, **words)))
        if not options.quick:
            programs = Programs(build, folder)
            chosen = [row for row in COMPILED if isChosen(row)]
            changes = [(path, change(path, old, new)) for _, path, old, new, _ in chosen]
            changed = programs.make("tilec", changes) if chosen else ""
            for what, path, _, _, test in chosen:
                before, after = (holds(programs.lit(test, tilec)) for tilec in ("", changed))
                say(what, path, test, before, after)
            for what, path, old, new, test in filter(isChosen, UNIT):
                changed = programs.make("TileRuntimeTests", [(path, change(path, old, new))])
                before, after = (
                    holds(f"{program} --gtest_filter={test}")
                    for program in (f"{build}/bin/TileRuntimeTests", changed)
                )
                say(what, path, test, before, after)
    lines += ["", f"{len(lines) - 2} mistakes, {wrong} not noticed."]
    print(lines[-1])
    if options.table:
        with open(options.table, "w", encoding="utf-8") as stream:
            stream.write(
                "# Mistakes that no test noticed once, and the tests that do\n\n"
                "Written by `test/checklist/mutations.py --table FILE`; `mutations.test` makes"
                " those outside of the\ncompiler.\n\n" + "\n".join(lines) + "\n"
            )
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
