"""Lets Triton compile for Hopper on a machine without a GPU."""

from .lib import triton


class _Driver:
    """What Triton's compiler asks of a driver."""

    def get_current_device(self):
        return 0

    def get_current_stream(self, device=None):
        return 0

    def get_current_target(self):
        from triton.backends.compiler import GPUTarget

        return GPUTarget("cuda", 90, 32)

    def get_active_torch_device(self):
        import torch

        return torch.device("cpu")


def hopper():
    """From here on `kernel.warmup` compiles for sm_90 and nothing can be launched."""
    if triton is not None:
        from triton.runtime import driver

        driver.set_active(_Driver())


class _Shape:
    """A tensor of the meta device as one that lies on a GPU, for checks that read no memory."""

    CODES = {
        "float16": "<f2",
        "bfloat16": "<V2",
        "float32": "<f4",
        "float64": "<f8",
        "int8": "|i1",
        "uint8": "|u1",
        "int32": "<i4",
        "uint32": "<u4",
        "int64": "<i8",
        "float8_e4m3fn": "<V1",
    }

    def __init__(self, tensor, place):
        size = tensor.element_size()
        self.__cuda_array_interface__ = {
            "shape": tuple(tensor.shape),
            "strides": tuple(stride * size for stride in tensor.stride()),
            "typestr": self.CODES[str(tensor.dtype).removeprefix("torch.")],
            "data": ((1 << 40) + (place << 36), False),
            "version": 3,
        }


def refused(item, contender):
    """Why the launcher would refuse our launches of an item's data, or None: shapes, dtypes and
    contracts are checked as on a GPU.
    """
    import tile_compiler as tile
    from .lib import torch

    data = item.inputs("meta")
    for part in contender.parts:
        try:
            values = {
                name: _Shape(value, place) if isinstance(value, torch.Tensor) else value
                for place, (name, value) in enumerate(part.arguments(data).items())
            }
            tile.load(part.binary().compile())[part.kernel].plan(**values)
        except Exception as error:  # noqa: BLE001: one refusal is one line
            return f"{part.kernel}: {str(error).splitlines()[0]}"
    return None
