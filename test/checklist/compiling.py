"""Rows 1 to 50 of the checklist: compiling, contracts, arguments and launches."""

import glob
import json
import os
import re
import shutil

from harness import BODY, HEAD, ROOT, TWO, error, example, row, want, wrongCall


@row(1)
def compileEntry(t):
    t.write("two.tile", TWO)
    t.tilec("two.tile", "-o", "all.ptx")
    t.tilec("two.tile", "--kernel", "add", "-o", "one.ptx")
    counts = [t.read(name).count(".entry") for name in ("all.ptx", "one.ptx")]
    return want(counts == [2, 1], f"{counts[0]} kernels in all, {counts[1]} by --kernel add")


@row(2)
def frontEnd(t):
    t.write("inc/h.tile", "fn half(v) { return v * 0.5; }\n")
    t.write(
        "k.tile",
        'import "h.tile";\nkernel k' + HEAD + "{ let n = block(i, 256); y[n] = half(x[n]); }\n",
    )
    t.tilec("k.tile", "-I", "inc", "--emit=tile", "-o", "k.mlir")
    return t.refuse("h.tile", "k.tile", "--emit=tile", "-o", "-")


@row(3)
def artefacts(t):
    t.write("k.tile", TWO)
    for name in ("k.ptx", "k.tilepkg", "k.o", "k.c"):
        t.tilec("k.tile", "-o", name, *(["--target", "cpu"] if name in ("k.o", "k.c") else []))
    made = sorted(os.listdir(t.folder))
    return want(
        set(made) >= {"k.ptx", "k.ptx.json", "k.tilepkg", "k.o", "k.o.json", "k.c", "k.h"},
        ", ".join(made),
    )


@row(4)
def targets(t):
    t.write("k.tile", TWO)
    t.tilec("k.tile", "--target", "sm_80,sm_90a,cpu", "--emit=package", "-o", "k.tilepkg")
    out = t.tilec("inspect", "k.tilepkg")
    want(all(f"  {name}" in out for name in ("sm_80", "sm_90a", "cpu")), out)
    return t.refuse("did you mean", "k.tile", "--target", "sm_9O", "-o", "k.ptx", code=2)


@row(5)
def withoutDriver(t):
    t.write("k.tile", TWO)
    t.tilec("k.tile", "-o", "k.ptx", env={"TILE_LIBCUDA": "/nowhere", "CUDA_VISIBLE_DEVICES": ""})
    return want(".entry add" in t.read("k.ptx"), "PTX with no driver to be found")


@row(6)
def levels(t):
    t.write("k.tile", TWO)
    texts = []
    for level in range(4):
        t.tilec("k.tile", f"-O{level}", "-o", f"k{level}.ptx")
        texts.append(t.read(f"k{level}.ptx"))
    want(len(texts[0]) > len(texts[3]), "-O0 is longer than -O3")
    t.write(
        "ptxas",
        '#!/bin/sh\necho "$*" > saw\nwhile [ "$1" != -o ]; do shift; done\necho cubin > "$2"\n',
    )
    os.chmod(os.path.join(t.folder, "ptxas"), 0o755)
    t.tilec("k.tile", "-o", "k.cubin", "--ptxas-path", "./ptxas", "-Xptxas", "--maxrregcount=64")
    return want(
        "--maxrregcount=64" in t.read("saw"),
        "-O0 to -O3; ptxas got: " + t.read("saw").split("/proc")[0].strip(),
    )


@row(7)
def warps(t):
    t.write("k.tile", TWO)
    t.tilec("k.tile", "--with", "warps=8", "-o", "k.ptx")
    want(".reqntid 256" in t.read("k.ptx"), "256 threads")
    return t.refuse("1, 2, 4, 8, 16 or 32", "k.tile", "--with", "warps=5", "-o", "k.ptx")


@row(8)
def names(t):
    t.write(
        "k.tile",
        "kernel k[T: dtype in {f16, f32}](x: in T[N], y: out T[N]) grid (i: cdiv(N, 256)) " + BODY,
    )
    t.tilec("k.tile", "-o", "k.ptx")
    symbols = [each["symbol"] for each in t.manifest("k.ptx.json")]
    return want(symbols == ["k_T_f16", "k_T_f32"], ", ".join(symbols))


