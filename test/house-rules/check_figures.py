"""What the documents state that a script can recompute: check_figures.py ROOT [DOCUMENTS].

Speeds in README.md against bench/results, errors in docs/Math.md against the bounds that its test
measures, versions of formats against the sources. DOCUMENTS: a folder with other copies of
README.md and docs/, to see that mistakes are found.
"""

import glob
import json
import math
import os
import re
import sys

ROOT = sys.argv[1]
DOCUMENTS = sys.argv[2] if len(sys.argv) > 2 else ROOT
wrong = []


def document(name):
    with open(os.path.join(DOCUMENTS, name), encoding="utf-8") as file:
        return file.read()


def results(name):
    with open(os.path.join(ROOT, "bench", "results", name), encoding="utf-8") as file:
        return json.load(file)


def expect(text, where, pattern, *values):
    """`pattern` has a group for each value; each must be the value, rounded to the digits that are
    written.
    """
    found = re.search(pattern, " ".join(text.split()))
    if not found:
        wrong.append(f"{where}: nothing reads like '{pattern}'")
        return
    for written, value in zip(found.groups(), values):
        digits = len(written.partition(".")[2])
        if abs(float(written) - value) > 0.5001 * 10**-digits:
            wrong.append(
                f"{where}: {written} where the record has {value:.{digits + 2}f}, in"
                f" '{found.group(0)}'"
            )


# The first words of a row of the README's table, and the item of bench/gpu.py: its operation and
# dtype.
ROWS = [
    ("matmul f16, bias and GELU", "matmul_bias_gelu", "f16"),
    ("matmul f16", "matmul", "f16"),
    ("matmul f8e4m3", "matmul_f8", "f8e4m3"),
    ("matmul i8", "matmul_int8", "i8"),
    ("matmul i4 x f16", "matmul_w4", "f16"),
    ("attention backward f16", "attention_backward", "f16"),
    ("attention f16", "attention", "f16"),
    ("attention bf16", "attention", "bf16"),
    ("softmax f32", "softmax", "f32"),
    ("layer norm f16", "layer_norm", "f16"),
    ("RMS norm f16", "rms_norm", "f16"),
    ("cross-entropy f16", "cross_entropy", "f16"),
    ("vector add f32", "vector_add", "f32"),
    ("grouped matmul f16", "grouped_matmul", "f16"),
]


def shapesOf(what, size):
    """The shapes of bench/gpu.py that a row's cells stand for, one for each ratio or one for
    several.
    """
    sizes = [part.strip() for part in re.sub(r"\(.*?\)| elements", "", size).split(";")]
    if not what.startswith("attention"):
        experts = re.search(r"(\d+) experts", what)
        return [
            (f"E{experts[1]} " if experts else "") + re.sub(r"\s*x\s*", "x", each) for each in sizes
        ]
    batch, heads, length = re.fullmatch(r"batch (\d+), (\d+) heads, (\d+)", sizes[0]).groups()
    groups, width = re.search(r"(\d+) heads of keys", what), re.search(r"D = (\d+)", what)[1]
    return [
        f"B{batch} H{heads}{f' G{groups[1]}' if groups else ''} S{length} D{width} {mask}"
        for mask in ("full", "causal")
    ]


def checkSpeeds(readme):
    items = {
        (item["op"], item["shape"], item["dtype"]): item for item in results("gpu.json")["items"]
    }
    rows, what = 0, ""
    for line in readme.splitlines():
        cells = (
            [cell.strip() for cell in line.strip("| ").split("|")] if line.startswith("|") else []
        )
        if line.startswith("| | "):
            cells = [what] + cells
        if len(cells) != 4 or not re.search(r"\d\.\d\d", cells[3]):
            continue
        what, size, against, ratios = cells
        match = next((row for row in ROWS if what.startswith(row[0])), None)
        if not match:
            wrong.append(f"README.md: no item of bench/gpu.py is known for '{what}'")
            continue
        rows += 1
        shapes, numbers = shapesOf(what, size), re.findall(r"\d+\.\d+", ratios)
        for i, number in enumerate(numbers):
            shape = shapes[i] if len(shapes) == len(numbers) else shapes[0]
            item = items.get((match[1], shape, match[2]))
            if not item:
                wrong.append(
                    f"README.md: bench/results/gpu.json has no {match[1]} {shape} {match[2]}, for"
                    f" '{what}'"
                )
            elif all(f"{bar['ours']:.2f}" != number for bar in item["bars"] if bar["ours"]):
                wrong.append(
                    f"README.md: {number} for '{what}' {shape} is no ratio of its bars, "
                    + ", ".join(f"{bar['ours']:.2f}" for bar in item["bars"] if bar["ours"])
                )
    if rows < 15:
        wrong.append(f"README.md: {rows} rows of speeds were found, expected at least 15")


