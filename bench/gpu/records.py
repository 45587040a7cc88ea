"""The result file: runs, and one record for each contender of each item, which names its run.

"runs" maps the time of a run to its "machine", with versions and the commit, and its "command";
"machine" and "command" beside it are those of the last run.
"""

import hashlib
import json
import platform
import subprocess
import sys
import time

import resultfile

from .paths import ROOT, TILEC


def _output(*line):
    try:
        done = subprocess.run(line, capture_output=True, text=True, timeout=20)
        return (
            done.stdout.strip().splitlines()[0]
            if done.returncode == 0 and done.stdout.strip()
            else ""
        )
    except (OSError, subprocess.SubprocessError):
        return ""


def _hashed(path):
    """The first digits of a file's SHA-256."""
    try:
        with open(path, "rb") as stream:
            return hashlib.sha256(stream.read()).hexdigest()[:16]
    except OSError:
        return ""


def machine():
    """What the numbers depend on."""
    import torch

    result = {
        "gpu": torch.cuda.get_device_name(),
        "multiprocessors": torch.cuda.get_device_properties(0).multi_processor_count,
        "driver": _output("nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"),
        "power_limit": _output("nvidia-smi", "--query-gpu=power.limit", "--format=csv,noheader"),
        "cuda": torch.version.cuda,
        "torch": torch.__version__,
        "cudnn": torch.backends.cudnn.version(),
        "tilec": _output(TILEC, "--version"),
        "tilec_sha256": _hashed(TILEC),
        "commit": _output("git", "-C", ROOT, "describe", "--always", "--dirty", "--exclude=*"),
        "python": platform.python_version(),
    }
    try:
        import triton

        result["triton"] = triton.__version__
    except ImportError:
        pass
    for package in ("nvidia-cublas", "nvidia-cublas-cu12"):
        try:
            from importlib.metadata import version

            result["cublas"] = version(package)
        except Exception:  # noqa: BLE001: another way of installing it
            continue
    return {key: value for key, value in result.items() if value not in ("", None)}


def ofItem(item, found):
    """An item's records with the item's description, as the worker hands them over."""
    return {
        "item": item.name,
        "family": item.family,
        "op": item.op,
        "shape": item.shape,
        "dtype": item.dtype,
        "unit": item.unit,
        "cold": item.cold,
        "reads": item.reads,
        "bars": withRatios([bar.toJson() for bar in item.bars], found),
        "found": found,
    }


def covers(names, who):
    """Whether a bar against `names` speaks of `who`: a kind of Triton is Triton; None means every
    peer that does all the work.
    """
    if who in ("tile", "tile-plain", "cublas-plain", "cublas-f16") or (
        who in ("copy", "against") and names is None
    ):
        return False
    return names is None or any(who == name or who.startswith(name + "-") for name in names)


def withRatios(bars, found):
    """Bars with our rate over the best rate that they speak of as "ours", None unless one run has
    measured both.
    """
    result = []
    for bar in bars:
        ours, run = max(
            ((r["rate"], r.get("run", "")) for r in found if r["who"] == "tile" and "rate" in r),
            default=(None, ""),
        )
        names = bar["names"]
        theirs = max(
            (
                r["rate"]
                for r in found
                if "rate" in r
                and r.get("run", "") == run
                and (
                    r["who"] in names
                    if names and names[0].endswith("-plain")
                    else covers(names, r["who"])
                )
            ),
            default=None,
        )
        result.append({**bar, "ours": round(ours / theirs, 4) if ours and theirs else None})
    return result


def merge(path, machineNow, done, run="", against=None):
    """Replaces the records of the contenders that were measured anew, in the run of that name, and
    writes the file. against: the release that took part.
    """
    result = {"machine": {}, "runs": {}, "items": [], "records": []}
    try:
        with open(path, encoding="utf-8") as stream:
            result.update(json.load(stream))
    except (OSError, ValueError):
        pass
    run = run or time.strftime("%Y-%m-%d %H:%M:%S")
    result["machine"] = machineNow or result["machine"]
    result["command"] = "python3 " + " ".join(sys.argv)
    result["runs"][run] = {name: result[name] for name in ("machine", "command")}
    for entry in done:
        key = {name: entry[name] for name in ("op", "shape", "dtype")}
        measured = {record["who"] for record in entry["found"]}
        result["records"] = [
            r
            for r in result["records"]
            if not (all(r[n] == v for n, v in key.items()) and r["who"] in measured)
        ]
        result["records"] += [{**key, **record, "run": run} for record in entry["found"]]
        result["items"] = [i for i in result["items"] if any(i[n] != v for n, v in key.items())]
        result["items"].append(
            {
                name: entry[name]
                for name in ("family", "op", "shape", "dtype", "unit", "cold", "reads")
            }
            | {
                "bars": withRatios(
                    entry["bars"],
                    [r for r in result["records"] if all(r[n] == v for n, v in key.items())],
                )
            }
        )
    result["runs"] = _named(result)
    resultfile.save(path, result, against)
    return result


def _named(result):
    """The runs that a record still names, in order."""
    names = {record.get("run") for record in result["records"]}
    return {run: facts for run, facts in sorted(result["runs"].items()) if run in names}


def joined(paths):
    """Result files as one: an item that several have is that of the last."""
    result = {"machine": {}, "command": "", "runs": {}, "items": [], "records": []}
    key = lambda each: (each["op"], each["shape"], each["dtype"])  # noqa: E731
    for path in paths:
        with open(path, encoding="utf-8") as stream:
            more = json.load(stream)
        fresh = {key(item) for item in more["items"]}
        for kind in ("items", "records"):
            result[kind] = [each for each in result[kind] if key(each) not in fresh] + more[kind]
        result["machine"] = more.get("machine") or result["machine"]
        result["command"] = more.get("command", "")
        result["runs"].update(more.get("runs", {}))
    result["runs"] = _named(result)
    return result


def grouped(result):
    """A result file's records by item, in the form that the table takes."""
    entries = []
    for item in result["items"]:
        found = [
            r for r in result["records"] if all(r[n] == item[n] for n in ("op", "shape", "dtype"))
        ]
        entries.append(
            {**item, "item": f"{item['op']} {item['shape']} {item['dtype']}", "found": found}
        )
    return entries


def failures(done):
    """Whether one of our kernels failed on an item where none of its variants ran."""
    return [
        entry["item"]
        for entry in done
        if any(r["who"] == "tile" for r in entry["found"])
        and not any(r["who"] == "tile" and "rate" in r for r in entry["found"])
    ]