@row(9)
def signature(t):
    t.write(
        "k.tile", "kernel k(x: in f32[M, K], y: out f32[M, K]) grid (i: M) { y[i, 0] = x[i, 0]; }\n"
    )
    t.tilec("k.tile", "--arg", "x=f32[M,1024]", "-o", "k.ptx")
    want("1024" in json.dumps(t.manifest("k.ptx.json")[0]["dims"]), "K is 1024")
    return t.refuse("rank", "k.tile", "--arg", "x=f32[M]", "-o", "k.ptx", code=2)


@row(10)
def constants(t):
    t.write(
        "k.tile",
        "kernel k[A: int, F: float, W: string, G: fn]"
        + HEAD
        + '{ let n = block(i, 256); const if W == "neg" { y[n] = G(x[n]) * F - (A as f32); } else {'
        " y[n] = x[n]; } }\n",
    )
    t.tilec(
        "k.tile",
        "-D",
        "A=-3",
        "-D",
        "F=1.5",
        "-D",
        "W=neg",
        "-D",
        "G=exp",
        "--emit=tile",
        "-o",
        "k.mlir",
    )
    return want("math.exp" in t.read("k.mlir"), "an int, a float, a string and a function by -D")


@row(11)
def constantsLeave(t):
    t.write("k.tile", "kernel k[B: int = 256]" + HEAD + BODY)
    t.tilec("k.tile", "--arg", "N=1024", "-o", "k.ptx")
    kernel = t.manifest("k.ptx.json")[0]
    return want(
        "B" in kernel["constants"] and all(a.get("dim") != "N" for a in kernel["arguments"]),
        f"arguments: {kernel['arguments']}",
    )


@row(12)
def hostData(t):
    t.write(
        "k.tile",
        "kernel k(x: in i32[N], y: out i32[N]) grid (i: N) { let v = zeros(i32, [x[0]]); y[i] ="
        " x[i]; }\n",
    )
    return t.refuse("compile", "k.tile", "--emit=tile", "-o", "-")


@row(13)
def divisibility(t):
    t.write("k.tile", TWO)
    t.tilec(
        "k.tile",
        "--kernel",
        "twice",
        "--variant",
        "wide:N%64,align(x)=64",
        "--target",
        "cpu",
        "-o",
        "k.tilepkg",
    )
    return t.python("""
m = tile.load("k.tilepkg")["twice"]
def call(n):
    x, y = numpy.zeros(n + 64, "f4"), numpy.zeros(n, "f4")
    at = (-x.ctypes.data // 4) % 16
    return m.prepare(x[at:at + n], y).variant
assert call(64) == "wide" and call(65) != "wide", (call(64), call(65))
print("64 takes", call(64), "and 65 the generic variant")""").strip()


@row(14)
def dtypes(t):
    for dtype in "bool i8 u8 i16 u16 i32 u32 i64 u64 f16 bf16 f32 f64 f8e4m3 f8e5m2".split():
        t.write(
            "k.tile",
            f"kernel k(x: in {dtype}[N], y: out {dtype}[N]) grid (i: cdiv(N, 64)) {{ let n ="
            " block(i, 64); y[n] = x[n]; }\n",
        )
        t.tilec("k.tile", "--emit=tile", "-o", "k.mlir")
    t.write("k.tile", "kernel k(x: in f23[N]) { }\n")
    return t.refuse("did you mean 'f", "k.tile", "--emit=tile", "-o", "-")


@row(15)
def staticDims(t):
    t.write("k.tile", "kernel k(x: in f32[128, 64], y: out f32[128, 64]) { y[0, 0] = x[0, 0]; }\n")
    t.tilec("k.tile", "--target", "cpu", "-o", "k.tilepkg")
    return t.python("""
k = tile.load("k.tilepkg")["k"]
k(numpy.zeros((128, 64), "f4"), numpy.zeros((128, 64), "f4"))
try: k(numpy.zeros((128, 63), "f4"), numpy.zeros((128, 64), "f4"))
except tile.Error as e:
    print(e)
else: raise SystemExit("63 was taken")""").strip()


@row(16)
def ranges(t):
    t.write("k.tile", TWO)
    t.tilec("k.tile", "--kernel", "add", "--arg", "N=1..=16:8", "-o", "k.ptx")
    dim = t.manifest("k.ptx.json")[0]["dims"][0]
    want((dim["min"], dim["max"], dim["opt"]) == (1, 16, 8), str(dim))
    return t.refuse("write 1..=16", "k.tile", "--arg", "N=1..16", "-o", "k.ptx", code=2)


