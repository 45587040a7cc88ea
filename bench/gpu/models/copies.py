"""Operands that only asynchronous copies bring in time, from plain sources: rows gathered by a
product, boxes of convolutions, pages; beside kernels by hand, libraries and copies of as many
bytes.
"""

from ..items import Bar
from . import convolution, decode, experts
from .row import among

# tokens, experts, choices of a token, hidden, model
GATHERED = [(4096, 8, 2, 7168, 4096), (8192, 128, 8, 768, 2048), (128, 128, 8, 768, 2048)]
# sequences, length, heads, those of keys and values, head size, page; of a copy
PAGES = [
    ((64, 4096, 32, 8, 128, "bf16", 16), 0.95),
    ((64, 8192, 32, 8, 128, "bf16", 16), 0.95),
    ((4, 8192, 32, 8, 128, "bf16", 16), 0.80),
]
# images, height and width, channels, filters, places of the filter, stride
BOXES = [
    (32, 56, 64, 64, 3, 1, "f16"),
    (32, 56, 256, 256, 3, 1, "f16"),
    (32, 28, 512, 512, 3, 1, "f16"),
    (64, 14, 256, 256, 3, 1, "f16"),
]


def items():
    return [
        *(
            among(experts._up(*each), ["blueprint", "triton_kernels"], [Bar(0.95, ["blueprint"])])
            for each in GATHERED
        ),
        *(among(decode._paged(*each), ["copy"], [Bar(ratio, ["copy"])]) for each, ratio in PAGES),
        *(among(convolution._dense(*each), ["cudnn"], [Bar(0.95, ["cudnn"])]) for each in BOXES),
    ]
