"""Vector addition: nothing but memory traffic."""
from . import lib, peers
from .items import Bar, Contender, Item
from .lib import empty, normal, torch
from .ours import tiles


def copy(bytesMoved):
    """PyTorch's copy as a contender: it reads and writes `bytesMoved` in all, out of and into memory of its own."""
    def build(data):
        half = bytesMoved // 2 // 4
        source = torch.randn(half, device=lib.DEVICE)
        target = torch.empty_like(source)

        def call():
            target.copy_(source)
            return {"copy": target, "source": source}
        return call
    return Contender("copy", build)


def _item(exponent):
    size = 1 << exponent

    def inputs(device):
        return {"x": normal((size,), "f32", device), "y": normal((size,), "f32", device), "z": empty((size,), "f32", device)}

    def contenders(item):
        outputs = lambda data: {"z": data["z"]}  # noqa: E731
        found = tiles("vector_add", [{}, {"BLOCK": 1024}, {"BLOCK": 2048}, {"BLOCK": 4096}, {"BLOCK": 8192}],
                      lambda data: {key: data[key] for key in ("x", "y", "z")}, outputs, fixed={"T": "f32"})
        found.append(peers.eager("eager", lambda data: {"z": torch.add(data["x"], data["y"], out=data["z"])}))
        found.append(peers.compiled(lambda x, y: {"z": x + y}, ["x", "y"]))
        launchers = {}
        for block, warps in ((1024, 4), (2048, 4), (4096, 8), (8192, 8)):
            def prepare(data, block=block):
                return (-(-size // block),), (data["x"], data["y"], data["z"], size)
            meta = {"BLOCK": block}
            launchers[peers.variantName(meta, warps, 1)] = peers.launcher("triton_rows", "add", prepare, meta, warps, 1)
        found += peers.tritons("triton", launchers, outputs)
        found.append(copy(3 * 4 * size))
        return found
    return Item("vector_add", "vector_add", f"2^{exponent}", "f32", inputs=inputs,
                reference=lambda data: {"z": data["x"].double() + data["y"].double()}, contenders=contenders,
                work=3.0 * 4 * size, unit="GB/s", bars=[Bar(0.98, ("copy",), "copy")], cold=True, quick=True)


def items():
    return [_item(28)]