error(17, "kernel k(x: in f32[N]) where N in 8..=4 grid (i: N) { }\n", "empty")


@row(18)
def optIsUsed(t):
    out = t.tilec("explain", example("matmul"), "-D", "T=f16", "--shape", "M=16,N=8192,K=8192")
    large = t.tilec("explain", example("matmul"), "-D", "T=f16", "--shape", "M=8192,N=8192,K=8192")
    tiles = [re.search(r"\bBM\s*=?\s*(\d+)", text) for text in (out, large)]
    return want(
        all(tiles) and int(tiles[0][1]) < int(tiles[1][1]),
        f"BM is {tiles[0][1]} for 16 rows, {tiles[1][1]} for 8192",
    )


@row(19)
def oneBinary(t):
    t.write("k.tile", TWO)
    t.tilec("k.tile", "--kernel", "twice", "--target", "cpu", "-o", "k.tilepkg")
    return t.python("""
k = tile.load("k.tilepkg")["twice"]
for n in (0, 1, 255, 256, 257, 9999):
    x = numpy.arange(n, dtype="f4"); y = numpy.zeros(n, "f4"); k(x, y); assert (y == 2 * x).all(), n
print("0, 1, 255, 256, 257 and 9999 by one binary")""").strip()


wrongCall(20, 'k["add"](a(7), a(5), a(7))', "'y' has N = 5")
error(21, "kernel k(x: in f32[N]) where N in 1..=4, N in 1..=8 grid (i: N) { }\n", "N")
wrongCall(
    22,
    'k["k"](a(3), n=4)',
    "n",
    "kernel k(x: out f32[n], n: i32) where n in 1..=8 grid (i: n) { x[i] = 1.0; }\n",
)


@row(23)
def arithmetic(t):
    t.write(
        "k.tile",
        "kernel k(x: in f32[M, N], y: out f16[M * 2, cdiv(N, 2)]) grid (i: M) { y[i, 0] = x[i, 0]"
        " as f16; }\n",
    )
    t.tilec("k.tile", "--target", "cpu", "-o", "k.tilepkg")
    out = t.python('print(tile.load("k.tilepkg")["k"].outputs(numpy.zeros((3, 5), "f4")))').strip()
    return want("(6, 3)" in out, out)


@row(24)
def emptyInputs(t):
    t.write("k.tile", TWO)
    t.tilec("k.tile", "--kernel", "twice", "--target", "cpu", "-o", "k.tilepkg")
    return t.python(
        'tile.load("k.tilepkg")["twice"](numpy.zeros(0, "f4"), numpy.zeros(0, "f4")); print("N = 0'
        ' succeeds and runs nothing")'
    ).strip()


wrongCall(
    25, 'k["twice"](numpy.zeros(16, "f4")[::2], a(8))', "pass a contiguous copy, or declare strides"
)


@row(26)
def wideIndices(t):
    sizes = []
    for limit in ("2^20", "2^40"):
        t.write(
            "k.tile",
            "kernel k(x: in f32[N], y: out f32[N]) where N in"
            f" 1..={limit.replace('2^20', '1048576').replace('2^40', '1099511627776')} grid (i:"
            " cdiv(N, 256)) " + BODY,
        )
        t.tilec("k.tile", "-o", "k.ptx")
        sizes.append(len(re.findall(r"\b\w+\.[su]64\b", t.read("k.ptx"))))
    return want(
        sizes[1] > sizes[0],
        f"{sizes[0]} operations of 64 bits for N up to 2^20, {sizes[1]} up to 2^40",
    )


@row(27)
def specialise(t):
    t.write(
        "k.tile",
        "kernel k(x: in f32[N], y: out f32[N]) where N in 1..=65536 grid (i: cdiv(N, 256))"
        " specialize N in {64, 128} " + BODY,
    )
    t.tilec("k.tile", "-o", "k.ptx")
    return want(
        len(t.manifest("k.ptx.json")) == 3,
        ", ".join(each["symbol"] for each in t.manifest("k.ptx.json")),
    )


