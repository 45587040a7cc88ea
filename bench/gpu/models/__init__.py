"""Rows of real models: our kernels without tuning beside the strongest peers that there are."""


def items():
    """All rows, family by family."""
    from . import attention, convolution, decode, experts, products, quantized

    return [
        item
        for module in (attention, decode, products, quantized, experts, convolution)
        for item in module.items()
    ]
