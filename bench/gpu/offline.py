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
