"""Our kernels as contenders: tilec compiles each variant in a thread, python/tile_compiler launches
it.
"""

import hashlib
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading

from releases import moduleFolder

from .items import Contender
from .paths import HOME, ROOT, TILEC  # and with it where the module is
from tile_compiler._source import ATTRIBUTES


class Settings:
    """What the command line says about our side."""

    target = "sm_90a"
    gpu = None  # words of a card's name, whose figures the cost model takes; None: the target's
    format = "cubin"  # or ptx, which the driver assembles: code for an older GPU than the one here
    folder = None  # of binaries; made when first needed
    examples = [
        path
        for path in (
            os.path.join(ROOT, "examples"),
            os.path.join(HOME, "examples"),
            os.path.join(ROOT, "bench", "unseen", "kernels"),
        )
        if os.path.isdir(path)
    ]
    variants = None  # instead of those that the items name
    against = None  # a Release or Native, whose kernels take part too
    lock = threading.Lock()


class Release:
    """An unpacked release of another version: its compiler, its examples and its Python module take
    part as "against".
    """

    who = "against"

    def __init__(self, home):
        self.home = os.path.abspath(home)
        self.tilec = os.path.join(self.home, "bin", "tilec")
        self.examples = [os.path.join(self.home, "examples")]
        self.module = None
        for path in (self.tilec, *self.examples, moduleFolder(self.home)):
            if not os.path.exists(path):
                sys.exit(f"gpu.py: --against takes an unpacked release, but '{path}' is missing")

    @property
    def target(self):
        return Settings.target

    @property
    def format(self):
        return Settings.format

    def load(self, path):
        """The binary, loaded by the release's own runtime."""
        with Settings.lock:
            if self.module is None:
                self.module = self._import()
        return self.module.load(path)

    def _import(self):
        """The release's Python module with the release's library, under another name. One process
        holds one module in C of a name, so this one launches by ctypes, which no device time shows.
        """
        before = {
            name: os.environ.get(name)
            for name in ("TILE_NO_NATIVE", "TILE_HOME", "TILE_RUNTIME_LIB")
        }
        os.environ.update(TILE_NO_NATIVE="1", TILE_HOME=self.home)
        os.environ.pop("TILE_RUNTIME_LIB", None)
        try:
            package = moduleFolder(self.home)
            spec = importlib.util.spec_from_file_location(
                "tile_against",
                os.path.join(package, "__init__.py"),
                submodule_search_locations=[package],
            )
            module = importlib.util.module_from_spec(spec)
            sys.modules[spec.name] = module
            spec.loader.exec_module(module)
            module._library.get()
            return module
        finally:
            for name, value in before.items():
                os.environ.pop(name, None) if value is None else os.environ.__setitem__(name, value)


class Native:
    """The same sources by the same compiler, for the card itself: what code for an older GPU, which
    --target names, is measured beside. They take part as "native".
    """

    who, home, tilec, examples, format = "native", "native", TILEC, None, "cubin"

    def __init__(self, target):
        self.target = target

    def load(self, path):
        import tile_compiler as tile

        return tile.load(path)


def source(name, examples=None):
    """The path of an example's source, `NAME/NAME.tile` or `NAME.tile` in one of the folders."""
    for folder in examples or Settings.examples:
        for path in (
            os.path.join(folder, name, name + ".tile"),
            os.path.join(folder, name + ".tile"),
        ):
            if os.path.exists(path):
                return path
    raise FileNotFoundError(
        f"there is no {name}.tile in " + ", ".join(examples or Settings.examples)
    )


def available(name):
    try:
        return bool(source(name))
    except FileNotFoundError:
        return False


def _holds(name, pattern):
    if not available(name):
        return False
    with open(source(name), encoding="utf-8") as stream:
        return re.search(pattern, stream.read(), re.MULTILINE) is not None


def declares(name, parameter):
    """Whether an example has a compile-time parameter of that name."""
    return _holds(name, rf"\b{parameter}: ")


def declaresKernel(name, kernel):
    """Whether an example's file has a kernel of that name."""
    return _holds(name, rf"^kernel {kernel}\b")


def _closing(text, start):
    """Position after the brace that closes the one at or after `start`."""
    depth = 0
    for index in range(text.index("{", start), len(text)):
        depth += {"{": 1, "}": -1}.get(text[index], 0)
        if not depth:
            return index + 1
    raise ValueError("unbalanced braces")


