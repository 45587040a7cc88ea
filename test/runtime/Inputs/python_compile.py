"""Kernels that are compiled by their call: python_compile.py FOLDER SOURCE, with
XDG_CACHE_HOME=FOLDER.
"""

import inspect
import os
import pickle
import subprocess
import sys
import unittest
import warnings

import numpy
import python_module as stand
import tile_compiler as tile
from tile_compiler import _function

FOLDER, ROOT = sys.argv[1:]
del sys.argv[1:]

SCALE = """/// a * x
kernel scale[T: dtype in {f16, f32, i32}](x: in T[M, N], y: out T[M, N], a: T)
  where M in 1..=4096, N in 1..=4096
  grid (row: M)
{
  for n in blocks(N, 64) {
    y[row, n] = x[row, n] * a;
  }
}
"""
PAIR = """kernel shift[K: int = 1](
    x: in f32[N], y: out f32[N], top: out f32[N + 3], s: inout f32[N])
  where N in 1..=4096 grid (i: N)
{
  y[i] = x[i] + (K as f32);
  top[i] = x[i];
  s[i] = s[i] + x[i];
}
kernel other(x: in f32[N], y: out f32[N]) where N in 1..=4096 grid (i: N) { y[i] = x[i]; }
"""
TUNED = """kernel rows[BLOCK: int = 64](x: in f32[M, N], y: out f32[M, N])
  where M in 1..=4096, N in 1..=1000
  grid (row: M)
  tune { BLOCK in {64, 128}; warps in {1, 2}; }   // a choice
{
  for n in blocks(N, BLOCK) { y[row, n] = x[row, n]; }
}
"""
# Compiles three kernels, each process in another order, and says how often it was the compiler that
# answered and how often the folder.
WORKER = """
import sys, numpy, tile_compiler as tile
softmax, scale, turn = sys.argv[1], sys.argv[2], int(sys.argv[3])
x = numpy.ones((4, 100), "f4")
def small(): assert abs(tile.compile(softmax, BLOCK=256)(x) - 0.01).max() < 1e-6
def large(): assert abs(tile.compile(softmax, BLOCK=1024)(x) - 0.01).max() < 1e-6
def other(): assert (tile.compile(scale)(x, 3.0) == 3).all()
kernels = [small, large, other]
for kernel in kernels[turn % 3:] + kernels[:turn % 3]:
    kernel()
info = tile.cache_info()
print(info["compiled"], info["disk"])
"""


class Shy(numpy.ndarray):
    """A subclass, of which nothing is known."""