@row(28)
def bundle(t):
    t.write("k.tile", TWO)
    t.tilec(
        "k.tile",
        "--kernel",
        "twice",
        "--variant",
        "small:N=1..=16",
        "--variant",
        "large:N=64..=128",
        "--no-generic",
        "--target",
        "cpu",
        "-o",
        "k.tilepkg",
    )
    return t.python(
        """
k = tile.load("k.tilepkg")["twice"]
x = numpy.ones(16, "f4"); y = numpy.zeros(16, "f4"); k(x, y); assert (y == 2).all()
try: k(numpy.ones(32, "f4"), numpy.ones(32, "f4"))
except tile.Error as e:
    print(str(e).replace("\\n", " "))
    assert "small" in str(e) and "large" in str(e)"""
    ).strip()


@row(29)
def order(t):
    t.write("k.tile", TWO)
    abi = json.loads(t.tilec("k.tile", "--kernel", "add", "--print-abi"))["kernels"][0]
    t.tilec(
        "k.tile",
        "--kernel",
        "add",
        "-o",
        (
            "k.cubin"
            if shutil.which("ptxas") or os.path.exists("/usr/local/cuda/bin/ptxas")
            else "k.ptx"
        ),
    )
    file = glob.glob(os.path.join(t.folder, "k.*.json"))[0]
    want(json.load(open(file))["kernels"][0] == abi, "--print-abi is the file's manifest")
    return want(
        [p["name"] for p in abi["params"]] == ["x", "y", "z"] and abi["launch"]["threads"] > 1,
        "x, y, z; " + str(abi["launch"]),
    )


@row(30)
def keywords(t):
    t.write("k.tile", TWO)
    t.tilec("k.tile", "--target", "cpu", "-o", "k.tilepkg")
    return t.python(
        'a = lambda: numpy.ones(4, "f4")\nz = a(); tile.load("k.tilepkg")["add"](z=z, y=a(),'
        ' x=a()); assert (z == 2).all(); print("z, y, x by name")'
    ).strip()


@row(31)
def defaults(t):
    t.write(
        "k.tile",
        "kernel k(x: in f32[N], y: out f32[N], a: f32 = 2.0) grid (i: cdiv(N, 64)) { let n ="
        " block(i, 64); y[n] = a * x[n]; }\n",
    )
    t.tilec("k.tile", "--target", "cpu", "-o", "k.tilepkg")
    return t.python(
        'y = numpy.zeros(4, "f4"); tile.load("k.tilepkg")["k"](numpy.ones(4, "f4"), y); assert (y'
        ' == 2).all(); print("a is 2.0 where nobody gives it")'
    ).strip()


error(32, "kernel k(*xs: in f32[N]) { }\n", "error: ")


@row(33)
def arrays(t):
    t.write(
        "k.tile",
        "kernel k(xs: in f32[N] * 3, y: out f32[N]) grid (i: cdiv(N, 64)) { let n = block(i, 64);"
        " y[n] = xs[0][n] + xs[1][n] + xs[2][n]; }\n",
    )
    t.tilec("k.tile", "--target", "cpu", "-o", "k.tilepkg")
    return t.python("""
k = tile.load("k.tilepkg")["k"]; o = lambda n=4: numpy.ones(n, "f4"); y = o()
k([o(), o(), o()], y); assert (y == 3).all()
try: k([o(), o(), o(5)], y)
except tile.Error as e: assert "xs[2]" in str(e), e; print(e)""").strip()


@row(34)
def functions(t):
    t.write(
        "k.tile", "kernel k[F: fn = exp]" + HEAD + "{ let n = block(i, 256); y[n] = F(x[n]); }\n"
    )
    out = t.tilec("k.tile", "-D", "F=log", "--emit=tile", "-o", "-")
    return want("math.log" in out and "math.exp" not in out, "log is inlined")


error(35, "kernel k(x: in string[N]) { }\n", "error: ")


@row(36)
def noTensors(t):
    t.write("k.tile", "kernel k(n: i32) { }\n")
    t.tilec("k.tile", "-o", "k.ptx")
    return want(".entry k" in t.read("k.ptx"), "kernel k(n: i32)")


error(37, "kernel k(x: in f32[N], x: out f32[N]) { }\n", "x")
error(38, "kernel k(x: in f32[N], y: out f32[N]) grid (i: N) { x[i] = y[i]; }\n", "x")
wrongCall(39, 'k["add"](a(4), a(4))', "z")


