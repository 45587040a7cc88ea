#!/usr/bin/env python3
"""A kernel inside of a program of torch.export and of an AOTInductor package, which another process
runs that has no compiler of tile: run_torch_export.py [--device cpu | cuda], with the module `tile`
on PYTHONPATH.
"""

import argparse
import os
import subprocess
import sys
import tempfile

import torch

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
try:
    import tile
except ImportError:
    sys.path.insert(0, os.path.join(ROOT, "python"))
    import tile
from tile import _compiler  # noqa: E402


def register(package):
    """The operator, from compiled code alone."""
    return tile.load(package, device=DEVICE)["softmax"].torch_op("tileexport::softmax")


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(33, 48)

    def forward(self, x):
        return torch.ops.tileexport.softmax(torch.relu(self.layer(x))) + 1.0


def write(folder, aot):
    torch.manual_seed(3)
    package = os.path.join(folder, "softmax.tilepkg")
    target = (
        "cpu" if DEVICE == "cpu" else "sm_{}{}{}".format(*torch.cuda.get_device_capability(), "a")
    )
    subprocess.run(
        [
            _compiler.find(),
            os.path.join(ROOT, "examples", "softmax", "softmax.tile"),
            "--target",
            target,
            "-o",
            package,
        ],
        check=True,
    )
    register(package)
    model, x = Model().to(DEVICE), torch.randn(7, 33, device=DEVICE)
    rows = torch.export.Dim("rows", min=2, max=1000)
    program = torch.export.export(model, (x,), dynamic_shapes=({0: rows},))
    assert "tileexport.softmax" in str(program.graph), program.graph
    torch.export.save(program, os.path.join(folder, "model.pt2"))
    if aot:
        torch._inductor.aoti_compile_and_package(
            program, package_path=os.path.join(folder, "aot.pt2")
        )
    other = torch.randn(19, 33, device=DEVICE)
    torch.save({"x": other, "y": model(other).detach()}, os.path.join(folder, "numbers.pt"))


def read(folder):
    try:
        _compiler.find()
    except tile.Error as error:
        print("no compiler:", str(error)[:38])
    else:
        raise SystemExit("this process finds tilec")
    register(os.path.join(folder, "softmax.tilepkg"))
    numbers = torch.load(os.path.join(folder, "numbers.pt"))
    program = torch.export.load(os.path.join(folder, "model.pt2")).module()
    torch.testing.assert_close(program(numbers["x"]), numbers["y"])
    print("torch.export: right")
    path = os.path.join(folder, "aot.pt2")
    if os.path.exists(path):
        torch.testing.assert_close(
            torch._inductor.aoti_load_package(path)(numbers["x"]), numbers["y"]
        )
        print("AOTInductor: right")


def main(options):
    if options.read:
        read(options.read)
        return
    with tempfile.TemporaryDirectory(prefix="tile-export-") as folder:
        write(folder, not options.no_aot)
        # The module alone, with the library: no folder that has tilec.
        home = os.path.join(folder, "home")
        os.makedirs(os.path.join(home, "python"))
        os.symlink(os.path.dirname(tile.__file__), os.path.join(home, "python", "tile"))
        library = next(path for path in tile._library._candidates() if os.path.exists(path))
        environment = dict(
            os.environ,
            PYTHONPATH=os.path.join(home, "python"),
            TILE_RUNTIME_LIB=library,
            PATH="/usr/bin:/bin",
        )
        for name in ("TILEC", "TILE_HOME"):
            environment.pop(name, None)
        subprocess.run(
            [sys.executable, os.path.abspath(__file__), "--device", DEVICE, "--read", folder],
            env=environment,
            cwd=folder,
            check=True,
        )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="cpu", choices=["cpu", "cuda"])
    parser.add_argument(
        "--no-aot", action="store_true", help="without AOTInductor, which needs a C++ compiler"
    )
    parser.add_argument("--read", help=argparse.SUPPRESS)
    options = parser.parse_args()
    DEVICE = options.device
    main(options)
