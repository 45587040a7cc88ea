"""Rows of the checklist on messages, numbers, cost, pages and settings."""

import glob
import json
import os
import re
import subprocess

from harness import HEAD, ROOT, TWO, error, row, want


@row(85)
def errorFormat(t):
    t.write("k.tile", "kernel k" + HEAD + "{ let n = blok(i, 256); y[n] = x[n]; }\n")
    out = t.tilec("k.tile", "-o", "k.ptx", code=1)
    return want(
        re.search(r"k\.tile:1:\d+: error: .*\[E\d+\]", out) and "^~~~" in out and "fix:" in out,
        out.splitlines()[0],
    )


@row(86)
def backendErrors(t):
    t.write(
        "k.tile",
        "kernel k"
        + HEAD
        + '{ let n = block(i, 256);\n  y[n] = ptx(f32, "nosuch.f32 $0, $1;", x[n], fallback:'
        " x[n]); }\n",
    )
    t.write(
        "ptxas",
        '#!/bin/sh\nfor f; do case $f in /proc/*) [ -n "$in" ] || in=$f;; esac; done\nline=$(grep'
        ' -n nosuch $in | head -1 | cut -d: -f1)\necho "ptxas $in, line $line; error   : Not a name'
        " of any known instruction: 'nosuch'\" >&2\nexit 255\n",
    )
    os.chmod(os.path.join(t.folder, "ptxas"), 0o755)
    return t.refuse(
        "k.tile:2:10: error: ptxas refused the generated PTX: Not a name",
        "k.tile",
        "-o",
        "k.cubin",
        "--ptxas-path",
        "./ptxas",
    )


@row(87)
def warningControl(t):
    t.write(
        "k.tile",
        "kernel k(x: in f32[N], y: out f32[N]) grid (i: cdiv(N, 256)) { let unused = 1; let n ="
        " block(i, 256); y[n] = x[n]; }\n",
    )
    out = t.tilec("k.tile", "--emit=tile", "-o", "k.mlir")
    code = re.search(r"\[(W\d+)\]", out)[1]
    want(
        code not in t.tilec("k.tile", "--emit=tile", "-o", "k.mlir", f"-Wno-{code}"), f"-Wno-{code}"
    )
    return t.refuse(code, "k.tile", "--emit=tile", "-o", "k.mlir", "-Werror")


error(88, "kernel k" + HEAD + "{ let n = blok(i, 256); y[n] = x[n]; }\n", "did you mean 'block'?")


@row(89)
def precision(t):
    source = (
        "kernel k(a: in f32[64, 64], b: in f32[64, 64], c: out f32[64, 64]) { c[:, :] = dot(a[:,"
        " :], b[:, :]MODE); }\n"
    )
    counts = []
    for mode in ("", ', precision: "tf32"'):
        t.write("k.tile", source.replace("MODE", mode))
        t.tilec("k.tile", "--target", "sm_80", "-o", "k.ptx")
        counts.append(t.read("k.ptx").count(".tf32"))
    return want(
        counts[0] == 0 and counts[1] > 0,
        f"{counts[0]} instructions of tf32, {counts[1]} where it is asked for",
    )


@row(90)
def threads(t):
    t.write("k.tile", TWO)
    t.tilec("k.tile", "--target", "cpu", "-o", "k.tilepkg")
    return t.python(
        """
import threading
m = tile.load("k.tilepkg"); bad = []
def work(i):
    for n in range(1, 100):
        x = numpy.full(n, i, "f4"); y = numpy.zeros(n, "f4"); m["twice"](x, y)
        if not (y == 2 * i).all(): bad.append(i)
all_ = [threading.Thread(target=work, args=(i,)) for i in range(6)]
[t.start() for t in all_]; [t.join() for t in all_]
assert not bad; print("6 threads, 594 launches")"""
    ).strip()


@row(91)
def launchCost(t):
    ns = json.load(open(os.path.join(ROOT, "bench", "results", "launch.json")))["c_ns"]
    extra = ns["library"] - ns["cuLaunchKernel"]
    return want(
        0 < extra < 3000 and ns["library unchecked"] - ns["cuLaunchKernel"] < 1000,
        f"{extra / 1000:.2f} us more than cuLaunchKernel, by bench/launch.py on a card",
    )


