"""Parameters of a manifest: as text, as Python's signature, and whether an argument fits one."""


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


def advise(name, tensor, params):
    """What to do with a tensor that no parameter of these takes for its dtype, or for its number of
    dimensions; "" where it is neither.
    """
    expected = list(dict.fromkeys(param["dtype"] for param in params))
    if not any(tensor.mayBe(dtype) for dtype in expected):
        return f"convert '{name}', which is {tensor.dtype}, to {' or '.join(expected)}"
    ranks = list(dict.fromkeys(len(param["dims"]) for param in params))
    if len(tensor.shape) not in ranks:
        rank = len(tensor.shape)
        has = f"{rank} dimension{'' if rank == 1 else 's'}"
        return f"reshape '{name}', which has {has}, to {' or '.join(map(str, ranks))}"
    return ""


def signatureOf(params):
    """What `inspect.signature` gives, of (name, has a default, annotation, the default) for each
    parameter.
    """
    import inspect  # here, as it takes longer to import than all of this package

    kinds, found = inspect.Parameter, []
    for name, hasDefault, annotation, default in params:
        kind = kinds.POSITIONAL_OR_KEYWORD
        isBehind = any(one.default is not kinds.empty for one in found)
        if found and (found[-1].kind is kinds.KEYWORD_ONLY or (isBehind and not hasDefault)):
            kind = (
                kinds.KEYWORD_ONLY
            )  # Python has no parameter without a default behind one that has
        found.append(
            kinds(
                name.replace("[", "_").replace("]", ""),
                kind,
                default=default if hasDefault else kinds.empty,
                annotation=annotation,
            )
        )
    return inspect.Signature(found)
