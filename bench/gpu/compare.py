"""Which rows have lost against an earlier record."""

import math

LIMIT = 0.97


def against(entries, before):
    """(text, how many rows have lost). Our rates are compared where both records have one, and
    beside each what became of its ratio to the best peer: a row where that stayed has lost to the
    card, not to the compiler.
    """
    old = {entry["item"]: entry for entry in before}
    found = []
    for entry in entries:
        now, then = _rate(entry), _rate(old.get(entry["item"]))
        if now and then:
            found.append((now / then, entry, old[entry["item"]]))
    if not found:
        return "no row is in both records", 0
    fallen = [each for each in found if each[0] < LIMIT]
    lines = [
        f"  {entry['item']}: {change:.3f} of its rate, against the best peer"
        f" {_ratio(then)} before and {_ratio(entry)} now"
        for change, entry, then in sorted(fallen, key=lambda each: each[0])
    ]
    mean = math.exp(sum(math.log(change) for change, _, _ in found) / len(found))
    gone = [item for item in old if _rate(old[item]) and item in _failed(entries)]
    lines += [f"  {item}: it was measured before, and does not run now" for item in gone]
    head = (
        f"{len(found)} rows in both records: {mean:.3f} of their rates in the mean,"
        f" {len(fallen) + len(gone)} below {LIMIT}"
    )
    return "\n".join([head, *lines]), len(fallen) + len(gone)


def _rate(entry):
    """The best of ours."""
    rates = (
        [r["rate"] for r in entry["found"] if r["who"] == "tile" and "rate" in r] if entry else []
    )
    return max(rates, default=None)


def _ratio(entry):
    ours = next((b["ours"] for b in entry["bars"] if b["against"] == "best peer"), None)
    return "-" if ours is None else f"{ours:.3f}"


def _failed(entries):
    return {
        entry["item"]
        for entry in entries
        if _rate(entry) is None and any(r["who"] == "tile" for r in entry["found"])
    }
