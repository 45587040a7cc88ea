"""Rows of the checklist on running, inspecting and packing what is compiled."""

import glob
import os
import re
import zipfile

import numpy
from harness import TWO, example, row, want


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
