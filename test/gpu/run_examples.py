#!/usr/bin/env python3
"""Runs the cases of the examples on CUDA through the Python module and checks them against PyTorch
in float64.

Outputs start as NaN between guard zones, so that an element that is not written, or written out of
bounds, shows. Then errors at launch, `tilec run --device cuda`, and bandwidth. Needs python3 with
PyTorch, and a build folder or an unpacked release in TILE_HOME.
"""

import argparse
import concurrent.futures
import importlib.util
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import traceback

import numpy
import torch

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
HOME = os.environ.get("TILE_HOME") or (
    ROOT if os.path.exists(os.path.join(ROOT, "bin")) else os.path.join(ROOT, "build")
)
os.environ["TILE_HOME"] = HOME
TILEC = os.path.join(HOME, "bin", "tilec")
sys.path[:0] = [
    os.path.join(ROOT, "examples"),
    os.path.join(ROOT, "python"),
    os.path.dirname(os.path.abspath(__file__)),
]
import case as cases  # noqa: E402
import references  # noqa: E402
import references_large  # noqa: E402
import tile_compiler as tile  # noqa: E402
from bandwidth import measureBandwidth  # noqa: E402

TORCH = {
    "f16": torch.float16,
    "bf16": torch.bfloat16,
    "f32": torch.float32,
    "i32": torch.int32,
    "i64": torch.int64,
    "i8": torch.int8,
    "u8": torch.uint8,
    "f64": torch.float64,
    "i16": torch.int16,
    "u16": torch.uint16,
    "u32": torch.uint32,
    "u64": torch.uint64,
    "bool": torch.bool,
}
FLOAT8 = {"f8e4m3": torch.float8_e4m3fn, "f8e5m2": torch.float8_e5m2}
GUARD = 256  # elements on either side of an output that no kernel may touch


def architecture():
    """The best target of this device that tilec knows."""
    major, _ = torch.cuda.get_device_capability()
    return "sm_90a" if major == 9 else "sm_80"


def toDevice(stored, dtype):
    """A stored array as a tensor on the device, row-major whatever made it."""
    stored = numpy.ascontiguousarray(stored)
    if dtype == "bf16":
        return torch.from_numpy(stored.view(numpy.int16)).view(torch.bfloat16).cuda()
    if dtype in FLOAT8:
        return torch.from_numpy(stored).view(FLOAT8[dtype]).cuda()
    return torch.from_numpy(stored).cuda()


def unpack(packed):
    """The numbers of a u4 tensor, two to a byte, the low one first."""
    return torch.stack([packed & 15, packed >> 4], -1).flatten(-2)


def toStored(tensor):
    """A tensor's contents in the form in which cases keep them."""
    tensor = tensor.contiguous().cpu()
    return (
        tensor.view(torch.int16).numpy().view(numpy.uint16)
        if tensor.dtype == torch.bfloat16
        else tensor.numpy()
    )


class Guarded:
    """A tensor of NaN with guard zones around it, all bytes 0xff."""

    def __init__(self, dtype, shape, contents=None):
        size = int(numpy.prod(shape, dtype=numpy.int64))
        element = torch.empty(0, dtype=TORCH[dtype]).element_size()
        self.bytes = torch.full(
            ((size + 2 * GUARD) * element,), 255, dtype=torch.uint8, device="cuda"
        )
        self.margin = GUARD * element
        self.tensor = self.bytes.view(TORCH[dtype])[GUARD : GUARD + size].view(shape)
        if contents is not None:
            self.tensor.copy_(contents)

    def intact(self):
        return bool(
            (self.bytes[: self.margin] == 255).all() and (self.bytes[-self.margin :] == 255).all()
        )


