"""Layer norm of whole rows: computes what layer_norm does."""

from case import Case, module

CASES = [
    Case("M=1 N=8", T="f32"),
    Case("M=5 N=4096", T="f16"),
    Case("M=13 N=1024", {"eps": 0.5}, T="bf16", ROWS=4, BLOCK=1024),
    Case("M=7 N=1000", T="f32", ROWS=2, BLOCK=1024),
    Case("M=1031 N=40", T="f16", ROWS=8, BLOCK=64),
]

plain = module("layer_norm")
arguments, reference = plain.arguments, plain.reference