def checkReadme():
    readme = document("README.md")
    checkSpeeds(readme)
    examples = len(glob.glob(os.path.join(ROOT, "examples", "*", "reference.py")))
    expect(readme, "README.md", r"(\d+) kernels with references", examples)
    ratios = [
        record["ratio"] for record in results("defaults.json")["records"] if record.get("ratio")
    ]
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
    expect(
        readme,
        "README.md",
        r"run at (\d\.\d+) of the best configuration .*? over (\d+) shapes; the least is (\d\.\d+)",
        mean,
        len(ratios),
        min(ratios),
    )
    tune = results("tune.json")
    expect(
        readme,
        "README.md",
        r"takes (\d\.\d+) of the time of trying everything, (\d+) seconds, and its choices take"
        r" (\d\.\d+) times as long "
        r"as the best \(.*?\); those of trying everything, (\d\.\d+)",
        tune["search_s"] / tune["exhaustive_s"],
        tune["search_s"],
        tune["quality"],
        tune["exhaustive_quality"],
    )
    c, python = results("launch.json")["c_ns"], results("launch.json")["python_ns"]
    driver = c["cuLaunchKernel"]
    expect(
        readme,
        "README.md",
        r"from C (\d\.\d) us by `cuLaunchKernel`, (\d\.\d+) us more by the runtime library with all"
        r" checks and (\d\.\d+) us without, "
        r"(\d\.\d+) us by a prepared call, (\d\.\d+) us by generated C; from Python (\d\.\d) us,"
        r" (\d\.\d+) of Triton's",
        driver / 1000,
        (c["library"] - driver) / 1000,
        (c["library unchecked"] - driver) / 1000,
        (c["prepared"] - driver) / 1000,
        (c["generated C"] - driver) / 1000,
        python["tile"] / 1000,
        python["tile"] / python["triton"],
    )


def checkMath():
    """The errors that docs/Math.md lists are below the bounds that the test of tile-expand-math
    holds, and not far below.
    """
    path = os.path.join(ROOT, "test", "passes", "tile-expand-math", "accuracy.py")
    text = open(path, encoding="utf-8").read()
    bounds = {
        name: (float(a), float(b))
        for name, a, b in re.findall(r'"(\w+)": \((\d+\.\d+), (\d+\.\d+), \(', text)
    }
    listed = {
        name: (float(a), float(b))
        for name, a, b in re.findall(
            r"^\| (\w+) \| (\d+\.\d+) \| (\d+\.\d+) \|$", document("docs/Math.md"), re.M
        )
    }
    if set(bounds) != set(listed):
        wrong.append(f"docs/Math.md: lists {sorted(listed)}, the test measures {sorted(bounds)}")
    for name in set(bounds) & set(listed):
        for error, bound in zip(listed[name], bounds[name]):
            if not 0.45 * bound <= error <= bound:
                wrong.append(f"docs/Math.md: {name} errs by {error}, its test allows {bound}")


def checkVersions():
    packages = document("docs/Packages.md")
    version = re.search(
        r"packageVersion = (\d+)|formatVersion = (\d+)",
        open(os.path.join(ROOT, "formats", "Package.h"), encoding="utf-8").read()
        + open(os.path.join(ROOT, "formats", "Package.cpp"), encoding="utf-8").read(),
    )
    number = version and (version[1] or version[2])
    if not number:
        wrong.append("formats/Package: no version was found")
    for pattern in (
        r"manifest\.json, version (\d+)",
        r'"format": "tile-package", "version": (\d+)',
    ):
        found = re.search(pattern, packages)
        if not found or found[1] != number:
            wrong.append(f"docs/Packages.md: '{pattern}' where formats/ has version {number}")
    if "A reader takes its own version," not in packages:
        wrong.append("docs/Packages.md: does not say that a reader takes its own version alone")


checkReadme()
checkMath()
checkVersions()
print("\n".join(wrong))
sys.exit(bool(wrong))
