#!/usr/bin/env python3
"""A kernel inside of a program of torch.export and of an AOTInductor package, which other processes
run that have no compiler of tile: run_torch_export.py [--device cpu | cuda], with the module
`tile_compiler` on PYTHONPATH. Prints a line for each step; a step that crashes is named with its
signal.

AOTInductor needs a C++ compiler. One that links libstdc++ statically makes packages that fail or
crash when they are loaded, whatever is in them: PyTorch has its own copy, and they hand over C++
objects. So $CXX, g++, c++ and clang++ are tried in turn, each first by a package without our
operator.
"""

import argparse
import os
import shutil
import signal
import subprocess
import sys
import tempfile

import torch

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
try:
    import tile_compiler as tile
except ImportError:
    sys.path.insert(0, os.path.join(ROOT, "python"))
    import tile_compiler as tile
from tile_compiler import _compiler  # noqa: E402


def say(line):
    print(line, flush=True)


def register(folder):
    """The operator, from compiled code alone."""
    package = os.path.join(folder, "softmax.tilepkg")
    return tile.load(package, device=DEVICE)["softmax"].torch_op("tileexport::softmax")


class Model(torch.nn.Module):
    """With our operator behind a layer of PyTorch's, or, plain, with PyTorch's own."""

    def __init__(self, plain):
        super().__init__()
        self.layer, self.plain = torch.nn.Linear(33, 48), plain

    def forward(self, x):
        x = torch.relu(self.layer(x))
        return (torch.softmax(x, 1) if self.plain else torch.ops.tileexport.softmax(x)) + 1.0


def write(folder):
    """Both models as programs, with an input and what comes out."""
    target = "cpu" if DEVICE == "cpu" else "native"
    example = os.path.join(ROOT, "examples", "softmax", "softmax.tile")
    package = os.path.join(folder, "softmax.tilepkg")
    subprocess.run([_compiler.find(), example, "--target", target, "-o", package], check=True)
    say(f"softmax: compiled, --target {target}")
    register(folder)
    for name in ("plain", "ours"):
        torch.manual_seed(3)
        model, x = Model(name == "plain").to(DEVICE), torch.randn(7, 33, device=DEVICE)
        rows = torch.export.Dim("rows", min=2, max=1000)
        program = torch.export.export(model, (x,), dynamic_shapes=({0: rows},))
        assert ("tileexport.softmax" in str(program.graph)) == (name == "ours"), program.graph
        torch.export.save(program, os.path.join(folder, name + ".pt2"))
        other = torch.randn(19, 33, device=DEVICE)
        numbers = {"x": other, "y": model(other).detach()}
        torch.save(numbers, os.path.join(folder, name + ".numbers"))
    say("torch.export: the programs are written")


def pack(folder, name):
    """The AOTInductor package of a program, by the C++ compiler $CXX."""
    register(folder)
    program = torch.export.load(os.path.join(folder, name + ".pt2"))
    path = os.path.join(folder, name + ".aot.pt2")
    torch._inductor.aoti_compile_and_package(program, package_path=path)


def read(folder, name, aot):
    """Runs a program or a package, and compares its numbers with those of the model."""
    try:
        _compiler.find()
    except tile.Error as error:
        if not aot:
            say(f"no compiler: {str(error)[:38]}")
    else:
        raise SystemExit("this process finds tilec")
    register(folder)
    numbers = torch.load(os.path.join(folder, name + ".numbers"))
    path = os.path.join(folder, name + (".aot.pt2" if aot else ".pt2"))
    if aot:
        program = torch._inductor.aoti_load_package(path)
    else:
        program = torch.export.load(path).module()
    torch.testing.assert_close(program(numbers["x"]), numbers["y"])


