"""Rows of real models: our kernels without tuning beside the strongest peers that there are."""


def items():
    """All rows, family by family."""
    from . import (
        attention,
        convolution,
        decode,
        elementwise,
        experts,
        filters,
        losses,
        norms,
        products,
        quantized,
        selection,
        sequences,
        windows,
    )

    return [
        item
        for module in (
            attention,
            windows,
            decode,
            products,
            quantized,
            experts,
            convolution,
            norms,
            losses,
            elementwise,
            filters,
            selection,
            sequences,
        )
        for item in module.items()
    ]
