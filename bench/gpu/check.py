"""Compares results with a reference in higher precision."""

from .lib import torch


def poison(outputs):
    """Fills outputs with what no kernel computes, so that an element that is not written shows."""
    for name, tensor in outputs.items():
        if name != "source":
            tensor.fill_(float("nan") if tensor.is_floating_point() else 85)


def relative(got, expected):
    """(norm of the error over the norm of the reference, largest error over the reference's size
    there).
    """
    if tuple(got.shape) != tuple(expected.shape):
        raise ValueError(f"shape {tuple(got.shape)} where {tuple(expected.shape)} was expected")
    flatGot, flatExpected = got.reshape(-1), expected.reshape(-1)
    step = 1 << 26  # in parts: a float64 copy of everything would be large
    error = total = worst = 0.0
    size = max(flatExpected.numel(), 1)
    for begin in range(0, size, step):
        part = flatExpected[begin : begin + step].double()
        total += float((part * part).sum())
    rms = (total / size) ** 0.5
    for begin in range(0, size, step):
        part = flatExpected[begin : begin + step].double()
        difference = (flatGot[begin : begin + step].double() - part).abs_()
        error += float((difference * difference).sum())
        worst = (
            max(worst, float((difference / (part.abs() + rms + 1e-300)).max()))
            if worst == worst
            else worst
        )
        if bool(torch.isnan(difference).any()):
            return float("nan"), float("nan")
    return (error / total) ** 0.5 if total else error**0.5, worst


def mismatch(outputs, expected, tolerance):
    """(what is wrong or None, largest relative error of the norms)."""
    largest = 0.0
    seen = False
    if "source" in outputs:  # a copy is its own reference
        same = bool(torch.equal(outputs["copy"], outputs["source"]))
        return (None if same else "the copy differs"), 0.0
    for name, reference in expected.items():
        if name not in outputs:
            continue
        seen = True
        norm, worst = relative(outputs[name], reference)
        largest = max(largest, norm) if norm == norm else norm
        # One wrong element hardly changes a norm: each has a bound of its own.
        if not (norm <= tolerance and worst <= 16 * tolerance):
            return (
                (
                    f"'{name}' differs: norm {norm:.2e}, worst element {worst:.2e}, tolerance"
                    f" {tolerance:.0e}"
                ),
                largest,
            )
    return (None if seen else "there is no output to check"), largest
