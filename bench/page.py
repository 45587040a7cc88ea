#!/usr/bin/env python3
"""The records of bench/results as one page: page.py -o FILE.html [--results FOLDER]. It needs no
network and no GPU.

What is compared, by how much, and in which unit; each dot and bar says more under the pointer.
"""

import argparse
import html
import json
import math
import os

from gpu import strips

HERE = os.path.dirname(os.path.abspath(__file__))
PEERS = {
    "cublas": "cuBLAS",
    "cublaslt": "cuBLASLt",
    "cublaslt-accurate": "cuBLASLt",
    "cudnn": "cuDNN",
    "cudnn-expanded": "cuDNN",
    "cudnn-autograd": "cuDNN",
    "flash": "FlashAttention 2",
    "eager": "PyTorch",
    "compile": "PyTorch compiled",
    "triton": "Triton",
    "triton-tma": "Triton, TMA",
}
# Contenders that do other work: ours without an epilogue, copies, and products whose weights are
# unpacked already.
OTHERS = ("tile", "tile-plain", "cublas-plain", "copy", "cublas-f16")
UNPACKED = "Beside products of weights that are f16 already (not counted above)"
FAMILIES = {
    "matmul": "Matrix products",
    "attention": "Attention",
    "rows": "Rows: softmax and norms",
    "memory": "Memory",
}
STYLE = """
:root { color-scheme: light dark; --bg: #f6f7f9; --surface: #fff; --text: #1b1e24;
  --muted: #5f6673; --line: #dfe3e9;
  --ours: #2563c9; --peer: #a3acba; --good: #1d7f45; --bad: #b3312c; }
@media (prefers-color-scheme: dark) { :root { --bg: #121419; --surface: #1a1d24; --text: #e4e7ec;
  --muted: #98a1b0;
  --line: #2c313b; --ours: #7fabff; --peer: #59616f; --good: #63c98b; --bad: #f08a84; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--bg); color: var(--text); line-height: 1.5; font-size: 15px;
  font-family: Inter, "Segoe UI", system-ui, -apple-system, "DejaVu Sans", sans-serif; }
main { max-width: 1180px; margin: 0 auto; padding: 1.6rem 1.4rem 3rem; }
h1 { font-size: 1.5rem; margin: 0; } h2 { font-size: 1.05rem; margin: 0 0 .3rem; }
p { margin: .2rem 0 .8rem; color: var(--muted); max-width: 80ch; font-size: .9rem; }
.cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(190px, 1fr)); gap: .8rem;
  margin: 1rem 0; }
.card { background: var(--surface); border: 1px solid var(--line); border-radius: .7rem;
  padding: 1rem 1.1rem; margin-bottom: 1rem; }
.cards .card { margin: 0; } .label { color: var(--muted); font-size: .8rem; }
.value { font-size: 1.6rem; font-weight: 600; }
.more { color: var(--muted); font-size: .8rem; }
svg { display: block; width: 100%; height: auto; } text { fill: var(--text); font-size: 12px; }
text.muted { fill: var(--muted); } text.head { font-weight: 600; }
.legend { display: flex; gap: 1.2rem; color: var(--muted); font-size: .82rem; }
details { margin: .4rem 0; } summary { cursor: pointer; font-size: .9rem; }
.legend i { display: inline-block; width: .75rem; height: .75rem; border-radius: .4rem;
  margin-right: .35rem; }
"""


def readJson(folder, name):
    path = os.path.join(folder, name)
    if not os.path.exists(path):
        return None
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def geomean(values):
    values = list(values)
    return math.exp(sum(map(math.log, values)) / len(values)) if values else 0.0


def familyOf(item):
    op = item["op"]
    if "attention" in op:
        return FAMILIES["attention"]
    if "matmul" in op or "matvec" in op:
        return FAMILIES["matmul"]
    return FAMILIES["memory"] if op == "vector_add" else FAMILIES["rows"]


