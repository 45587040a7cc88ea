"""A parameter of a manifest: as text, and whether an argument fits it."""


def describeParam(param, dtypes):
    text = (
        f"{param['name']}: "
        + (f"{param['access']} " if "access" in param else "")
        + "|".join(dtypes)
    )
    if "dims" in param:
        text += "[" + ", ".join(describeExpression(dim) for dim in param["dims"]) + "]"
    return text + (f" = {param['default']}" if "default" in param else "")


def describeExpression(one):
    """An expression of the manifest, as in the source."""
    if not isinstance(one, list):
        return str(one)
    parts = [describeExpression(part) for part in one[1:]]
    return (
        f"({f' {one[0]} '.join(parts)})"
        if not one[0].isidentifier() and len(parts) == 2
        else f"{one[0]}({', '.join(parts)})"
    )


def fits(tensor, param):
    """Whether a tensor may be the argument for a manifest's parameter: dtype, rank, constant
    extents.
    """
    shape = list(tensor.shape)
    if param["dtype"] in ("i4", "u4") and tensor.dtype not in ("i4", "u4") and shape:
        shape[-1] *= 2
    return (
        tensor.mayBe(param["dtype"])
        and len(shape) == len(param["dims"])
        and all(
            not isinstance(dim, int) or dim == extent for dim, extent in zip(param["dims"], shape)
        )
    )
