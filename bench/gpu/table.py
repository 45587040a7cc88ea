"""One table: what each contender reaches, and our part of the best of those that a bar names."""

import math


def line(entry):
    """One item in one line."""
    best = {}
    for record in entry["found"]:
        if "rate" in record:
            best[record["who"]] = max(record["rate"], best.get(record["who"], 0.0))
    cells = []
    if "tile" in best:
        cells.append(f"tile {best.pop('tile'):.0f}")
    else:
        why = next(
            (r["failed"] for r in entry["found"] if r["who"] == "tile" and "failed" in r),
            "not measured",
        )
        cells.append("tile FAILED (" + why[:70] + ")" if why != "not measured" else "tile -")
    cells += [f"{who} {rate:.0f}" for who, rate in sorted(best.items(), key=lambda pair: -pair[1])]
    gone = sorted(
        {r["who"] for r in entry["found"] if "failed" in r and r["who"] != "tile"} - set(best)
    )
    bars = ", ".join(verdict(bar) for bar in entry["bars"] if bar["ours"] is not None)
    return (
        f"{entry['item']:46} {' | '.join(cells)} {entry['unit']}"
        + (f" [no {', '.join(gone)}]" if gone else "")
        + (f"  => {bars}" if bars else "")
    )


def verdict(bar):
    return (
        f"{bar['ours']:.2f} of {bar['against']} (bar"
        f" {bar['ratio']:g}{'' if bar['ours'] >= bar['ratio'] else ', missed'})"
    )


def render(entries):
    """All items below each other, one column for each ratio."""
    rows = [("operation", "tile", "best peer", "who", "ratio", "bar", "against", "")]
    reached = total = 0
    for entry in entries:
        rates = {}
        for record in entry["found"]:
            if "rate" in record:
                rates[record["who"]] = max(record["rate"], rates.get(record["who"], 0.0))
        ours = rates.pop("tile", None)
        rates.pop("tile-plain", None)
        peer = max(
            ((rate, who) for who, rate in rates.items() if who not in ("copy", "cublas-plain")),
            default=(None, "-"),
        )
        for index, bar in enumerate(
            entry["bars"] or [{"ours": None, "ratio": None, "against": "-"}]
        ):
            first = index == 0
            good = bar["ours"] is not None and bar["ours"] >= bar["ratio"]
            total += bar["ratio"] is not None
            reached += good
            rows.append(
                (
                    entry["item"] if first else "",
                    number(ours, entry["unit"]) if first else "",
                    number(peer[0], entry["unit"]) if first else "",
                    peer[1] if first else "",
                    "-" if bar["ours"] is None else f"{bar['ours']:.3f}",
                    "-" if bar["ratio"] is None else f"{bar['ratio']:g}",
                    bar["against"],
                    (
                        ""
                        if bar["ratio"] is None
                        else (
                            "reached"
                            if good
                            else "missed"
                            if bar["ours"] is not None
                            else "no result"
                        )
                    ),
                )
            )
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    text = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows
    ]
    text.insert(1, "-" * min(150, max(len(t) for t in text)))
    text.append(f"{reached} of {total} bars reached")
    reasons = {}
    for entry in entries:
        for record in entry["found"]:
            if "failed" in record:
                reasons.setdefault((entry["item"], record["who"], record["failed"]), []).append(
                    record.get("variant", "")
                )
    if reasons:
        text += ["", f"what did not run ({sum(len(v) for v in reasons.values())}):"]
        for (item, who, why), variants in sorted(reasons.items()):
            name = (
                who + (f"[{variants[0]}]" if variants[0] else "")
                if len(variants) == 1
                else f"{who} ({len(variants)} variants)"
            )
            text.append(f"  {item}, {name}: {why}"[:200])
    return "\n".join(text)


def families(entries):
    """One line for each family: how many rows, the geometric mean and the least of our rates over
    the best peer's, and where that is.
    """
    groups = {}
    for entry in entries:
        groups.setdefault(entry["family"], []).append(entry)
    lines = [f"{'family':20} rows   mean  least  where; without a ratio"]
    for name, members in groups.items():
        lines.append(_family(name, members))
    return "\n".join(lines + ([_family("all", entries)] if len(groups) > 1 else []))


def _family(name, entries):
    ratios = {
        entry["item"]: bar["ours"]
        for entry in entries
        for bar in entry["bars"]
        if bar["against"] == "best peer" and bar["ours"] is not None
    }
    without = sum(entry["item"] not in ratios for entry in entries)
    if not ratios:
        return f"{name:20} {len(entries):4}      -      -  ; {without}"
    mean = math.exp(sum(map(math.log, ratios.values())) / len(ratios))
    least = min(ratios, key=ratios.get)
    return f"{name:20} {len(entries):4}  {mean:.3f}  {ratios[least]:.3f}  {least}; {without}"


def brief(entries):
    """What did not run, each reason once, and the families: little enough for the end of a log."""
    reasons = {}
    for entry in entries:
        for record in entry["found"]:
            if "failed" in record:
                key = (record["who"], record["failed"][:150])
                reasons.setdefault(key, []).append(entry["item"])
    lines = [
        f"  {who}: {why} ({items[0]}" + (f" and {len(items) - 1} more)" if items[1:] else ")")
        for (who, why), items in sorted(reasons.items(), key=lambda pair: -len(pair[1]))[:20]
    ]
    head = [f"what did not run ({len(reasons)} reasons):"] if reasons else []
    return "\n".join(head + lines + [families(entries)])


def summary(entries):
    """Our ratios to another release: how many, their geometric mean, the least, and kernels that
    spill where that one did not.
    """
    ratios = {
        entry["item"]: bar["ours"]
        for entry in entries
        for bar in entry["bars"]
        if bar["ours"] is not None
    }
    if not ratios:
        return "no item was measured for both versions"
    mean = math.exp(sum(map(math.log, ratios.values())) / len(ratios))
    least = min(ratios, key=ratios.get)
    spills = [
        entry["item"] for entry in entries if spilled(entry, "tile") > spilled(entry, "against")
    ]
    return (
        f"{len(ratios)} items: geometric mean {mean:.3f}, least {ratios[least]:.3f} ({least}); "
        f"more spills than before: {', '.join(spills) or 'none'}"
    )


def spilled(entry, who):
    return max(
        (record.get("spill_bytes", 0) for record in entry["found"] if record["who"] == who),
        default=0,
    )


def number(rate, unit):
    return "-" if rate is None else f"{rate:.0f} {unit}"
