"""Mixtures of experts: products of gathered rows, and of rows that lie sorted by expert.

Our first kernel computes both halves of the gated layer and joins them; the peers compute the two
products side by side and leave the joining to another launch, which is not counted.
"""

from .. import byhand, lib, pack
from ..grouped import split
from ..items import Contender
from ..lib import empty, normal, torch, triton
from ..untuned import Part, defaults
from .row import arguments, outputs, row

# tokens, experts, experts of a token, inner extent of the layer, of the model
UP = [
    (4096, 8, 2, 14336, 4096),  # Mixtral 8x7B
    (64, 8, 2, 14336, 4096),
    (4096, 8, 2, 7168, 4096),
    (8192, 128, 8, 768, 2048),  # Qwen 3 30B
    (128, 128, 8, 768, 2048),
    (8, 128, 8, 768, 2048),
    (4096, 32, 4, 2880, 2880),  # gpt-oss 20B
    (4096, 32, 8, 2048, 7168),  # DeepSeek V3, an eighth of its experts
]
DOWN = [(4096, 8, 2, 14336, 4096), (8192, 128, 8, 768, 2048), (128, 128, 8, 768, 2048)]
# experts, rows, columns, inner extent
SORTED = [(8, 8192, 4096, 4096), (64, 1024, 4096, 2048), (32, 16384, 2048, 2048)]
# Tiles of vLLM's kernel: rows, columns, inner, group, warps, stages
MANY = [(128, 256, 64, 16, 8, 3), (128, 128, 64, 16, 8, 4)]
FEW = [(16, 128, 128, 1, 4, 4), (16, 64, 128, 1, 4, 4)]


def _routing(tokens, experts, each, device):
    """Which experts each token goes to, in ascending order; the choices by expert; offsets."""
    if device == "meta":
        wide = lambda *shape: torch.empty(shape, dtype=torch.int32, device=device)
        return wide(tokens, each), wide(tokens * each), wide(experts + 1)
    ids = torch.rand(tokens, experts, device=device).topk(each, 1).indices.sort(1).values
    flat = ids.reshape(-1)
    order = torch.argsort(flat, stable=True)
    offset = torch.zeros(experts + 1, dtype=torch.int32, device=device)
    offset[1:] = torch.cumsum(torch.bincount(flat, minlength=experts), 0)
    return ids.int(), order.int(), offset


def _byExpert(data, rows, function):
    """function(rows of an expert, its number), joined."""
    offset = data["offset"].tolist()
    return torch.cat(
        [function(rows[b:e], i) for i, (b, e) in enumerate(zip(offset, offset[1:])) if b < e]
    )


def _groupedMm(rows, weights):
    """PyTorch's grouped product; `rows(data)` are sorted by expert."""

    def build(data):
        product = getattr(torch.nn.functional, "grouped_mm", None) or torch._grouped_mm
        ends = data["offset"][1:].contiguous()
        return lambda: {"plain": product(rows(data), weights(data), offs=ends)}

    return Contender("torch", build)


def _ogs(experts, each, rows, weights, gathered):
    """triton_kernels' product, with its own order of choices."""

    def build(data):
        kernels, routing = (
            pack.module("triton_kernels.matmul_ogs"),
            pack.module("triton_kernels.routing"),
        )
        tokens = data["ids"].shape[0]
        logits = torch.full((tokens, experts), -16.0, device=lib.DEVICE, dtype=torch.float16)
        # Chosen ones all differ, so that no tie is broken in another way.
        marks = torch.arange(each, 0, -1, device=lib.DEVICE, dtype=torch.float16)
        logits.scatter_(1, data["ids"].long(), marks.expand(tokens, each).contiguous())
        plan, gather, _ = routing.routing(logits, each)
        more = {"gather_indx": gather} if gathered else {}
        source = gather.src_indx.long()
        place = torch.empty_like(source)  # of a choice among ours
        place[data["order"].long()] = torch.arange(len(source), device=lib.DEVICE)
        inputs = rows(data)
        if not gathered:
            inputs = inputs[place[source]].contiguous()

        def call():
            out = kernels.matmul_ogs(inputs, weights(data), None, plan, **more)
            return {"plain": out.view(-1, out.shape[-1])}

        def view(found):
            sorted_ = torch.empty_like(found["plain"])
            sorted_[place[source]] = found["plain"]
            return {"plain": sorted_}

        call.view = view
        return call

    return pack.peer("triton_kernels", build, warm=True)


