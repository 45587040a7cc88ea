"""Short filters, pooling and group norm: of networks for images and of state-space layers."""

from .. import pack, peers
from ..items import Contender
from ..lib import empty, normal, torch
from ..untuned import Part, defaults
from .row import SIZES, arguments, compiled, memory, outputs

# batch, length, channels
CAUSAL = [(8, 2048, 4096, "bf16"), (4, 4096, 5376, "bf16"), (1, 8192, 8192, "bf16")]
# images, height and width, channels, places
DEPTHWISE = [(64, 56, 96, 7, "f16"), (64, 14, 384, 7, "f16"), (64, 112, 32, 3, "f16")]
POOL = [(64, 112, 64, "f16"), (256, 112, 64, "f16")]
# images, channels, groups, places of an image
GROUPS = [(8, 320, 32, 4096, "f16"), (16, 640, 32, 1024, "bf16"), (4, 128, 32, 65536, "bf16")]
TAPS, EPS = 4, 1e-5


def _causal(b, length, c, dtype):
    def inputs(device):
        data = {
            "x": normal((b, length, c), dtype, device),
            "w": normal((TAPS, c), "f32", device, 0.5),
            "bias": normal((c,), "f32", device),
            "y": empty((b, length, c), dtype, device),
        }
        return data

    def plain(x, w, bias):
        padded = torch.nn.functional.pad(x.to(w.dtype), (0, 0, TAPS - 1, 0))
        s = sum(padded[:, j : j + length] * w[j] for j in range(TAPS)) + bias
        return {"y": torch.nn.functional.silu(s).to(x.dtype)}

    def fla(data):
        convolve = pack.module("fla.modules.causal_conv1d.ops").causal_conv1d
        kind = data["x"].dtype
        w, bias = data["w"].T.contiguous().to(kind), data["bias"].to(kind)
        return lambda: {"y": convolve(data["x"], w, bias, activation="silu")[0]}

    def reference(data):
        wide = [data[name].double() for name in ("x", "w", "bias")]
        return {"y": plain(*wide)["y"].float()}

    part = Part(
        "conv1d_causal", {"B": b, "L": length, "C": c}, arguments("x w bias y"), {"T": dtype}
    )
    return memory(
        "filters",
        "conv1d_causal",
        f"B{b} L{length} C{c} {TAPS}",
        dtype,
        2 * b * length * c * SIZES[dtype],
        inputs=inputs,
        reference=reference,
        contenders=lambda item: (
            defaults([part], outputs("y"))
            + [compiled(plain, ["x", "w", "bias"]), pack.peer("fla", fla, warm=True)]
        ),
    )


def _depthwise(images, size, c, r, dtype):
    def inputs(device):
        return {
            "x": normal((images, size, size, c), dtype, device),
            "k": normal((r, r, c), dtype, device, 1.0 / r),
            "y": empty((images, size, size, c), dtype, device),
        }

    def convolve(x, k):
        torch.backends.cudnn.benchmark = False
        filters = k.permute(2, 0, 1)[:, None]
        y = torch.nn.functional.conv2d(x.permute(0, 3, 1, 2), filters, padding=r // 2, groups=c)
        return {"y": y.permute(0, 2, 3, 1)}

    def cudnn(data):
        torch.backends.cudnn.benchmark = True
        k = data["k"].permute(2, 0, 1)[:, None].contiguous(memory_format=torch.channels_last)
        x = data["x"].permute(0, 3, 1, 2)
        conv2d = torch.nn.functional.conv2d
        return lambda: {"y": conv2d(x, k, padding=r // 2, groups=c).permute(0, 2, 3, 1)}

    def shifted(x, k):
        padded = torch.nn.functional.pad(x, (0, 0, r // 2, r // 2, r // 2, r // 2)).float()
        s = sum(
            padded[:, u : u + size, v : v + size] * k[u, v].float()
            for u in range(r)
            for v in range(r)
        )
        return {"y": s.to(x.dtype)}

    part = Part(
        "conv2d_depthwise",
        {"B": images, "H": size, "W": size, "C": c},
        arguments("x k y"),
        {"T": dtype, "R": r},
    )
    return memory(
        "filters",
        "conv2d_depthwise",
        f"N{images} {size}x{size} C{c} {r}x{r}",
        dtype,
        2 * images * size * size * c * SIZES[dtype],
        inputs=inputs,
        reference=lambda data: convolve(data["x"].float(), data["k"].float()),
        contenders=lambda item: (
            defaults([part], outputs("y"))
            + [Contender("cudnn", cudnn, patience=60.0), compiled(shifted, ["x", "k"])]
        ),
    )


def _pool(images, size, c, dtype):
    out = -(-size // 2)

    def inputs(device):
        return {
            "x": normal((images, size, size, c), dtype, device),
            "y": empty((images, out, out, c), dtype, device),
        }

    def pool(x):
        made = torch.nn.functional.max_pool2d(x.permute(0, 3, 1, 2), 3, 2, 1)
        return {"y": made.permute(0, 2, 3, 1)}

    part = Part(
        "max_pool2d",
        {"N": images, "H": size, "W": size, "C": c},
        arguments("x y"),
        {"T": dtype, "R": 3, "STRIDE": 2},
    )
    return memory(
        "filters",
        "max_pool2d",
        f"N{images} {size}x{size} C{c} 3x3 stride 2",
        dtype,
        images * (size * size + out * out) * c * SIZES[dtype],
        inputs=inputs,
        reference=lambda data: pool(data["x"].float()),
        contenders=lambda item: (
            defaults([part], outputs("y"))
            + [peers.eager("eager", lambda data: pool(data["x"])), compiled(pool, ["x"])]
        ),
    )


def _group(b, c, g, s, dtype):
    def inputs(device):
        return {
            "x": normal((b, c, s), dtype, device),
            "w": normal((c,), dtype, device),
            "b": normal((c,), dtype, device),
            "y": empty((b, c, s), dtype, device),
        }

    def plain(x, w, b):
        return {"y": torch.nn.functional.group_norm(x, g, w, b, EPS)}

    def reference(data):
        made = plain(*(data[name].double() for name in ("x", "w", "b")))
        return {"y": made["y"].float()}

    def liger(data):
        forward = pack.module("liger_kernel.ops.group_norm").group_norm_forward
        return lambda: {"y": forward(data["x"], c, g, data["w"], data["b"], EPS)[0].view(b, c, s)}

    part = Part(
        "group_norm", {"B": b, "G": g, "S": s}, arguments("x w b y"), {"T": dtype, "C": c // g}
    )
    return memory(
        "filters",
        "group_norm",
        f"N{b} C{c} G{g} {s}",
        dtype,
        2 * b * c * s * SIZES[dtype],
        inputs=inputs,
        reference=reference,
        contenders=lambda item: (
            defaults([part], outputs("y"))
            + [
                peers.eager("eager", lambda data: plain(data["x"], data["w"], data["b"])),
                compiled(plain, ["x", "w", "b"]),
                pack.peer("liger", liger, warm=True),
            ]
        ),
    )


def items():
    found = [_causal(*each) for each in CAUSAL] + [_depthwise(*each) for each in DEPTHWISE]
    return found + [_pool(*each) for each in POOL] + [_group(*each) for each in GROUPS]
