# How lit runs the tests below this folder: which files are tests, which tools they see, which
# features the machine has.
import ctypes
import glob
import os
import shutil
import subprocess
import tempfile

import lit.formats

config.name = "tile"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".tile", ".test", ".ll"]
# gpu/agree holds kernels for test/gpu/run_agree.py.
config.excludes = ["Inputs", "agree", "lit.cfg.py", "CMakeLists.txt"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.tile_build, "test")

config.environment["PATH"] = os.pathsep.join(
    [
        os.path.join(config.tile_build, "bin"),
        os.path.join(config.llvm_prefix, "bin"),
        config.environment["PATH"],
    ]
)
for name in ("HOME", "TILE_PTXAS", "CUDA_HOME", "ASAN_OPTIONS", "UBSAN_OPTIONS"):
    if name in os.environ:
        config.environment[name] = os.environ[name]
config.environment["NO_COLOR"] = "1"
# What tests compile for, whatever this machine has.
config.environment["TILE_TARGET"] = "sm_90a"

# %examples: the folder of examples; %source: the root of the tree; %build: the build folder;
# %python: a Python that has NumPy; %torchpython: one that may have PyTorch.
config.substitutions.append(("%examples", os.path.join(config.tile_source, "examples")))
config.substitutions.append(("%source", config.tile_source))
config.substitutions.append(("%python", config.python))
config.substitutions.append(("%build", config.tile_build))


def hasPtxas():
    """Whether tilec would find the ptxas program (codegen/Ptxas.cpp says where it looks)."""
    candidates = [os.environ.get("TILE_PTXAS"), shutil.which("ptxas"), "/usr/local/cuda/bin/ptxas"]
    return any(path and os.access(path, os.X_OK) for path in candidates)


def hasCuda():
    """Whether libcuda is there and counts at least one device."""
    try:
        cuda = ctypes.CDLL("libcuda.so.1")
        count = ctypes.c_int(0)
        return (
            cuda.cuInit(0) == 0
            and cuda.cuDeviceGetCount(ctypes.byref(count)) == 0
            and count.value > 0
        )
    except OSError:
        return False


if hasPtxas():
    config.available_features.add("ptxas")
if any(map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))):
    config.available_features.add("chromium")
if shutil.which("node"):
    config.available_features.add("node")
if shutil.which("minisign"):
    config.available_features.add("minisign")
if shutil.which("valgrind"):
    config.available_features.add("valgrind")
# The ruff of ./dev setup, since versions differ in their layout.
ruff = os.path.join(config.tile_source, ".venv", "bin", "ruff")
if os.access(ruff, os.X_OK):
    config.available_features.add("ruff")
config.substitutions.append(("%ruff", ruff))
# The clang-format of the LLVM that this was built with, for the same reason.
clangFormat = os.path.join(config.llvm_prefix, "bin", "clang-format")
if os.access(clangFormat, os.X_OK):
    config.available_features.add("clang-format")
else:
    lit_config.note(
        f"the test of the layout of C++ is left out: it needs {clangFormat}, which ./dev setup "
        "installs"
    )
config.substitutions.append(("%clang-format", clangFormat))
if hasCuda():
    config.available_features.add("cuda")
torchPython = os.environ.get("TILE_PYTHON") or config.python
for package in ("torch", "jax"):
    if (
        subprocess.run(
            [
                torchPython,
                "-c",
                f"import importlib.util as u, sys; sys.exit(u.find_spec('{package}') is None)",
            ]
        ).returncode
        == 0
    ):
        config.available_features.add(package)
    else:
        lit_config.note(
            f"tests that need {package} are left out: TILE_PYTHON names a Python that has it"
        )
config.substitutions.insert(0, ("%torchpython", torchPython))
if os.path.exists(
    os.path.join(config.tile_build, "sysroot", ".done")
):  # cmake/portable/sysroot.sh, by ./dev test
    config.available_features.add("sysroot")

if os.access(os.path.join(config.llvm_prefix, "bin", "llvm-bolt"), os.X_OK):
    config.available_features.add("bolt")

try:  # large pages for who asks for them
    with open("/sys/kernel/mm/transparent_hugepage/enabled", encoding="ascii") as file:
        if "[never]" not in file.read():
            config.available_features.add("hugepages")
except OSError:
    pass

# The wheel for 64-bit ARM (./dev wheel --arch aarch64) and an emulator to try it in.
wheels = glob.glob(os.path.join(config.tile_source, "dist", "*_aarch64.whl"))
emulatedRoot = os.path.join(config.tile_source, "build-aarch64", "cross", "root")
if shutil.which("qemu-aarch64-static") and len(wheels) == 1 and os.path.isdir(emulatedRoot):
    config.available_features.add("aarch64")
    config.substitutions.append(("%aarch64wheel", wheels[0]))
else:
    lit_config.note(
        "the test of the wheel for 64-bit ARM is left out: it needs qemu-user-static and "
        "./dev wheel --arch aarch64"
    )


def hasThreadSanitizer():
    """Whether gcc links and runs programs with -fsanitize=thread."""
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "t")
        done = subprocess.run(
            ["gcc", "-fsanitize=thread", "-x", "c", "-", "-o", program],
            input=b"int main(void) { return 0; }",
            capture_output=True,
        )
        return (
            done.returncode == 0 and subprocess.run([program], capture_output=True).returncode == 0
        )


if shutil.which("gcc") and hasThreadSanitizer():
    config.available_features.add("tsan")
