"""Measures what tile-expand-math makes of each function against a reference in higher precision.

usage: accuracy.py FOLDER [--table]

Compiles the expansions for this processor in FOLDER, runs them on dense samples and special values,
and fails where an error exceeds the bound below or a special value differs. --table takes eight
times the samples and prints docs/Math.md's table of measured errors.
"""

import ctypes
import pathlib
import subprocess
import sys

import numpy as np

# Function: bound in ulp for f32, for f64, interval that is sampled densely.
FUNCTIONS = {
    "exp": (1.5, 1.5, (-110, 92)),
    "exp2": (1.5, 1.5, (-155, 130)),
    "expm1": (2.0, 2.0, (-20, 90)),
    "log": (1.5, 1.5, (0.4, 2.5)),
    "log2": (2.0, 2.0, (0.4, 2.5)),
    "log1p": (2.0, 2.0, (-0.999, 3)),
    "sin": (2.3, 2.3, (-10, 10)),
    "cos": (2.3, 2.3, (-10, 10)),
    "tan": (4.0, 4.0, (-10, 10)),
    "tanh": (3.0, 3.0, (-10, 10)),
    "erf": (2.0, 2.0, (-5, 5)),
    "rsqrt": (1.5, 1.5, (0.1, 10)),
    "pow": (1.0, 1.5, (0, 40)),
}
TYPES = {"f32": (np.float32, np.uint32, "float"), "f64": (np.float64, np.uint64, "double")}


def mlirFunction(name, element):
    """A function of arrays that applies math.NAME to each element."""
    size = {"f16": 2, "bf16": 2, "f32": 4, "f64": 8}[element]
    binary = name == "pow"
    load = lambda p, v: (
        f"      %{p}a = llvm.getelementptr %{p}[%j] : (!llvm.ptr, i64) -> !llvm.ptr, {element}\n"
        f"      %{v} = llvm.load %{p}a : !llvm.ptr -> {element}\n"
    )
    call = f"math.powf %a, %b : {element}" if binary else f"math.{name} %a : {element}"
    return (
        f"  func.func @{name}_{element}(%x: !llvm.ptr {{llvm.noalias}}, %y: !llvm.ptr"
        " {llvm.noalias}, %z: !llvm.ptr {llvm.noalias}, %n: i64) {\n    %zero ="
        " arith.constant 0 : index\n    %one = arith.constant 1 : index\n    %end ="
        " arith.index_cast %n : i64 to index\n    scf.for %i = %zero to %end step %one {\n     "
        " %j = arith.index_cast %i : index to i64\n"
        + load("x", "a")
        + (load("y", "b") if binary else "")
        + f"      %r = {call}\n"
        f"      %za = llvm.getelementptr %z[%j] : (!llvm.ptr, i64) -> !llvm.ptr, {element}\n"
        f"      llvm.store %r, %za : {element}, !llvm.ptr\n    }}\n    return\n  }}\n"
    )


def build(folder):
    """Two libraries: the expansions, and C's long double functions as reference. Returns both,
    loaded.
    """
    folder.mkdir(parents=True, exist_ok=True)
    source = "".join(
        mlirFunction(name, element)
        for name in FUNCTIONS
        for element in ("f16", "bf16", "f32", "f64")
    )
    (folder / "in.mlir").write_text("module {\n" + source + "}\n")
    calls = {"rsqrt": "1 / sqrtl(x[i])", "pow": "powl(x[i], y[i])"}
    (folder / "reference.c").write_text(
        "#define _GNU_SOURCE\n#include <math.h>\n"
        + "".join(
            f"void ref_{name}_{c}(const {c} *x, const {c} *y, long double *z, long n) {{"
            f" for (long i = 0; i < n; ++i) z[i] = {calls.get(name, name + 'l(x[i])')}; }}\n"
            for name in FUNCTIONS
            for c in ("float", "double")
        )
    )
    run = lambda *command: subprocess.run([str(c) for c in command], check=True, cwd=folder)
    run("tile-opt", "in.mlir", "--tile-expand-math=processor=cpu", "-o", "expanded.mlir")
    run(
        "mlir-opt",
        "expanded.mlir",
        "--convert-scf-to-cf",
        "--arith-expand=include-bf16=true",
        "--convert-math-to-llvm",
        "--convert-arith-to-llvm",
        "--convert-cf-to-llvm",
        "--convert-func-to-llvm",
        "--reconcile-unrealized-casts",
        "-o",
        "llvm.mlir",
    )
    run("mlir-translate", "--mlir-to-llvmir", "llvm.mlir", "-o", "in.ll")
    run(
        "clang",
        "-O2",
        "-march=x86-64-v3",
        "-Wno-override-module",
        "-shared",
        "-fPIC",
        "in.ll",
        "-nostdlib",
        "-o",
        "in.so",
    )
    run("clang", "-O1", "-shared", "-fPIC", "reference.c", "-lm", "-o", "reference.so")
    return ctypes.CDLL(str(folder / "in.so")), ctypes.CDLL(str(folder / "reference.so"))


def call(function, x, y, kind):
    z = np.empty(len(x), kind)
    function(
        x.ctypes.data_as(ctypes.c_void_p),
        y.ctypes.data_as(ctypes.c_void_p),
        z.ctypes.data_as(ctypes.c_void_p),
        ctypes.c_long(len(x)),
    )
    return z