def withAttributes(text, kernel, attributes):
    """The source with a kernel's `tune` clause left out and its attributes set; None takes an
    attribute away.
    """
    start = re.search(rf"^kernel {kernel}\b", text, re.MULTILINE).start()
    following = re.search(r"^kernel ", text[start + 1 :], re.MULTILINE)
    end = start + 1 + following.start() if following else len(text)
    part = text[start:end]
    tune = re.search(r"^[ \t]*tune\b", part, re.MULTILINE)
    if tune:
        part = part[: tune.start()] + part[_closing(part, tune.start()) :].lstrip("\n")
    clause = re.search(r"^[ \t]*with ([^\n{]*)\n", part, re.MULTILINE)
    present = {}
    for item in re.findall(r"\w+(?:\([^)]*\))?", clause[1].partition("//")[0]) if clause else []:
        present[item.partition("(")[0]] = item
    for name, value in attributes.items():
        if value is None or value is False:
            present.pop(name, None)
        else:
            present[name] = (
                name
                if value is True
                else f'{name}("{value}")'
                if name == "fp"
                else f"{name}({value})"
            )
    line = "  with " + ", ".join(present.values()) + "\n" if present else ""
    body = clause or re.search(r"^(?=\{)", part, re.MULTILINE)
    return text[:start] + part[: body.start()] + line + part[body.end() :] + text[end:]


def describe(definitions, attributes):
    """A variant's name; the dtype is in the item already."""
    return (
        ",".join(f"{k}={v}" for k, v in {**definitions, **attributes}.items() if k != "T")
        or "defaults"
    )


