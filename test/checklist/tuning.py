"""Rows of the checklist on choosing configurations, and on caches."""

import json
import os
import subprocess

from harness import ROOT, TWO, example, row, want
from shipping import FAKE


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


def writeTuned(t, best, entries=()):
    """r.json, as `tilec tune` writes it; entries: (N, B) of the best at each shape."""
    t.write(
        "r.json",
        json.dumps(
            {
                "schema": 1,
                "kernel": "k",
                "target": "cpu",
                "compiler": "x",
                "source": "y",
                "best": best,
                "entries": [{"shape": {"N": n}, "config": {"B": b}, "ms": 1.0} for n, b in entries],
            }
        ),
    )


@row(77)
def manyShapes(t):
    t.write("k.tile", TUNED.replace("TUNE", "B in {64, 128}; key next_pow2(N);"))
    writeTuned(t, {"B": "64"}, ((64, "64"), (4096, "128")))
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
    writeTuned(t, {"Q": "7"})
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
