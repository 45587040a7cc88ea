"""Makes kernels of many operations at once, runs them with tilec, compares what they write with the
references.
"""

import os
import subprocess
import tempfile

import numpy as np

import formats
from formats import FLOATS, NIBBLES, isFloat, long


class Failed(Exception):
    """tilec did not run a kernel to its end."""


class Settings:
    """How kernels are run: the program, the device, the optimisation level (None: as the class of
    shapes asks).
    """

    def __init__(self, tilec, device="cpu", level=None, keep=None, timeout=300):
        self.tilec, self.device, self.level, self.keep, self.timeout = (
            tilec,
            device,
            level,
            keep,
            timeout,
        )


class Output:
    """What a kernel writes: `expected` in values (then bit for bit, any NaN for NaN) or, with a
    bound, in long double.
    """

    def __init__(self, operation, dtype, shape, expected, bound=None, zeroSigns=True, note=""):
        self.operation, self.dtype, self.shape, self.expected = (
            operation,
            dtype,
            tuple(shape),
            expected,
        )
        self.bound, self.zeroSigns, self.note = bound, zeroSigns, note

    def mismatch(self, found):
        """None, or where and how what was found differs."""
        expected = np.asarray(self.expected)
        if found.shape != expected.shape:
            return f"shape {found.shape}, expected {expected.shape}"
        with np.errstate(all="ignore"):
            if self.bound is None:
                same = (found == expected) | ((found != found) & (expected != expected))
                if isFloat(self.dtype) and self.zeroSigns:
                    same &= (np.signbit(found) == np.signbit(expected)) | (expected != expected)
            else:
                wide, largest = found.astype(long), formats.FORMATS[self.dtype][2]
                bound = np.broadcast_to(np.asarray(self.bound, long), expected.shape)
                near = np.abs(wide - expected) <= bound
                # Where the bound reaches beyond the largest number, infinity and it are both right.
                near |= (
                    (
                        np.abs(expected)
                        + bound
                        + formats.unit(np.full(expected.shape, largest), self.dtype) / 2
                        >= largest
                    )
                    & (np.abs(found) >= largest)
                    & (np.sign(found) == np.sign(expected))
                )
                same = np.where(
                    np.isnan(expected),
                    np.isnan(found),
                    np.where(np.isinf(expected), found == expected, near),
                )
                if self.zeroSigns:
                    same &= ~(
                        (expected == 0) & (found == 0) & (np.signbit(found) != np.signbit(expected))
                    )
        if same.all():
            return None
        at = tuple(int(i) for i in np.argwhere(~same)[0])
        return (
            f"at {list(at)} expected {expected[at]!r}, found {found[at]!r} ({int((~same).sum())} of"
            f" {same.size} differ)"
        )


class Kernel:
    """A kernel that is being put together: parameters, statements, inputs, expected outputs."""

    def __init__(self, name, grid, prelude=""):
        self.name, self.grid, self.prelude = name, grid, prelude
        self.parameters, self.lines, self.inputs, self.outputs, self.definitions = (
            [],
            [],
            {},
            {},
            {},
        )

    def input(self, name, dtype, values, dims):
        """`dims`: how the tensor's extents are written."""
        self.parameters.append(f"{name}: in {dtype}[{dims}]")
        self.inputs[name] = (dtype, values)

    def output(self, name, dtype, dims, outputs, access="out"):
        """`outputs`: one Output, or a list of them, one for each index of the first dimension."""
        self.parameters.append(f"{name}: {access} {dtype}[{dims}]")
        self.outputs[name] = (dtype, outputs)
        if access == "inout":  # zeros, to begin with
            self.inputs[name] = (dtype, np.zeros(outputs.shape, formats.VALUES[dtype]))

    def text(self):
        body = "\n".join("  " + line for line in self.lines)
        return (
            f"{self.prelude}kernel"
            f" k{'[B: int]' if 'B' in self.definitions else ''}({', '.join(self.parameters)})\n "
            f" grid ({self.grid})\n{{\n{body}\n}}\n"
        )

    def run(self, settings, level):
        """{name of an output: values}."""
        with tempfile.TemporaryDirectory(prefix="tile-conformance-") as folder:
            source = os.path.join(folder, "k.tile")
            with open(source, "w", encoding="utf-8") as file:
                file.write(self.text())
            if settings.keep:
                with open(
                    os.path.join(settings.keep, self.name.replace(" ", "-") + ".tile"),
                    "w",
                    encoding="utf-8",
                ) as file:
                    file.write(self.text())
            line = [
                settings.tilec,
                "run",
                source,
                "--device",
                settings.device,
                level,
                "--threads",
                "1",
            ]
            for name, value in self.definitions.items():
                line += ["-D", f"{name}={value}"]
            for name, (dtype, values) in self.inputs.items():
                np.save(f"{folder}/{name}.npy", formats.store(values, dtype))
                line += ["--arg", f"{name}={folder}/{name}.npy"]
            for name in self.outputs:
                line += ["--out", f"{name}={folder}/{name}.out.npy"]
            try:
                done = subprocess.run(
                    line, capture_output=True, text=True, timeout=settings.timeout
                )
            except subprocess.TimeoutExpired:
                raise Failed(f"no end after {settings.timeout} s") from None
            if done.returncode:
                raise Failed(f"exit {done.returncode}: {done.stderr.strip()[:1500]}")
            return {
                name: formats.load(np.load(f"{folder}/{name}.out.npy"), dtype)
                for name, (dtype, _) in self.outputs.items()
            }

    def check(self, found):
        """(operation, note, what is wrong or None) of each output."""
        for name, (dtype, outputs) in self.outputs.items():
            listed = outputs if isinstance(outputs, list) else None
            for i, output in enumerate(listed if listed is not None else [outputs]):
                yield (
                    output.operation,
                    output.note,
                    output.mismatch(found[name][i] if listed is not None else found[name]),
                )


def errorBound(dtype, expected, ulp, absolute):
    """What a function may err by: in its own dtype, or for 16-bit floats in f32 and then by one
    rounding.
    """
    if dtype in ("f16", "bf16"):
        return (
            formats.unit(expected, dtype) * (0.5 + ulp * 2.0 ** (formats.FORMATS[dtype][0] - 24))
            + absolute * 2.0**-126
        )
    return formats.unit(expected, dtype) * ulp + absolute * 2.0 ** formats.FORMATS[dtype][1]


def loadedDtype(dtype):
    """What a tensor holds so that its elements can become `dtype`, and how they do."""
    return ("i64", " as index") if dtype == "index" else (dtype, "")


def storedDtype(dtype):
    """What a result is stored as, and how it gets there."""
    return (
        ("i64", " as i64")
        if dtype == "index"
        else ("i8", " as i8")
        if dtype in NIBBLES
        else (dtype, "")
    )