def _vllm(experts, each, tile):
    """vLLM's kernel for gathered rows, with one choice of its tiles."""
    bm, bn, bk, group, warps, stages = tile

    def build(data):
        import triton.language as tl

        kernel = pack.module("vllm_fused_moe_kernel").fused_moe_kernel
        x, w = data["x"], data["both"]
        count, n, k = data["order"].shape[0], w.shape[1], w.shape[2]
        sizes = (data["offset"][1:] - data["offset"][:-1]).long()
        padded = (sizes + bm - 1) // bm * bm
        total = int(padded.sum())
        # The place of each choice among rows that begin anew at a tile for each expert.
        expert = torch.repeat_interleave(torch.arange(experts, device=lib.DEVICE), sizes)
        starts = torch.cumsum(padded, 0) - padded
        within = torch.arange(count, device=lib.DEVICE) - data["offset"][:-1].long()[expert]
        ids = torch.full((total,), count, dtype=torch.int32, device=lib.DEVICE)
        ids[starts[expert] + within] = data["order"]
        owner = torch.repeat_interleave(
            torch.arange(experts, device=lib.DEVICE), padded // bm
        ).int()
        length = torch.tensor([total], dtype=torch.int32, device=lib.DEVICE)
        out = torch.empty(count, n, dtype=x.dtype, device=lib.DEVICE)
        grid = (triton.cdiv(total, bm) * triton.cdiv(n, bn),)
        none = [None] * 4
        tensors = (x, w, out, *none, ids, owner, length)
        numbers = (n, k, total, count, *x.stride(), w.stride(0), w.stride(2), w.stride(1))
        strides = (*out.stride(), *[0] * 9)
        flags = {
            name: False
            for name in (
                "MUL_ROUTED_WEIGHT",
                "use_fp8_w8a8",
                "use_int8_w8a8",
                "use_int8_w8a16",
                "per_channel_quant",
                "naive_block_assignment",
                "HAS_BIAS",
                "SWAP_AB",
            )
        }
        meta = {
            "top_k": each,
            "compute_type": tl.float16 if x.dtype == torch.float16 else tl.bfloat16,
            "BLOCK_SIZE_M": bm,
            "BLOCK_SIZE_N": bn,
            "BLOCK_SIZE_K": bk,
            "GROUP_SIZE_M": group,
            "SPLIT_K": 1,
            "num_warps": warps,
            "num_stages": stages,
        }

        def call():
            kernel[grid](*tensors, *numbers, *strides, **flags, **meta)
            return {"plain": out}

        call.view = lambda found: {"plain": found["plain"][data["order"].long()]}
        return call

    return pack.peer("vllm", build, f"{bm}x{bn}x{bk}", warm=True)


# Kernels by hand, and for each tile's rows and columns how many stages and bytes of staging it has.
BY_HAND = ("cpasync4_fc", "tmarowu1c2", "tmarowu4c2", "consumer_fc")
TILES_BY_HAND = {(128, 256): (4, 32768), (128, 128): (6, 32768)}


