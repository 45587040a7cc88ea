"""Convolutions of ResNet-50 and others, channels last, beside cuDNN with its own search."""

from ..items import Contender
from ..lib import empty, normal, torch
from ..untuned import Part, available, defaults
from .row import arguments, outputs, row

# images, height and width, channels, filters, places of the filter, stride
DENSE = [
    (64, 56, 64, 64, 3, 1, "f16"),
    (32, 56, 256, 256, 3, 1, "f16"),
    (32, 28, 512, 512, 3, 1, "f16"),
    (64, 28, 128, 128, 3, 1, "f16"),
    (64, 14, 256, 256, 3, 1, "f16"),
    (64, 7, 512, 512, 3, 1, "f16"),
    (64, 56, 128, 128, 3, 2, "f16"),
    (64, 14, 512, 512, 3, 2, "f16"),
    (64, 56, 64, 256, 1, 1, "f16"),
    (64, 56, 256, 64, 1, 1, "f16"),
    (64, 28, 512, 128, 1, 1, "f16"),
    (64, 14, 1024, 256, 1, 1, "f16"),
    (64, 7, 2048, 512, 1, 1, "f16"),
    (64, 56, 256, 512, 1, 2, "f16"),
    (1, 56, 64, 64, 3, 1, "f16"),
    (32, 64, 320, 320, 3, 1, "bf16"),  # a diffusion model's
]

# the same, for gradients
BACKWARD = [(64, 28, 128, 128, 3, 1, "f16"), (64, 56, 128, 128, 3, 2, "f16")]


def _dense(images, size, channels, filters, r, stride, dtype):
    out = -(-size // stride)

    def inputs(device):
        return {
            "x": normal((images, size, size, channels), dtype, device),
            "w": normal((r, r, channels, filters), dtype, device, (r * r * channels) ** -0.5),
            "y": empty((images, out, out, filters), dtype, device),
        }

    def convolve(x, w):
        y = torch.nn.functional.conv2d(x, w, stride=stride, padding=(r - 1) // 2)
        return y.permute(0, 2, 3, 1)

    def reference(data):
        torch.backends.cudnn.allow_tf32 = torch.backends.cudnn.benchmark = False
        w = data["w"].float().permute(3, 2, 0, 1)
        return {"y": convolve(data["x"].float().permute(0, 3, 1, 2), w)}

    def cudnn(data):
        torch.backends.cudnn.benchmark = True
        last = torch.channels_last
        x = data["x"].permute(0, 3, 1, 2)
        w = data["w"].permute(3, 2, 0, 1).contiguous(memory_format=last)
        return lambda: {"y": convolve(x, w)}

    def contenders(item):
        part = Part(
            "conv2d",
            {"N": images, "H": size, "W": size, "C": channels, "F": filters},
            arguments("x w y"),
            {"T": dtype, "R": r, "STRIDE": stride},
        )
        return defaults([part], outputs("y")) + [Contender("cudnn", cudnn, patience=60.0)]

    return row(
        "conv",
        "conv2d",
        f"N{images} {size}x{size} C{channels} F{filters} {r}x{r}"
        + (f" stride {stride}" if stride > 1 else ""),
        dtype,
        inputs=inputs,
        reference=reference,
        contenders=contenders,
        work=2.0 * images * out * out * filters * channels * r * r,
        cost=3.0,
    )


def _backward(images, size, channels, filters, r, stride, dtype, weight):
    """The gradient of the filters or of the input."""
    out = -(-size // stride)
    result, kernel = ("dw", "weight") if weight else ("dx", "input")

    def inputs(device):
        spread = (r * r * channels) ** -0.5
        return {
            "x": normal((images, size, size, channels), dtype, device),
            "w": normal((r, r, channels, filters), dtype, device, spread),
            "dy": normal((images, out, out, filters), dtype, device),
            "dx": empty((images, size, size, channels), dtype, device),
            "dw": empty((r, r, channels, filters), "f32", device),
        }

    def gradients(data, kind=None):
        last = torch.channels_last
        tensors = [data[name] if kind is None else data[name].to(kind) for name in ("dy", "x", "w")]
        dy, x = (each.permute(0, 3, 1, 2) for each in tensors[:2])
        w = tensors[2].permute(3, 2, 0, 1).contiguous(memory_format=last)
        pad, wanted = [(r - 1) // 2] * 2, [not weight, weight, False]

        def call():
            made = torch.ops.aten.convolution_backward(
                dy, x, w, None, [stride] * 2, pad, [1, 1], False, [0, 0], 1, wanted
            )
            if weight:
                return {"dw": made[1].permute(2, 3, 1, 0)}
            return {"dx": made[0].permute(0, 2, 3, 1)}

        return call

    def reference(data):
        torch.backends.cudnn.allow_tf32 = torch.backends.cudnn.benchmark = False
        return gradients(data, torch.float32)()

    def cudnn(data):
        torch.backends.cudnn.benchmark = True
        return gradients(data)

    part = Part(
        "conv2d_backward",
        {"N": images, "H": size, "W": size, "C": channels, "F": filters},
        arguments("x dy dw" if weight else "dy w dx"),
        {"T": dtype, "R": r, "STRIDE": stride},
        f"conv2d_backward_{kernel}",
    )
    return row(
        "conv",
        f"conv2d_backward_{kernel}",
        f"N{images} {size}x{size} C{channels} F{filters} {r}x{r}"
        + (f" stride {stride}" if stride > 1 else ""),
        dtype,
        inputs=inputs,
        reference=reference,
        contenders=lambda item: (
            defaults([part], outputs(result)) + [Contender("cudnn", cudnn, patience=60.0)]
        ),
        work=2.0 * images * out * out * filters * channels * r * r,
        tolerance=6e-3,
        cost=3.0,
    )


def items():
    found = [_dense(*each) for each in DENSE]
    if available("conv2d_backward"):
        found += [_backward(*each, weight) for weight in (False, True) for each in BACKWARD]
    return found
