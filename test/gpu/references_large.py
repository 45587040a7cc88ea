"""The cases of the examples that are too large for the CPU's tests."""

import os
import sys

sys.path.insert(
    0,
    os.path.join(
        os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "examples"
    ),
)
from case import Case  # noqa: E402

LARGE = {
    "vector_add": [Case("N=134217731", T="f32")],
    "saxpy": [Case("N=67108867", {"a": 1.5})],
    "rms_norm": [Case("M=8191 N=8192", T="bf16")],
    "layer_norm": [Case("M=8191 N=5120", T="f16")],
    "softmax": [Case("M=4099 N=8191", T="f16"), Case("M=1048576 N=16", T="f32")],
    "cross_entropy": [Case("M=1021 V=128256", T="bf16")],
    "matmul": [
        Case("M=4096 N=4096 K=4096", T="f16"),
        Case("M=8191 N=1016 K=2040", T="bf16", BIAS="true", ACT="gelu"),
    ],
    "matmul_f32": [Case("M=1021 N=2039 K=1024")],
    "attention": [
        Case("B=2 H=8 G=2 S=2048 L=2048 D=128", T="f16"),
        Case("B=1 H=4 G=4 S=1021 L=4093 D=64", T="bf16", CAUSAL="false"),
    ],
    "matmul_nt": [Case("M=4096 N=4096 K=4096", T="f16")],
    "attention_backward": [
        Case("B=1 H=8 G=2 S=1000 L=1024 D=128", kernel="attention_backward", T="f16"),
        Case(
            "B=2 H=4 G=4 S=2047 L=2047 D=128", kernel="attention_backward", T="bf16", CAUSAL="false"
        ),
    ],
    # Slots of a ring that ordinary loads read and copies fill again, often.
    "matmul_w4": [
        Case("M=16 N=8192 K=8192", T="f16", BM=16, BN=32, BK=128),
        Case("M=1 N=8192 K=8192", T="bf16", BM=16, BN=32, BK=128),
    ],
    "transpose": [Case("M=8191 N=8193", T="bf16")],
    "cross_entropy_lanes": [Case("M=1021 V=128256", T="f16")],
    "softmax_rows": [
        Case("M=4099 N=8000", T="f16", BLOCK=8192),
        Case("M=131071 N=1024", T="f32", ROWS=8, BLOCK=1024),
    ],
    "layer_norm_rows": [
        Case("M=8191 N=5120", T="f16", BLOCK=8192),
        Case("M=65535 N=1024", T="f16", ROWS=4, BLOCK=1024),
    ],
    "rms_norm_rows": [
        Case("M=8191 N=8192", T="bf16", BLOCK=8192),
        Case("M=65535 N=1024", T="f16", ROWS=4, BLOCK=1024),
    ],
    "row_sum": [Case("M=3 N=16777216", T="f32")],
    "embedding": [Case("V=1000 N=4096 L=8192", kernel="embedding_backward", T="f16", D="f32")],
    "last_arriver": [
        Case("N=16777216", kernel="last_arriver", T="f16", B=256),
        Case("M=65536 N=1024", kernel="column_sums", BM=16),
    ],
    "topk": [Case("M=1021 N=128256", T="f16"), Case("M=4096 N=1000", T="f32", K=32)],
    "rotary": [
        Case("B=2 S=4096 H=32", T="f16", D=128),
        Case("B=2 S=2047 H=32", T="bf16", D=128, PAIRS="false"),
    ],
    "state_space_scan": [Case("B=4 L=4096 D=2048", T="bf16")],
    "prefix_sum": [Case("M=1021 N=65537", T="i32"), Case("M=4 N=1048576", T="i64")],
    "scan_lookback": [
        Case("N=16777216", T="i32"),
        Case("N=33554433", T="f32"),
        Case("N=8388609", T="i64", B=1024, W=128),
    ],
    "histogram": [Case("M=257 N=1048575", T="u8")],
    "sort_rows": [
        Case("M=4099 N=1000", T="f32"),
        Case("M=257 N=8192", T="f16", BLOCK=8192),
        Case("M=31 N=4000", T="f64", BLOCK=4096),
    ],
    "median_filter": [Case("H=1021 W=2047", T="u8")],
    "dropout": [Case("N=33554437", {"p": 0.1, "seed": 42}, T="bf16", MASK="true")],
    "gated_activation": [
        Case("M=4099 N=11008", T="bf16"),
        Case("M=1021 N=14336", T="f16", ACT="gelu"),
    ],
    "concat": [Case("M=8191 N=4099", T="f16")],
    "nf4_dequantize": [Case("M=4096 N=14336", T="bf16")],
    "quantize_int8": [
        Case("M=8191 N=5120", kernel="quantize_int8", T="bf16"),
        Case("M=4099 N=8191", kernel="dequantize_int8", T="f16"),
    ],
    "layer_norm_backward": [
        Case("M=8191 N=4096 P=264", kernel="layer_norm_backward", T="bf16"),
        Case("P=264 N=8192", kernel="layer_norm_weight", T="bf16"),
    ],
    "rms_norm_backward": [
        Case("M=8191 N=4096 P=264", kernel="rms_norm_backward", T="bf16"),
        Case("P=264 N=8192", kernel="rms_norm_weight", T="bf16"),
    ],
    "attention_latent": [
        Case("B=3 H=128 L=4099", kernel="attention_latent", T="bf16"),
        Case("B=5 H=128 P=300 TP=67", kernel="attention_latent_paged", T="f16"),
    ],
    "attention_scores_backward": [
        Case("B=1 H=8 G=2 S=1000 L=1024 D=128", kernel="attention_scores_backward", T="f16")
    ],
    "conv2d_backward": [
        Case("N=8 H=56 W=56 C=256 F=256", kernel="conv2d_backward_input", T="f16"),
        Case("N=8 H=56 W=56 C=256 F=256", kernel="conv2d_backward_weight", T="bf16"),
    ],
    "gated_delta_rule": [
        Case("B=2 L=1031 H=8 G=4", kernel=kernel, T="bf16", D=128)
        for kernel in ("gated_delta_rule_prepare", "gated_delta_rule_states", "gated_delta_rule")
    ],
    "gated_linear_attention": [Case("B=2 L=1031 H=8 V=64", T="bf16", D=64)],
    "mamba2": [Case("B=2 L=2051 H=16 G=1", T="bf16")],
}
