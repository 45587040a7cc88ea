#!/usr/bin/env python3
"""Builds the documentation site: build.py --tilec PROGRAM --out FOLDER. Needs MkDocs with the
Material theme and tile-pygments.

Pages are the Markdown files of docs/, the README and CONTRIBUTING, one page for each example with
its measured speed, and tables generated from their sources: passes (passes/Passes*.td), options
(tilec --help), dtypes and built-ins (frontend/Sema). The site opens from the file system; its
search needs no server.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CONFIG = """site_name: Tile
docs_dir: pages
site_dir: {out}
use_directory_urls: false
theme:
  name: material
  font: false
  palette:
    - {{media: "(prefers-color-scheme: light)", scheme: default, primary: teal}}
    - {{media: "(prefers-color-scheme: dark)", scheme: slate, primary: teal}}
  features: [navigation.sections, navigation.top, content.code.copy, toc.follow]
plugins: [search, offline]
markdown_extensions:
  - tables
  - toc: {{permalink: true}}
  - pymdownx.highlight
  - pymdownx.superfences
validation:
  links: {{not_found: warn, unrecognized_links: ignore}}
nav:
{nav}
"""
SECTIONS = (
    (
        "Start",
        (
            "README.md",
            "Tutorial.md",
            "guides/python.md",
            "guides/playground.md",
            "guides/from_triton.md",
            "guides/from_cuda.md",
            "guides/from_helion.md",
            "Speed.md",
            "FAQ.md",
            "Glossary.md",
        ),
    ),
    (
        "Guides",
        (
            "guides/variants.md",
            "guides/tuning.md",
            "guides/c.md",
            "guides/cpp.md",
            "guides/compile.md",
            "Packages.md",
            "Stability.md",
            "CompileRequest.md",
            "Pipelining.md",
            "Tuning.md",
        ),
    ),
    (
        "Reference",
        ("Language.md", "language/*", "Library.md", "Examples.md", "Math.md", "reference/*"),
    ),
    ("Examples", ("examples/*",)),
    (
        "Design",
        (
            "Architecture.md",
            "CostModel.md",
            "Hopper.md",
            "Memory.md",
            "Split.md",
            "Rationale.md",
            "rationale/*",
            "Coverage.md",
            "Checklist.md",
            "notes/*",
            "CONTRIBUTING.md",
            "*",
        ),
    ),
)


def read(*path):
    with open(os.path.join(ROOT, *path), encoding="utf-8") as file:
        return file.read()


def write(folder, name, text):
    path = os.path.join(folder, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def speeds(example):
    """Lines of the GPU bench's records for one example."""
    result = json.loads(read("bench", "results", "gpu.json"))
    rows = []
    for item in result["items"]:
        if item["op"] != example:
            continue
        records = [
            r
            for r in result["records"]
            if all(r[k] == item[k] for k in ("op", "shape", "dtype")) and "rate" in r
        ]
        ours = max((r["rate"] for r in records if r["who"] == "tile"), default=None)
        others = [
            (r["rate"], r["who"])
            for r in records
            if r["who"] not in ("tile", "tile-plain", "cublas-plain", "copy")
        ]
        if ours and others:
            rate, who = max(others)
            rows.append(
                f"| {item['shape']} | {item['dtype']} | {ours:.0f} {item['unit']} | {rate:.0f}"
                f" ({who}) | {ours / rate:.2f} |"
            )
    if not rows:
        return ""
    return (
        "\n## Speed\n\nOn "
        + result["machine"].get("gpu", "a GPU")
        + ", best variant of each, one run (`bench/results/gpu.json`):\n\n"
        "| shape | dtype | Tile | best peer | ratio |\n|---|---|---|---|---|\n"
        + "\n".join(rows)
        + "\n"
    )


def examplePages(pages):
    for name in sorted(os.listdir(os.path.join(ROOT, "examples"))):
        if not os.path.exists(os.path.join(ROOT, "examples", name, name + ".tile")):
            continue
        said = (
            read("examples", name, "README.md")
            if os.path.exists(os.path.join(ROOT, "examples", name, "README.md"))
            else ""
        )
        write(
            pages,
            f"examples/{name}.md",
            f"# {name}\n\n{said}\n```tile\n"
            f"{read('examples', name, name + '.tile')}```\n{speeds(name)}",
        )


def passPage():
    """Every pass with its summary and description, out of its definition."""
    text = "\n".join(
        read("passes", f"Passes{part}.td") for part in ("", "Layouts", "Schedule", "Convert")
    )
    entries = []
    for match in re.finditer(r'^def \w+\s*:\s*Pass<"([^"]+)".*?^}', text, re.M | re.S):
        summary = re.search(r'let summary =\s+"([^"]*)"', match[0])
        description = re.search(r"let description = \[\{(.*?)\}\]", match[0], re.S)
        body = "\n".join(
            line[4:] if line.startswith("    ") else line
            for line in (description[1] if description else "").splitlines()
        )
        entries.append(f"## {match[1]}\n\n*{summary[1] if summary else ''}*\n\n{body.strip()}\n")
    return "# Passes\n\nGenerated from `passes/Passes*.td`.\n\n" + "\n".join(entries)


def optionsPage(tilec):
    page = "# Options of tilec\n"
    for command in (
        [],
        ["run"],
        ["tune"],
        ["explain"],
        ["debug"],
        ["check"],
        ["fmt"],
        ["fix"],
        ["inspect"],
        ["link"],
    ):
        said = subprocess.run(
            [tilec] + command + ["--help"], capture_output=True, text=True, check=True
        ).stdout
        page += f"\n## {' '.join(['tilec'] + command)}\n\n```text\n{said}```\n"
    return page


