"""Code for an older GPU (sm_80: mma.sync and cp.async, no TMA, no wgmma) on a newer card, without
tuning: beside the same sources for the card itself, libraries that were compiled for sm_80, too
(FlashAttention 2), kernels by hand for sm_80, and cuBLAS, which uses all that the card has.
"""

import re

from .. import attention as tuned
from .. import byhand
from ..items import Bar
from . import attention, decode, elementwise, norms, products
from .row import among

ATTENTION = [(4, 32, 32, 4096, d, "f16", causal) for d in (64, 128) for causal in (False, True)]
PRODUCTS = [(2048, 2048, 2048), (4096, 4096, 4096), (8192, 8192, 8192), (4096, 14336, 4096)]
DECODING = [(16, 4096, 32, 8, 128, "f16"), (64, 8192, 32, 8, 128, "bf16")]
PAGES = [(64, 8192, 32, 8, 128, "bf16", 16)]
# Kernels of the blueprint that have been best at one of these sizes or another
TILES = [
    f"mm_f16_{tile}_64x64_s{stages}_b{blocks}"
    for tile, stages, blocks in (
        ("128x256x32", 4, 1),
        ("128x256x64", 3, 1),
        ("256x128x32", 4, 1),
        ("256x128x64", 3, 1),
        ("128x128x32", 4, 2),
        ("128x128x64", 3, 2),
    )
]
SOURCE, GROUP = "sm80/matmul_sm80", 8


def _blueprint(symbol):
    sizes = re.match(r"mm_f16_(\d+)x(\d+)x(\d+)_(\d+)x(\d+)_s(\d+)", symbol)
    bm, bn, bk, wm, wn, stages = map(int, sizes.groups())

    def build(data):
        (m, k), n = data["a"].shape, data["b"].shape[1]
        shared = 2 * max(stages * (bm + bn) * bk, bm * bn)
        kernel = byhand.function(SOURCE, symbol, shared, byhand.AMPERE)
        launch = byhand.launcher(
            kernel,
            -(-m // bm) * -(-n // bn),
            bm // wm * (bn // wn) * 32,
            shared,
            [data["a"], data["b"], data["c"], m, n, k, GROUP],
        )

        def call():
            launch()
            return {"c": data["c"]}

        return call

    return byhand.contender(SOURCE, build, symbol, byhand.AMPERE)


def _changed(item, ratios, more=()):
    """The item beside those that `ratios` names alone, with a bar for each of them."""
    return among(item, list(ratios), [Bar(ratio, [who]) for who, ratio in ratios.items()], more)


def items():
    found = []
    for each in ATTENTION:
        flash = tuned._library("flash", "FLASH_ATTENTION", each[-1], False)
        item = attention._forward(*each)
        found.append(_changed(item, {"flash": 1.1}, [flash]))
    blueprints = [_blueprint(symbol) for symbol in TILES]
    for m, n, k in PRODUCTS:
        item = products._layer(m, n, k, "f16", transposed=False)
        found.append(_changed(item, {"cublas": 0.55, "blueprint": 0.95}, blueprints))
    streams = [
        *(decode._plain(*each) for each in DECODING),
        *(decode._paged(*each) for each in PAGES),
        norms._rms(16384, 8192, "bf16"),
        norms._layer(8192, 12288, "bf16"),
        norms._softmax(16384, 8192, "bf16"),
        norms._softmax(32768, 1000, "f32"),
        elementwise._gated(16384, 14336, "bf16"),
    ]
    return found + [_changed(item, {"native": 0.95}) for item in streams]
