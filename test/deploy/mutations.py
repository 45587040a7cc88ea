#!/usr/bin/env python3
"""Deletes each rule of a launch in launch/core, one at a time, and says which tests notice.

  mutations.py [--build FOLDER] [--only TEXT] [--table FILE]

Rules are the errors that the core returns, and the statements of its fills, tensor maps and numbers
of blocks. The generated C of c-checks.test and c-effects.test, whose text of the core is patched
and compiled again, has to fail those tests' checks, and so has the runtime library from Python,
which is linked again with the patched file. EQUIVALENT names the deletions that change nothing for
these, with the reason. Prints a line for each: file, rule, and which test notices in C and in
Python. Exit code 1 where none does. Some minutes; needs a build of tilec, tile_runtime and
TileFakeCuda.
"""

import argparse
import collections
import concurrent.futures
import os
import re
import shlex
import subprocess
import sys
import tempfile
import textwrap

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
HERE = os.path.join(ROOT, "test", "deploy")
CORE = os.path.join(ROOT, "launch", "core")
FILES = ("Check.c", "Memory.c", "Select.c", "Fill.c", "Map.c", "Start.c")
ERROR = re.compile(
    r'return [^;"]*?\b(?:tk_fail|tk_dim_error|tk_stride_error|TILE_ERROR_\w+)\b'
    r'(?:[^;"]|"(?:\\.|[^"\\])*")*;'
)
# Functions whose every statement is a rule.
RULES = {
    "Fill.c": ("tk_make_fill", "tk_get_fill", "tk_each_half", "tk_each_block", "tk_fill_axis"),
    "Map.c": ("tk_map_dtype", "tk_describe", "tk_encode_map"),
    "Start.c": ("tk_write_block", "tk_fill_device", "tk_count_blocks", "tk_start"),
}
DECLARATION = re.compile(
    r"(const |unsigned |int |u?int\d+_t |size_t |char |void |tile_code |tk_\w+ [*\w])"
)
# Deletions that nobody can see, by the rule's text: why.
EQUIVALENT = {
    "tk_check_contracts: return tk_fail(k, TILE_ERROR_CONTRACT, s->line);#2": """tilec writes
    multiples as contracts, too, which are first; ValidateTest (Divisibility) has a manifest
    without""",
    "tk_each_block: block.cellBytes = 4;": """the driver's call is that of 4 bytes for 8, too;
    FillTest (EightByteElements) sees it""",
    "tk_each_block: block.pitchBytes = tk_wrap_mul(fill->elementBytes, block.width);": """of a
    single row nobody asks how far rows are apart""",
    "tk_fill_axis: return;": "behind the last axis the extent is 0",
    "tk_describe: d->strides[0] = 0;": "not told to the driver",
    "tk_encode_map: return TILE_OK;": "tk_refused returns that of no error, too",
    "tk_count_blocks: return (unsigned)programs;": "the rest computes the same for clusters of 1",
}
FAKE = os.path.join(ROOT, "test", "unit", "runtime", "FakeCuda.c")
# What is compiled: its arguments; for the CPU as a package.
BINARIES = {
    "checks": "test/deploy/Inputs/checks.tile --target sm_90a",
    "effects": "test/deploy/Inputs/effects.tile --target sm_90a",
    "host": "test/deploy/Inputs/effects.tile --kernel cover --target cpu",
    "var": "examples/softmax/softmax.tile -D BLOCK=1024 -D T=f16 --target sm_80 "
    "--variant short:N=1..=1024:512",
    "mm": "examples/matmul/matmul.tile -D T=f16 -D BM=128 -D BN=128 --target sm_90a "
    "--config cluster=2",
}
# What is asked: a binary, the word for calls.py or effects.py, what the driver lacks, the test that
# knows the answer, and the prefix there.
QUESTIONS = (
    ("effects", "effects", (), "c-effects", "CHECK"),
    ("checks", "", (), "c-checks", "CHECK"),
    ("host", "host", (), "c-effects", "HOST"),
    ("mm", "driver", (), "c-checks", "DRIVER"),
    ("mm", "single", (), "c-checks", "SINGLE"),
    ("mm", "driver", ("cuPointerGetAttribute", "cuTensorMapEncodeTiled"), "c-checks", "OLD"),
    ("mm", "driver", ("cuLaunchKernelEx",), "c-checks", "OLDER"),
    ("var", "variant", (), "c-checks", "VARIANT"),
)


def run(command, **named):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, **named).stdout


def deleteReturn(text, match):
    """The text without that return; where a function ends with it, it returns that all is well."""
    isLast = text[match.end() :].startswith("\n}")
    return text[: match.start()] + ("return TILE_OK;" if isLast else ";") + text[match.end() :]


