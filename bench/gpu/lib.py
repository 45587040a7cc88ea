"""PyTorch and Triton where they are installed, else None: listing the work items needs neither."""

import itertools

try:
    import torch
except ImportError:
    torch = None
try:
    import triton
except ImportError:
    triton = None


DEVICE = "cuda"


def torchType(name):
    """PyTorch's dtype of our name."""
    return getattr(
        torch,
        {
            "f16": "float16",
            "bf16": "bfloat16",
            "f32": "float32",
            "f64": "float64",
            "i8": "int8",
            "u8": "uint8",
            "i32": "int32",
            "i64": "int64",
            "f8e4m3": "float8_e4m3fn",
        }[name],
    )


_placed = itertools.count()


def empty(shape, dtype, device):
    """Memory for a tensor; checks poison results before they look. Large tensors begin at odd
    multiples of 256 bytes, each at another one: copies between buffers at distances that are powers
    of two collide in DRAM, down to 0.6 of the bandwidth.
    """
    size = 1
    for extent in shape:
        size *= extent
    element = torch.empty((), dtype=torchType(dtype)).element_size()
    if device == "meta" or size * element < 1 << 20:
        return torch.empty(shape, device=device, dtype=torchType(dtype))
    gap = (1 + next(_placed) % 16) * 17 * 256 // element
    return torch.empty(size + gap, device=device, dtype=torchType(dtype))[gap:].view(shape)


def normal(shape, dtype, device, scale=1.0):
    """Normal random numbers, rounded to the dtype. On the meta device there are none, only a
    shape.
    """
    result = empty(shape, dtype, device)
    if device != "meta":
        flat = result.view(-1)
        for begin in range(
            0, flat.numel(), 1 << 28
        ):  # in parts: in float32 all of them take twice the memory
            part = flat[begin : begin + (1 << 28)]
            part.copy_(torch.randn(part.shape, device=device, dtype=torch.float32).mul_(scale))
    return result


def processors():
    """Multiprocessors of the device, an H200's where there is none."""
    return (
        torch.cuda.get_device_properties(0).multi_processor_count
        if torch and torch.cuda.is_available()
        else 132
    )
