#!/usr/bin/env python3
"""Wrong sources, data and calls, end to end: each must end with its exit code and a message, and
leave nothing behind.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile

import numpy

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

GOOD = """kernel scale(x: in f32[N], y: out f32[N], a: f32 = 2.0)
  where N in 1..=64
  grid (i: cdiv(N, 16))
{
  let n = block(i, 16);
  y[n] = x[n] * a;
}
"""
PAIR = (
    "kernel add(x: in f32[M, N], y: in f32[M, N], z: out f32[M, N]) grid (i: M) { let n = block(0,"
    " 16); z[i, n] = x[i, n] + y[i, n]; }\n"
)


class Test:
    """A source (k.tile), the call, the exit code, and patterns that standard error must match."""

    def __init__(self, name, code, call, *patterns, source=GOOD, files=None):
        self.name, self.code, self.call, self.patterns = name, code, call, patterns
        self.source, self.files = source, files or {}


def npy(array):
    """The bytes of an .npy file."""
    import io

    stream = io.BytesIO()
    numpy.save(stream, array)
    return stream.getvalue()


def body(text, head="kernel k(x: in f32[N], y: out f32[N])"):
    return head + " {\n" + text + "\n}\n"


X = {"x.npy": npy(numpy.ones(16, numpy.float32))}
RUN = "run k.tile --device cpu --out y=y.npy --arg x=x.npy"
COMPILE = "k.tile --target sm_90a -o k.ptx"
AT = r"k\.tile:\d+:\d+: error: "  # where a message about the source begins

TESTS = [
    # The source is wrong.
    Test(
        "unknown name",
        1,
        COMPILE,
        AT + ".*lenght",
        source=body("  let n = block(0, 16);\n  y[n] = x[n] * lenght;"),
    ),
    Test(
        "did you mean",
        1,
        COMPILE,
        AT + ".*blok",
        "(?i)did you mean.*block",
        source=body("  let n = blok(0, 16);\n  y[n] = x[n];"),
    ),
    Test(
        "shape mismatch",
        1,
        COMPILE,
        AT,
        r"\b16\b",
        r"\b24\b",
        source=body("  let n = block(0, 16);\n  y[n] = x[n] + zeros(f32, [24]);"),
    ),
    Test(
        "dtype mismatch",
        1,
        COMPILE,
        AT,
        "f32",
        "f16",
        source=body("  let n = block(0, 16);\n  y[n] = x[n] + zeros(f16, [16]);"),
    ),
    Test(
        "contract that cannot hold",
        1,
        COMPILE,
        AT,
        "10",
        r"\b5\b",
        source=(
            "kernel k(x: in f32[N], y: out f32[N])\n  where N in 10..=5\n{\n  let n = block(0,"
            " 16);\n  y[n] = x[n];\n}\n"
        ),
    ),
    Test(
        "opt outside of its range",
        1,
        COMPILE,
        AT,
        "opt|hint",
        source=GOOD.replace("1..=64", "1..=64 opt 65"),
    ),
    Test("syntax error", 1, COMPILE, AT, source="kernel k(x: in f32[N] { }\n"),
    Test(
        "an unknown dtype", 1, COMPILE, AT + ".*f33", source=GOOD.replace("x: in f32", "x: in f33")
    ),
    Test(
        "store to an input",
        1,
        COMPILE,
        AT + ".*x",
        source=body("  let n = block(0, 16);\n  x[n] = zeros(f32, [16]);"),
    ),
    Test(
        "load from an output",
        1,
        COMPILE,
        AT + ".*y",
        source=body("  let n = block(0, 16);\n  y[n] = y[n] + 1.0;"),
    ),
    Test(
        "a name that nothing binds",
        1,
        COMPILE,
        AT + ".*P",
        source=GOOD.replace("cdiv(N, 16)", "cdiv(P, 16)"),
    ),
    Test("no kernel", 1, COMPILE, "kernel", source="fn f(x) { return x; }\n"),
    Test(
        "bytes that are no UTF-8", 1, COMPILE, AT, source=b"kernel k(x: in f32[N]) { \xff\xfe }\n"
    ),
    Test(
        "deep nesting",
        1,
        COMPILE,
        "error",
        source=body("  let n = block(0, 16);\n  y[n] = " + "(" * 5000 + "x[n]" + ")" * 5000 + ";"),
    ),
    Test(
        "recursion",
        1,
        COMPILE,
        AT,
        source="fn f(x) { return f(x); }\n" + body("  let n = block(0, 16);\n  y[n] = f(x[n]);"),
    ),
    Test(
        "every error is reported",
        1,
        COMPILE,
        AT + ".*first_name",
        AT + ".*second_name",
        source=body(
            "  let n = block(0, 16);\n  let a = first_name;\n  let b = second_name;\n  y[n] = x[n];"
        ),
    ),
    # The data are wrong.
    Test(
        "wrong dtype in an .npy file",
        1,
        RUN,
        r"\bx\b",
        "f32",
        "f64|float64|<f8",
        files={"x.npy": npy(numpy.ones(16))},
    ),
    Test(
        "wrong rank in an .npy file",
        1,
        RUN,
        r"\bx\b",
        "rank|dimension",
        files={"x.npy": npy(numpy.ones((4, 4), numpy.float32))},
    ),
    Test(
        "dimension above its bound",
        1,
        RUN,
        r"\bN\b",
        "65",
        "64",
        files={"x.npy": npy(numpy.ones(65, numpy.float32))},
    ),
    Test(
        "dimension below its bound",
        1,
        RUN,
        r"\bN\b",
        r"\b0\b",
        source=GOOD.replace("cdiv(N, 16)", "1"),
        files={"x.npy": npy(numpy.ones(0, numpy.float32))},
    ),
    Test(
        "divisibility at launch",
        1,
        RUN,
        "N % 8 == 0",
        r"\b12\b",
        source=GOOD.replace("1..=64", "1..=64, N % 8 == 0"),
        files={"x.npy": npy(numpy.ones(12, numpy.float32))},
    ),
    Test(
        "dimensions that must be equal",
        1,
        "run k.tile --device cpu --arg x=x.npy --arg y=y.npy --out z=z.npy",
        r"\bN\b",
        r"\b7\b",
        r"\b8\b",
        source=PAIR,
        files={
            "x.npy": npy(numpy.ones((3, 7), numpy.float32)),
            "y.npy": npy(numpy.ones((3, 8), numpy.float32)),
        },
    ),
    Test("an .npy file that is none", 1, RUN, r"x\.npy", files={"x.npy": b"no numbers here"}),
    Test("an .npy file cut short", 1, RUN, r"x\.npy", files={"x.npy": X["x.npy"][:-7]}),
    Test(
        "an .npy header that lies",
        1,
        RUN,
        r"x\.npy",
        files={"x.npy": X["x.npy"].replace(b"(16,)", b"(-1,)")},
    ),
    # The call is wrong, or a file cannot be read or written.
    Test("missing source", 2, "absent.tile -o k.ptx", r"absent\.tile"),
    Test("missing .npy file", 2, RUN.replace("x.npy", "absent.npy"), r"absent\.npy"),
    Test(
        "unwritable output", 2, "k.tile --target sm_90a -o no/such/folder/k.ptx", r"no/such/folder"
    ),
    Test("output through a file", 2, "k.tile --target sm_90a -o k.tile/k.ptx", r"k\.tile/k\.ptx"),
    Test(
        "unwritable .npy output",
        2,
        RUN.replace("y=y.npy", "y=no/such/y.npy"),
        r"no/such/y\.npy",
        files=X,
    ),
    Test("unknown option", 2, "k.tile --emitt=ptx -o k.ptx", "--emitt"),
    Test("unknown target", 2, "k.tile --target sm_42x -o k.ptx", "sm_42x"),
    Test("unknown kind of output", 2, "k.tile --emit=elf -o k.elf", "elf"),
    Test("no input", 2, "", "(?i)input|file|usage"),
    Test("an argument that the kernel lacks", 2, RUN + " --arg q=x.npy", r"\bq\b", files=X),
    Test("an argument that is not given", 2, "run k.tile --device cpu --out y=y.npy", r"\bx\b"),
    Test("a definition that the kernel lacks", 2, RUN + " -D BLOK=16", "BLOK", files=X),
    Test("a scalar that is no number", 2, RUN + " --arg a=two", r"\ba\b", "two", files=X),
]

# Standard error must never look like this, whatever the input.
NEVER = re.compile(
    r"unknown location|loc\(unknown\)|LLVM ERROR|Assertion|PLEASE submit|Stack dump|terminate"
    r" called|core dumped"
)


def contents(folder):
    """{path: bytes} of every file below the folder."""
    found = {}
    for place, _, files in os.walk(folder):
        for name in files:
            path = os.path.join(place, name)
            with open(path, "rb") as stream:
                found[os.path.relpath(path, folder)] = stream.read()
    return found


def run(tilec, test):
    """None where the test passes, else what is wrong."""
    with tempfile.TemporaryDirectory(prefix="tile-errors-") as folder:
        source = test.source if isinstance(test.source, bytes) else test.source.encode()
        for name, data in {"k.tile": source, **test.files}.items():
            with open(os.path.join(folder, name), "wb") as stream:
                stream.write(data)
        before = contents(folder)
        try:
            done = subprocess.run(
                [tilec, *test.call.split()],
                cwd=folder,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=60,
                env={**os.environ, "NO_COLOR": "1"},
            )
        except subprocess.TimeoutExpired:
            return "no end after 60 s"
        shown = "\n    " + "\n    ".join(done.stderr.splitlines()[:6])
        if done.returncode != test.code:
            return f"exit code {done.returncode} where {test.code} was expected" + shown
        if NEVER.search(done.stderr):
            return "a message that no user may see" + shown
        for pattern in test.patterns:
            if not re.search(pattern, done.stderr):
                return f"no match for /{pattern}/ in" + shown
        if contents(folder) != before:
            return (
                "left behind or changed:"
                f" {sorted(set(contents(folder).items()) ^ set(before.items()))[0][0]}"
            )
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", default=os.path.join(ROOT, "build"))
    parser.add_argument("--verbose", action="store_true", help="print the tests that pass, too")
    parser.add_argument(
        "names", nargs="*", help="run only the tests whose name contains one of these"
    )
    options = parser.parse_args()
    tilec = os.path.abspath(os.path.join(options.build, "bin", "tilec"))
    if not os.access(tilec, os.X_OK):
        parser.error(f"{tilec} is missing: build first")
    passed = failed = 0
    for test in TESTS:
        if options.names and not any(name in test.name for name in options.names):
            continue
        wrong = run(tilec, test)
        passed, failed = passed + (not wrong), failed + bool(wrong)
        if wrong:
            print(f"FAIL {test.name}\n    {wrong}", flush=True)
        elif options.verbose:
            print(f"pass {test.name}", flush=True)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