def samples(name, kind, bits):
    """Floats over the whole range, an interval densely, and every special case; for pow, pairs."""
    rng = np.random.default_rng(7)
    info = np.finfo(kind)
    width = np.dtype(bits).itemsize * 8
    count = 400_000 if "--table" in sys.argv else 50_000
    everywhere = rng.integers(0, 2**width, count, dtype=bits, endpoint=False).view(kind)
    low, high = FUNCTIONS[name][2]
    dense = rng.uniform(low, high, count).astype(kind)
    small = (rng.uniform(-1, 1, count) * 2.0 ** rng.uniform(-30, 0, count)).astype(kind)
    special = np.array(
        [
            0.0,
            -0.0,
            1,
            -1,
            2,
            -2,
            0.5,
            -0.5,
            3,
            -3,
            np.inf,
            -np.inf,
            np.nan,
            info.tiny,
            -info.tiny,
            info.max,
            -info.max,
            info.smallest_subnormal,
            -info.smallest_subnormal,
            info.tiny * 0.37,
            info.eps,
            -info.eps,
            1 + info.eps,
            1 - info.epsneg,
        ],
        kind,
    )
    if name == "pow":
        a, b = (part.ravel() for part in np.meshgrid(special, special))
        base = np.concatenate(
            [
                everywhere[: count // 2],
                dense,
                np.abs(1 + small * 2.0**-5),
                -dense.round()[: count // 4],
                a,
            ]
        )
        exponent = np.concatenate(
            [
                small[: count // 2] * 8,
                rng.uniform(-30, 30, count),
                rng.uniform(-3000, 3000, count),
                rng.integers(-40, 40, count // 4),
                b,
            ]
        ).astype(kind)
        return base.astype(kind), exponent
    x = [everywhere, dense, small, special]
    if name in (
        "sin",
        "cos",
        "tan",
    ):  # the hardest: floats next to multiples of pi/2, on both sides of the two reductions
        for k in (np.arange(1, 120_000), rng.integers(1, 2**40, count), 2 ** np.arange(1, 60)):
            nearest = (k * np.longdouble("1.5707963267948966192313216916397514421")).astype(kind)
            x += [nearest, np.nextafter(nearest, kind(np.inf)), np.nextafter(nearest, kind(0))]
        x.append(
            np.array([6381956970095103 * 2.0**797 if width == 64 else 16367173.0 * 2.0**72], kind)
        )
    x = np.concatenate(x).astype(kind)
    return x, np.zeros_like(x)


def worst(name, element, library, reference):
    """Largest error in ulp, and the argument; infinite where a NaN, an infinity or the sign of a
    zero is wrong.
    """
    kind, bits, c = TYPES[element]
    x, y = samples(name, kind, bits)
    got = call(library[f"{name}_{element}"], x, y, kind)
    want = call(reference[f"ref_{name}_{c}"], x, y, np.longdouble)
    with np.errstate(all="ignore"):
        rounded = want.astype(kind)
        spacing = np.maximum(
            np.spacing(np.minimum(np.abs(rounded), np.finfo(kind).max)),
            np.finfo(kind).smallest_subnormal,
        )
        error = np.abs(got.astype(np.longdouble) - want) / spacing
        # Overflow is right where the nearest float is infinite, and one step early or late is one
        # ulp.
        error = np.where(np.isinf(got) & (got == rounded), 0, error)
        error = np.where(
            np.isinf(rounded) & ~np.isinf(want) & (np.abs(got) == np.finfo(kind).max), 1, error
        )
        error = np.where(
            np.isinf(got) & ~np.isinf(rounded) & (np.abs(rounded) == np.finfo(kind).max), 1, error
        )
        error = np.where(
            np.isnan(want),
            np.where(np.isnan(got), 0, np.inf),
            np.where(np.isnan(got), np.inf, error),
        )
        error = np.where(
            (got == 0) & (want == 0) & (np.signbit(got) != np.signbit(want)), np.inf, error
        )
    at = int(np.argmax(error))
    return float(error[at]), x[at], y[at], got[at], want[at]


def checkNarrow(name, element, library):
    """f16 and bf16: exactly what f32 gives, rounded once, for every bit pattern."""
    x = np.arange(65536, dtype=np.uint16)
    if element == "f16":
        wide = x.view(np.float16).astype(np.float32)
    else:
        wide = (x.astype(np.uint32) << 16).view(np.float32)
    got = call(library[f"{name}_{element}"], x, x, np.uint16)
    single = call(library[f"{name}_f32"], wide, wide, np.float32)
    if element == "f16":
        with np.errstate(all="ignore"):
            got, want = got.view(np.float16), single.astype(np.float16)
    else:
        bits = single.view(np.uint32)
        want = ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16 << 16).astype(np.uint32).view(np.float32)
        got = (got.astype(np.uint32) << 16).view(np.float32)
        want = np.where(np.isnan(single), single, want)
    return int(np.sum(~((got == want) | (np.isnan(got) & np.isnan(want)))))


def main():
    folder = pathlib.Path(sys.argv[1]).resolve()
    table = "--table" in sys.argv
    library, reference = build(folder)
    failed = False
    for name, bounds in FUNCTIONS.items():
        row = []
        for element, bound in zip(TYPES, bounds):
            error, x, y, got, want = worst(name, element, library, reference)
            row.append(error)
            if not error <= bound:
                failed = True
                print(
                    f"{name} {element}: {error:.4g} ulp, more than {bound}, at {x!r}, {y!r}: got"
                    f" {got!r}, want {want!r}"
                )
        for element in ("f16", "bf16"):
            wrong = checkNarrow(name, element, library)
            if wrong:
                failed = True
                print(f"{name} {element}: {wrong} of 65536 differ from f32 rounded once")
        if table:
            print(f"| {name} | {row[0]:.2f} | {row[1]:.2f} |")
    print("failed" if failed else "all within bounds")
    return failed


if __name__ == "__main__":
    sys.exit(main())
