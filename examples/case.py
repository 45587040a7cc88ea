"""What a case of an example is: dimensions, definitions, arguments and tolerances. Shared by the
CPU and GPU runners.

Every example has a reference.py with
  CASES              a list of Case arguments(case)    the kernel's parameters in source order:
  {name: Input | Output | InOut | Scalar} reference(case, **inputs)   {name of an output: float64 or
  integer array}; the inputs arrive as float64 or integers
"""

import importlib.util
import os
import sys
import zlib

import numpy

EXAMPLES = os.path.dirname(os.path.abspath(__file__))

# How each dtype is stored in an .npy file; bf16 and f8 travel as their bits, two integers of 4 bits
# as a byte.
STORAGE = {
    "f16": numpy.float16,
    "bf16": numpy.uint16,
    "f32": numpy.float32,
    "f8e4m3": numpy.uint8,
    "f8e5m2": numpy.uint8,
    "f64": numpy.float64,
    "i4": numpy.uint8,
    "u4": numpy.uint8,
    "i8": numpy.int8,
    "u8": numpy.uint8,
    "i16": numpy.int16,
    "u16": numpy.uint16,
    "i32": numpy.int32,
    "u32": numpy.uint32,
    "i64": numpy.int64,
    "u64": numpy.uint64,
    "bool": numpy.bool_,
}
# Bits of the mantissa, bias of the exponent and largest finite number of the 8-bit floats.
FLOAT8 = {"f8e4m3": (3, 7, 0x7E), "f8e5m2": (2, 15, 0x7B)}
# Half the distance between neighbours near 1: the error of one rounding, relative to the value.
ROUNDING = {"f16": 2.0**-11, "bf16": 2.0**-8, "f32": 2.0**-24, "f64": 2.0**-53}


class Case:
    """One call of a kernel. `shape` is "M=3 N=5"; definitions are -D values, T among them where the
    kernel has it. `kernel` is for files of several kernels: without it the kernel has the example's
    name.
    """

    def __init__(self, shape, scalars=None, kernel=None, **definitions):
        self.kernel = kernel
        self.dims = {
            name: int(value) for name, value in (item.split("=") for item in shape.split())
        }
        self.definitions = definitions
        self.scalars = scalars or {}
        parts = (
            [kernel] * bool(kernel)
            + [shape.replace(" ", ",")]
            + [f"{key}={value}" for key, value in {**definitions, **self.scalars}.items()]
        )
        self.name = ",".join(parts)

    def __getattr__(self, name):
        for values in (self.__dict__.get("dims", {}), self.__dict__.get("definitions", {})):
            if name in values:
                return values[name]
        raise AttributeError(name)

    def random(self, name):
        """A generator of random numbers that depends only on the case and the argument's name."""
        return numpy.random.default_rng(zlib.crc32(f"{self.name}/{name}".encode()))


class Input:
    """A tensor that is read. `values(random, shape)` makes its data; normal numbers unless
    given.
    """

    reads, writes = True, False

    def __init__(self, dtype, shape, values=None):
        self.dtype, self.shape = dtype, tuple(shape)
        self.values = values or (lambda random, shape: random.standard_normal(shape))

    def data(self, case, name):
        """The argument's data as stored in memory."""
        return store(
            numpy.asarray(self.values(case.random(name), self.shape)).reshape(self.shape),
            self.dtype,
        )


class Output:
    """A tensor that is written. An element may differ by atol + rtol * |reference| and one rounding
    to the dtype; with rtol None it must be equal; either may be an array that fits the shape. Where
    `partial`, elements that the reference leaves as NaN must not be written.
    """

    reads, writes = False, True

    def __init__(self, dtype, shape, rtol=1e-5, atol=1e-6, partial=False):
        self.dtype, self.shape, self.rtol, self.atol, self.partial = (
            dtype,
            tuple(shape),
            rtol,
            atol,
            partial,
        )

    def mismatch(self, got, expected):
        """None where `got`, as stored, agrees with `expected`; else a line that says where and by
        how much it does not.
        """
        if got.shape != self.shape:
            return f"shape {got.shape} where {self.shape} was expected"
        if got.dtype != STORAGE[self.dtype]:
            return f"dtype {got.dtype} where {numpy.dtype(STORAGE[self.dtype])} was expected"
        got = load(got, self.dtype)
        expected = numpy.asarray(expected).reshape(self.shape)
        if self.dtype == "bool":
            got, expected = got.astype(numpy.int8), expected.astype(numpy.int8)
        with numpy.errstate(invalid="ignore"):
            relative = (
                0.0 if self.rtol is None else self.rtol + 1.01 * ROUNDING.get(self.dtype, 0.0)
            )
            bound = self.atol + relative * numpy.abs(expected)
            error = numpy.abs(got - expected)
            wrong = ~(
                (error <= bound) | (got == expected) | (numpy.isnan(got) & numpy.isnan(expected))
            )
        if not wrong.any():
            return None
        where = numpy.unravel_index(
            numpy.argmax(numpy.where(numpy.isnan(error), numpy.inf, error) * wrong), self.shape
        )
        return (
            f"{int(wrong.sum())} of {wrong.size} elements differ; at {tuple(int(i) for i in where)}"
            f" {got[where]!r} where {expected[where]!r} was expected"
        )