@row(92)
def compileTime(t):
    rows = {
        r["name"]: r
        for r in json.load(open(os.path.join(ROOT, "bench", "results", "compile_time.json")))[
            "rows"
        ]
    }
    late = [name for name, r in rows.items() if r["goal"] and r["ms"] > r["goal"]]
    return want(
        not late, f"{len(rows)} compilations, all within their goals, by bench/compile_time.py"
    )


@row(93)
def dependencies(t):
    needed = subprocess.run(
        ["readelf", "-d", os.path.join(t.build, "lib", "libtile_runtime.so")],
        capture_output=True,
        text=True,
    ).stdout
    libraries = re.findall(r"NEEDED.*\[(.*)\]", needed)
    return want(
        all(
            re.match(r"lib(c|m|dl|pthread|gcc_s|stdc\+\+)\.so|ld-linux", name) for name in libraries
        ),
        ", ".join(libraries),
    )


@row(94)
def docsRun(t):
    tests = [
        os.path.join("test", "e2e", name)
        for name in ("run_readme.py", "run_guides.py", "run_examples.py")
    ]
    return want(
        all(os.path.exists(os.path.join(ROOT, name)) for name in tests),
        ", ".join(tests) + " run them",
    )


@row(95)
def speedBars(t):
    items = json.load(open(os.path.join(ROOT, "bench", "results", "gpu.json")))["items"]
    bars = [bar for item in items for bar in item["bars"] if bar["ours"]]
    reached = sum(bar["ours"] >= bar["ratio"] * 0.9951 for bar in bars)
    return want(
        len(bars) >= 70 and reached >= 0.97 * len(bars),
        f"{reached} of {len(bars)} bars reached on a card; test/house-rules/figures.test holds"
        " README to them",
    )


@row(96)
def breadth(t):
    t.write(
        "k.tile",
        'import "std/random.tile";\nkernel k(x: in f32[64], i: out i32[64], y: out f32[64], n:'
        " inout i32[1]) {\n  let v = x[:];\n  let (s, at) = sort(v, iota(64));\n  i[:] = at;\n "
        " y[:] = scan(add, s) + rand(7, iota(64));\n  atomic_add(n[0], 1);\n}\nfn add(a, b) {"
        " return a + b; }\n",
    )
    names = len(glob.glob(os.path.join(ROOT, "examples", "*", "reference.py")))
    return want(
        names >= 60,
        f"{names} examples; sort, scans, atomics and random numbers are in test/conformance",
    )


@row(97)
def inlinePtx(t):
    t.write(
        "k.tile",
        "kernel k"
        + HEAD
        + '{ let n = block(i, 256); y[n] = ptx(f32, "ex2.approx.f32 $0, $1;", x[n], fallback:'
        " exp2(x[n])); }\n",
    )
    t.tilec("k.tile", "-o", "k.ptx")
    return want("ex2.approx.f32" in t.read("k.ptx"), "ex2.approx.f32 in the PTX")


@row(98)
def backends(t):
    t.write("k.tile", TWO)
    t.tilec("k.tile", "--target", "cpu", "-o", "k.o")
    return t.refuse("unknown target 'hip'", "k.tile", "--target", "hip", "-o", "k.o", code=2)


@row(99)
def settings(t):
    t.write("k.tile", TWO)
    out = t.tilec(
        "k.tile",
        "-O1",
        "--cache=here",
        "--emit=ptx",
        "--print-settings",
        env={"TILE_CACHE": "there", "TILE_CACHE_COMMAND": "c"},
    )
    lines = {line.split()[0]: line for line in out.splitlines() if line.strip()}
    return want(
        "command line" in lines["cache"]
        and "here" in lines["cache"]
        and "TILE_CACHE_COMMAND" in lines["cache-command"]
        and "default" in lines["jobs"],
        " ".join(lines["cache"].split()) + " though TILE_CACHE says there",
    )


@row(100)
def prepare(t):
    t.write("k.tile", TWO)
    t.tilec(
        "k.tile",
        "--kernel",
        "twice",
        "--variant",
        "small:N=1..=16",
        "--target",
        "cpu",
        "-o",
        "k.tilepkg",
    )
    return t.python("""
k = tile.load("k.tilepkg")["twice"]; x, y = numpy.ones(8, "f4"), numpy.zeros(8, "f4")
p = k.prepare(x, y); assert p.variant == "small", p.variant
p(x, y); assert (y == 2).all(); print("prepared for", p.variant, "and called")""").strip()