def collect(results):
    """Of each item ours and its best peer, by family: (title, ours, peer, peer's name, unit)."""
    families = {}
    for item in results["items"]:
        records = [
            r
            for r in results["records"]
            if all(r[k] == item[k] for k in ("op", "shape", "dtype")) and "rate" in r
        ]
        ours = max((r["rate"] for r in records if r["who"] == "tile"), default=None)
        peers = [(r["rate"], r["who"]) for r in records if r["who"] not in OTHERS]
        if ours is None or not peers:
            continue
        rate, who = max(peers)
        title = (
            f"{item['op'].replace('_', ' ')} {item['dtype']}  {item['shape'].replace('x', ' × ')}"
        )
        families.setdefault(familyOf(item), []).append(
            (title, ours, rate, PEERS.get(who, who), item["unit"])
        )
        for record in records:
            if record["who"] == "cublas-f16":
                families.setdefault(UNPACKED, []).append(
                    (title, ours, record["rate"], "cuBLAS, f16 weights", item["unit"])
                )
    return {name: families[name] for name in (*FAMILIES.values(), UNPACKED) if name in families}


def text(x, y, words, kind="", anchor="start"):
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" class="{kind}"'
        f' text-anchor="{anchor}">{html.escape(words)}</text>'
    )


def ratioChart(families):
    """A dot for each item on a logarithmic axis around 1."""
    rows = sum(len(items) + 1.85 for items in families.values())
    row, left, right, width, top = 21, 390, 210, 1130, 34
    height = top + rows * row
    every = [ours / peer for items in families.values() for _, ours, peer, _, _ in items]
    low, high = min(0.8, min(every) / 1.05), max(1.5, max(every) * 1.06)

    def x(ratio):
        return left + (width - left - right) * math.log(ratio / low) / math.log(high / low)

    parts = [
        f'<svg viewBox="0 0 {width} {height:.0f}" role="img" aria-label="our speed over that of the'
        ' best peer" id="ratios">'
    ]
    for tick in (0.5, 0.8, 1.0, 1.25, 1.5, 2.0, 3.0):
        if low <= tick <= high:
            parts.append(
                f'<line x1="{x(tick):.1f}" x2="{x(tick):.1f}" y1="{top - 8}" y2="{height:.0f}" '
                f'stroke="var(--{"muted" if tick == 1 else "line"})"/>'
            )
            parts.append(
                text(x(tick), 16, f"{tick:g} ×" if tick != 1 else "as fast", "muted", "middle")
            )
    y = top
    for name, items in families.items():
        y += row * 0.9
        parts.append(text(0, y + 4, name, "head"))
        y += row * 0.95
        for title, ours, peer, who, unit in items:
            ratio = ours / peer
            color = "good" if ratio >= 1 else "bad"
            say = html.escape(f"{title}: {ours:.0f} {unit}, {who} {peer:.0f} {unit}")
            parts.append(f"<g><title>{say}</title>")
            parts.append(text(16, y + 4, title))
            parts.append(
                f'<line x1="{x(1):.1f}" x2="{x(ratio):.1f}" y1="{y:.1f}" y2="{y:.1f}"'
                f' stroke="var(--{color})" stroke-width="2.5"/>'
            )
            parts.append(f'<circle cx="{x(ratio):.1f}" cy="{y:.1f}" r="5" fill="var(--{color})"/>')
            parts.append(text(width - right + 12, y + 4, f"{ratio:.2f}  {who}", "muted"))
            parts.append("</g>")
            y += row
    return "".join(parts) + "</svg>"