class Binaries:
    """Compiles each example once for each kernel and choice of definitions other than T (which
    dispatch deduces). A file's other kernels may not have what is defined for one of them.
    """

    def __init__(self, folder, target, kind):
        self.folder, self.target, self.kind, self.done, self.seconds = folder, target, kind, {}, {}

    @staticmethod
    def key(name, case):
        # A dtype without a default is deduced from the arguments.
        with open(cases.source(name)) as source:
            deduced = not re.search(r"\bT: dtype in \{[^}]*\} =", source.read())
        return (
            name,
            case.kernel or "",
            *sorted((k, str(v)) for k, v in case.definitions.items() if k != "T" or not deduced),
        )

    def compile(self, key):
        name, kernel, *definitions = key
        parts = [name, *([kernel] if kernel else []), *(f"{k}{v}" for k, v in definitions)]
        path = os.path.join(self.folder, "-".join(parts) + "." + self.kind)
        line = [TILEC, cases.source(name), "--target", self.target, "-o", path]
        if kernel:
            line += ["--kernel", kernel]
        for k, v in definitions:
            line += ["-D", f"{k}={v}"]
        begin = time.time()
        try:
            done = subprocess.run(line, capture_output=True, text=True, timeout=180)
            error = (
                done.stderr.strip() or f"exit code {done.returncode}" if done.returncode else None
            )
        except subprocess.TimeoutExpired:
            error = "no end of compilation after 180 s"
        self.seconds[path] = time.time() - begin
        self.done[key] = (path, error)

    def compileAll(self, keys):
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            list(pool.map(self.compile, keys))

    def load(self, key):
        path, error = self.done[key]
        if error:
            raise RuntimeError("compilation: " + "\n    ".join(error.splitlines()[:4]))
        return tile.load(path)


def runCase(module, name, case):
    """None where the case passes, else what is wrong."""
    example = cases.module(name)
    arguments = example.arguments(case)
    values, named, inputs, guarded = [], {}, {}, {}
    skipped = False  # behind a default that is not given, arguments go by name

    def give(key, value):
        if skipped:
            named[key] = value
        else:
            values.append(value)

    for key, argument in arguments.items():
        if isinstance(argument, cases.Scalar):
            value = case.scalars.get(key, argument.value)
            if value is None:
                skipped = True
            else:
                give(key, value)
                inputs[key] = value
            continue
        read = toDevice(argument.data(case, key), argument.dtype) if argument.reads else None
        if argument.writes:
            guarded[key] = Guarded(argument.dtype, argument.shape, read)
            give(key, guarded[key].tensor)
        else:
            give(key, read)
        if read is not None:
            inputs[key] = (
                read.double()
                if read.is_floating_point()
                else unpack(read)
                if argument.dtype == "u4"
                else read.clone()
            )
    module[case.kernel or name](*values, **named)
    torch.cuda.synchronize()
    for key, expected in getattr(references, name)(case, **inputs).items():
        wrong = arguments[key].mismatch(toStored(guarded[key].tensor), expected.cpu().numpy())
        if wrong:
            return f"{key}: {wrong}"
        if not guarded[key].intact():
            return f"{key}: written out of bounds"
    return None


