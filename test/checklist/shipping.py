"""Rows 51 to 100 of the checklist: running, inspecting, tuning, caching, messages and speed."""

import glob
import json
import os
import re
import subprocess
import zipfile

import numpy
from harness import HEAD, ROOT, TWO, error, example, row, want


@row(51)
def metadata(t):
    t.write("k.tile", TWO)
    t.tilec("k.tile", "-o", "k.ptx")
    kernel = t.manifest("k.ptx.json")[0]
    param = kernel["params"][0]
    return want(
        param["name"] == "x" and param["dtype"] == "f32" and kernel["dims"][0]["max"] == 65536,
        f"{param['name']} {param['dtype']} {kernel['dims'][0]}",
    )


FAKE = """
import ctypes
lib = ctypes.CDLL(os.environ["TILE_LIBCUDA"])
class Cai:
    def __init__(self, at):
        self.__cuda_array_interface__ = {
            "data": (at, False), "typestr": "<f4", "shape": (1000,), "strides": None, "version": 3}
class Fake(ctypes.Structure):
    _fields_ = [(n, ctypes.c_int) for n in (
        "major", "minor", "optinShared", "staticShared", "loadResult", "launchResult")]
    _fields_ += [("symbols", ctypes.c_char_p), ("argumentCount", ctypes.c_int)]
    _fields_ += [(n, ctypes.c_int) for n in (
        "loads", "unloads", "launches", "retains", "memsets", "maxDynamicShared")]
    _fields_ += [("grid", ctypes.c_uint * 3), ("block", ctypes.c_uint * 3)]
    _fields_ += [("shared", ctypes.c_uint), ("stream", ctypes.c_void_p)]
lib.fakeCuda.restype = ctypes.POINTER(Fake)
fake = lib.fakeCuda().contents
fake.major, fake.minor, fake.symbols, fake.argumentCount = 9, 0, b"twice,add,", 3
"""


def onFakeDevice(number, program):
    """A row about launches on a GPU: the fake driver records what it is asked for."""

    @row(number)
    def check(t):
        t.write("k.tile", TWO)
        t.tilec("k.tile", "--target", "sm_90", "-o", "k.ptx")
        return t.python(FAKE + 'k = tile.load("k.ptx")["twice"]\n' + program, fake=True).strip()


onFakeDevice(
    52,
    "k(Cai(4096), Cai(65536), stream=0x1234)\nassert fake.stream == 0x1234,"
    ' fake.stream\nprint("launched on stream", hex(fake.stream))',
)
onFakeDevice(
    53,
    'k(Cai(4096), Cai(65536))\nassert fake.grid[0] == 4, list(fake.grid)\nprint("a grid of",'
    ' fake.grid[0], "for N = 1000")',
)
onFakeDevice(
    54,
    'k(Cai(4096), Cai(65536))\nassert fake.block[0] >= 32, list(fake.block)\nprint("blocks of",'
    ' fake.block[0], "threads,", fake.shared, "bytes")',
)


@row(55)
def scratch(t):
    t.tilec(example("matmul"), "-D", "T=f16", "--config", "SPLIT=4", "-o", "k.ptx")
    launch = t.manifest("k.ptx.json")[0]["launch"]
    return want(launch.get("scratch_bytes", 0), f"scratch_bytes {launch.get('scratch_bytes')}")


onFakeDevice(
    56,
    "assert fake.loads == 0\nk(Cai(4096), Cai(65536)); k(Cai(4096), Cai(65536))\nassert"
    ' (fake.loads, fake.launches) == (1, 2), (fake.loads, fake.launches)\nprint("loaded once, at'
    ' the first of", fake.launches, "launches")',
)


@row(57)
def severalGpus(t):
    t.write("k.tile", TWO)
    t.tilec(
        "k.tile",
        "--kernel",
        "twice",
        "--target",
        "sm_80,sm_90",
        "--emit=package",
        "-o",
        "k.tilepkg",
    )
    return t.python(
        FAKE + 'for minor in (0,):\n    k = tile.load("k.tilepkg")["twice"]; k(Cai(4096),'
        ' Cai(65536))\nassert fake.launches == 1\nprint("of a package with sm_80 and sm_90 the'
        " device's code; ModuleTest.OncePerContext has two contexts\")",
        fake=True,
    ).strip()


@row(58)
def saveLoad(t):
    t.write("k.tile", TWO)
    t.tilec("k.tile", "--target", "cpu", "-o", "k.tilepkg")
    return t.python(
        'm = tile.load("k.tilepkg"); os.remove("k.tilepkg"); y = numpy.zeros(4, "f4");'
        ' m["twice"](numpy.ones(4, "f4"), y); assert (y == 2).all(); print("runs after its file is'
        ' gone")'
    ).strip()