def sharesLibrary(compiler, folder):
    """Whether what the C++ compiler links takes its library from libstdc++.so, as PyTorch does."""
    source, library = os.path.join(folder, "probe.cpp"), os.path.join(folder, "probe.so")
    with open(source, "w", encoding="utf-8") as file:
        file.write('#include <iostream>\nvoid probe() { std::cout << "probe" << std::endl; }\n')
    words = [compiler, "-shared", "-fPIC", source, "-o", library]
    if subprocess.run(words, capture_output=True).returncode != 0:
        return False
    with open(library, "rb") as file:
        return b"libstdc++.so.6\0" in file.read()


def compilers(folder):
    """The paths of the C++ compilers that are here and fit, each once."""
    names = ("g++", "c++", "clang++")
    seen = set()
    for name in (os.environ.get("CXX"), *names, *(f"/usr/bin/{name}" for name in names)):
        path = shutil.which(name) if name else None
        if not path or path in seen:
            continue
        seen.add(path)
        if sharesLibrary(path, folder):
            yield path
        else:
            say(f"{path}: does not link libstdc++.so, left out")


def step(folder, environment, *words):
    """What became of one step in a process of its own: "" where it went well."""
    words = [sys.executable, os.path.abspath(__file__), "--device", DEVICE, *words]
    done = subprocess.run(words, env=environment, cwd=folder, stderr=subprocess.PIPE, text=True)
    if done.returncode == 0:
        return ""
    sys.stderr.write(done.stderr)
    if done.returncode < 0:
        return f"ended by {signal.Signals(-done.returncode).name}"
    return f"failed with status {done.returncode}"


def aotInductor(folder, environment):
    """Whether a package with our operator gives the model's numbers, by the first C++ compiler
    whose packages load.
    """
    for compiler in compilers(folder):
        wrong = ""
        for name, what in (("plain", "AOTInductor without our operator"), ("ours", "AOTInductor")):
            wrong = step(folder, {**os.environ, "CXX": compiler}, "--pack", name, folder)
            say(f"{what}: {wrong or 'packed'} with {compiler}")
            if wrong:
                break
            wrong = step(folder, environment, "--read-package", name, folder)
            say(f"{what}: {wrong or 'right'}")
            if wrong:
                break
        if not wrong:
            return True
        if name == "ours":  # the compiler is good
            return False
    say("AOTInductor: no C++ compiler here makes packages that load")
    return False


def main(options):
    if options.pack:
        pack(options.folder, options.pack)
        return 0
    if options.read or options.read_package:
        read(options.folder, options.read or options.read_package, options.read_package)
        return 0
    with tempfile.TemporaryDirectory(prefix="tile-export-") as folder:
        write(folder)
        # The module alone, with the library: no folder that has tilec.
        home = os.path.join(folder, "home")
        os.makedirs(os.path.join(home, "python"))
        module = os.path.dirname(tile.__file__)
        os.symlink(module, os.path.join(home, "python", os.path.basename(module)))
        library = next(path for path in tile._library._candidates() if os.path.exists(path))
        environment = dict(
            os.environ,
            PYTHONPATH=os.path.join(home, "python"),
            TILE_RUNTIME_LIB=library,
            PATH="/usr/bin:/bin",
        )
        for name in ("TILEC", "TILE_HOME"):
            environment.pop(name, None)
        wrong = step(folder, environment, "--read", "ours", folder)
        say(f"torch.export: {wrong or 'right'}")
        if not options.no_aot and not aotInductor(folder, environment):
            wrong = "AOTInductor"
        return 1 if wrong else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="cpu", choices=["cpu", "cuda"])
    parser.add_argument(
        "--no-aot", action="store_true", help="without AOTInductor, which needs a C++ compiler"
    )
    parser.add_argument("--pack", help=argparse.SUPPRESS)
    parser.add_argument("--read", help=argparse.SUPPRESS)
    parser.add_argument("--read-package", help=argparse.SUPPRESS)
    parser.add_argument("folder", nargs="?", help=argparse.SUPPRESS)
    options = parser.parse_args()
    DEVICE = options.device
    sys.exit(main(options))
