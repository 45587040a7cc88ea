"""Rows of models as a chart for one look: a line for each family, a dot for each row."""

import html
import math

NAMES = {
    "attention": "Attention",
    "attention_backward": "Attention, backward",
    "decode": "Decoding",
    "matmul": "Layers",
    "batched": "Batched products",
    "matmul_8bit": "Products of 8 bits",
    "matmul_f8_scaled": "f8 with scales of blocks",
    "matmul_w4": "Weights of 4 bits",
    "moe": "Mixtures of experts",
    "conv": "Convolutions",
    "norms": "Norms, softmax",
    "losses": "Losses",
    "elementwise": "Element by element",
    "filters": "Filters, pooling",
    "selection": "Sorting, choosing, sums",
    "sequences": "Recurrences by chunks",
}
PEERS = {
    "cublaslt-best": "cuBLASLt, best algorithm",
    "fa3": "FlashAttention 3",
    "deep_gemm": "DeepGEMM",
    "cutlass": "CUTLASS",
    "marlin": "Marlin",
    "machete": "Machete",
    "triton_kernels": "triton_kernels",
    "vllm": "vLLM",
    "torch": "PyTorch",
    "liger": "Liger",
    "fla": "fla",
    "mamba_ssm": "mamba_ssm",
    "eager-scatter": "PyTorch",
}


def rows(results, names, others):
    """Of each family (title, ours, the best peer's rate, its name, unit), in the record's order.
    names: what contenders are called; others: those that do other work.
    """
    names = {**names, **PEERS}
    families = {}
    for item in results["items"]:
        found = [
            r
            for r in results["records"]
            if all(r[k] == item[k] for k in ("op", "shape", "dtype")) and "rate" in r
        ]
        ours = max((r["rate"] for r in found if r["who"] == "tile"), default=None)
        peers = [(r["rate"], r["who"]) for r in found if r["who"] not in others]
        if not ours or not peers:
            continue
        rate, who = max(peers)
        title = f"{item['op'].replace('_', ' ')} {item['dtype']}  {item['shape']}"
        family = NAMES.get(item["family"], item["family"])
        families.setdefault(family, []).append(
            (title, ours, rate, names.get(who, who), item["unit"])
        )
    return families


def chart(families):
    """Lines of dots on a logarithmic axis around 1; the bar is the geometric mean."""
    left, right, width, line, top = 220, 230, 1130, 30, 30
    height = top + line * len(families) + 6
    ratios = [ours / peer for items in families.values() for _, ours, peer, _, _ in items]
    low, high = min(0.5, min(ratios) / 1.05), max(2.0, max(ratios) * 1.05)

    def x(ratio):
        return left + (width - left - right) * math.log(ratio / low) / math.log(high / low)

    parts = [f'<svg viewBox="0 0 {width} {height}" role="img" id="models">']
    for tick in (0.125, 0.25, 0.5, 0.8, 1.0, 1.25, 2.0, 4.0, 8.0):
        if low <= tick <= high:
            color = "muted" if tick == 1 else "line"
            parts.append(
                f'<line x1="{x(tick):.1f}" x2="{x(tick):.1f}" y1="{top - 8}" y2="{height}"'
                f' stroke="var(--{color})"/>'
                f'<text x="{x(tick):.1f}" y="14" class="muted" text-anchor="middle">'
                f"{'as fast' if tick == 1 else f'{tick:g} ×'}</text>"
            )
    y = top + line / 2
    for name, items in families.items():
        each = [ours / peer for _, ours, peer, _, _ in items]
        mean = math.exp(sum(map(math.log, each)) / len(each))
        parts.append(f'<text x="0" y="{y + 4:.1f}" class="head">{html.escape(name)}</text>')
        for (title, ours, peer, who, unit), ratio in zip(items, each):
            say = f"{title}: {ratio:.2f}, {ours:.0f} {unit}, {who} {peer:.0f}"
            parts.append(
                f'<circle cx="{x(ratio):.1f}" cy="{y:.1f}" r="5" fill-opacity="0.55"'
                f' fill="var(--{"good" if ratio >= 1 else "bad"})">'
                f"<title>{html.escape(say)}</title></circle>"
            )
        parts.append(
            f'<line x1="{x(mean):.1f}" x2="{x(mean):.1f}" y1="{y - 11:.1f}" y2="{y + 11:.1f}"'
            ' stroke="var(--text)" stroke-width="2.5"/>'
        )
        faster = sum(ratio >= 0.995 for ratio in each)
        parts.append(
            f'<text x="{width - right + 12}" y="{y + 4:.1f}" class="muted">'
            f"{mean:.2f} in the mean, {faster} of {len(each)}</text>"
        )
        y += line
    return "".join(parts) + "</svg>"
