"""Row-wise kernels: softmax in f32, layer norm and RMS norm in f16."""

from . import peers
from .items import Bar, Item
from .lib import empty, normal, processors, torch
from .ours import declaresKernel, tiles
from .vector_add import copies

EPS = 1e-5
SHAPES = ((4096, 4096), (16384, 8192), (131072, 1024))


def _blocks(n):
    """Choices of our BLOCK for rows of n elements. fp("fast") is what the peers do: approximate
    division and functions.
    """
    choices = [{"BLOCK": n}, {"BLOCK": n, "fp": "fast"}]
    choices += [
        {"BLOCK": n, "fp": "fast", "warps": warps}
        for warps in (1, 2, 4, 8, 16, 32)
        if 256 <= n // warps <= 2048
    ]
    return choices + [{"BLOCK": block, "fp": "fast"} for block in (1024, 2048, 4096) if block < n]


def _ours(op, m, n, dtype, names, outputs):
    arguments = lambda data: {name: data[name] for name in names}  # noqa: E731
    results = lambda data: {name: data[name] for name in outputs}  # noqa: E731
    found = tiles(op, _blocks(n), arguments, results, fixed={"T": dtype})
    # A kernel for rows that fit into a tile, perhaps several at a time, where there is one.
    kernel = op + "_rows"
    name = next((name for name in (kernel, "norm_rows") if declaresKernel(name, kernel)), None)
    if name:
        variants = [
            {"ROWS": rows, "BLOCK": n, "fp": "fast", "warps": warps}
            for rows in (1, 2, 4)
            for warps in (1, 2, 4, 8, 16)
            if 512 <= rows * n // warps <= 2048 and rows * n <= 16384
        ]
        # 64 elements of a thread leave 128 registers where as many blocks as those allow are asked
        # for.
        variants += [
            {**v, "occupancy": 16 // v["warps"]}
            for v in variants
            if v["ROWS"] * n == 2048 * v["warps"] and v["warps"] <= 8
        ]
        found += tiles(name, variants, arguments, results, kernel=kernel, fixed={"T": dtype})
    return found


def _triton(op, m, n, prepareArguments, outputs):
    launchers = {}
    block = 1 << (n - 1).bit_length()
    for rows in (1, 2, 4, 8):
        if rows * block > 8192:
            continue
        for warps in (2, 4, 8, 16):
            if not 512 <= rows * block // warps <= 2048:
                continue
            for persistent, loops in ((False, 1), (True, 2)):
                meta = {"ROWS": rows, "BLOCK": block, "LOOPS": loops}

                def prepare(data, rows=rows, warps=warps, persistent=persistent):
                    groups = -(-m // rows)
                    grid = min(groups, processors() * (32 // warps)) if persistent else groups
                    return (grid,), prepareArguments(data)

                launchers[peers.variantName(meta, warps, 1)] = peers.launcher(
                    "triton_rows", op, prepare, meta, warps, 1
                )
    return peers.tritons("triton", launchers, outputs)


def _chunks(function, m, *tensors):
    """function on some rows at a time, joined."""
    parts = [function(*(t[begin : begin + 8192] for t in tensors)) for begin in range(0, m, 8192)]
    return {name: torch.cat([part[name] for part in parts]) for name in parts[0]}


def _item(op, m, n, dtype, inputs, reference, contenders, extra):
    size = {"f16": 2, "f32": 4}[dtype]
    moved = 2 * m * n * size + extra
    bars = [Bar(1.0)]
    if moved >= 256 << 20:
        bars.append(Bar(0.95, ("copy",), "copy"))
    return Item(
        "rows",
        op,
        f"{m}x{n}",
        dtype,
        inputs=inputs,
        reference=reference,
        contenders=lambda item: contenders(item) + copies(2 * m * n * size),
        work=float(moved),
        unit="GB/s",
        bars=bars,
        cold=True,
        quick=(m, n) == SHAPES[1],
    )


def _softmax(m, n, dtype="f32"):
    def inputs(device):
        return {"x": normal((m, n), dtype, device), "y": empty((m, n), dtype, device)}

    def contenders(item):
        outputs = lambda data: {"y": data["y"]}  # noqa: E731
        return (
            _ours("softmax", m, n, dtype, ("x", "y"), ("y",))
            + [
                peers.eager(
                    "eager", lambda data: {"y": torch.softmax(data["x"], 1, out=data["y"])}
                ),
                peers.compiled(lambda x: {"y": torch.softmax(x, 1)}, ["x"]),
            ]
            + _triton("softmax", m, n, lambda data: (data["x"], data["y"], m, n), outputs)
        )

    return _item(
        "softmax",
        m,
        n,
        dtype,
        inputs,
        lambda data: _chunks(lambda x: {"y": torch.softmax(x.double(), 1).float()}, m, data["x"]),
        contenders,
        0,
    )


def _layerNorm(m, n, dtype="f16"):
    def inputs(device):
        return {
            "x": normal((m, n), dtype, device),
            "w": normal((n,), dtype, device),
            "b": normal((n,), dtype, device),
            "y": empty((m, n), dtype, device),
            "mean": empty((m,), "f32", device),
            "rstd": empty((m,), "f32", device),
        }

    def reference(data):
        def part(x):
            x = x.double()
            mu = x.mean(1)
            r = torch.rsqrt(x.var(1, unbiased=False) + EPS)
            return {
                "y": (
                    (
                        (x - mu[:, None]) * r[:, None] * data["w"].double() + data["b"].double()
                    ).float()
                ),
                "rstd": r.float(),
            }

        return _chunks(part, m, data["x"])

    def contenders(item):
        outputs = lambda data: {name: data[name] for name in ("y", "mean", "rstd")}  # noqa: E731

        def norm(data):
            y, mean, rstd = torch.native_layer_norm(data["x"], [n], data["w"], data["b"], EPS)
            return {"y": y, "rstd": rstd.reshape(-1).float()}

        def python(x, w, b):
            return {"y": torch.nn.functional.layer_norm(x, [n], w, b, EPS)}

        return (
            _ours(
                "layer_norm",
                m,
                n,
                dtype,
                ("x", "w", "b", "y", "mean", "rstd"),
                ("y", "mean", "rstd"),
            )
            + [peers.eager("eager", norm), peers.compiled(python, ["x", "w", "b"])]
            + _triton(
                "layer_norm",
                m,
                n,
                lambda data: (*(data[k] for k in ("x", "w", "b", "y", "mean", "rstd")), m, n, EPS),
                outputs,
            )
        )

    return _item("layer_norm", m, n, dtype, inputs, reference, contenders, 8 * m)


def _rmsNorm(m, n, dtype="f16"):
    def inputs(device):
        return {
            "x": normal((m, n), dtype, device),
            "w": normal((n,), dtype, device),
            "y": empty((m, n), dtype, device),
        }

    def reference(data):
        def part(x):
            x = x.double()
            return {
                "y": (
                    (
                        x * torch.rsqrt((x * x).mean(1, keepdim=True) + EPS) * data["w"].double()
                    ).float()
                )
            }

        return _chunks(part, m, data["x"])

    def contenders(item):
        outputs = lambda data: {"y": data["y"]}  # noqa: E731

        def python(x, w):
            return {"y": torch.nn.functional.rms_norm(x, [n], w, EPS)}

        return (
            _ours("rms_norm", m, n, dtype, ("x", "w", "y"), ("y",))
            + [
                peers.eager("eager", lambda data: python(data["x"], data["w"])),
                peers.compiled(python, ["x", "w"]),
            ]
            + _triton(
                "rms_norm", m, n, lambda data: (data["x"], data["w"], data["y"], m, n, EPS), outputs
            )
        )

    return _item("rms_norm", m, n, dtype, inputs, reference, contenders, 0)


def items():
    return [make(m, n) for make in (_softmax, _layerNorm, _rmsNorm) for m, n in SHAPES]