def errorTests(binaries):
    """[(name, None or what is wrong)]: what must be refused, by exception and with the parameter
    named.
    """
    vectorAdd = binaries.load(("vector_add", ""))["vector_add"]
    softmax = binaries.load(("softmax", ""))["softmax"]
    matmul = binaries.load(("matmul", ""))["matmul"]
    ones = lambda *shape, dtype=torch.float32: torch.ones(shape, dtype=dtype, device="cuda")
    half = torch.float16
    path = binaries.done[("softmax", "")][0]

    def corrupt(damage):
        broken = os.path.join(binaries.folder, "broken." + binaries.kind)
        with open(path, "rb") as source, open(broken, "wb") as out:
            out.write(damage(source.read()))
        with open(path + ".json", "rb") as source, open(broken + ".json", "wb") as out:
            out.write(source.read())
        tile.load(broken)["softmax"](ones(4, 8), ones(4, 8))

    def manifest(text):
        broken = os.path.join(binaries.folder, "manifest." + binaries.kind)
        with open(broken, "wb") as out, open(broken + ".json", "w") as json:
            out.write(b"x")
            json.write(text)
        tile.load(broken)

    buffer = ones(1024)
    tests = [
        ("too few arguments", ["3|z"], lambda: vectorAdd(ones(4), ones(4))),
        ("wrong dtype", ["x|f64|float64"], lambda: vectorAdd(*[ones(4, dtype=torch.float64)] * 3)),
        ("mixed dtypes", ["y|f16|f32"], lambda: vectorAdd(ones(4), ones(4, dtype=half), ones(4))),
        ("wrong rank", ["x", "rank"], lambda: vectorAdd(ones(2, 2), ones(4), ones(4))),
        ("dimensions differ", ["N"], lambda: vectorAdd(ones(4), ones(5), ones(4))),
        (
            "divisibility",
            ["K % 8 == 0"],
            lambda: matmul(
                ones(4, 12, dtype=half), ones(12, 8, dtype=half), ones(4, 8, dtype=half)
            ),
        ),
        (
            "dimension below its bound",
            ["N|K"],
            lambda: matmul(ones(4, 0, dtype=half), ones(0, 8, dtype=half), ones(4, 8, dtype=half)),
        ),
        ("not dense", ["x", "strid|dense"], lambda: softmax(ones(8, 4).T, ones(4, 8))),
        ("misaligned", ["x", "align"], lambda: vectorAdd(buffer[1:5], ones(4), ones(4))),
        ("overlap", ["z|x", "overlap"], lambda: vectorAdd(buffer[:64], ones(64), buffer[16:80])),
        ("host memory", ["x"], lambda: vectorAdd(torch.ones(4), ones(4), ones(4))),
        ("unknown kernel", ["nothing"], lambda: binaries.load(("softmax", ""))["nothing"]),
        (
            "missing binary",
            ["absent"],
            lambda: tile.load(os.path.join(binaries.folder, "absent.cubin")),
        ),
        ("truncated binary", [""], lambda: corrupt(lambda data: data[: len(data) // 2])),
        ("corrupt binary", [""], lambda: corrupt(lambda data: b"\x00" * 64 + data[64:])),
        ("empty binary", [""], lambda: corrupt(lambda data: b"")),
        ("a manifest that is no JSON", ["manifest"], lambda: manifest("{")),
        (
            "a manifest of the future",
            ["version|manifest"],
            lambda: manifest('{"format": "tile-manifest", "version": 99}'),
        ),
    ]
    results = []
    for name, patterns, call in tests:
        try:
            call()
            torch.cuda.synchronize()
            results.append((name, "no error was raised"))
        except Exception as error:  # noqa: BLE001: any exception is a refusal; its text is checked
            text = str(error)
            missing = [p for p in patterns if not any(word in text for word in p.split("|"))]
            if missing:
                results.append((name, f"no word of {missing} in: {text}"))
            elif (
                name.endswith("binary")
                and "absent" not in text
                and isinstance(error, (KeyError, TypeError, AttributeError))
            ):
                results.append((name, f"{type(error).__name__}: {text}"))
            else:
                results.append((name, None))
    out = Guarded("f32", (4, 8))
    softmax(ones(4, 8), out.tensor)
    torch.cuda.synchronize()
    right = torch.allclose(out.tensor, torch.full_like(out.tensor, 0.125))
    results.append(("a launch after all these errors", None if right else "wrong numbers"))
    return results


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("examples", nargs="*", help="names of examples (all)")
    parser.add_argument(
        "--case", default="", help="only cases whose name contains this; leaves the other parts out"
    )
    parser.add_argument("--no-bandwidth", action="store_true", help="measure nothing")
    parser.add_argument(
        "--target", help="compile for this GPU (this machine's); of an older one take --ptx"
    )
    parser.add_argument("--ptx", action="store_true", help="load PTX instead of cubins")
    parser.add_argument(
        "--results",
        default=os.path.join(ROOT, "test", "gpu", "results"),
        help="folder of the result file",
    )
    options = parser.parse_args()
    target = options.target or architecture()
    result = {
        "device": torch.cuda.get_device_name(),
        "target": target,
        "torch": torch.__version__,
        "tilec": (
            subprocess.run([TILEC, "--version"], capture_output=True, text=True).stdout.strip()
        ),
        "date": time.strftime("%Y-%m-%d"),
        "cases": [],
        "errors": [],
        "tilec run": [],
        "bandwidth": [],
    }
    print(f"{result['device']}, {target}, PyTorch {torch.__version__}", flush=True)
    failures = 0

    def record(part, name, wrong, **more):
        nonlocal failures
        failures += bool(wrong)
        result[part].append(
            {"name": name, "passed": not wrong, **({"why": wrong} if wrong else {}), **more}
        )
        if wrong:
            print(f"FAIL {part}: {name}\n    {wrong}", flush=True)

    names = options.examples or cases.names()
    with tempfile.TemporaryDirectory(prefix="tile-gpu-") as folder:
        binaries = Binaries(folder, target, "ptx" if options.ptx else "cubin")
        chosen = [
            (name, case)
            for name in names
            for case in cases.module(name).CASES + references_large.LARGE.get(name, [])
            if options.case in case.name
        ]
        extra = [(name, "") for name in ("vector_add", "softmax", "matmul")]
        begin = time.time()
        binaries.compileAll(
            sorted({Binaries.key(name, case) for name, case in chosen} | set(extra))
        )
        print(f"compiled {len(binaries.done)} modules in {time.time() - begin:.1f} s", flush=True)
        result["compile_seconds"] = {
            os.path.basename(path): round(s, 3) for path, s in sorted(binaries.seconds.items())
        }

        summary, report = (
            {},
            lambda name: print(
                "{:16} {:3} of {:3} passed".format(name, *summary[name]), flush=True
            ),
        )
        for name, case in chosen:
            if summary and name not in summary:
                report(list(summary)[-1])
            try:
                wrong = runCase(binaries.load(Binaries.key(name, case)), name, case)
            except Exception as error:  # noqa: BLE001: one failing case must not end the run
                wrong = f"{type(error).__name__}: {error}"
                if not isinstance(error, RuntimeError):
                    wrong += "\n" + "".join(traceback.format_tb(error.__traceback__)[-2:])
            record("cases", f"{name} [{case.name}]", wrong)
            good, total = summary.get(name, (0, 0))
            summary[name] = (good + (not wrong), total + 1)
            if (
                wrong
                and "illegal" in wrong
                or wrong
                and "CUDA_ERROR" in wrong
                and "LAUNCH" in wrong
            ):
                print("the context is lost: the run ends here", flush=True)
                break
        if summary:
            report(list(summary)[-1])

        if not options.case:
            try:
                for name, wrong in errorTests(binaries):
                    record("errors", name, wrong)
            except Exception as error:  # noqa: BLE001
                record("errors", "all of them", f"{type(error).__name__}: {error}")
            spec = importlib.util.spec_from_file_location(
                "cpu_runner", os.path.join(ROOT, "test", "e2e", "run_examples.py")
            )
            runner = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(runner)
            for name in [
                n
                for n in ("vector_add", "saxpy", "softmax", "matmul", "cross_entropy")
                if n in names
            ]:
                example = cases.module(name)
                for case in (example.CASES[1], example.CASES[3]):
                    record(
                        "tilec run",
                        f"{name} [{case.name}]",
                        runner.runCase(TILEC, name, example, case, "cuda", 120),
                    )
            if not options.no_bandwidth:
                try:
                    result["bandwidth"] = measureBandwidth(
                        lambda name: binaries.load((name, ""))[name]
                    )
                except Exception as error:  # noqa: BLE001
                    record("errors", "bandwidth", f"{type(error).__name__}: {error}")

    total = sum(len(result[part]) for part in ("cases", "errors", "tilec run"))
    result["passed"], result["failed"] = total - failures, failures
    os.makedirs(options.results, exist_ok=True)
    path = os.path.join(options.results, f"examples-{target}.json")
    with open(path, "w", encoding="utf-8") as stream:
        json.dump(result, stream, indent=1)
        stream.write("\n")
    print(f"results: {os.path.relpath(path)}")
    print(f"{total - failures} passed, {failures} failed")
    return 1 if failures or not total else 0


if __name__ == "__main__":
    sys.exit(main())