class InOut(Output):
    """A tensor that is read and written."""

    reads, writes = True, True

    def __init__(self, dtype, shape, rtol=1e-5, atol=1e-6):
        super().__init__(dtype, shape, rtol, atol)
        self.values = lambda random, shape: random.standard_normal(shape)

    data = Input.data


class Scalar:
    """A scalar argument; left to the kernel's default where the case does not give it and `value`
    is None.
    """

    reads, writes = False, False

    def __init__(self, dtype, value=None):
        self.dtype, self.value = dtype, value


def decodeFloat8(codes, dtype):
    """The float64 that each code stands for."""
    mantissa, bias, largest = FLOAT8[dtype]
    magnitude = numpy.asarray(codes).astype(numpy.int64) & 0x7F
    exponent, fraction = magnitude >> mantissa, magnitude & ((1 << mantissa) - 1)
    value = numpy.where(
        exponent == 0,
        numpy.ldexp(fraction * 1.0, 1 - bias - mantissa),
        numpy.ldexp(fraction + float(1 << mantissa), exponent - bias - mantissa),
    )
    value = numpy.where(magnitude > largest, numpy.inf if dtype == "f8e5m2" else numpy.nan, value)
    value = numpy.where(magnitude > 0x7C, numpy.nan, value) if dtype == "f8e5m2" else value
    return numpy.where(numpy.asarray(codes) & 0x80, -value, value)


def encodeFloat8(values, dtype):
    """The nearest code of finite numbers, ties to even, beyond the largest that."""
    table = decodeFloat8(numpy.arange(FLOAT8[dtype][2] + 1), dtype)
    magnitude = numpy.minimum(numpy.abs(values), table[-1])
    high = numpy.searchsorted(table, magnitude)
    low = numpy.maximum(high - 1, 0)
    below, above = magnitude - table[low], table[high] - magnitude
    code = numpy.where(
        (above > 0) & ((below < above) | ((below == above) & (low % 2 == 0))), low, high
    )
    return (code | (numpy.signbit(values) << 7)).astype(numpy.uint8)


def store(values, dtype):
    """Values as they lie in memory, rounded to nearest even."""
    if dtype in FLOAT8:
        return encodeFloat8(values, dtype)
    if dtype in ("i4", "u4"):
        halves = values.astype(numpy.int64).astype(numpy.uint8) & 15
        return numpy.ascontiguousarray(halves[..., ::2] | halves[..., 1::2] << 4)
    if dtype == "bf16":
        bits = values.astype(numpy.float32).view(numpy.uint32)
        rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16
        return numpy.where(numpy.isnan(values), 0x7FC0, rounded).astype(numpy.uint16)
    return numpy.ascontiguousarray(values.astype(STORAGE[dtype]))


def load(stored, dtype):
    """What lies in memory as float64, or as the integers that they are."""
    if dtype in FLOAT8:
        return decodeFloat8(stored, dtype)
    if dtype in ("i4", "u4"):
        halves = (
            numpy.stack([stored & 15, stored >> 4], axis=-1)
            .reshape(*stored.shape[:-1], -1)
            .astype(numpy.int64)
        )
        return halves - 16 * (halves > 7) if dtype == "i4" else halves
    if dtype == "bf16":
        return (stored.astype(numpy.uint32) << 16).view(numpy.float32).astype(numpy.float64)
    if dtype == "bool":
        return stored.astype(numpy.int8)  # NumPy subtracts no bools
    return stored.astype(numpy.float64) if dtype in ROUNDING else stored


def names():
    """The examples there are, in alphabetical order."""
    return sorted(
        name
        for name in os.listdir(EXAMPLES)
        if os.path.exists(os.path.join(EXAMPLES, name, "reference.py"))
    )


def source(name):
    """The path of an example's source."""
    return os.path.join(EXAMPLES, name, name + ".tile")


def module(name):
    """An example's reference.py as a module."""
    if EXAMPLES not in sys.path:
        sys.path.insert(0, EXAMPLES)
    spec = importlib.util.spec_from_file_location(
        name + "_reference", os.path.join(EXAMPLES, name, "reference.py")
    )
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


def prepare(example, case):
    """(arguments, stored inputs, expected outputs) of one case. Scalars are among the inputs where
    they have a value.
    """
    arguments = example.arguments(case)
    stored, inputs = {}, {}
    for name, argument in arguments.items():
        if isinstance(argument, Scalar):
            value = case.scalars.get(name, argument.value)
            if value is not None:
                stored[name] = inputs[name] = value
        elif argument.reads:
            stored[name] = argument.data(case, name)
            inputs[name] = load(stored[name], argument.dtype)
    with numpy.errstate(all="ignore"):
        return arguments, stored, example.reference(case, **inputs)
