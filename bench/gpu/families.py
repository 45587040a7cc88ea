"""All items, family by family, in the order in which they are measured."""

from . import (
    attention,
    attention_backward,
    cross_entropy,
    grouped,
    matmul,
    matmul_8bit,
    matmul_w4,
    rows,
    vector_add,
)

_made = []


def items():
    """Every item; made once."""
    if not _made:
        for module in (
            vector_add,
            rows,
            cross_entropy,
            matmul,
            matmul_8bit,
            attention,
            attention_backward,
            grouped,
            matmul_w4,
        ):
            _made.extend(module.items())
    return _made
