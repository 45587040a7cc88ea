"""Where a tensor lies, and the target that its device needs."""

import ctypes
import os

from . import _library, _tensors
from ._library import Error

_capabilities = {}


def placeOf(value):
    """("cpu", None) or ("cuda", ordinal) of a tensor, None of anything else."""
    kind = type(value)
    if isinstance(value, (bool, int, float, str, list, tuple)) or value is None:
        return None
    if _tensors.isTorch(kind):
        return ("cuda", value.get_device()) if value.is_cuda else ("cpu", None)
    if hasattr(value, "__cuda_array_interface__"):
        return "cuda", int(getattr(getattr(value, "device", None), "id", 0))
    if _tensors.isNumpyNumber(value):
        return None
    if hasattr(value, "__dlpack_device__"):
        device, ordinal = value.__dlpack_device__()
        return ("cpu", None) if int(device) in _tensors.DLPACK_HOST else ("cuda", int(ordinal))
    return ("cpu", None) if hasattr(value, "__array_interface__") else None


def _driver():
    try:
        return ctypes.CDLL(os.environ.get("TILE_LIBCUDA") or "libcuda.so.1")
    except OSError as error:
        raise Error(f"there is no CUDA driver: {error}", 6) from None


def _capability(ordinal):
    """(major, minor) of a CUDA device, by the driver."""
    if ordinal not in _capabilities:
        driver = _driver()
        numbers = (ctypes.c_int(), ctypes.c_int())
        failed = driver.cuInit(0)
        for number, attribute in zip(numbers, (75, 76)):
            failed = failed or driver.cuDeviceGetAttribute(ctypes.byref(number), attribute, ordinal)
        if failed:
            raise Error(
                f"the CUDA driver does not tell the capability of device {ordinal}: error {failed}",
                6,
            )
        _capabilities[ordinal] = (numbers[0].value, numbers[1].value)
    return _capabilities[ordinal]


def targetOf(place):
    """The target to compile for: of a device that is not known, the nearest that it can run."""
    if place[0] == "cpu":
        return "cpu"
    capability = _capability(place[1])
    name = _library.get().tile_target_name(*capability)
    if not name:
        raise Error(
            f"the device has compute capability {capability[0]}.{capability[1]}; Tile needs 8.0 or"
            " more",
            5,
        )
    return name.decode()


def cardOf(place):
    """The card whose figures the cost model takes, as `--gpu` names it; None of one that it does
    not know, and of the CPU.
    """
    if place[0] == "cpu":
        return None
    driver, name = _driver(), ctypes.create_string_buffer(256)
    device = ctypes.c_int()
    failed = driver.cuInit(0) or driver.cuDeviceGet(ctypes.byref(device), place[1])
    if failed or driver.cuDeviceGetName(name, len(name) - 1, device):
        return None
    card = _library.get().tile_card_name(name.value)
    return None if card is None else card.decode()