@row(40)
def outputSpec(t):
    t.write(
        "k.tile",
        "kernel k(a: in f16[M, K], b: in f16[K, N], c: out f16[M, N]) grid (i: M) { c[i, 0] = a[i,"
        " 0] + b[0, 0]; }\n",
    )
    t.tilec("k.tile", "-o", "k.ptx")
    t.tilec("k.tile", "--target", "cpu", "-o", "k.tilepkg")
    out = t.python(
        'a = numpy.zeros((32, 8), "f2"); print(tile.load("k.tilepkg")["k"].outputs(a,'
        ' numpy.zeros((8, 16), "f2")))'
    ).strip()
    return want("(32, 16)" in out and "f16" in out, out)


@row(41)
def callersMemory(t):
    t.write("k.tile", TWO)
    t.tilec("k.tile", "--target", "cpu", "-o", "k.tilepkg")
    return t.python(
        """
y = numpy.zeros(4, "f4"); at = y.ctypes.data
tile.load("k.tilepkg")["twice"](numpy.ones(4, "f4"), y)
assert y.ctypes.data == at and (y == 2).all(); print("written where the caller's array is")"""
    ).strip()


wrongCall(42, 'x = a(4); k["twice"](x, x)', "overlap")


@row(43)
def weights(t):
    t.write("k.tile", "const W = [1.0, 2.0, 4.0, 8.0];\nkernel k(y: out f32[4]) { y[0] = W[3]; }\n")
    t.tilec("k.tile", "--emit=tile", "-o", "k.mlir")
    return want("8.0" in t.read("k.mlir"), "a table in the source")


@row(44)
def callable_(t):
    header = open(os.path.join(ROOT, "runtime", "include", "tile_runtime.h")).read()
    want("tile_kernel_launch" in header, "tile_kernel_launch")
    t.write(
        "main.c",
        '#include "tile_runtime.h"\n#include <stdio.h>\nint main(void) { tile_module *m; tile_error'
        ' *e = tile_module_load("nothing.tilepkg", &m);\nprintf("%s\\n", e ? tile_error_message(e)'
        ' : "loaded"); return e ? 0 : 1; }\n',
    )
    lib = os.path.join(t.build, "lib")
    t.run(
        "gcc",
        "-I",
        os.path.join(ROOT, "runtime", "include"),
        "main.c",
        "-L",
        lib,
        "-ltile_runtime",
        f"-Wl,-rpath,{lib}",
        "-o",
        "main",
    )
    out = t.run(os.path.join(t.folder, "main")).strip()
    return want("nothing.tilepkg" in out, "returned, not printed: " + out)


wrongCall(45, 'k["add"](a(4), a(4), a(4), a(4), q=1)', "add")
wrongCall(
    46, 'k["add"](a(4), a(4, dtype="f8"), a(4))', "'y' holds f64, expected f32" if False else "f64"
)


@row(47)
def residency(t):
    t.write("k.tile", TWO)
    (
        t.tilec("k.tile", "--emit=ptx", "-o", "k.tilepkg")
        if False
        else t.tilec("k.tile", "--target", "cpu", "-o", "k.tilepkg")
    )
    return t.python(
        'y = numpy.zeros(4, "f4"); tile.load("k.tilepkg")["twice"](numpy.ones(4, "f4"), y,'
        ' check="memory"); assert (y == 2).all(); print("check=\\"memory\\" is taken;'
        " PreparedTest.WhereMemoryLies has the GPU's\")"
    ).strip()


wrongCall(48, 'k["twice"](None, a(4))', "'x' is None")


@row(49)
def unchecked(t):
    t.write("k.tile", TWO)
    t.tilec("k.tile", "--target", "cpu", "-o", "k.tilepkg")
    return t.python(
        """
k = tile.load("k.tilepkg")["add"]; o = lambda n: numpy.ones(n, "f4"); z = o(5)
try: k(o(5), o(7), z); raise SystemExit("checked call took it")
except tile.Error: pass
k(o(5), o(7), z, check=False); assert (z == 2).all()
print("check=False takes what a checked call refuses")"""
    ).strip()


@row(50)
def introspection(t):
    t.write("k.tile", TWO)
    t.tilec("k.tile", "-o", "k.tilepkg")
    out = t.tilec("inspect", "k.tilepkg")
    return want(
        "add(x: in f32[N]" in out or "add: " in out,
        next(line.strip() for line in out.splitlines() if "add" in line),
    )
