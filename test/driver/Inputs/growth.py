"""The work of tilec grows as what it reads: growth.py TILEC FOLDER.

Counts the instructions that the compiler runs (valgrind's cachegrind; no clock is asked) for inputs
of n and of 4n pieces, less those for nothing but the start. More than five and a half times as many
for four times the input fails: sorting stays below that, and twice nested loops come near 16.
"""

import concurrent.futures
import os
import re
import subprocess
import sys

KERNEL = """kernel k(x: in f32[N], y: out f32[N]) grid (i: cdiv(N, 64)) {
  let n = block(i, 64);
%s  y[n] = x[n];
}
"""
tilec, folder = sys.argv[1:]


def each(n, piece, between="\n"):
    return between.join(piece.replace("#", str(i)) for i in range(n)) + between


def body(n, piece):
    return KERNEL % each(n, piece)


def parameters(n):
    tensors = each(n, "x#: in f32[N]", ", ")
    return (
        f"kernel k({tensors}y: out f32[N]) grid (i: cdiv(N, 64)) {{\n  let n = block(i, 64);\n"
        + each(n, "  y[n] = x#[n];")
        + "}\n"
    )


def contracts(n):
    scalars, ranges = each(n, "a#: i32", ", "), each(n, "a# in 0..=9", ", ")
    return (
        f"kernel k({scalars}y: out f32[N]) where {ranges}N >= 1 grid (i: cdiv(N, 64)) {{\n"
        f"  let n = block(i, 64);\n  y[n] = ({each(n, 'a#', ' + ')}0) as f32;\n}}\n"
    )


def elements(n):
    """Each thread adds up what an elementary function makes of n numbers, trip by trip."""
    return (
        "kernel k(x: in f32[M, N], y: out f32[N]) where N % 64 == 0 grid (i: cdiv(N, "
        f"{32 * n})) with warps(1) {{\n  let n = block(i, {32 * n});\n"
        f"  var sum = zeros(f32, [{32 * n}]);\n"
        "  for m in 0..M { sum = exp(sum * x[m, 0]); }\n  y[n] = sum;\n}\n"
    )


def result(n):
    """A result of `tilec tune` of another kernel: it is read as a whole before that is said."""
    entry = '{"shape": {"N": #}, "config": {"B": "64"}, "ms": 1}'
    return (
        '{"schema": 1, "kernel": "other", "source": "", "compiler": "", "target": "cpu",'
        f' "best": {{"B": "64"}}, "entries": [{each(n, entry, ",")[:-1]}]}}'
    )


CHECK = ["check", "{}.tile"]
PTX = ["--target", "sm_90a", "--emit=ptx", "-o", "-", "{}.tile"]
CONFIG = [
    "k.tile",
    "--kernel",
    "k",
    "--target",
    "cpu",
    "--emit=tile",
    "-o",
    "-",
    "--config",
    "{}.json",
]
VARIANTS = ["k.tile", "--target", "cpu", "-o", "k.tilepkg", "--variants", "{}.json"]
# (what grows, pieces, the text of n, the command, what it says at the end)
CASES = (
    ("comments", 2000, lambda n: each(n, "// a comment") + KERNEL % "", CHECK, ""),
    ("spaces of a line", 5000, lambda n: KERNEL % ("  y[n] = z" + " " * n + ";\n"), CHECK, "E0201"),
    (
        "words of an expression",
        200,
        lambda n: KERNEL % f"  y[n] = {each(n, '#.0', ' + ')}x[n];\n",
        CHECK,
        "",
    ),
    ("statements", 25, lambda n: body(n, "  let a# = x[n] * #.0;\n  y[n] = a#;"), CHECK, ""),
    ("names that nothing reads", 100, lambda n: body(n, "  let a# = #;"), CHECK, "W0102"),
    ("functions", 40, lambda n: each(n, "fn f#(a) { return a + #.0; }") + KERNEL % "", CHECK, ""),
    ("kernels", 12, lambda n: each(n, KERNEL.replace("kernel k", "kernel k#") % ""), CHECK, ""),
    ("parameters", 25, parameters, CHECK, ""),
    ("contracts", 40, contracts, CHECK, ""),
    ("elements of a thread", 128, elements, PTX, ""),
    ("tensors of a kernel", 16, parameters, PTX, ""),
    ("errors of names", 100, lambda n: body(n, "  y[n] = z#;"), CHECK, "E0201"),
    ("errors of syntax", 200, lambda n: each(n, "def f(x): return x"), CHECK, "E0101"),
    (
        "a file of --config, configurations",
        1000,
        lambda n: "[" + each(n - 1, '{"B": #}', ",") + "{}]",
        CONFIG,
        "is a list of configurations",
    ),
    ("a file of --config, a result's entries", 150, result, CONFIG, "is of kernel 'other'"),
    (
        "a file of --variants, variants",
        500,
        lambda n: '{"variants": [' + each(n, '{"name": "v#", "args": ["N=#"]}', ",") + "7]}",
        VARIANTS,
        "a variant needs",
    ),
    (
        "a file of --variants, items of one",
        1000,
        lambda n: '{"variants": [{"name": "v", "args": [' + each(n, '"N=#"', ",") + "7]}]}",
        VARIANTS,
        "a variant needs",
    ),
)


def count(name, text, command, expected):
    """The instructions of one call, which has to say what is expected."""
    suffix = command[-1].partition("}")[2]
    with open(os.path.join(folder, name + suffix), "w", encoding="utf-8") as stream:
        stream.write(text)
    words = [word.format(name) for word in command]
    counter = ["valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"]
    done = subprocess.run(
        counter + ["./tilec"] + words, cwd=folder, capture_output=True, text=True, check=False
    )
    said = done.stdout + done.stderr
    if (expected not in said) if expected else done.returncode:
        sys.exit(f"{name}: tilec {' '.join(words)} ended with {done.returncode}:\n{said[:2000]}")
    return int(re.search(r"I +refs: +([\d,]+)", said).group(1).replace(",", ""))


def main():
    # Without its sections, whose debug information valgrind takes for damaged.
    command = ["llvm-strip", "--strip-sections", tilec, "-o", os.path.join(folder, "tilec")]
    subprocess.run(command, check=True)
    with open(os.path.join(folder, "k.tile"), "w", encoding="utf-8") as stream:
        stream.write(KERNEL % "")
    start = count("start", "", ["--version", "{}.tile"], "LLVM")
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        calls = [
            [
                pool.submit(count, f"{number}-{n}", make(n), command, expected)
                for n in (size, 4 * size)
            ]
            for number, (_, size, make, command, expected) in enumerate(CASES)
        ]
        for (what, size, *_), (once, often) in zip(CASES, calls):
            few, many = once.result() - start, often.result() - start
            grows = many > few * 5.5
            failed += grows
            print(
                f"{what:40} {size:6} {few:12} {4 * size:6} {many:12} instructions, {many / few:.1f}"
                f" times{': more than linear' if grows else ''}",
                flush=True,
            )
    print(f"{failed} inputs take more work than they grow")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
