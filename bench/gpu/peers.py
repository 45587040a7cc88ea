"""Contenders of PyTorch: eager calls, torch.compile, choices of the BLAS library, and Triton
variants.
"""

import threading

from .items import Contender
from .lib import torch

_lock, _compiling = threading.Lock(), {}


def eager(who, function, **more):
    """function(data) returns the outputs by name."""
    return Contender(who, lambda data: lambda: function(data), **more)


def blas(who, library, function):
    """Like eager, with "cublas" or "cublaslt" behind PyTorch's products. The choice is made at each
    call; in a graph it is made once, while the graph is captured.
    """

    def build(data):
        def call():
            torch.backends.cuda.preferred_blas_library(library)
            try:
                return function(data)
            finally:
                torch.backends.cuda.preferred_blas_library("default")

        return call

    return Contender(who, build)


def compiled(
    function, names, who="compile", mode="max-autotune-no-cudagraphs", optional=False, warm=False
):
    """torch.compile of function(*tensors); `names` are the inputs among the data. Our graphs take
    the place of its own.
    """

    def build(data):
        torch._dynamo.reset()
        made = torch.compile(function, mode=mode, dynamic=False, fullgraph=True)
        tensors = [data[name] for name in names]

        def call():
            with torch.no_grad():
                return made(*tensors)

        return call

    return Contender(who, build, patience=400.0, optional=optional, warm=warm)


def tritons(who, launchers, outputs, work=None):
    """Variants of a Triton kernel. launchers: {variant: launch(data, warmup)}, which launches, or
    with warmup=True compiles.
    """
    result = []
    for variant, launch in launchers.items():

        def build(data, launch=launch):
            run = launch(data)
            results = outputs(data)

            def call():
                run()
                return results

            return call

        def compile(data, launch=launch):
            launch(data, warmup=True)()

        result.append(Contender(who, build, variant, compile=compile, work=work))
    return result


def launcher(module, kernel, prepare, meta, warps, stages, **more):
    """A launch of a Triton kernel that is compiled for itself, without Triton's autotuner.

    prepare(data) gives (grid, positional arguments); meta are the compile-time values.
    """

    def launch(data, warmup=False):
        import importlib

        function = getattr(importlib.import_module("." + module, __package__), kernel)
        grid, arguments = prepare(data)
        options = {**meta, "num_warps": warps, "num_stages": stages, **more}
        if warmup:
            key = (
                kernel,
                str(sorted(options.items(), key=str)),
                *(_kind(argument) for argument in arguments),
            )

            def compile():
                with _lock:
                    mine = _compiling.setdefault(key, threading.Lock())
                with mine:  # items of several shapes share kernels: each is compiled once
                    function.warmup(*arguments, grid=grid, **options)

            return compile
        return lambda: function[grid](*arguments, **options)

    return launch


def _kind(argument):
    """What a Triton kernel is compiled for anew: dtypes, boxes of descriptors, whether numbers are
    1 or multiples of 16.
    """
    if isinstance(argument, (int, float)):
        return f"{type(argument).__name__} {argument == 1} {argument % 16 == 0}"
    tensor = getattr(argument, "base", argument)
    return f"{getattr(tensor, 'dtype', None)} {getattr(argument, 'block_shape', None)}"


def variantName(meta, warps, stages):
    """How a record names a choice."""
    return ",".join(
        [f"{key}={value}" for key, value in meta.items()] + [f"warps={warps}", f"stages={stages}"]
    )