class Compile(unittest.TestCase):
    def setUp(self):
        tile.clear()
        self.x = numpy.arange(12, dtype="f4").reshape(3, 4)

    def raises(self, kind, text, call):
        with self.assertRaises(kind) as caught:
            call()
        self.assertIn(text, str(caught.exception))
        return caught.exception

    def compiled(self):
        return tile.cache_info()["compiled"]

    def testKeys(self):
        """What tells calls apart, in C: everything that a kernel or an output depends on."""
        keyOf = tile._library.native.keyOf
        x, byShape, byValue = self.x, 1, 2
        same = [
            ((x, 2), (x + 1, 7), 0),  # other elements, another number
            ((x,), (x.T.copy(),), 0),  # another shape, which does not count
            ((x,), (x[:, ::2],), 0),
            ((x, 2), (x + 1, 2), byShape | byValue),
        ]
        other = [
            ((x,), (x.astype("i4"),), 0),
            ((x,), (x.astype("u4"),), 0),
            ((x,), (x.astype("f8"),), 0),
            ((x,), (x[0],), 0),  # the rank
            ((x,), (x, x), 0),
            ((x, 2), (x, 2.0), 0),
            ((x, 1), (x, True), 0),
            ((x, 1), (1, x), 0),
            ((x,), (x.T,), byShape),
            ((x[0],), (x[:1, :3],), byShape),
            ((x, 2), (x, 3), byValue),
            ((x, 2.0), (x, 3.0), byValue),
        ]
        for values, others, flags in same:
            self.assertEqual(keyOf(values, flags), keyOf(others, flags))
            self.assertIsInstance(keyOf(values, flags), bytes)
        for values, others, flags in other:
            self.assertNotEqual(keyOf(values, flags), keyOf(others, flags), (values, others))
        unknown = [x.astype(">f4"), numpy.float32(3), "x", None, x.view("V4"), x.view(Shy)]
        for value in unknown:  # their attributes are asked
            self.assertIsNone(keyOf((x, value), 0), repr(value))
        self.assertIsNone(keyOf((x,) * 33, 0))
        self.assertIsNone(keyOf((2**80,), byValue))
        self.assertIsNotNone(keyOf((2**80,), 0))
        with self.assertRaises(TypeError):
            keyOf([x], 0)

    def testCall(self):
        scale = tile.compile(SCALE)
        self.assertTrue((scale(self.x, a=3) == 3 * self.x).all())
        y = numpy.zeros_like(self.x)
        self.assertIsNone(scale(self.x, y, 4))
        self.assertTrue((y == 4 * self.x).all())
        found = scale(self.x.astype("i4"), 5)
        self.assertEqual(found.dtype, numpy.int32)
        self.assertTrue((found == 5 * self.x).all())
        self.assertEqual(self.compiled(), 3)  # the interface, f32, i32; not f16
        scale(numpy.ones((7, 9), "f4"), 1.0)
        self.assertEqual((self.compiled(), tile.cache_info()["memory"]), (3, 2))

    def testShortWay(self):
        """Calls like one before them look nothing up by name: constant extents of a kernel's only
        instance too, and extents that choose among instances."""
        one = tile.compile(
            "kernel sums(x: in f32[M, N], y: out f32[M, 1]) where M in 1..=99, N in 1..=64"
            " grid (m: M) { y[m, 0] = sum(x[m, at(0, 64)]); }"
        )
        several = tile.compile(
            "kernel fill[D: int in {2, 4}](x: in f32[M, D], y: out f32[M, D]) where M in 1..=99"
            " grid (m: M) { y[m, :] = x[m, :] + (D as f32); }"
        )
        for call, inputs in (
            (one, [self.x, self.x[:2]]),
            (several, [self.x, numpy.ones((3, 2), "f4"), self.x[:2]]),
        ):
            first = [call(x) for x in inputs]
            call._place = None  # by name from now on: an error
            for x, y in zip(inputs, first):
                again = call(x)
                numpy.testing.assert_array_equal(again, y)
                right = x.sum(1, keepdims=True) if call is one else x + x.shape[1]
                numpy.testing.assert_array_equal(again, right)

    def testSeveral(self):
        program = tile.compile(PAIR, K=10)
        self.assertEqual(
            (program.keys(), len(program), list(program)),
            (["shift", "other"], 2, ["shift", "other"]),
        )
        self.raises(
            TypeError, "several kernels; call one of them: shift, other", lambda: program(self.x)
        )
        self.raises(AttributeError, "there is no kernel 'third'", lambda: program.third)
        x, s = self.x[0].copy(), numpy.ones(4, "f4")
        y, top = program.shift(x, s)
        self.assertTrue((y == x + 10).all() and (s == x + 1).all())
        self.assertEqual(top.shape, (7,))
        mine = numpy.zeros(7, "f4")
        y = program["shift"](x, top=mine, s=s)
        self.assertTrue((y == x + 10).all() and (mine[:4] == x).all())
        other = tile.compile(PAIR, kernel="other")
        self.assertTrue((other(x) == x).all())

    def testShapesOfTunedKernels(self):
        """What is compiled for a GPU is chosen for classes of shapes where there is a choice."""

        def extents(function):
            found = {}
            function._source.build = lambda target, kernel, chosen, shape, rows: found.update(shape)
            function._describe = lambda *_: (("cuda", 0), "sm_90a", {}, {"M": 3, "N": 600})
            with self.assertRaises(Exception):  # nothing was built
                function._compile({})
            return found

        classes = {"M": 4, "N": 1000}  # no more than the contract allows
        self.assertEqual(extents(tile.compile(TUNED)), classes)
        self.assertEqual(extents(pickle.loads(pickle.dumps(tile.compile(TUNED)))), classes)
        self.assertEqual(extents(tile.compile(TUNED, shapes="exact")), {"M": 3, "N": 600})
        opt = tile.compile(TUNED, shapes="opt")
        self.assertEqual(extents(pickle.loads(pickle.dumps(opt))), {})
        self.assertEqual(extents(tile.compile(TUNED.replace("tune", "// tune"))), {})

    def testRowsOfCalls(self):
        """Code for a GPU is for rows that vectors of 16 bytes fit, or for any, as the call's do."""

        def divisors(source, target="sm_90a", **extents):
            function, found = tile.compile(source), {}
            function._source.build = lambda target, kernel, chosen, shape, rows: found.update(rows)
            function._describe = lambda *_: (("cuda", 0), target, {}, extents)
            with self.assertRaises(Exception):  # nothing was built
                function._compile({})
            return found

        # The name of a tensor's rows, by what its narrowest dtype asks for; of vectors none.
        self.assertEqual(divisors(SCALE, M=3, N=600), {"N": 8})
        self.assertEqual(divisors(SCALE, M=3, N=604), {"N": 1})
        self.assertEqual(divisors(SCALE, M=3, N=0), {"N": 8})
        self.assertEqual(divisors(SCALE.replace("f16, ", ""), M=3, N=604), {"N": 4})
        self.assertEqual(divisors(SCALE, "cpu", M=3, N=600), {})
        strided = SCALE.replace("T[M, N]", "T[M, N; S, 1]")
        self.assertEqual(divisors(strided, M=3, N=600), {})

        # Calls of other rows are other kernels, in all keys; of other columns the same.
        scale = tile.compile(SCALE)
        scale(numpy.ones((3, 4), "f2"), 2.0)  # from now on _quickKey knows NumPy's type
        for key in (lambda values: _function._keyOf(values, scale._keyFlags), scale._quickKey):
            of = lambda *shape: key((numpy.zeros(shape, "f2"), 2.0))  # noqa: E731
            self.assertEqual(of(3, 600), of(5, 8))
            self.assertEqual(of(3, 601), of(5, 7))
            self.assertNotEqual(of(3, 600), of(3, 604))
            self.assertNotEqual(of(3, 600), of(3, 601))
            self.assertEqual(of(3, 0), of(3, 64))
            self.assertEqual(of(600), of(601))
        x = numpy.zeros((3, 600), "f2")
        self.assertEqual(scale._keyOf({0: x}), scale._keyOf({0: x[:2]}))
        self.assertNotEqual(scale._keyOf({0: x}), scale._keyOf({0: x[:, :599]}))

    def testWrongCalls(self):
        scale = tile.compile(SCALE)
        self.raises(TypeError, "scale: 'a' is missing", lambda: scale(self.x))
        self.raises(
            TypeError, "scale: 'z' is no parameter; there are x, y, a", lambda: scale(self.x, z=1)
        )
        self.raises(TypeError, "scale: 'x' is given twice", lambda: scale(self.x, 1, x=self.x))
        self.raises(TypeError, "scale: 'x' is of type int, expected a tensor", lambda: scale(1, 2))
        self.raises(
            TypeError,
            "scale: takes at most 3 arguments (x, y, a), found 4",
            lambda: scale(self.x, self.x, 1, 2),
        )
        text = self.raises(
            tile.Error,
            "no instance takes (x: f64[3, 4]); there are",
            lambda: scale(self.x.astype("f8"), 1.0),
        )
        self.assertIn("scale[T = f16](x: in f16[M, N], y: out f16[M, N], a: f16)", str(text))
        self.assertIn("\nconvert 'x', which is f64, to f16 or f32", str(text))
        text = self.raises(tile.Error, "no instance takes", lambda: scale(self.x[0], 1.0))
        self.assertTrue(str(text).endswith("\nreshape 'x', which has 1 dimension, to 2"), text)
        self.raises(
            TypeError,
            "'x' is of type '<c8', which is no dtype of tile; convert it to what the kernel takes,"
            " one of bool, i8,",
            lambda: scale(self.x.astype("c8"), 1.0),
        )
        self.raises(
            tile.Error,
            "'y' has M = 2 in dimension 0, but 'x' has M = 3",
            lambda: scale(self.x, self.x[:2].copy(), 1.0),
        )
        other = tile.compile(PAIR, kernel="other")
        self.raises(
            TypeError, "other: 'x' is of type list, expected a tensor", lambda: other([1.0, 2.0])
        )
        self.raises(
            TypeError,
            "other: 'y' is of type tuple, expected a tensor",
            lambda: other(self.x[0], y=(1.0, 2.0)),
        )
        self.raises(
            TypeError,
            "scale: 'a' is of type list, expected a number",
            lambda: scale(self.x, a=[1.0]),
        )
        self.raises(
            tile.Error,
            "  other(x: in f32[N], y: out f32[N])",
            lambda: other(self.x[0].astype("f8")),
        )
        self.raises(
            FileNotFoundError, "there is no file 'absent.tile'", lambda: tile.compile("absent.tile")
        )
        self.raises(ValueError, "shapes is 'all'", lambda: tile.compile(SCALE, shapes="all"))

    def testErrors(self):
        error = self.raises(
            tile.CompileError,
            "<stdin>:7:17: error: 'b' is not defined [E0201]",
            lambda: tile.compile(SCALE.replace("x[row, n] * a", "b")),
        )
        self.assertEqual([one["code"] for one in error.diagnostics], ["E0201"])
        self.assertIn(" 7 |     y[row, n] = b;\n   |                 ^", str(error))
        self.assertIn("<pre>", error._repr_html_())
        self.assertEqual(error._render_traceback_()[0], "CompileError:")
        self.raises(
            tile.CompileError,
            "no kernel here has a compile-time parameter 'BLOCKS'",
            lambda: tile.compile(PAIR, BLOCKS=3),
        )
        path = os.path.join(FOLDER, "wrong.tile")
        with open(path, "w") as file:
            file.write("kernel f(x: in f32[N]) where N in 1..=8 grid (i: N) {\n\tx[i] = 1.0;\n}\n")
        error = self.raises(tile.CompileError, f"{path}:2:", lambda: tile.compile(path))
        self.assertIn("2 | \tx[i] = 1.0;", str(error))
        self.assertTrue(issubclass(tile.CompileError, tile.Error))

    def testDescription(self):
        scale = tile.compile(SCALE)
        self.assertEqual((scale.__name__, scale.__doc__), ("scale", "a * x"))
        self.assertEqual(
            scale.signature,
            "scale(x: in f16|f32|i32[M, N], y: out f16|f32|i32[M, N], a: f16|f32|i32)",
        )
        self.assertEqual(list(inspect.signature(scale).parameters), ["x", "y", "a"])
        self.assertEqual(
            inspect.signature(scale).parameters["x"].annotation, "in f16|f32|i32[M, N]"
        )
        self.assertEqual(tile.__version__, tile.version())
        self.assertRaises(AttributeError, lambda: tile.nothing)

    def testExplain(self):
        softmax = tile.compile(os.path.join(ROOT, "examples", "softmax", "softmax.tile"))
        self.assertIn("M=3, N=4", softmax.explain(self.x))
        self.assertIn("for sm_80", softmax.explain(M=16, N=512, target="sm_80"))
        self.assertIsInstance(softmax.explain(M=16, N=512, asJson=True), (dict, list))
        self.assertEqual(self.compiled(), 1)

    def testTune(self):
        program = tile.compile(
            "kernel f[B: int = 8](x: in f32[N], y: out f32[N]) where N in 1..=4096 grid (i: cdiv(N,"
            " B)) tune { B in {8, 64}; key N; } { let n = block(i, B); y[n] = x[n] + 1.0; }"
        )
        x = numpy.ones(4000, "f4")
        self.assertTrue((program(x) == 2).all())
        before = self.compiled()
        path = os.path.join(FOLDER, "tuned.json")
        self.assertIn("N=4000", program.explain(N=4000))  # of a text
        result = program.tune(x, save=path, options=["--memory=0"])
        self.assertIsInstance(result, dict)
        self.assertTrue((program(x) == 2).all())
        self.assertEqual(self.compiled(), before + 1)  # with the result
        self.assertTrue((tile.compile(program._source.text, config=path)(x) == 2).all())

    def testCache(self):
        source = os.path.join(ROOT, "examples", "softmax", "softmax.tile")
        tile.compile(source, BLOCK=256)(self.x)
        self.assertEqual((self.compiled(), tile.cache_info()["disk"]), (2, 0))
        tile.compile(source, BLOCK=256)(self.x)
        self.assertEqual((self.compiled(), tile.cache_info()["disk"]), (2, 2))
        folder = tile.cache_folder()
        self.assertEqual(folder, os.path.join(FOLDER, "tile"))
        for name in os.listdir(folder):  # damaged entries are made again
            if name.endswith(".entry"):
                with open(os.path.join(folder, name), "r+b") as file:
                    file.seek(-1, os.SEEK_END)
                    file.write(b"?")
        tile.compile(source, BLOCK=256)(self.x)
        self.assertEqual((self.compiled(), tile.cache_info()["disk"]), (4, 2))
        tile.clear()
        self.assertEqual([name for name in os.listdir(folder) if name.endswith(".entry")], [])

    def testCacheOfImports(self):
        with open(os.path.join(FOLDER, "part one.tile"), "w") as file:
            file.write("fn twice(v) { return v * 2.0; }\n")
        main = os.path.join(FOLDER, "main.tile")
        with open(main, "w") as file:
            file.write(
                'import "part one.tile";\nkernel f(x: in f32[N], y: out f32[N]) where N in 1..=99'
                " grid (i: N) { y[i] = twice(x[i]); }\n"
            )
        x = self.x[0].copy()
        self.assertTrue((tile.compile(main)(x) == 2 * x).all())
        with open(os.path.join(FOLDER, "part one.tile"), "w") as file:
            file.write("fn twice(v) { return v * 20.0; }\n")
        self.assertTrue((tile.compile(main)(x) == 20 * x).all())

    def testFolderOfOthers(self):
        before, folder = tile.cache_folder(), os.path.join(FOLDER, "open")
        os.makedirs(folder)
        os.chmod(folder, 0o777)
        try:
            tile.cache_folder(folder)
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                self.assertTrue((tile.compile(PAIR, kernel="other")(self.x[0]) == self.x[0]).all())
            self.assertEqual(
                ["others may write to it" in str(one.message) for one in caught], [True]
            )
            self.assertEqual(os.listdir(folder), [])
        finally:
            tile.cache_folder(before)

    def testProcesses(self):
        source = os.path.join(ROOT, "examples", "softmax", "softmax.tile")
        words = [sys.executable, "-c", WORKER, source, SCALE]
        workers = [
            subprocess.Popen([*words, str(turn)], stdout=subprocess.PIPE) for turn in range(8)
        ]
        said = [worker.communicate()[0].split() for worker in workers]
        self.assertEqual([worker.returncode for worker in workers], [0] * 8)
        # The interface and the kernel of each, once; all others find these.
        compiled, found = (sum(int(one[i]) for one in said) for i in range(2))
        self.assertEqual((compiled, found), (6, 8 * 6 - 6), said)
        print(f"8 processes, 3 kernels: {compiled} compiled, {found} read")

    def testBytes(self):
        path = os.path.join(FOLDER, "k.tilepkg")
        subprocess.run(
            [os.environ["TILEC"], "-", "--target", "cpu", "-o", path],
            input=PAIR.encode(),
            check=True,
        )
        with open(path, "rb") as file:
            module = tile.load(file.read(), device="cpu")
        self.assertEqual((len(module), module.other.__name__), (2, "other"))
        y = numpy.zeros(4, "f4")
        module.other(self.x[0], y)
        self.assertTrue((y == self.x[0]).all())
        self.raises(tile.Error, "", lambda: tile.load(b"PK", device="cpu"))

    def testPickle(self):
        again = pickle.loads(pickle.dumps(tile.compile(SCALE)))
        self.assertTrue((again(self.x, 3.0) == 3 * self.x).all())
        program = pickle.loads(pickle.dumps(tile.compile(PAIR, K=10)))
        self.assertEqual(program.keys(), ["shift", "other"])
        self.assertTrue(
            (program.shift(self.x[0].copy(), numpy.ones(4, "f4"))[0] == self.x[0] + 10).all()
        )
        path = os.path.join(FOLDER, "pickled.tilepkg")
        subprocess.run(
            [os.environ["TILEC"], "-", "--target", "cpu", "-o", path],
            input=PAIR.encode(),
            check=True,
        )
        with open(path, "rb") as file:
            content = file.read()
        for source in (path, content):
            module = tile.load(source, device="cpu")
            for kernel in (
                module.other,
                pickle.loads(pickle.dumps(module)).other,
                pickle.loads(pickle.dumps(module.other)),
                module.other.function(),
                pickle.loads(pickle.dumps(module.other.function())),
            ):
                y = numpy.zeros(4, "f4")
                kernel(self.x[0], y)
                self.assertTrue((y == self.x[0]).all())

    def testOfPackage(self):
        """A kernel of a package makes its outputs, too, and compiles nothing."""
        path = os.path.join(FOLDER, "made.tilepkg")
        subprocess.run(
            [os.environ["TILEC"], "-", "--target", "cpu", "-o", path],
            input=SCALE.encode(),
            check=True,
        )
        kernel = tile.load(path, device="cpu").scale
        self.assertEqual(list(inspect.signature(kernel).parameters), ["x", "y", "a"])
        self.assertEqual(inspect.signature(kernel).parameters["x"].annotation, "f16 or f32 or i32")
        scale, before = kernel.function(), self.compiled()
        self.assertTrue((scale(self.x, 3.0) == 3 * self.x).all())
        self.assertTrue((scale(self.x.astype("i4"), 5) == 5 * self.x).all())
        self.assertEqual(self.compiled(), before)
        self.raises(tile.Error, "scale: tuning needs the source", lambda: scale.tune(self.x, 3.0))
        self.raises(
            tile.Error, "scale: the cost model needs the source", lambda: scale.explain(self.x, 3.0)
        )

    def testOnDevice(self):
        stand.fake.major, stand.fake.argumentCount, stand.fake.launchResult, stand.fake.symbols = (
            9,
            3,
            0,
            b"other,",
        )
        other = tile.compile(PAIR, kernel="other")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # without ptxas there is only PTX
            other(stand.Cai(4096, "<f4", (8,)), stand.Cai(8192, "<f4", (8,)))
        self.assertEqual(
            (stand.fake.lastFunction, list(stand.fake.arguments[:3])), (b"other", [4096, 8192, 8])
        )
        self.assertEqual(self.compiled(), 2)
        self.raises(
            tile.Error, "no output can be made like", lambda: other(stand.Cai(4096, "<f4", (8,)))
        )


if __name__ == "__main__":
    unittest.main()
