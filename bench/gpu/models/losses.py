"""Losses over a vocabulary: cross-entropy of logits, and of a last layer whose logits are never
written.
"""

from .. import pack, peers
from ..lib import empty, normal, torch
from ..untuned import Part, defaults
from .row import SIZES, arguments, compiled, inChunks, integers, memory, outputs, row

LOSS = [
    (8192, 128256, "bf16"),  # Llama 3
    (4096, 151936, "bf16"),  # Qwen 3
    (32768, 32000, "bf16"),  # Mixtral
    (8192, 50257, "f16"),  # GPT-2
    (64, 201088, "bf16"),  # gpt-oss, a few rows
]
GRADIENT = [(8192, 128256, "bf16"), (8192, 50257, "f16")]
# rows, inner extent, words
FUSED = [(8192, 4096, 128256, "bf16"), (4096, 2048, 151936, "bf16"), (8192, 768, 50257, "f16")]


def _loss(m, v, dtype):
    def inputs(device):
        return {
            "x": normal((m, v), dtype, device),
            "label": integers(0, v, (m,), "i64", device),
            "loss": empty((m,), "f32", device),
            "lse": empty((m,), "f32", device),
        }

    def part(x, label):
        lse = torch.logsumexp(x.double(), 1)
        return {"loss": lse - torch.gather(x, 1, label[:, None])[:, 0].double(), "lse": lse}

    def plain(x, label):
        return {"loss": torch.nn.functional.cross_entropy(x.float(), label, reduction="none")}

    def fla(data):
        loss = pack.module("fla.modules.fused_cross_entropy.ops").cross_entropy_loss
        return lambda: {"loss": loss(data["x"], data["label"])[0]}

    def contenders(item):
        found = []
        for name in ("cross_entropy", "cross_entropy_lanes"):
            launch = Part(name, {"M": m, "V": v}, arguments("x label loss lse"), {"T": dtype})
            found += defaults([launch], outputs("loss", "lse"), name)
        return found + [compiled(plain, ["x", "label"]), pack.peer("fla", fla, warm=True)]

    return memory(
        "losses",
        "cross_entropy",
        f"{m}x{v}",
        dtype,
        m * v * SIZES[dtype] + 16 * m,
        inputs=inputs,
        reference=lambda data: inChunks(part, m, 512, data["x"], data["label"]),
        contenders=contenders,
        reads=True,
        tolerance=1e-4,
    )


def _gradient(m, v, dtype):
    def inputs(device):
        return {
            "x": normal((m, v), dtype, device),
            "label": integers(0, v, (m,), "i64", device),
            # What the forward pass leaves, of logits that are normal; any numbers do for a check.
            "lse": torch.full((m,), 12.0, device=device),
            "g": torch.full((m,), 1.0, device=device),
            "dx": empty((m, v), dtype, device),
        }

    def plain(x, label, lse, g):
        words = torch.arange(v, device=x.device)
        p = torch.exp(x.to(lse.dtype) - lse[:, None])
        return {"dx": ((p - (words == label[:, None]).to(p.dtype)) * g[:, None]).to(x.dtype)}

    def reference(data):
        def part(*tensors):
            wide = (t.double() if t.is_floating_point() else t for t in tensors)
            return {"dx": plain(*wide)["dx"].float()}

        return inChunks(part, m, 512, *(data[name] for name in ("x", "label", "lse", "g")))

    launch = Part(
        "cross_entropy_backward", {"M": m, "V": v}, arguments("x label lse g dx"), {"T": dtype}
    )
    return memory(
        "losses",
        "cross_entropy_backward",
        f"{m}x{v}",
        dtype,
        2 * m * v * SIZES[dtype],
        inputs=inputs,
        reference=reference,
        contenders=lambda item: (
            defaults([launch], outputs("dx")) + [compiled(plain, ["x", "label", "lse", "g"])]
        ),
    )


def _fused(m, k, v, dtype):
    def inputs(device):
        return {
            "x": normal((m, k), dtype, device),
            "w": normal((v, k), dtype, device, k**-0.5),
            "label": integers(0, v, (m,), "i64", device),
            "loss": empty((m,), "f32", device),
            "lse": empty((m,), "f32", device),
        }

    def reference(data):
        w = data["w"].float()

        def part(x, label):
            s = x.float() @ w.T
            lse = torch.logsumexp(s, 1)
            return {"loss": lse - torch.gather(s, 1, label[:, None])[:, 0], "lse": lse}

        return inChunks(part, m, 1024, data["x"], data["label"])

    def plain(x, w, label):
        logits = (x @ w.T).float()
        return {"loss": torch.nn.functional.cross_entropy(logits, label, reduction="none")}

    def liger(data):
        module = pack.module("liger_kernel.ops.fused_linear_cross_entropy")
        forward, names = module.fused_linear_cross_entropy_forward, ("x", "w", "label")
        tensors = [data[name] for name in names]
        more = {"reduction": "none", "compute_gradients": False}
        return lambda: {"loss": forward(*tensors, **more)[0]}

    launch = Part(
        "linear_cross_entropy",
        {"M": m, "V": v, "K": k},
        arguments("x w label loss lse"),
        {"T": dtype},
    )
    return row(
        "losses",
        "linear_cross_entropy",
        f"{m}x{k}x{v}",
        dtype,
        inputs=inputs,
        reference=reference,
        contenders=lambda item: (
            defaults([launch], outputs("loss", "lse"))
            + [
                peers.eager("eager", lambda data: plain(data["x"], data["w"], data["label"])),
                compiled(plain, ["x", "w", "label"]),
                pack.peer("liger", liger, warm=True),
            ]
        ),
        work=2.0 * m * k * v,
        # The peers round logits to 16 bits.
        tolerance={"f16": 2e-3, "bf16": 1e-2}[dtype],
        cost=9.0,
    )


def items():
    found = [_loss(*each) for each in LOSS] + [_gradient(*each) for each in GRADIENT]
    return found + [_fused(*each) for each in FUSED]
