"""Compiles one of Triton's kernels for sm_90 in this fresh process, no GPU needed, and prints how
long it took as JSON.

Called by compile_time.py --triton: compile_time_triton.py NAME. The caller gives an empty
TRITON_CACHE_DIR.
"""

import json
import os
import sys
import time

BEGIN = time.perf_counter()
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import triton  # noqa: E402
import triton.language as tl  # noqa: E402
from triton.backends.compiler import GPUTarget  # noqa: E402
from triton.compiler import ASTSource  # noqa: E402


def matmul():
    from gpu.triton_matmul import matmul_tma

    types = {
        "a": "tensordesc<fp16[128, 64]>",
        "b": "tensordesc<fp16[64, 256]>",
        "c": "tensordesc<fp16[128, 256]>",
        "to": "*fp16",
    }
    return (
        matmul_tma,
        types,
        ("M", "N", "K"),
        {
            "bias": None,
            "BM": 128,
            "BN": 256,
            "BK": 64,
            "GROUP": 8,
            "PROGRAMS": 132,
            "TRANSPOSED": False,
            "HALVES": False,
            "WS": False,
            "ACT": "",
            "BIAS": False,
            "ACC": tl.float32,
            "OUT": tl.float16,
        },
        8,
        3,
    )


def attention():
    from gpu.triton_attention import attention as kernel

    types = {name: "tensordesc<fp16[128, 128]>" for name in ("q", "k", "v", "o")}
    return (
        kernel,
        {**types, "to": "*fp16", "lse": "*fp32", "scale": "fp32"},
        ("S", "L", "H", "G"),
        {"D": 128, "BM": 128, "BN": 128, "CAUSAL": True, "WS": False, "OUT": tl.float16},
        8,
        2,
    )


def softmax():
    from gpu.triton_rows import softmax as kernel

    return (
        kernel,
        {"x": "*fp32", "y": "*fp32"},
        ("M", "N"),
        {"ROWS": 1, "BLOCK": 1024, "LOOPS": 1},
        4,
        1,
    )


def layer_norm():
    from gpu.triton_rows import layer_norm as kernel

    types = {**{name: "*fp16" for name in "xwby"}, "mean": "*fp32", "rstd": "*fp32", "eps": "fp32"}
    return kernel, types, ("M", "N"), {"ROWS": 1, "BLOCK": 4096, "LOOPS": 1}, 8, 1


def main():
    kernel, types, integers, constants, warps, stages = globals()[sys.argv[1]]()
    signature = {
        name: types.get(name) or ("i32" if name in integers else "constexpr")
        for name in kernel.arg_names
    }
    # What a launch finds out about its arguments: aligned pointers, extents that are multiples of
    # 16.
    attributes = {
        (i,): [["tt.divisibility", 16]]
        for i, name in enumerate(kernel.arg_names)
        if signature[name].startswith("*") or name in integers
    }
    values = {(kernel.arg_names.index(name),): value for name, value in constants.items()}
    imported = time.perf_counter()
    binary = triton.compile(
        ASTSource(kernel, signature, values, attributes),
        target=GPUTarget("cuda", 90, 32),
        options={"num_warps": warps, "num_stages": stages},
    )
    done = time.perf_counter()
    print(
        json.dumps(
            {
                "compile_ms": (done - imported) * 1e3,
                "import_ms": (imported - BEGIN) * 1e3,
                "version": triton.__version__,
                "cubin": len(binary.asm["cubin"]),
            }
        )
    )


if __name__ == "__main__":
    main()