def _byHand(experts, each, kind, tile):
    """One product of gathered rows by the whole machine, a producer warpgroup and two consumers."""
    rows, columns = tile
    stages, staging = TILES_BY_HAND[tile]
    shared = 1024 + stages * (rows + columns) * 128 + staging
    symbol = f"{kind}_{rows}x{columns}"

    def build(data):
        x, w, order = data["x"], data["both"], data["order"]
        (tokens, k), n = x.shape, w.shape[1]
        ids, ends = (order // each).contiguous(), data["offset"][1:].contiguous()
        out = torch.empty(order.shape[0], n, dtype=x.dtype, device=x.device)
        pair = kind.endswith("c2")
        # Rows come one at a time; a pair of programs never fetches what the other has.
        one = byhand.tensorMap(x, [k, tokens], [2 * k], [64, 1])
        weights = byhand.tensorMap(w, [k, experts * n], [2 * k], [64, columns])
        result = byhand.tensorMap(out, [n, order.shape[0]], [2 * n], [64, 64])
        processors = torch.cuda.get_device_properties(0).multi_processor_count
        processors -= processors % (2 if pair else 1)
        kernel = byhand.function("gather/moe", symbol, shared)
        arguments = [one, weights, result, x, ids, out, ends, experts, n, k]
        launch = byhand.launcher(kernel, processors, 384, shared, arguments)

        def call():
            launch()
            return {"plain": out}

        return call

    return byhand.contender("gather/moe", build, symbol)


def _up(tokens, experts, each, f, d, dtype="bf16"):
    choices = tokens * each

    def inputs(device):
        ids, order, offset = _routing(tokens, experts, each, device)
        data = {
            "x": normal((tokens, d), dtype, device),
            "gate": normal((experts, d, f), dtype, device, d**-0.5),
            "up": normal((experts, d, f), dtype, device, d**-0.5),
            "ids": ids,
            "order": order,
            "offset": offset,
            "h": empty((choices, f), dtype, device),
        }
        # As the peers want them: both halves in one matrix, its inner extent innermost.
        data["both"] = torch.cat((data["gate"], data["up"]), 2).transpose(1, 2).contiguous()
        return data

    def rows(data):
        return data["x"][(data["order"] // each).long()]

    def reference(data):
        both = lambda part, e: part.double() @ data["both"][e].double().T
        plain = _byExpert(data, rows(data), lambda part, e: both(part, e).float())
        gate, up = plain[:, :f], plain[:, f:]
        return {"plain": plain, "h": torch.nn.functional.silu(gate) * up}

    def contenders(item):
        part = Part(
            "moe",
            {"M": tokens, "P": choices, "D": d, "F": f, "E": experts},
            arguments("x gate up order offset h"),
            {"T": dtype, "K": each},
            "moe_up",
        )
        weights = lambda data: data["both"].transpose(1, 2)
        found = defaults([part], outputs("h"))
        found.append(_ogs(experts, each, lambda data: data["x"], weights, True))
        tiles = MANY if choices >= 32 * experts else FEW
        found += [_vllm(experts, each, tile) for tile in tiles]
        if dtype == "bf16":
            found += [
                _byHand(experts, each, kind, tile)
                for tile in TILES_BY_HAND
                for kind in BY_HAND
                if 2 * f % (2 * tile[1]) == 0 and d % 64 == 0
            ]
        return found + [_groupedMm(rows, weights)]

    return row(
        "moe",
        "moe_up",
        f"T{tokens} E{experts} top{each} F{f} D{d}",
        dtype,
        inputs=inputs,
        reference=reference,
        contenders=contenders,
        work=4.0 * choices * f * d,
        cost=9.0,
    )


def _down(tokens, experts, each, f, d, dtype="bf16"):
    choices = tokens * each

    def inputs(device):
        ids, order, offset = _routing(tokens, experts, each, device)
        return {
            "h": normal((choices, f), dtype, device),
            "down": normal((experts, f, d), dtype, device, f**-0.5),
            "weight": normal((choices,), "f32", device),
            "ids": ids,
            "order": order,
            "offset": offset,
            "part": empty((choices, d), dtype, device),
        }

    def reference(data):
        product = lambda part, e: (part.double() @ data["down"][e].double()).float()
        plain, order = _byExpert(data, data["h"], product), data["order"].long()
        part = torch.empty_like(plain)
        part[order] = plain * data["weight"][order][:, None]
        return {"plain": plain, "part": part}

    def contenders(item):
        part = Part(
            "moe",
            {"P": choices, "D": d, "F": f, "E": experts},
            arguments("h down weight order offset part"),
            {"T": dtype},
            "moe_down",
        )
        weights = lambda data: data["down"]
        rows = lambda data: data["h"]
        return defaults([part], outputs("part")) + [
            _ogs(experts, each, rows, weights, False),
            _groupedMm(rows, weights),
        ]

    return row(
        "moe",
        "moe_down",
        f"T{tokens} E{experts} top{each} F{f} D{d}",
        dtype,
        inputs=inputs,
        reference=reference,
        contenders=contenders,
        work=2.0 * choices * f * d,
        cost=6.0,
    )


def _sorted(experts, m, n, k, dtype="bf16"):
    offsets = split(m, experts)

    def inputs(device):
        return {
            "a": normal((m, k), dtype, device),
            "b": normal((experts, k, n), dtype, device),
            "offset": torch.tensor(offsets, dtype=torch.int32, device=device),
            "c": empty((m, n), dtype, device),
        }

    def reference(data):
        product = lambda part, e: (part.double() @ data["b"][e].double()).float()
        c = _byExpert(data, data["a"], product)
        return {"c": c, "plain": c}

    def contenders(item):
        part = Part(
            "grouped_matmul",
            {"E": experts, "M": m, "N": n, "K": k},
            arguments("a b offset c"),
            {"T": dtype},
        )
        rows, weights = (lambda data: data["a"]), (lambda data: data["b"])
        return defaults([part], outputs("c")) + [_groupedMm(rows, weights)]

    return row(
        "moe",
        "grouped_matmul",
        f"E{experts} {m}x{n}x{k}",
        dtype,
        inputs=inputs,
        reference=reference,
        contenders=contenders,
        work=2.0 * m * n * k,
        cost=3.0,
    )


def items():
    found = [_up(*each) for each in UP] + [_down(*each) for each in DOWN]
    return found + [_sorted(*each) for each in SORTED]
