"""Cross-entropy by lanes: computes what cross_entropy does."""

from case import Case, module

CASES = [
    Case("M=1 V=1", T="f32"),
    Case("M=5 V=7", T="f16"),
    Case("M=3 V=8192", T="bf16"),
    Case("M=2 V=8193", T="f32"),
    Case("M=31 V=1009", {"ignore": 3}, T="f32"),
    Case("M=4 V=50257", T="f16"),
    Case("M=1031 V=17", T="f32", LANES=32, EACH=8),
    Case("M=2 V=128256", T="bf16", LANES=128),
    Case("M=1 V=1048576", T="f32"),
]

plain = module("cross_entropy")
arguments, reference = plain.arguments, plain.reference
