"""cuBLASLt's own list of algorithms for a product, each one a contender: the best that the library
has, where PyTorch takes the first that the library names.
"""

import ctypes

from .lib import torch

WORKSPACE = 64 << 20
_COMPUTE_F32, _F32 = 68, 0
_TYPES = {"f16": 2, "bf16": 14}
_TRANSPOSE_A, _TRANSPOSE_B = 3, 4  # attributes of a product
_BATCH, _STRIDE = 5, 6  # attributes of a matrix
_WORKSPACE_BYTES = 1  # attribute of a preference


class _Result(ctypes.Structure):
    """cublasLtMatmulHeuristicResult_t"""

    _fields_ = [
        ("algorithm", ctypes.c_uint64 * 8),
        ("workspace", ctypes.c_size_t),
        ("state", ctypes.c_int),
        ("waves", ctypes.c_float),
        ("reserved", ctypes.c_int * 4),
    ]


class Library:
    """cuBLASLt through its C interface; one handle and one workspace."""

    made = None

    def __init__(self):
        torch.ones(16, 16, device="cuda").mm(torch.ones(16, 16, device="cuda"))  # loads it
        self.library = ctypes.CDLL(_loadedPath())
        self.handle = ctypes.c_void_p()
        self.call("cublasLtCreate", ctypes.byref(self.handle))
        self.workspace = torch.empty(WORKSPACE, dtype=torch.uint8, device="cuda")

    @classmethod
    def get(cls):
        cls.made = cls.made or cls()
        return cls.made

    def call(self, name, *arguments):
        status = getattr(self.library, name)(*arguments)
        if status:
            raise RuntimeError(f"{name}: status {status}")

    def matrix(self, dtype, rows, columns, batch):
        """A dense matrix, columns first as the library counts: `rows` is the inner extent."""
        made = ctypes.c_void_p()
        self.call(
            "cublasLtMatrixLayoutCreate",
            ctypes.byref(made),
            _TYPES[dtype],
            ctypes.c_uint64(rows),
            ctypes.c_uint64(columns),
            ctypes.c_int64(rows),
        )
        if batch > 1:
            count, stride = ctypes.c_int32(batch), ctypes.c_int64(rows * columns)
            for attribute, value in ((_BATCH, count), (_STRIDE, stride)):
                self.call(
                    "cublasLtMatrixLayoutSetAttribute",
                    made,
                    attribute,
                    ctypes.byref(value),
                    ctypes.c_size_t(ctypes.sizeof(value)),
                )
        return made


def _loadedPath():
    """The library that PyTorch has loaded."""
    with open("/proc/self/maps", encoding="utf-8") as stream:
        for line in stream:
            if "libcublasLt.so" in line:
                return line.split()[-1]
    raise RuntimeError("PyTorch has loaded no libcublasLt.so")


class Product:
    """c = a · b in f32 sums, or a · bᵀ where b has K innermost; dense tensors, maybe with a batch
    in front.
    """

    def __init__(self, a, b, c, dtype, transposed):
        self.lt, self.tensors = Library.get(), (a, b, c)
        batch = a.shape[0] if a.dim() == 3 else 1
        lt, (m, k), n = self.lt, a.shape[-2:], c.shape[-1]
        self.description = ctypes.c_void_p()
        lt.call("cublasLtMatmulDescCreate", ctypes.byref(self.description), _COMPUTE_F32, _F32)
        # The library's matrices have columns first, so it computes the transposed product.
        for attribute, value in ((_TRANSPOSE_A, int(transposed)), (_TRANSPOSE_B, 0)):
            lt.call(
                "cublasLtMatmulDescSetAttribute",
                self.description,
                attribute,
                ctypes.byref(ctypes.c_int32(value)),
                ctypes.c_size_t(4),
            )
        first = (k, n) if transposed else (n, k)
        self.layouts = [
            lt.matrix(dtype, *first, batch),
            lt.matrix(dtype, k, m, batch),
            lt.matrix(dtype, n, m, batch),
        ]
        self.one, self.zero = ctypes.c_float(1.0), ctypes.c_float(0.0)

    def algorithms(self, count):
        """What the library's heuristic names, best guess first."""
        preference, size = ctypes.c_void_p(), ctypes.c_uint64(WORKSPACE)
        self.lt.call("cublasLtMatmulPreferenceCreate", ctypes.byref(preference))
        self.lt.call(
            "cublasLtMatmulPreferenceSetAttribute",
            preference,
            _WORKSPACE_BYTES,
            ctypes.byref(size),
            ctypes.c_size_t(8),
        )
        found, number = (_Result * count)(), ctypes.c_int()
        first, second, result = self.layouts
        self.lt.call(
            "cublasLtMatmulAlgoGetHeuristic",
            self.lt.handle,
            self.description,
            first,
            second,
            result,
            result,
            preference,
            count,
            found,
            ctypes.byref(number),
        )
        return [each for each in found[: number.value] if each.state == 0]

    def launch(self, algorithm):
        a, b, c = self.tensors
        pointer = lambda tensor: ctypes.c_void_p(tensor.data_ptr())  # noqa: E731
        first, second, result = self.layouts
        self.lt.call(
            "cublasLtMatmul",
            self.lt.handle,
            self.description,
            ctypes.byref(self.one),
            pointer(b),
            first,
            pointer(a),
            second,
            ctypes.byref(self.zero),
            pointer(c),
            result,
            pointer(c),
            result,
            ctypes.byref(algorithm.algorithm),
            pointer(self.lt.workspace),
            ctypes.c_size_t(WORKSPACE),
            ctypes.c_void_p(torch.cuda.current_stream().cuda_stream),
        )


def best(data, dtype, transposed, count=8):
    """A call of the fastest of the library's first algorithms, each timed for a moment."""
    from . import timing

    product = Product(data["a"], data["b"], data["c"], dtype, transposed)
    times = []
    for algorithm in product.algorithms(count):
        try:
            timer = timing.Warm(lambda one=algorithm: product.launch(one), 3.0)
            times.append((min(timer.round() + timer.round() + timer.round()), algorithm))
        except RuntimeError:  # one that does not run after all
            torch.cuda.synchronize()
    if not times:
        raise RuntimeError("cuBLASLt names no algorithm that runs")
    algorithm = min(times, key=lambda pair: pair[0])[1]

    def call():
        product.launch(algorithm)
        return {"c": data["c"]}

    return call