def rateChart(families, unit):
    """Ours and the best peer's, in the unit of the items."""
    items = [
        each
        for name, group in families.items()
        for each in group
        if each[4] == unit and name != UNPACKED
    ]
    row, left, right, width = 27, 390, 110, 1130
    most = max(max(ours, peer) for _, ours, peer, _, _ in items)
    parts = [
        f'<svg viewBox="0 0 {width} {len(items) * row + 6}" role="img" aria-label="rates in'
        f' {unit}">'
    ]
    for i, (title, ours, peer, who, _) in enumerate(items):
        y, scale = i * row + 4, (width - left - right) / most
        parts.append(
            f"<g><title>{html.escape(f'{title}: {ours:.0f}, {who} {peer:.0f} {unit}')}</title>"
            + text(16, y + 15, title)
        )
        parts.append(
            f'<rect x="{left}" y="{y}" width="{ours * scale:.1f}" height="11" rx="2"'
            ' fill="var(--ours)"/>'
        )
        parts.append(
            f'<rect x="{left}" y="{y + 12}" width="{peer * scale:.1f}" height="7" rx="2"'
            ' fill="var(--peer)"/>'
        )
        parts.append(
            text(left + max(ours, peer) * scale + 8, y + 14, f"{ours:.0f} / {peer:.0f}", "muted")
            + "</g>"
        )
    return "".join(parts) + "</svg>"


def barChart(rows, unit, mine):
    """Bars with their values; those of `mine` are ours."""
    row, left, right, width = 24, 390, 120, 1130
    most = max(value for _, value in rows)
    parts = [f'<svg viewBox="0 0 {width} {len(rows) * row + 4}" role="img">']
    for i, (name, value) in enumerate(rows):
        length = (width - left - right) * value / most
        parts.append(text(16, i * row + 16, name))
        parts.append(
            f'<rect x="{left}" y="{i * row + 4}" width="{length:.1f}" height="15" rx="2" '
            f'fill="var(--{"ours" if mine(name) else "peer"})"/>'
        )
        parts.append(
            text(
                left + length + 8,
                i * row + 16,
                f"{value:.2f} {unit}" if value < 100 else f"{value:.0f} {unit}",
                "muted",
            )
        )
    return "".join(parts) + "</svg>"


def card(title, note, body, legend=""):
    return f'<div class="card"><h2>{title}</h2><p>{note}</p>{body}{legend}</div>'


def figure(label, value, more):
    return (
        f'<div class="card"><div class="label">{label}</div><div class="value">{value}</div><div'
        f' class="more">{more}</div></div>'
    )


def ofModels(folder):
    """(figures, cards) of the rows of models; two empty lists where there is no record."""
    results = readJson(folder, "models.json")
    families = strips.rows(results, PEERS, OTHERS) if results else {}
    if not families:
        return [], []
    ratios = [ours / peer for items in families.values() for _, ours, peer, _, _ in items]
    figures = [
        figure(
            "rows of models, without tuning",
            f"{geomean(ratios):.2f} ×",
            f"{sum(r >= 0.995 for r in ratios)} of {len(ratios)} at least as fast as the best peer",
        )
    ]
    lists = "".join(
        f"<details><summary>{html.escape(name)}: {len(items)} rows</summary>"
        + ratioChart({name: items})
        + "</details>"
        for name, items in families.items()
    )
    note = (
        "Shapes of Llama 3, Qwen 3, DeepSeek V3, Mixtral, gpt-oss, GPT-2, ViT, ResNet-50, DLRM and"
        " odd ones; what tilec chooses without tuning, beside the strongest kernel that there is."
        " Each dot is a row, the bar a family's geometric mean; to the right Tile is faster. "
        + html.escape(results["machine"].get("gpu", ""))
    )
    return figures, [card("Rows of models", note, strips.chart(families) + lists)]


