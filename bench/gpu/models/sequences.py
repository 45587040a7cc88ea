"""Recurrences by chunks: the gated delta rule, Mamba-2, gated linear attention. Examples that are
not there are left out.
"""

from .. import pack
from ..lib import empty, normal, torch
from ..untuned import Part, available, defaults
from .row import SIZES, arguments, outputs, row

# batch, length, heads, heads of keys, head size
DELTA = [
    (2, 8192, 16, 16, 128, "bf16"),
    (8, 2048, 16, 16, 128, "bf16"),
    (1, 16384, 32, 16, 128, "bf16"),  # Qwen 3 Next
]
# batch, length, heads, size of a head, of its state, chunk of the peer
MAMBA = [
    (4, 4096, 64, 64, 128, "bf16"),
    (1, 16384, 80, 64, 128, "bf16"),
    (8, 2048, 64, 64, 128, "bf16"),
]
# batch, length, heads, size of keys, of values
GATED = [(4, 4096, 16, 64, 128, "bf16"), (2, 8192, 16, 128, 128, "bf16")]
CHUNK = 64


def _delta(b, length, h, g, d, dtype):
    scale, count = d**-0.5, -(-length // CHUNK)

    def inputs(device):
        gate = normal((b, length, h), "f32", device)
        data = {
            "q": normal((b, length, g, d), dtype, device),
            "k": normal((b, length, g, d), dtype, device),
            "v": normal((b, length, h, d), dtype, device),
            "g": torch.nn.functional.logsigmoid(gate + 3.0),
            "beta": torch.sigmoid(normal((b, length, h), "f32", device)),
            "start": torch.zeros((b, h, d, d), device=device),
            "states": empty((b, h, count, d, d), dtype, device),
            "last": empty((b, h, d, d), "f32", device),
        }
        for name in "qk":  # of length 1, as the layers have them
            data[name] = torch.nn.functional.normalize(data[name].float(), dim=-1)
            data[name] = data[name].to(data["v"].dtype)
        data.update(
            {name: empty((b, length, h, d), dtype, device) for name in ("w", "u", "change", "y")}
        )
        return data

    def heads(x):
        return x.repeat_interleave(h // g, 2)

    def reference(data):
        """Step after step, in float32."""
        q, k, v = heads(data["q"]).float() * scale, heads(data["k"]).float(), data["v"].float()
        state = torch.zeros((b, h, d, d), device=q.device)
        y = torch.empty((b, length, h, d), device=q.device)
        for t in range(length):
            state = state * data["g"][:, t].exp()[..., None, None]
            held = torch.einsum("bhd,bhdc->bhc", k[:, t], state)
            change = (v[:, t] - held) * data["beta"][:, t, :, None]
            state = state + k[:, t, :, :, None] * change[:, :, None]
            y[:, t] = torch.einsum("bhd,bhdc->bhc", q[:, t], state)
        return {"y": y, "last": state}

    def fla(data):
        rule = pack.module("fla.ops.gated_delta_rule").chunk_gated_delta_rule
        q, k = (heads(data[name]).contiguous() for name in "qk")
        beta = data["beta"].to(q.dtype)
        return lambda: {"y": rule(q, k, data["v"], data["g"], beta, scale=scale)[0]}

    def contenders(item):
        name = "gated_delta_rule"
        fixed = {"T": dtype, "D": d}
        shape = {"B": b, "L": length, "H": h, "G": g}
        launches = [
            (name + "_prepare", arguments("k v g beta w u")),
            (name + "_states", arguments("k w u g start states change last")),
            (name, arguments("q k g states change y", scale=scale)),
        ]
        parts = [Part(name, shape, each, fixed, kernel) for kernel, each in launches]
        return defaults(parts, outputs("y", "last")) + [
            pack.peer("fla", fla, patience=240.0, warm=True)
        ]

    return row(
        "sequences",
        "gated_delta_rule",
        f"B{b} L{length} H{h} G{g} D{d}",
        dtype,
        inputs=inputs,
        reference=reference,
        contenders=contenders,
        work=float(b * length * (2 * g + 2 * h) * d * SIZES[dtype] + 8 * b * length * h),
        unit="GB/s",
        tolerance=4e-2,
        cost=12.0,
    )


def _mamba(b, length, h, p, n, dtype):
    def inputs(device):
        return {
            "x": normal((b, length, h, p), dtype, device),
            "dt": torch.nn.functional.softplus(normal((b, length, h), "f32", device) - 2.0),
            "a": -torch.exp(normal((h,), "f32", device) * 0.5),
            "b": normal((b, length, 1, n), dtype, device, 0.3),
            "c": normal((b, length, 1, n), dtype, device, 0.3),
            "skip": normal((h,), "f32", device),
            "start": torch.zeros((b, h, p, n), device=device),
            "y": empty((b, length, h, p), dtype, device),
            "last": empty((b, h, p, n), "f32", device),
        }

    def reference(data):
        """Step after step, in float32."""
        x, dt = data["x"].float(), data["dt"]
        inward, outward = data["b"].float(), data["c"].float()
        state = torch.zeros((b, h, p, n), device=x.device)
        y = torch.empty((b, length, h, p), device=x.device)
        for t in range(length):
            taken = (dt[:, t, :, None] * x[:, t])[..., None] * inward[:, t, :, None]
            state = state * torch.exp(dt[:, t] * data["a"])[..., None, None] + taken
            y[:, t] = (state * outward[:, t, :, None]).sum(-1) + data["skip"][:, None] * x[:, t]
        return {"y": y, "last": state}

    def library(chunk):
        def build(data):
            module = pack.module("mamba_ssm.ops.triton.ssd_combined")
            scan = module._mamba_chunk_scan_combined_fwd
            tensors = [data[name] for name in ("x", "dt", "a", "b", "c")]
            return lambda: {"y": scan(*tensors, chunk, D=data["skip"])[0]}

        return pack.peer("mamba_ssm", build, f"chunk={chunk}", patience=240.0, warm=True)

    part = Part(
        "mamba2",
        {"B": b, "L": length, "H": h, "G": 1},
        arguments("x dt a b c skip start y last"),
        {"T": dtype, "P": p, "N": n},
    )
    return row(
        "sequences",
        "mamba2",
        f"B{b} L{length} H{h} P{p} N{n}",
        dtype,
        inputs=inputs,
        reference=reference,
        contenders=lambda item: (
            defaults([part], outputs("y", "last")) + [library(chunk) for chunk in (128, 256)]
        ),
        work=float(b * length * (2 * h * p + 2 * n) * SIZES[dtype] + 4 * b * length * h),
        unit="GB/s",
        tolerance=4e-2,
        cost=12.0,
    )


def _gated(b, length, h, d, v, dtype):
    """Linear attention with a decay for each row of the state."""
    scale = d**-0.5

    def inputs(device):
        decay = torch.nn.functional.logsigmoid(normal((b, length, h, d), "f32", device))
        return {
            "q": normal((b, length, h, d), dtype, device),
            "k": normal((b, length, h, d), dtype, device),
            "v": normal((b, length, h, v), dtype, device),
            "w": decay / 16.0,
            "start": torch.zeros((b, h, d, v), device=device),
            "y": empty((b, length, h, v), dtype, device),
            "last": empty((b, h, d, v), "f32", device),
        }

    def reference(data):
        q, k, values = (data[name].float() for name in "qkv")
        state = torch.zeros((b, h, d, v), device=q.device)
        y = torch.empty((b, length, h, v), device=q.device)
        for t in range(length):
            state = state * data["w"][:, t].exp()[..., None]
            state = state + k[:, t, :, :, None] * values[:, t, :, None]
            y[:, t] = torch.einsum("bhd,bhdc->bhc", q[:, t], state) * scale
        return {"y": y, "last": state}

    def fla(data):
        attend = pack.module("fla.ops.gla").chunk_gla
        tensors = [data[name] for name in ("q", "k", "v", "w")]
        return lambda: {"y": attend(*tensors, scale=scale)[0]}

    part = Part(
        "gated_linear_attention",
        {"B": b, "L": length, "H": h, "V": v},
        arguments("q k v w start y last", scale=scale),
        {"T": dtype, "D": d},
    )
    return row(
        "sequences",
        "gated_linear_attention",
        f"B{b} L{length} H{h} D{d} V{v}",
        dtype,
        inputs=inputs,
        reference=reference,
        contenders=lambda item: (
            defaults([part], outputs("y", "last"))
            + [pack.peer("fla", fla, patience=240.0, warm=True)]
        ),
        work=float(b * length * h * ((2 * d + 2 * v) * SIZES[dtype] + 4 * d)),
        unit="GB/s",
        tolerance=4e-2,
        cost=12.0,
    )


def items():
    found = [_delta(*each) for each in DELTA] if available("gated_delta_rule") else []
    found += [_mamba(*each) for each in MAMBA] if available("mamba2") else []
    named = available("gated_linear_attention")
    return found + ([_gated(*each) for each in GATED] if named else [])