def statements(text, function):
    """(begin, end) of each statement of a function: no declaration, no return at its end."""
    text = re.sub(
        r"/\*.*?\*/", lambda match: re.sub(r"[^\n]", " ", match.group(0)), text, flags=re.DOTALL
    )
    begin = text.index(
        "{", re.search(r"\n(?:TK_CORE |static )[^;{]*\b" + function + r"\([^;{]*\{", text).start()
    )
    end = text.index("\n}", begin)
    for match in re.finditer(r"\n +(?=[a-z+*])", text[begin:end]):
        at = stop = begin + match.end()
        isWhole = text[begin:at].rstrip().endswith((";", "{", "}", ")", "else", ":"))
        isHead = re.match(
            r"(if|for|while|else|switch|case|default|do|enum)\b", text[at:]
        ) or DECLARATION.match(text, at)
        while text[stop] not in ";{}":
            stop += 1
        isEnd = text[at:].startswith("return") and re.match(r";\s*(}\s*)?\n}", text[stop:])
        if isWhole and not isHead and not isEnd:
            yield at, stop + 1


def deleteStatement(text, begin, end):
    written = re.match(r"(result|code) = ", text[begin:])
    return text[:begin] + (f"{written.group(1)} = 0;" if written else ";") + text[end:]


def sites():
    """(file, text, mutant, rule) of each deletion; a rule is "function: statement", with its number
    where a function has it twice."""
    for name in FILES:
        with open(os.path.join(CORE, name), encoding="utf-8") as stream:
            text = stream.read()
        found = {
            match.start(): (match.end(), deleteReturn(text, match))
            for match in ERROR.finditer(text)
        }
        for function in RULES.get(name, ()):
            for begin, end in statements(text, function):
                # Messages are compared; what a struct that is not cleared holds is chance.
                if not text[begin:end].startswith(
                    ("tk_about", "tk_say", "tk_clear", "tk_add_text", "free(", "memset(")
                ):
                    found.setdefault(begin, (end, deleteStatement(text, begin, end)))
        seen = collections.Counter()
        for begin, (end, mutant) in sorted(found.items()):
            function = re.findall(
                r"\n(?:TK_CORE |static )[^;{}=]*?\b(\w+)\([^;{}]*\{", text[:begin]
            )[-1]
            rule = f"{function}: {' '.join(text[begin:end].split())}"
            seen[rule] += 1
            yield name, text, mutant, rule + (f"#{seen[rule]}" if seen[rule] > 1 else "")


