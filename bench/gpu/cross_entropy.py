"""Cross-entropy over a large vocabulary: one read of the logits."""

from . import peers
from .items import Bar, Item
from .lib import empty, normal, torch
from .ours import available, tiles
from .vector_add import copies

IGNORE = -100


def _item(m, v, dtype="f16"):
    def inputs(device):
        label = torch.randint(0, v, (m,), device=device)
        label[::97] = IGNORE
        return {
            "x": normal((m, v), dtype, device, 2.0),
            "label": label,
            "loss": empty((m,), "f32", device),
            "lse": empty((m,), "f32", device),
        }

    def reference(data):
        lse = torch.cat(
            [torch.logsumexp(data["x"][r : r + 512].double(), 1) for r in range(0, m, 512)]
        )
        picked = torch.gather(data["x"], 1, data["label"].clamp(min=0)[:, None])[:, 0].double()
        return {"loss": torch.where(data["label"] == IGNORE, 0.0, lse - picked), "lse": lse}

    def contenders(item):
        outputs = lambda data: {"loss": data["loss"], "lse": data["lse"]}  # noqa: E731

        def python(x, label):
            return {
                "loss": torch.nn.functional.cross_entropy(
                    x.float(), label, reduction="none", ignore_index=IGNORE
                )
            }

        def arguments(data):
            return {key: data[key] for key in ("x", "label", "loss", "lse")}

        found = tiles(
            "cross_entropy",
            [{}]
            + [
                {"BLOCK": block, "fp": "fast", "warps": warps}
                for block, warps in (
                    (1024, 4),
                    (2048, 4),
                    (4096, 4),
                    (4096, 8),
                    (8192, 8),
                    (16384, 16),
                )
            ],
            arguments,
            outputs,
            fixed={"T": dtype},
        )
        if available("cross_entropy_lanes"):
            found += tiles(
                "cross_entropy_lanes",
                [{"LANES": lanes, "EACH": each} for lanes in (128, 256, 512) for each in (16, 32)],
                arguments,
                outputs,
                fixed={"T": dtype},
            )
        found += [
            peers.eager("eager", lambda data: python(data["x"], data["label"])),
            peers.compiled(python, ["x", "label"]),
        ]
        launchers = {}
        for block, warps, stages in (
            (4096, 8, 1),
            (4096, 8, 2),
            (8192, 8, 1),
            (8192, 16, 2),
            (2048, 4, 3),
            (16384, 16, 1),
        ):
            meta = {"BLOCK": block, "STAGES": stages}

            def prepare(data):
                return (m,), (data["x"], data["label"], data["loss"], data["lse"], v, IGNORE)

            launchers[peers.variantName(meta, warps, stages)] = peers.launcher(
                "triton_rows", "cross_entropy", prepare, meta, warps, stages
            )
        return found + peers.tritons("triton", launchers, outputs) + copies(2 * m * v)

    # Losses are small differences of numbers near 12: their error is that of f32 sums over a row.
    return Item(
        "cross_entropy",
        "cross_entropy",
        f"{m}x{v}",
        dtype,
        inputs=inputs,
        reference=reference,
        contenders=contenders,
        work=2.0 * m * v + 16 * m,
        unit="GB/s",
        bars=[Bar(1.8, ("compile",), "compile")],
        cold=True,
        reads=True,
        quick=True,
        tolerance=1e-4,
    )


def items():
    return [_item(8192, 128256)]