@row(59)
def corruption(t):
    t.write("k.tile", TWO)
    t.tilec("k.tile", "--target", "cpu", "-o", "k.tilepkg")
    path = os.path.join(t.folder, "k.tilepkg")
    data = bytearray(open(path, "rb").read())
    data[len(data) // 2] ^= 255
    open(path, "wb").write(data)
    return t.refuse("k.tilepkg", "inspect", "k.tilepkg")


@row(60)
def rawCode(t):
    t.write("k.tile", TWO)
    t.tilec("k.tile", "--target", "sm_90a,cpu", "--emit=package", "-o", "k.tilepkg")
    t.tilec("inspect", "k.tilepkg", "--extract", "parts")
    found = sorted(
        os.path.relpath(path, t.folder)
        for path in glob.glob(os.path.join(t.folder, "parts", "code", "*"))
    )
    return want(
        any(path.endswith(".ptx") for path in found)
        and any(path.endswith(".so") for path in found),
        ", ".join(found),
    )


@row(61)
def embedding(t):
    t.write("k.tile", TWO)
    t.tilec("k.tile", "--kernel", "twice", "--emit=ptx", "-o", "k.c")
    t.run("gcc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-c", "k.c")
    return want(
        "twice_launch" in t.read("k.h") or "twice_call" in t.read("k.h"),
        "C and a header that compile without a warning",
    )


@row(62)
def generatedCode(t):
    t.write("k.tile", TWO)
    kinds = {}
    for kind, text in (
        ("ast", "Kernel add"),
        ("tile", "tile.kernel"),
        ("tile-opt", "tile.kernel"),
        ("gpu", "tile_gpu."),
        ("llvm", "define"),
        ("ptx", ".entry"),
    ):
        kinds[kind] = text in t.tilec("k.tile", f"--emit={kind}", "-o", "-")
    t.tilec("k.tile", "--dump-dir", "d", "-o", "k.ptx")
    after = t.tilec("k.tile", "--print-ir-after=tile-gpu-assign-layouts")
    want(all(kinds.values()) and "IR Dump After" in after, str(kinds))
    return (
        f"{', '.join(kinds)}; {len(os.listdir(os.path.join(t.folder, 'd')))} dumps; the module"
        " after one pass"
    )


@row(63)
def lines(t):
    t.write("k.tile", TWO)
    t.tilec("k.tile", "-o", "k.ptx")
    text = t.read("k.ptx")
    return want(
        re.search(r"\.loc\t1 6 \d+", text) and "k.tile" in text,
        re.search(r"\.loc\t1 6 \d+", text)[0] + " of k.tile",
    )


@row(64)
def logs(t):
    t.write("k.tile", TWO)
    out = t.tilec("k.tile", "-o", "k.ptx", "-v", "--time-report")
    return want("k.tile: gpu" in out and " ms " in out, "-v says: " + out.splitlines()[0])


@row(65)
def repro(t):
    t.write("k.tile", TWO)
    t.write("unrelated.tile", TWO)
    t.tilec("k.tile", "-o", "k.ptx", "--repro", "r.zip")
    names = zipfile.ZipFile(os.path.join(t.folder, "r.zip")).namelist()
    return want(
        "source/k.tile" in names and not any("unrelated" in name for name in names),
        ", ".join(names[:6]),
    )


@row(66)
def reference(t):
    t.write("k.tile", TWO)
    numpy.save(os.path.join(t.folder, "x.npy"), numpy.arange(5, dtype="f4"))
    out = t.tilec("run", "k.tile", "--kernel", "twice", "--arg", "x=x.npy", "--out", "y=y.npy")
    want((numpy.load(os.path.join(t.folder, "y.npy")) == 2 * numpy.arange(5)).all(), "twice")
    return want("from 0 to 8" in out, out.strip())


TUNED = (
    "kernel k[B: int = 64](x: in f32[N], y: out f32[N]) where N in 1..=65536 opt 1024 grid (i:"
    " cdiv(N, B)) tune { TUNE } { let n = block(i, B); y[n] = x[n]; }\n"
)


def tuneWith(t, items, *words):
    t.write("k.tile", TUNED.replace("TUNE", items))
    return t.tilec("tune", "k.tile", "--shape", "N=64", "--threads", "1", "--check", "none", *words)


@row(67)
def pinned(t):
    t.write("k.tile", TUNED.replace("TUNE", "B in {64, 128};"))
    t.write("c.json", '{"B": 128}')
    for config in ("B=128", "c.json"):
        want('"B", 128' in t.tilec("k.tile", "--config", config, "--emit=tile", "-o", "-"), config)
    return '--config B=128, and {"B": 128} in a file'


@row(68)
def configList(t):
    out = tuneWith(t, "config { B = 32; } config { B = 128; } config { B = 256; }")
    return want("3 configurations of 3 `config` blocks" in out, out.strip().splitlines()[-1])


@row(69)
def bothGiven(t):
    t.write("k.tile", TUNED.replace("TUNE", "B in {64, 128};"))
    return t.refuse(
        "--config is given twice",
        "k.tile",
        "--config",
        "B=64",
        "--config",
        "B=128",
        "-o",
        "k.ptx",
        code=2,
    )


@row(70)
def noConfig(t):
    t.tilec(example("softmax"), "-D", "T=f32", "-o", "k.ptx")
    return want(
        t.manifest("k.ptx.json")[0]["constants"].get("BLOCK"),
        "softmax without any option: BLOCK is "
        + str(t.manifest("k.ptx.json")[0]["constants"].get("BLOCK")),
    )


@row(71)
def autotune(t):
    out = tuneWith(t, "B in {32, 64, 128};", "--seed", "3", "-o", "r.json")
    result = json.loads(t.read("r.json"))
    again = tuneWith(t, "B in {32, 64, 128};", "--seed", "3")
    want("measuring" not in again, "a second search measures nothing")
    return want(result["best"], f"best {result['best']}; ReadTimes.* has what may win")


@row(72)
def force(t):
    tuneWith(t, "B in {32, 64};")
    out = tuneWith(t, "B in {32, 64};", "--force")
    return want("measuring" in out, "--force measures again")


@row(73)
def neverInProduction(t):
    names = subprocess.run(
        ["nm", "-D", "--defined-only", os.path.join(t.build, "lib", "libtile_runtime.so")],
        capture_output=True,
        text=True,
    ).stdout
    return want(
        "tile_kernel_launch" in names and "tune" not in names,
        "nothing of the runtime's interface tunes",
    )


@row(74)
def knobs(t):
    items = (
        "B in {64, 128}; warps in {2, 4}; stages in {1, 2}; cluster in {1, 2}; persistent in {true,"
        " false}; occupancy in {1, 2}; maxreg in {64, 128}; grouped in {1};"
    )
    t.write(
        "k.tile",
        TUNED.replace("TUNE", items).replace("grid (i: cdiv(N, B))", "grid (j: 1, i: cdiv(N, B))"),
    )
    for setting in (
        "warps=2",
        "stages=2",
        "cluster=2",
        "persistent=true",
        "occupancy=2",
        "maxreg=64",
        "grouped=1",
    ):
        t.tilec("k.tile", "--config", setting, "--target", "sm_90a", "--emit=tile", "-o", "-")
    return "warps, stages, cluster, persistent, occupancy, maxreg, grouped, and parameters"


@row(75)
def userTunables(t):
    t.write(
        "k.tile",
        'kernel k[B: int = 64, W: string = "a", F: fn = exp, P: bool = true](x: in f32[N], y: out'
        ' f32[N]) grid (i: cdiv(N, B)) tune { B in {64}; W in {"a", "b"}; F in {exp, log}; P in'
        " {true, false}; } { let n = block(i, B); y[n] = F(x[n]); }\n",
    )
    out = t.tilec("tune", "k.tile", "--precompile", "--target", "sm_90a")
    return want(
        "compiling 9/9" in out or "compiling 8/8" in out, "ints, strings, functions and bools"
    )


@row(76)
def isolation(t):
    t.write(
        "k.tile",
        TUNED.replace("TUNE", "B in {64, 128, 256};").replace(
            "{ let n", '{ static_assert(B != 128, "no"); let n'
        ),
    )
    out = t.tilec("tune", "k.tile", "--shape", "N=64", "--threads", "1", "--check", "none")
    return want(
        "left out, static assertion failed: no" in out and "1 left out" in out,
        "B=128: left out, static assertion failed; the rest went on",
    )


@row(77)
def manyShapes(t):
    t.write("k.tile", TUNED.replace("TUNE", "B in {64, 128}; key next_pow2(N);"))
    t.write(
        "r.json",
        json.dumps(
            {
                "schema": 1,
                "kernel": "k",
                "target": "cpu",
                "compiler": "x",
                "source": "y",
                "best": {"B": "64"},
                "entries": [
                    {"shape": {"N": n}, "config": {"B": b}, "ms": 1.0}
                    for n, b in ((64, "64"), (4096, "128"))
                ],
            }
        ),
    )
    t.tilec("k.tile", "--config", "r.json", "-Wno-W0603", "--target", "cpu", "-o", "k.tilepkg")
    return t.python(
        """
k = tile.load("k.tilepkg")["k"]; o = lambda n: numpy.ones(n, "f4")
a, b = (k.prepare(o(n), o(n)).variant for n in (64, 4096))
assert a != b, (a, b)
print("64 takes", a or "the first,", "4096 takes", b)"""
    ).strip()


@row(78)
def defaultQuality(t):
    ratios = [
        r["ratio"]
        for r in json.load(open(os.path.join(ROOT, "bench", "results", "defaults.json")))["records"]
        if r.get("ratio")
    ]
    return want(
        min(ratios) > 0.8,
        f"the least of {len(ratios)} is {min(ratios):.2f} of the best; test/bench/defaults.test"
        " holds the model to it",
    )


@row(79)
def incompatible(t):
    t.write("k.tile", TUNED.replace("TUNE", "B in {64, 128};"))
    t.write(
        "r.json",
        json.dumps(
            {
                "schema": 1,
                "kernel": "k",
                "target": "cpu",
                "compiler": "x",
                "source": "y",
                "best": {"Q": "7"},
                "entries": [],
            }
        ),
    )
    out = t.tilec("k.tile", "--config", "r.json", "--emit=tile", "-o", "-")
    return want(
        "W0605" in out and "tile.kernel" in out,
        next(line for line in out.splitlines() if "W0605" in line),
    )


@row(80)
def memoryCache(t):
    t.write("k.tile", TWO)
    t.tilec("k.tile", "--kernel", "twice", "--target", "cpu,sm_90", "-o", "k.tilepkg")
    return (
        t.python(
            """
import gc
def mapped(): return sum("x" in line.split()[1] for line in open("/proc/self/maps"))
def call():
    k = tile.load("k.tilepkg", device="cpu")["twice"]
    y = numpy.zeros(4, "f4"); k(numpy.ones(4, "f4"), y); return mapped()
call(); gc.collect(); before = mapped(); during = call(); gc.collect()
assert during > before == mapped(), (before, during, mapped())
print("code is mapped while its module is there, and unmapped with it")"""
        ).strip()
        + t.python(
            FAKE
            + """
module = tile.load("k.tilepkg")
def call(): module["twice"](Cai(4096), Cai(65536)); return fake.loads, fake.unloads
before = call(); tile._library.get().tile_module_unload(module._handle); after = call()
assert (before, after) == ((1, 0), (2, 1)), (before, after)
print("; tile_module_unload gives it back, a launch loads again")""",
            fake=True,
        ).strip()
    )


def cached(t, *words):
    return t.tilec("k.tile", "-o", "k.ptx", "--cache", "c", "--explain-cache", *words)


@row(81)
def diskCache(t):
    t.write("k.tile", TWO)
    outs = [
        cached(t),
        cached(t),
        cached(t, "--with", "warps=2"),
        cached(t, "--arg", "N=64"),
        cached(t, "--shape", "N=64"),
    ]
    return want(
        ["hit" in out for out in outs] == [False, True, False, False, False],
        "miss, hit; and --with, --arg, --shape miss",
    )


@row(82)
def remoteCache(t):
    t.write("k.tile", TWO)
    t.write(
        "cmd",
        '#!/bin/sh\ncase $1 in put) cp "$3" "store/$2";; get) [ -e "store/$2" ] || exit 1; cp'
        ' "store/$2" "$3";; esac\n',
    )
    os.chmod(os.path.join(t.folder, "cmd"), 0o755)
    os.mkdir(os.path.join(t.folder, "store"))
    words = ("k.tile", "-o", "k.ptx", "--cache-command", "./cmd", "--explain-cache")
    t.tilec(*words)
    want("by the cache command" in t.tilec(*words), "hit by the command")
    out = t.tilec("k.tile", "-O1", "-o", "k.ptx", "--cache-command", "/nowhere/at/all")
    return want(
        "W0604" in out and os.path.exists(os.path.join(t.folder, "k.ptx")),
        "hit by a command; one that fails is a warning",
    )


@row(83)
def whyMiss(t):
    t.write("k.tile", TWO)
    cached(t)
    out = cached(t, "-O1")
    return want("the optimisation level was '-O3' and is '-O1'" in out, out.strip())


@row(84)
def archFallback(t):
    t.write("k.tile", TWO)
    t.tilec("k.tile", "--kernel", "twice", "--target", "sm_80", "--emit=ptx", "-o", "k.ptx")
    return t.python(
        FAKE + "import warnings\nwith warnings.catch_warnings(record=True) as seen:\n   "
        ' warnings.simplefilter("always")\n    k = tile.load("k.ptx")["twice"]\n    k(Cai(4096),'
        ' Cai(65536)); k(Cai(4096), Cai(65536))\nassert fake.launches == 2\nprint("PTX of sm_80'
        ' runs on the fake sm_90;", len(seen), "warnings"); assert len(seen) <= 1',
        fake=True,
    ).strip()


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