class Bench:
    """Compiles and makes the calls, as they are and with a change to a file of the core."""

    def __init__(self, build, folder):
        self.build, self.folder = build, folder
        self.filecheck = os.path.join(
            re.search(
                r'llvm_prefix = "(.*)"',
                open(os.path.join(build, "test", "lit.site.cfg.py"), encoding="utf-8").read(),
            ).group(1),
            "bin",
            "FileCheck",
        )
        for name, words in BINARIES.items():
            arguments = words.split()
            gpu = ["--emit=ptx"] if "cpu" not in arguments else []
            for suffix in ("c", "ptx" if gpu else "tilepkg"):
                run(
                    [os.path.join(build, "bin", "tilec")]
                    + arguments
                    + gpu
                    + ["-o", f"{folder}/{name}.{suffix}"],
                    cwd=ROOT,
                )
        for number, (_, _, lacking, _, _) in enumerate(QUESTIONS):
            run(
                ["cc", "-shared", "-fPIC", "-w"]
                + [f"-D{name}=without_{name}" for name in lacking]
                + [FAKE, "-o", f"{folder}/driver{number}.so"]
            )
        commands = run(
            ["ninja", "-C", build, "-t", "commands", "tile_runtime"], cwd=ROOT
        ).splitlines()
        self.compile = {
            each: next(line for line in commands if f"-c {CORE}/{each}" in line) for each in FILES
        }
        self.link = next(
            line for line in reversed(commands) if " -shared " in line and "libtile_runtime" in line
        )

    def isRight(self, arguments, number, environment):
        """Whether the calls print what the test expects."""
        _, word, _, test, prefix = QUESTIONS[number]
        program = "effects.py" if word in ("effects", "host") else "calls.py"
        done = subprocess.run(
            [sys.executable, f"{HERE}/Inputs/{program}"] + arguments + ([word] if word else []),
            capture_output=True,
            timeout=300,
            env=dict(os.environ, TILE_LIBCUDA=f"{self.folder}/driver{number}.so", **environment),
            check=False,
        )
        checked = subprocess.run(
            [self.filecheck, f"{HERE}/{test}.test", f"--check-prefix={prefix}"],
            input=done.stdout,
            capture_output=True,
            check=False,
        )
        return done.returncode == 0 and checked.returncode == 0

    def order(self, name):
        """Questions of effects first where fills, maps and starts are changed."""
        effects = (
            ("host", "effects", "mm")
            if name == "Fill.c"
            else ("effects", "mm")
            if name in RULES
            else ("checks",)
        )
        return sorted(range(len(QUESTIONS)), key=lambda number: QUESTIONS[number][0] not in effects)

    def noticedByC(self, name="", old="", new=""):
        """The test and prefix that notice, or ''."""
        with tempfile.TemporaryDirectory() as folder:
            for number in self.order(name):
                binary, _, _, test, prefix = QUESTIONS[number]
                if not os.path.exists(f"{folder}/{binary}.so"):
                    with open(f"{self.folder}/{binary}.c", encoding="utf-8") as stream:
                        text = stream.read()
                    if old and old not in text:
                        continue  # C for the CPU holds no driver's part: see c-core.test
                    with open(f"{folder}/{binary}.c", "w", encoding="utf-8") as stream:
                        stream.write(text.replace(old, new) if old else text)
                    machine = [f"{self.folder}/{binary}.o"] if binary == "host" else []
                    run(
                        [
                            "cc",
                            "-std=c11",
                            "-w",
                            "-shared",
                            "-fPIC",
                            "-I",
                            self.folder,
                            f"{folder}/{binary}.c",
                        ]
                        + machine
                        + ["-o", f"{folder}/{binary}.so", "-lm", "-lpthread"]
                    )
                if not self.isRight([f"{folder}/{binary}.so", binary], number, {}):
                    return f"{test} {prefix}"
        return ""

    def noticedByPython(self, name="", new=""):
        with tempfile.TemporaryDirectory() as folder:
            library = f"{folder}/libtile_runtime.so"
            link = re.sub(r"-o lib/libtile_runtime\S*", f"-o {library}", self.link).split(" && ")[1]
            if name:
                with open(f"{folder}/{name}", "w", encoding="utf-8") as stream:
                    stream.write(new)
                command = self.compile[name].replace(f"-c {CORE}/{name}", f"-c {folder}/{name}")
                made = re.search(r"-o (\S+\.o)", command).group(1)
                command = re.sub(r"-M[TF] \S+|-MD|^\S*ccache ", "", command).replace(
                    made, f"{folder}/{name}.o"
                )
                run(shlex.split(command) + ["-w", "-O0"], cwd=self.build)
                link = link.replace(made, f"{folder}/{name}.o")
            run(shlex.split(link), cwd=self.build)
            for number in self.order(name):
                binary, _, _, test, prefix = QUESTIONS[number]
                suffix = "tilepkg" if binary == "host" else "ptx"
                if not self.isRight(
                    [f"{self.folder}/{binary}.{suffix}"], number, {"TILE_RUNTIME_LIB": library}
                ):
                    return f"{test} {prefix}"
        return ""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default=os.path.join(ROOT, "build"))
    parser.add_argument(
        "--only", default="", help="deletions whose line in the output has this text"
    )
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--table", help="write the table to this file, too")
    parser.add_argument(
        "--every",
        type=int,
        default=1,
        help="each so many-th of them alone, for a look whether this still works",
    )
    options = parser.parse_args()
    every = list(sites())
    unknown = set(EQUIVALENT) - {site[3] for site in every}
    assert not unknown, f"EQUIVALENT names what no file has: {unknown}"
    chosen = [site for site in every if options.only in f"{site[0]} {site[3]}"][:: options.every]
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(os.path.abspath(options.build), folder)
        before = bench.noticedByC(), bench.noticedByPython()
        assert before == ("", ""), f"the tests fail before anything is deleted: {before}"

        def check(site):
            name, text, mutant, rule = site
            # Includes of the core are left out of generated C.
            old, new = (
                re.sub(r'#include "(launch/core|manifest|runtime/include)/[^\n]*\n', "", each)
                for each in (text, mutant)
            )
            return name, rule, bench.noticedByC(name, old, new), bench.noticedByPython(name, mutant)

        wrong, same, lines = 0, [], ["| file | deleted | C | Python |", "|---|---|---|---|"]
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            for name, rule, inC, inPython in pool.map(check, chosen):
                short = (rule if len(rule) < 90 else rule[:87] + "...").replace("|", "\\|")
                if rule in EQUIVALENT and not inC and not inPython:
                    why = " ".join(EQUIVALENT[rule].split())
                    item = f"- {name}, `{short}`: {why}"
                    same += textwrap.wrap(item, 100, subsequent_indent="  ")
                    continue
                wrong += not inC or not inPython or rule in EQUIVALENT
                lines.append(
                    f"| {name} | `{short}` | {inC or 'not noticed'} | {inPython or 'not noticed'} |"
                )
                print(lines[-1], flush=True)
    unchanged = sum(line.startswith("-") for line in same)
    lines += ["", "Deleted without any change:"] + same if same else []
    lines += [
        "",
        f"{len(chosen)} rules deleted one at a time, {unchanged} of them change nothing, "
        f"{wrong} not noticed.",
    ]
    print(lines[-1])
    if options.table:
        with open(options.table, "w", encoding="utf-8") as stream:
            stream.write(
                "# Rules of a launch, deleted one at a time, and the tests that notice\n\n"
                "Written by `test/deploy/mutations.py "
                "--table FILE`; `mutations.test` runs some of them.\n\n" + "\n".join(lines) + "\n"
            )
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
