"""Writes kernels of the tile dialect for tests of the CPU path, so that each test shows its body
and little else.
"""


def access(view_type, sizes, steps=None, ends=None, inside=None):
    """Attributes of an access: `sizes` has -1 where a dimension is dropped, `ends` True where it
    has an end.
    """
    rank = len(sizes)
    flags = lambda values: ", ".join("true" if v else "false" for v in values or [False] * rank)
    field = lambda kind, values: f"array<{kind}: {values}>" if values else f"array<{kind}>"
    return (
        "{sizes = "
        + field("i64", ", ".join(map(str, sizes)))
        + ", steps = "
        + field("i64", ", ".join(map(str, steps or [1] * rank)))
        + ", has_end = "
        + field("i1", flags(ends))
        + ", in_bounds = "
        + field("i1", flags(inside))
        + "}"
    )


def view_type(element, rank):
    return f"!tile.view<{'?x' * rank}{element}>"


def tile_type(element, sizes):
    shape = [str(s) for s in sizes if s >= 0]
    return f"tensor<{'x'.join(shape + [element])}>" if shape else element


def load(view, starts, sizes, element, pad="%pad", mask=None, end=None, **attributes):
    type = view_type(element, len(sizes))
    ends = f" ends [{end}]" if end else ""
    masked = f" mask {mask} : {tile_type('i1', sizes)}" if mask else ""
    return (
        f"tile.load {view} [{starts}]{ends} pad {pad} : {element}{masked}"
        f" {access(type, sizes, **attributes)} : {type} -> {tile_type(element, sizes)}"
    )


def store(value, view, starts, sizes, element, mask=None, end=None, **attributes):
    type = view_type(element, len(sizes))
    ends = f" ends [{end}]" if end else ""
    masked = f" mask {mask} : {tile_type('i1', sizes)}" if mask else ""
    return (
        f"tile.store {value}, {view} [{starts}]{ends}{masked} {access(type, sizes, **attributes)}"
        f" : {tile_type(element, sizes)}, {type}"
    )


def kernel(name, params, dims, grid, body, read=()):
    """`params`: name -> element type, of a tensor when it starts with '*'; those in `read` are
    `in`. `dims`: names. `grid`: SSA text ending in a list of extents. Every dimension is at hand as
    %NAME, and %c0 to %c4, %pad.T (0) in the body.
    """
    types = [f"!tile.ptr<{t[1:]}>" if t[0] == "*" else t for t in params.values()]
    arguments = ", ".join(f"%{n}: {t}" for n, t in zip(params, types))
    block = f"^bb0({arguments}):" if params else ""
    attributes = ", ".join(
        f'#tile.param<"{n}", {"scalar" if t[0] != "*" else "in" if n in read else "inout"}, align'
        " = 1>"
        for n, t in params.items()
    )
    dim = lambda n: f'#tile.dim<"{n}", 0, 1073741824, opt = 4096, multiple_of = 1>'
    reads = "\n".join(f"%{n} = tile.dim {dim(n)}" for n in dims)
    constants = "\n".join(f"%c{i} = arith.constant {i} : index" for i in range(5))
    lines, extents = grid
    count = len([e for e in extents.split(",") if e.strip()])
    end = f"tile.yield {extents} : {', '.join(['index'] * count)}" if count else "tile.yield"
    return f"""
tile.kernel @{name} params [{attributes}] dims [{", ".join(map(dim, dims))}] constexprs [] grid {{
{block}
{reads}
{constants}
{lines}
{end}
}} body {{
{block}
{reads}
{constants}
{body}
tile.return
}}
"""
