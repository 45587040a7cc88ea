"""Vector addition: nothing but memory traffic."""

from . import lib, peers
from .items import Bar, Contender, Item
from .lib import empty, normal, torch
from .ours import tiles


def copies(bytesMoved):
    """A copy that reads and writes `bytesMoved` in all: what the memory can do. PyTorch's, with the
    two buffers at distances that are and are not a power of two (some collide in DRAM), and
    Triton's; the best counts.
    """
    half = bytesMoved // 2 // 4

    def tensors(gap):
        memory = torch.randn(2 * half + gap, device=lib.DEVICE)
        return memory[:half], memory[half + gap :]

    def plain(gap):
        def build(data):
            source, target = tensors(gap)

            def call():
                target.copy_(source)
                return {"copy": target, "source": source}

            return call

        return Contender("copy", build, f"torch,gap={gap}")

    def kernel(block, warps):
        def prepare(data):
            return (-(-half // block),), (data["from"], data["to"], half)

        launch = peers.launcher("triton_rows", "copy", prepare, {"BLOCK": block}, warps, 1)

        def build(data):
            source, target = tensors(33 * 1024)
            run = launch({"from": source, "to": target})

            def call():
                run()
                return {"copy": target, "source": source}

            return call

        def compile(data):
            launch(
                {name: torch.empty((16,), device="meta") for name in ("from", "to")}, warmup=True
            )()

        return Contender("copy", build, f"triton,BLOCK={block}", compile=compile)

    return [plain(0), plain(33 * 1024), kernel(1024, 4), kernel(4096, 8)]


def _item(exponent):
    size = 1 << exponent

    def inputs(device):
        return {
            "x": normal((size,), "f32", device),
            "y": normal((size,), "f32", device),
            "z": empty((size,), "f32", device),
        }

    def contenders(item):
        outputs = lambda data: {"z": data["z"]}  # noqa: E731
        found = tiles(
            "vector_add",
            [{}, {"BLOCK": 1024}, {"BLOCK": 2048}, {"BLOCK": 4096}, {"BLOCK": 8192}],
            lambda data: {key: data[key] for key in ("x", "y", "z")},
            outputs,
            fixed={"T": "f32"},
        )
        found.append(
            peers.eager("eager", lambda data: {"z": torch.add(data["x"], data["y"], out=data["z"])})
        )
        found.append(peers.compiled(lambda x, y: {"z": x + y}, ["x", "y"]))
        launchers = {}
        for block, warps in ((1024, 4), (2048, 4), (4096, 8), (8192, 8)):

            def prepare(data, block=block):
                return (-(-size // block),), (data["x"], data["y"], data["z"], size)

            meta = {"BLOCK": block}
            launchers[peers.variantName(meta, warps, 1)] = peers.launcher(
                "triton_rows", "add", prepare, meta, warps, 1
            )
        found += peers.tritons("triton", launchers, outputs)
        return found + copies(3 * 4 * size)

    return Item(
        "vector_add",
        "vector_add",
        f"2^{exponent}",
        "f32",
        inputs=inputs,
        reference=lambda data: {"z": data["x"].double() + data["y"].double()},
        contenders=contenders,
        work=3.0 * 4 * size,
        unit="GB/s",
        bars=[Bar(0.98, ("copy",), "copy")],
        cold=True,
        quick=True,
    )


def items():
    return [_item(28)]