def builtinsPage():
    """Built-ins with their arguments and meaning, out of the table that the compiler reads."""
    table = read("frontend", "Sema", "Builtins.cpp")
    text = "".join(read("docs", "language", page) for page in ("Operations.md", "Access.md"))
    text += read("docs", "language", "Memory.md")
    # A rule is a list item, which may have several lines.
    rules = re.findall(r"(?ms)^- \*\*([A-Z]\d+\.\d+)\*\*(.*?)(?=^- |^#|\Z)", text)
    rows = {}
    literal = r'((?:"(?:[^"\\]|\\.)*"\s*)+)'
    pattern = rf'\{{"(\w+)",\s*F::\w+,\s*\w+,\s*\w+,\s*\{{[^}}]*\}},\s*{literal},\s*{literal}\}}'
    for name, arguments, meaning in re.findall(pattern, table):
        texts = [
            "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', literals))
            .replace('\\"', '"')
            .replace("|", "\\|")
            for literals in (arguments, meaning)
        ]
        rule = next((number for number, said in rules if re.search(rf"`[^`]*\b{name}\b", said)), "")
        rows.setdefault(name, f"| `{name}` | {texts[0]} | {texts[1]} | {rule} |")
    return (
        "# Built-in functions\n\nGenerated from the compiler's table, with the rule that mentions"
        " the function first.\n\n| name | arguments | meaning | rule |\n|---|---|---|---|\n"
        + "\n".join(rows[name] for name in sorted(rows))
        + "\n"
    )


def dtypesPage():
    """Dtypes with their width and use, out of the table that the compiler reads."""
    rows = re.findall(
        r'^DTYPE\(\w+, "(\w+)", (\d+), (\w+), (\w+), (\w+)', read("manifest", "Dtypes.def"), re.M
    ) + [("index", "64", "Signed", "Computed", "None")]

    def use(row):
        if row[3] == "Computed":
            return "all operations"
        return "loaded, moved, converted" + ("" if row[4] == "None" else ", stored, `dot`")

    return (
        "# Dtypes\n\nGenerated from the compiler's table; the rules are in"
        " [Types](../language/Types.md).\n\n| name | bits | kind | use |\n|---|---|---|---|\n"
        + "".join(
            f"| `{row[0]}` | {row[1]} | {row[2].lower()} | {use(row)} |\n" for row in rows
        )
    )


def speedPage(pages):
    """The page of bench/page.py, drawn from bench/results, and a page that shows it."""
    folder = os.path.join(pages, "speed")
    os.makedirs(folder, exist_ok=True)
    script = os.path.join(ROOT, "bench", "page.py")
    subprocess.run([sys.executable, script, "-o", os.path.join(folder, "gpu.html")], check=True)
    write(
        pages,
        "Speed.md",
        "# Speed\n\nDrawn from `bench/results` by `bench/page.py`; `bench/README.md` says what is"
        " measured and how. [The page alone](speed/gpu.html).\n\n"
        '<iframe src="speed/gpu.html" title="Speed" style="width: 100%; height: 80vh; border: 0">'
        "</iframe>\n",
    )


def navigation(pages):
    """The pages in SECTIONS' order; what no section names stands under the last."""
    every = sorted(
        os.path.relpath(os.path.join(folder, name), pages)
        for folder, _, names in os.walk(pages)
        for name in names
        if name.endswith(".md")
    )
    taken, lines = set(), []
    for title, patterns in SECTIONS:
        lines.append(f"  - {title}:")
        for pattern in patterns:
            prefix = pattern[:-1]
            found = [
                p
                for p in every
                if p not in taken
                and (p == pattern if not pattern.endswith("*") else p.startswith(prefix))
            ]
            for page in found:
                taken.add(page)
                lines.append(f"    - {page}")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("--tilec", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument(
        "--pages-only",
        action="store_true",
        help="write the pages beside OUT and stop before MkDocs",
    )
    options = parser.parse_args()
    out = os.path.abspath(options.out)
    work = out + "-source"
    pages = os.path.join(work, "pages")
    shutil.rmtree(work, ignore_errors=True)
    shutil.copytree(os.path.join(ROOT, "docs"), pages, ignore=shutil.ignore_patterns("site"))
    for name in ("CONTRIBUTING.md", "CHANGELOG.md"):
        shutil.copy(os.path.join(ROOT, name), pages)
    # Links of docs/README.md to files beside docs/ stay inside of the site.
    index = (
        read("docs", "README.md")
        .replace("](../README.md)", "](Overview.md)")
        .replace("](../CONTRIBUTING.md)", "](CONTRIBUTING.md)")
    )
    write(pages, "README.md", index)
    write(pages, "Overview.md", re.sub(r"\]\(docs/", "](", read("README.md")))
    examplePages(pages)
    write(pages, "reference/passes.md", passPage())
    write(pages, "reference/options.md", optionsPage(os.path.abspath(options.tilec)))
    write(pages, "reference/builtins.md", builtinsPage())
    write(pages, "reference/dtypes.md", dtypesPage())
    speedPage(pages)
    write(work, "mkdocs.yml", CONFIG.format(out=json.dumps(out), nav=navigation(pages)))
    if options.pages_only:
        return 0
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "-q", "-f", os.path.join(work, "mkdocs.yml")],
        check=False,
        env=dict(os.environ, NO_MKDOCS_2_WARNING="1"),
    )
    print(
        f"{sum(name.endswith('.html') for _, _, names in os.walk(out) for name in names)} pages:"
        f" {out}/index.html"
    )
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
