"""All items, family by family, in the order in which they are measured."""

import functools

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

SETS = ("tuned", "models")
DRAWN, OLDER, COPIES = "drawn", "older", "copies"
_made = {}


def items(name="tuned", seed=0, count=60):
    """Every item of a set, made once: "tuned" has a few shapes, with the best of many variants of
    ours and of Triton's; "models" many, with our defaults beside the strongest peers; "drawn" the
    same for `count` shapes that `seed` draws at random; "older" what code for an older GPU reaches;
    "copies" what only asynchronous copies bring in time.
    """
    if name == DRAWN:
        return _drawn(seed, count)
    if name not in _made:
        _made[name] = {"models": _models, OLDER: _older, COPIES: _copies}.get(name, _tuned)()
    return _made[name]


def _older():
    from .models import older

    return older.items()


def _copies():
    from .models import copies

    return copies.items()


def _models():
    from . import models

    return models.items()


@functools.cache
def _drawn(seed, count):
    from .models import drawn

    return drawn.items(seed, count)


def _tuned():
    return [
        item
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
        )
        for item in module.items()
    ]