def makePage(folder):
    results = readJson(folder, "gpu.json")
    families = collect(results)
    every = [each for name, items in families.items() for each in items if name != UNPACKED]
    ratios = [ours / peer for _, ours, peer, _, _ in every]
    machine = results["machine"]
    figures = [
        figure(
            "speed over the best peer",
            f"{geomean(ratios):.2f} ×",
            f"geometric mean of {len(ratios)} items",
        ),
        figure(
            "items at least as fast",
            f"{sum(r >= 0.995 for r in ratios)} of {len(ratios)}",
            f"slowest {min(ratios):.2f}, fastest {max(ratios):.2f}",
        ),
    ]
    defaults, launch, times = (
        readJson(folder, name) for name in ("defaults.json", "launch.json", "compile_time.json")
    )
    if defaults:
        quality = [r["ratio"] for r in defaults["records"] if r.get("ratio")]
        figures.append(
            figure(
                "without tuning",
                f"{geomean(quality):.3f}",
                f"of the best found, over {len(quality)} shapes",
            )
        )
    if launch:
        figures.append(
            figure(
                "a launch from Python",
                f"{launch['python_ns']['tile'] / 1000:.1f} µs",
                f"Triton {launch['python_ns']['triton'] / 1000:.1f} µs",
            )
        )
    more, cards = ofModels(folder)
    body = ['<div class="cards">', *figures, *more, "</div>", *cards]
    colors = (
        '<div class="legend"><span><i style="background:var(--good)"></i>Tile is faster</span>'
        '<span><i style="background:var(--bad)"></i>the peer is faster</span></div>'
    )
    bars = (
        '<div class="legend"><span><i style="background:var(--ours)"></i>Tile</span>'
        '<span><i style="background:var(--peer)"></i>best peer</span></div>'
    )
    body.append(
        card(
            "How fast beside the best peer",
            "Our rate over that of the fastest library, PyTorch or Triton kernel of the same run;"
            " to the right of the line Tile is faster. The number and the peer's name stand at the"
            " end of each row.",
            ratioChart(families),
            colors,
        )
    )
    for unit in sorted({each[4] for each in every}, reverse=True):
        body.append(
            card(
                f"In {unit}",
                "The best variant of each, found by the same rule.",
                rateChart(families, unit),
                bars,
            )
        )
    if launch:
        rows = [(f"C: {name}", value / 1000) for name, value in launch["c_ns"].items()]
        rows += [(f"Python: {name}", value / 1000) for name, value in launch["python_ns"].items()]
        peers = ("cuLaunchKernel", "triton", "torch add_")
        body.append(
            card(
                "A launch",
                "Time of the host for one launch.",
                barChart(rows, "µs", lambda n: not n.endswith(peers)),
                bars,
            )
        )
    if times:
        rows = []
        for row in times.get("beside_triton", []):
            rows += [
                (f"{row['name']}: tilec", row["ms"]),
                (f"{row['name']}: Triton", row["triton_ms"]),
            ]
        if rows:
            body.append(
                card(
                    "Compile times",
                    f"A new process to a cubin on {times['cores']} cores; Triton without its"
                    " imports.",
                    barChart(rows, "ms", lambda n: n.endswith("tilec")),
                    bars,
                )
            )
    title = f"Tile on one {machine.get('gpu', 'GPU')}"
    versions = ", ".join(
        f"{name} {machine[key]}"
        for name, key in (
            ("CUDA", "cuda"),
            ("PyTorch", "torch"),
            ("Triton", "triton"),
            ("cuDNN", "cudnn"),
        )
        if key in machine
    )
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f"<title>{html.escape(title)}</title>"
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<style>{STYLE}</style></head><body><main>"
        f"<h1>{html.escape(title)}</h1><p>{html.escape(versions)};"
        " <code>bench/results</code>, drawn by <code>bench/page.py</code>. What is measured and"
        " how: <code>bench/README.md</code>.</p>" + "\n".join(body) + "</main></body></html>\n"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("-o", "--output", required=True)
    parser.add_argument("--results", default=os.path.join(HERE, "results"))
    options = parser.parse_args()
    with open(options.output, "w", encoding="utf-8") as file:
        file.write(makePage(options.results))


if __name__ == "__main__":
    main()
