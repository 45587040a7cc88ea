"""Plots of a result file: for each family the rates of everybody, and one of our ratio to each
bar.
"""

import os

# Ours stands out; peers keep their colour in every plot.
COLOURS = {
    "tile": "#d62728",
    "cublas": "#1f77b4",
    "cublaslt": "#17becf",
    "cudnn": "#2ca02c",
    "flash": "#8c564b",
    "eager": "#7f7f7f",
    "compile": "#9467bd",
    "triton": "#ff7f0e",
    "triton-tma": "#bcbd22",
    "copy": "#c7c7c7",
    "tile-plain": "#ff9896",
    "cublas-plain": "#6baed6",
}


def _rates(entry):
    rates = {}
    for record in entry["found"]:
        if "rate" in record:
            rates[record["who"]] = max(record["rate"], rates.get(record["who"], 0.0))
    return rates


def draw(result, folder):
    """Writes gpu-FAMILY.png for each family and gpu-ratios.png; returns the paths."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot
    from .records import grouped

    os.makedirs(folder, exist_ok=True)
    entries, paths, families = grouped(result), [], {}
    for entry in entries:
        families.setdefault((entry["family"], entry["unit"]), []).append(entry)
    title = f"{result['machine'].get('gpu', '')}, {result['machine'].get('tilec', '')}"
    for (family, unit), members in families.items():
        if any(_rates(entry) for entry in members):
            units = {u for f, u in families if f == family}
            name = family if len(units) == 1 else f"{family}-{unit.split('/')[0].lower()}"
            paths.append(_bars(pyplot, name, unit, members, title, folder))
    ratios = [
        (f"{entry['item']} / {bar['against']}", bar["ours"], bar["ratio"])
        for entry in entries
        for bar in entry["bars"]
        if bar["ours"]
    ]
    if ratios:
        paths.append(_ratios(pyplot, ratios, title, folder))
    return paths


def _bars(pyplot, name, unit, members, title, folder):
    positions, labels, seen, row = [], [], set(), 0.0
    figure, axes = pyplot.subplots(
        figsize=(9, 1.2 + 0.17 * sum(len(_rates(entry)) + 1 for entry in members))
    )
    for entry in members:
        rates = sorted(_rates(entry).items(), key=lambda pair: (pair[0] != "tile", -pair[1]))
        for who, rate in rates:
            axes.barh(
                row, rate, 0.9, color=COLOURS.get(who, "#aec7e8"), label="_" * (who in seen) + who
            )
            axes.text(rate, row, f" {rate:.0f}", va="center", fontsize=6)
            seen.add(who)
            row += 1.0
        positions.append(row - 1.0 - (len(rates) - 1) / 2)
        labels.append(entry["item"])
        row += 1.0
    axes.set_yticks(positions, labels, fontsize=8)
    axes.invert_yaxis()
    axes.set_xlabel(unit)
    axes.set_title(f"{name} on {title}", fontsize=9)
    axes.legend(fontsize=7, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return _save(pyplot, figure, folder, f"gpu-{name}.png")


def _ratios(pyplot, ratios, title, folder):
    figure, axes = pyplot.subplots(figsize=(9, 1.2 + 0.22 * len(ratios)))
    rows = range(len(ratios))
    axes.barh(
        rows,
        [ours for _, ours, _ in ratios],
        color=["#2ca02c" if ours >= bar else "#d62728" for _, ours, bar in ratios],
    )
    axes.plot([bar for _, _, bar in ratios], rows, "k|", markersize=9, label="bar")
    axes.set_yticks(rows, [name for name, _, _ in ratios], fontsize=7)
    axes.invert_yaxis()
    axes.axvline(1.0, color="#7f7f7f", linewidth=0.5)
    axes.set_xlabel("our rate over theirs")
    axes.set_title(title, fontsize=9)
    axes.legend(fontsize=7)
    return _save(pyplot, figure, folder, "gpu-ratios.png")


def _save(pyplot, figure, folder, name):
    path = os.path.join(folder, name)
    figure.savefig(path, dpi=110, bbox_inches="tight")
    pyplot.close(figure)
    return path
