"""Products with scales: 8-bit floats with one for a block, weights of 4 bits with one for 128 of a
row.
"""

from .. import check, lib, matmul_w4, pack, timing
from ..items import Contender
from ..lib import empty, normal, torch
from ..untuned import Part, defaults
from .row import arguments, outputs, row

# DeepSeek V3's layers
F8 = [
    (4096, 7168, 2048),
    (128, 7168, 2048),
    (4096, 4096, 7168),
    (64, 4096, 7168),
    (4096, 24576, 1536),
    (4096, 7168, 16384),
    (128, 2112, 7168),
    (4096, 32768, 512),
]
W4 = [
    *((m, 28672, 4096) for m in (1, 16, 64, 256, 1024, 4096)),
    *((m, 4096, 14336) for m in (1, 16, 256, 4096)),
    *((m, 8192, 8192) for m in (8, 128, 2048)),
]
GPTQ = [(16, 4096, 14336), (256, 8192, 8192), (4096, 4096, 4096)]
G = 128
U4B8 = 1125899907892224  # how vLLM's kernels call unsigned numbers of 4 bits less 8


def _f8(m, n, k):
    def inputs(device):
        scale = lambda *shape: torch.rand(shape, device=device) * 0.02 + 0.01
        return {
            "a": normal((m, k), "f8e4m3", device),
            "b": normal((n, k), "f8e4m3", device),
            "sa": scale(m, -(-k // 128)),
            "sb": scale(-(-n // 128), -(-k // 128)),
            "c": empty((m, n), "bf16", device),
        }

    def reference(data):
        wide = lambda t, rows, columns: (
            t.double().repeat_interleave(rows, 0).repeat_interleave(columns, 1)
        )
        a = data["a"].double() * wide(data["sa"], 1, 128)[:, :k]
        b = data["b"].double() * wide(data["sb"], 128, 128)[:n, :k]
        return {"c": (a @ b.T).float()}

    def deepGemm(data):
        library = pack.module("deep_gemm")
        scales = library.get_mn_major_tma_aligned_tensor(data["sa"])

        def call():
            library.fp8_gemm_nt((data["a"], scales), (data["b"], data["sb"]), data["c"])
            return {"c": data["c"]}

        return call

    def whole():
        if n % 128:
            raise pack.Missing(f"it wants a multiple of 128 columns, and here are {n}")

    def cutlass(data):
        whole()
        scaled = pack.library("vllm").cutlass_scaled_mm
        rows = data["sa"].t().contiguous().t()

        def call():
            scaled(data["c"], data["a"], data["b"].T, rows, data["sb"].T, None)
            return {"c": data["c"]}

        return call

    def cublaslt(data):
        from torch.nn.functional import ScalingType, scaled_mm

        whole()
        rows = data["sa"].t().contiguous().t()
        kinds = ScalingType.BlockWise1x128, ScalingType.BlockWise128x128
        expected, why = reference(data)["c"], None
        # Which way the scales of blocks lie differs between versions of PyTorch.
        for scales in (data["sb"], data["sb"].T, data["sb"].t().contiguous().t()):

            def call(scales=scales):
                more = {"output_dtype": torch.bfloat16}
                second = data["b"].T
                return {"c": scaled_mm(data["a"], second, rows, kinds[0], scales, kinds[1], **more)}

            try:
                wrong, _ = check.mismatch(call(), {"c": expected}, 2e-2)
                if not wrong:
                    return call
                why = RuntimeError("wrong: " + wrong)
            except (RuntimeError, ValueError, NotImplementedError) as error:
                why = error
        raise why

    def contenders(item):
        part = Part(
            "matmul_f8_scaled", {"M": m, "N": n, "K": k}, arguments("a b sa sb c"), {"T": "bf16"}
        )
        return defaults([part], outputs("c")) + [
            pack.peer("deep_gemm", deepGemm, warm=True),
            pack.peer("cutlass", cutlass),
            Contender("cublaslt", cublaslt),
        ]

    return row(
        "matmul_f8_scaled",
        "matmul_f8_scaled",
        f"{m}x{n}x{k}",
        "f8e4m3",
        inputs=inputs,
        reference=reference,
        contenders=contenders,
        work=2.0 * m * n * k,
        tolerance=2e-2,
        cost=4.0,
    )


def _packedRows(data):
    """Weights as GPTQ packs them: int32 [K / 8, N], eight rows of a column in a word."""
    codes = torch.stack((data["w"] & 15, data["w"] >> 4), 2).reshape(data["w"].shape[0], -1).T
    words = torch.zeros(codes.shape[0] // 8, codes.shape[1], dtype=torch.int32, device=codes.device)
    for each in range(8):
        words |= codes[each::8].to(torch.int32) << (4 * each)
    return words


def _marlin(m, n, k, words, scales):
    """words(data): weights as GPTQ packs them; scales(data): [K / G, N]."""

    def build(data):
        library = pack.library("vllm")
        none = torch.empty(0, dtype=torch.int32, device=lib.DEVICE)
        weights = library.gptq_marlin_repack(words(data), none, k, n, 4, False)
        # Scales in the order in which its threads want them, 64 columns at a time.
        order = [i + 8 * j for i in range(8) for j in range(8)]
        processors = torch.cuda.get_device_properties(0).multi_processor_count
        run = pack.filled(
            library.marlin_gemm,
            (data["x"],),
            b_q_weight=weights,
            b_scales=scales(data).reshape(-1, 64)[:, order].reshape(-1, n).contiguous(),
            g_idx_or_none=none,
            perm_or_none=none,
            workspace=torch.zeros(processors, dtype=torch.int32, device=lib.DEVICE),
            b_type_id=U4B8,
            size_m=m,
            size_n=n,
            size_k=k,
            is_k_full=True,
            use_atomic_add=False,
            use_fp32_reduce=True,
            is_zp_float=False,
        )
        return lambda: {"y": run()}

    return pack.peer("marlin", build)


def _machete(words, scales):
    """Of its schedules the one that is fastest here."""

    def build(data):
        library, kind = pack.library("vllm"), data["x"].dtype
        columns = words(data).t().contiguous().t()
        weights = library.machete_prepack_B(columns, kind, U4B8, kind)
        rows, times = scales(data).contiguous(), {}

        def product(schedule):
            return pack.filled(
                library.machete_mm,
                (data["x"], weights, U4B8),
                group_scales=rows,
                group_size=G,
                schedule=schedule,
            )

        for schedule in (None, *library.machete_supported_schedules(kind, U4B8, kind, *[None] * 4)):
            try:
                product(schedule)()
                times[schedule] = timing.rough(product(schedule))
            except RuntimeError:  # a schedule that this shape does not take
                continue
        run = product(min(times, key=times.get))
        return lambda: {"y": run()}

    return pack.peer("machete", build)


def _w4(m, n, k, dtype="bf16"):
    few = m <= 64

    def inputs(device):
        data = {
            "x": normal((m, k), dtype, device),
            "w": (
                torch.empty((n, k // 2), dtype=torch.uint8, device=device)
                if device == "meta"
                else torch.randint(0, 256, (n, k // 2), dtype=torch.uint8, device=device)
            ),
            "y": empty((m, n), dtype, device),
        }
        scale = torch.rand((n, k // G), device=device) * 0.02 + 0.01
        data["scale"] = scale.to(data["x"].dtype)
        # The peers know no other: theirs are numbers less 8.
        data["zero"] = torch.full_like(data["scale"], 8.0)
        return data

    def unpacked(data):
        weights = matmul_w4.dequantised(data).to(data["x"].dtype).T

        def call():
            torch.mm(data["x"], weights, out=data["y"])
            return {"y": data["y"]}

        return call

    def contenders(item):
        name = "matvec_w4" if m == 1 else "matmul_w4"
        part = Part(name, {"M": m, "N": n, "K": k}, arguments("x w scale zero y"), {"T": dtype})
        # The last one has weights of 16 bits already: for comparison, it is no peer.
        return defaults([part], outputs("y")) + [
            _marlin(m, n, k, _packedRows, lambda data: data["scale"].T),
            _machete(_packedRows, lambda data: data["scale"].T),
            Contender("cublas-f16", unpacked),
        ]

    moved = n * k // 2 + 2 * n * (k // G) * 2 + 2 * m * (n + k)
    return row(
        "matmul_w4",
        "matmul_w4",
        f"{m}x{n}x{k}",
        dtype,
        inputs=inputs,
        reference=lambda data: {"y": (data["x"].double() @ matmul_w4.dequantised(data).T).float()},
        contenders=contenders,
        work=float(moved) if few else 2.0 * m * n * k,
        unit="GB/s" if few else "TFLOP/s",
        cold=few,
        reads=few,
        cost=4.0,
    )


def _gptq(m, n, k, dtype="bf16"):
    """Weights in GPTQ's packing: eight rows of a column in a word; a zero of 7 stands for 8."""
    few = m <= 64

    def inputs(device):
        words = lambda *shape: torch.empty(shape, dtype=torch.int32, device=device)  # noqa: E731
        data = {"x": normal((m, k), dtype, device), "y": empty((m, n), dtype, device)}
        data["q"], data["zero"] = words(k // 8, n), words(k // G, n // 8)
        scale = torch.rand((k // G, n), device=device) * 0.02 + 0.01
        data["scale"] = scale.to(data["x"].dtype)
        if device != "meta":
            data["q"].random_(-(2**31), 2**31)
            data["zero"].fill_(0x77777777)
        return {
            **data,
            "words": data["q"].view(torch.uint32),
            "none": data["zero"].view(torch.uint32),
        }

    def reference(data):
        shifts = torch.arange(0, 32, 4, device=lib.DEVICE, dtype=torch.int32)
        codes = (data["q"][:, None] >> shifts[None, :, None]) & 15
        weights = (codes.view(k, n).double() - 8.0) * data["scale"].double().repeat_interleave(G, 0)
        return {"y": (data["x"].double() @ weights).float()}

    def contenders(item):
        part = Part(
            "matmul_w4_packed",
            {"M": m, "K": k, "W": k // 8, "N": n, "G": k // G, "V": n // 8},
            arguments("a=x q=words zero=none scale c=y"),
            {"T": dtype},
            "matmul_gptq",
        )
        words, scales = (lambda data: data["q"]), (lambda data: data["scale"])
        return defaults([part], outputs("y")) + [
            _marlin(m, n, k, words, scales),
            _machete(words, scales),
        ]

    moved = n * k // 2 + 2 * n * (k // G) + 2 * m * (n + k)
    return row(
        "matmul_w4",
        "matmul_gptq",
        f"{m}x{n}x{k}",
        dtype,
        inputs=inputs,
        reference=reference,
        contenders=contenders,
        work=float(moved) if few else 2.0 * m * n * k,
        unit="GB/s" if few else "TFLOP/s",
        cold=few,
        reads=few,
        cost=4.0,
    )


def items():
    found = [_f8(*each) for each in F8] + [_w4(*each) for each in W4]
    return found + [_gptq(*each) for each in GPTQ]