class Binary:
    """A compiled variant, made once for each choice."""

    made = {}

    def __init__(self, name, definitions, attributes, kernel, release, shape=""):
        self.name, self.definitions, self.attributes, self.kernel = (
            name,
            definitions,
            attributes,
            kernel,
        )
        self.release, self.shape = release, shape
        self.lock, self.path, self.error, self.module, self.notes = (
            threading.Lock(),
            None,
            None,
            None,
            {},
        )

    @classmethod
    def get(cls, name, definitions, attributes, kernel, release=None, shape=""):
        """shape: extents as --shape takes them; for these the compiler chooses what is open."""
        key = (
            name,
            tuple(sorted(definitions.items())),
            tuple(sorted((k, str(v)) for k, v in attributes.items())),
            kernel,
            release and release.home,
            shape,
        )
        with Settings.lock:
            if key not in cls.made:
                cls.made[key] = cls(name, definitions, attributes, kernel, release, shape)
            return cls.made[key]

    def compile(self):
        with self.lock:
            if self.path is None and self.error is None:
                try:
                    self._compile()
                except subprocess.TimeoutExpired as error:
                    self.error = f"tilec: no end after {error.timeout:.0f} s"
                except (
                    OSError,
                    ValueError,
                    RuntimeError,
                    AttributeError,
                    subprocess.SubprocessError,
                ) as error:
                    self.error = str(error)
        if self.error:
            raise RuntimeError(self.error)
        return self.path

    def _compile(self):
        path = source(self.name, self.release and self.release.examples)
        with Settings.lock:
            if Settings.folder is None:
                Settings.folder = tempfile.mkdtemp(prefix="tile-bench-")
        key = repr(
            (
                path,
                self.kernel,
                sorted(self.definitions.items()),
                sorted((k, str(v)) for k, v in self.attributes.items()),
                self.release and self.release.home,
                self.shape,
            )
        )
        folder = os.path.join(
            Settings.folder, f"{self.name}-{hashlib.sha1(key.encode()).hexdigest()[:12]}"
        )
        binary, notes = (
            os.path.join(folder, f"{self.name}.{(self.release or Settings).format}"),
            os.path.join(folder, "notes.json"),
        )
        if os.path.exists(notes):  # a process before this one has made it
            with open(notes, encoding="utf-8") as stream:
                self.notes = json.load(stream)
            self.path = binary
            return
        os.makedirs(folder, exist_ok=True)
        line = [self.release.tilec if self.release else TILEC]
        if self.attributes:
            with open(path, encoding="utf-8") as stream:
                text = withAttributes(stream.read(), self.kernel, self.attributes)
            changed = os.path.join(folder, self.name + ".tile")
            with open(changed, "w", encoding="utf-8") as stream:
                stream.write(text)
            line += [changed, "-I", os.path.dirname(path)]
        else:
            line += [path]
        line += [
            "--kernel",
            self.kernel,
            "--target",
            (self.release or Settings).target,
            "--color",
            "never",
            "-o",
            binary,
        ]
        if Settings.gpu and not self.release:
            line += ["--gpu", Settings.gpu]
        for key, value in self.definitions.items():
            line += ["-D", f"{key}={value}"]
        line += ["--shape", self.shape] if self.shape else []
        done = subprocess.run(
            line, capture_output=True, text=True, timeout=120, env={**os.environ, **ptxas()}
        )
        if done.returncode:
            raise RuntimeError(
                "tilec: "
                + (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[0]
            )
        self.notes = resources(binary)
        warning = next((line for line in done.stderr.splitlines() if "warning" in line), "")
        if warning:
            self.notes["warning"] = warning
        with open(notes, "w", encoding="utf-8") as stream:
            json.dump(self.notes, stream)
        self.path = binary

    def load(self):
        import tile_compiler as tile

        if self.module is None:
            self.module = (self.release or tile).load(self.compile())
        return self.module


def ptxas():
    """What to add to the environment so that tilec finds a ptxas: Triton brings one."""
    if (
        os.environ.get("TILE_PTXAS")
        or shutil.which("ptxas")
        or os.path.exists("/usr/local/cuda/bin/ptxas")
    ):
        return {}
    from .lib import triton

    path = (
        os.path.join(os.path.dirname(triton.__file__), "backends", "nvidia", "bin", "ptxas")
        if triton
        else ""
    )
    return {"TILE_PTXAS": path} if os.path.exists(path) else {}


def resources(binary):
    """What the manifest says of threads, shared memory, registers and spills."""
    with open(binary + ".json", encoding="utf-8") as stream:
        launch = json.load(stream)["kernels"][0].get("launch", {})
    return {
        key: launch[key]
        for key in ("threads", "shared_bytes", "registers", "spill_bytes")
        if key in launch
    }


def tiles(name, variants, arguments, outputs, kernel=None, fixed=None, who="tile", work=None):
    """Contenders for the variants of an example.

    variants     dicts; names of attributes become attributes of the kernel, others -D
    arguments    arguments(data): the launch's arguments by name
    outputs      outputs(data): results by name
    fixed        definitions that all variants share, as T
    """
    kernel = kernel or name
    if not available(name):

        def build(data):
            raise FileNotFoundError(f"there is no example {name}")

        return [Contender(who, build)]
    result = []
    for choice in Settings.variants or variants:
        attributes = {key: value for key, value in choice.items() if key in ATTRIBUTES}
        definitions = {
            **(fixed or {}),
            **{key: value for key, value in choice.items() if key not in ATTRIBUTES},
        }
        result.append(
            _tile(
                name,
                kernel,
                definitions,
                attributes,
                describe(choice, {}),
                arguments,
                outputs,
                who,
                work,
            )
        )
        if Settings.against and who == "tile":
            result.append(
                _tile(
                    name,
                    kernel,
                    definitions,
                    attributes,
                    describe(choice, {}),
                    arguments,
                    outputs,
                    Settings.against.who,
                    work,
                    Settings.against,
                )
            )
    return result


def _tile(
    name, kernel, definitions, attributes, variant, arguments, outputs, who, work, release=None
):
    def build(data):
        binary = Binary.get(name, definitions, attributes, kernel, release)
        launch = binary.load()[kernel]
        values, results = arguments(data), outputs(data)

        def call():
            launch(**values)
            return results

        call.notes = binary.notes
        return call

    return Contender(
        who,
        build,
        variant,
        work=work,
        compile=lambda data: Binary.get(name, definitions, attributes, kernel, release).compile(),
    )


def parseVariants(text):
    """--variants "BM=128,BN=256,stages=4;BM=64" as a list of dicts; an attribute alone is set,
    "persistent=no" takes it away.
    """
    result = []
    for part in text.split(";"):
        choice = {}
        for item in filter(None, part.strip().split(",")):
            key, _, value = item.partition("=")
            choice[key.strip()] = (
                True
                if not value
                else None
                if value == "no"
                else int(value)
                if value.lstrip("-").isdigit()
                else value
            )
        result.append(choice)
    return result
