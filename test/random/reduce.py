"""Makes a program that disagrees smaller while it still disagrees in the same way."""

import copy
import re
import time

import program as p
import statements
import tiled
from leaves import const


def kind(wrong):
    """How a program fails: the same kind must remain."""
    if wrong is None or wrong == "long":
        return None
    if " by NumPy and " in wrong:
        return re.search(r"by (\w+ -O\d)", wrong.split(" by NumPy and ")[1])[0]
    return re.sub(r"/tmp/\S+|\d+", "", wrong)[:80]


def bodies(body):
    """Every list of statements."""
    yield body
    for statement in body:
        for inner in statement.bodies:
            yield from bodies(inner)


def slots(program):
    """(list, index) of every expression, those nearest to the root first."""
    found = []

    def visit(arguments):
        for i, node in enumerate(arguments):
            found.append((arguments, i))
        for node in arguments:
            visit(node.args)
            access = node.attr.get("access")
            for part in access.nodes() if access else ():
                visit(part.args)

    for body in bodies(program.body):
        for statement in body:
            visit(statement.args)
    return found


def candidates(program):
    """Smaller programs, the much smaller ones first."""
    count = sum(len(body) for body in bodies(program.body))
    for number in range(count):
        smaller = copy.deepcopy(program)
        flat = [(body, i) for body in bodies(smaller.body) for i in range(len(body))]
        body, i = flat[len(flat) - 1 - number]
        inner = [x for part in body[i].bodies for x in part]
        del body[i]
        yield smaller
        if inner:  # a loop or branch replaced by what is in it
            again = copy.deepcopy(program)
            body, i = [(body, i) for body in bodies(again.body) for i in range(len(body))][
                len(flat) - 1 - number
            ]
            body[i : i + 1] = [x for part in body[i].bodies for x in part]
            yield again
    for number in range(len(slots(program))):
        node = (lambda pair: pair[0][pair[1]])(slots(program)[number])
        options = [
            ("child", j)
            for j, arg in enumerate(node.args)
            if arg.dtype == node.dtype and arg.shape == node.shape
        ]
        if node.kind not in ("const", "name") and node.dtype != "index":
            options.append(("const", 1))
        for what, value in options:
            smaller = copy.deepcopy(program)
            holder, i = slots(smaller)[number]
            holder[i] = (
                holder[i].args[value]
                if what == "child"
                else const(True if node.dtype == "bool" else value, node.dtype, node.shape)
            )
            yield smaller
    for number, tensor in enumerate(program.tensors):
        smaller = copy.deepcopy(program)
        del smaller.tensors[number]
        yield smaller
    for number in range(len(program.contracts)):
        smaller = copy.deepcopy(program)
        del smaller.contracts[number]
        yield smaller


def reduce(program, fails, seconds=None):
    """The smallest program found of which `fails` is true, within so many seconds. Every step asks
    it once.
    """
    tried, changed, end = 0, True, time.monotonic() + (seconds or 1e9)
    while changed and tried < 3000 and time.monotonic() < end:
        changed = False
        for smaller in candidates(program):
            if time.monotonic() > end:
                break
            tried += 1
            try:
                good = fails(smaller)
            except Exception:  # a name that nothing defines any more
                good = False
            if good:
                program, changed = smaller, True
                break
    return program


def main(seed, options, test):
    program = tiled.draw(seed, options.size)
    values = statements.arrays(program, seed)  # kept while tensors go

    wanted = test(program, seed, options, values)
    if kind(wanted) is None:
        print("the kernel does not disagree")
        return 0
    # Only what fails is run again.
    where = re.search(r"(cpu|cuda) -O(\d)", wanted) or re.search(
        r"-O(?P<level>\d) on (?P<device>cpu|cuda)", wanted
    )
    runs = (
        None
        if where is None
        else (
            [(where["device"], int(where["level"]))]
            if "level" in where.re.groupindex
            else [(where[1], int(where[2]))]
        )
    )

    def fails(candidate):
        return kind(test(candidate, seed, options, values, runs)) == kind(wanted)

    smaller = reduce(program, fails, options.seconds)
    print(f"// {test(smaller, seed, options, values, runs)}")
    print(f"// dimensions: {smaller.dims}, scalars: {smaller.scalars}")
    print(p.programText(smaller), end="")
    return 1
