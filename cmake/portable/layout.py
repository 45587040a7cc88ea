"""Lays out a release's compiler by what it runs: layout.py BUILD SYSROOT OUTPUT.

tilec is 70 MB of code, and a compile touches a tenth of it, here and there: fetching instructions
is a seventh of its time. tilec is linked again with its relocations (relink.py), BOLT makes a
compiler of it that counts, that compiles a few examples, and BOLT lays the code out by the counts:
what runs lies together, in the order in which it runs. The code stays the same: the result must
give the same PTX, of examples that were not counted, too.

The counts depend on the compiler and the examples alone, so the same inputs give the same bytes.
The result is kept in BUILD/layout by those inputs. Writes nothing and exits with 3 where there is
no BOLT.
"""

import concurrent.futures
import fcntl
import glob
import hashlib
import os
import shutil
import subprocess
import sys

import relink

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
ABSENT = 3
# What is counted: every part of the language, each for two GPUs in turn. Few, since the layout has
# to serve kernels that are not known.
COUNTED = (
    "attention",
    "matmul",
    "conv2d",
    "cross_entropy",
    "layer_norm_backward",
    "mamba2",
    "moe",
    "prefix_sum",
    "softmax",
    "sort_rows",
    "vector_add",
)
# What is compiled by the result as well, to compare.
COMPARED = (
    "attention_backward",
    "batched_matmul",
    "conv2d_depthwise",
    "dropout",
    "matmul_f8",
    "topk",
)
# From one target to the next that is taken: another family, and in the end all of them.
STRIDE = 5
# With the table of segments at the offset of its address (neither --use-gnu-stack nor strip, which
# moves it): Linux before 5.18 looks for it there. strip leaves nothing that runs.
OPTIONS = (
    "--reorder-blocks=ext-tsp",
    "--reorder-functions=cdsort",
    "--split-functions",
    "--split-all-cold",
    "--split-eh",
    "--icf=1",
    "--plt=hot",
    "--remove-symtab",
    "--bolt-info=0",  # which would hold paths
)


def run(command, log, **more):
    """Runs a command, whose words go to a file that is shown where it fails."""
    with open(log, "ab") as file:
        status = subprocess.run(command, stdout=file, stderr=file, check=False, **more).returncode
    if status:
        with open(log, encoding="utf-8", errors="replace") as file:
            sys.stderr.write(file.read()[-3000:])
        sys.exit(f"layout.py: {os.path.basename(command[0])} ended with {status}")


def sourceOf(example):
    return os.path.join(ROOT, "examples", example, example + ".tile")


def compilation(tilec, source, target, output):
    return [tilec, source, "--target", target, "--emit", "ptx", "-o", output]


def jobs(tilec, examples, each):
    """Pairs of an example and a target: `each` targets for an example."""
    said = subprocess.run([tilec, "--version"], capture_output=True, text=True, check=True).stdout
    line = next(line for line in said.splitlines() if line.startswith("targets: "))
    targets = [word for word in line.split()[1:] if word != "cpu"]
    return [
        (example, targets[STRIDE * (i + k) % len(targets)])
        for i, example in enumerate(examples)
        for k in range(each)
    ]


def fixedAddresses():
    """The words that make a program lie at the same addresses each time; none where a container
    forbids that.
    """
    words = ["setarch", os.uname().machine, "-R"]
    if subprocess.run([*words, "true"], stderr=subprocess.DEVNULL, check=False).returncode:
        print("layout.py: addresses are not fixed here: the bytes may differ from time to time")
        return []
    return words


def count(tools, folder, tilec, log):
    """Counts what runs. The environment, the words and the addresses are always the same, since
    tables that are searched by address are part of what runs.
    """
    counting = os.path.join(folder, "counting")
    run(
        [
            os.path.join(tools, "llvm-bolt"),
            tilec,
            "-instrument",
            "-o",
            counting,
            "--instrumentation-file=" + os.path.join(folder, "counts"),
            "--instrumentation-file-append-pid",
        ],
        log,
    )
    fixed = fixedAddresses()
    counted = jobs(tilec, COUNTED, 2)
    for example, target in counted:
        shutil.copy(sourceOf(example), folder)
        command = fixed + compilation("./counting", example + ".tile", target, os.devnull)
        run(command, log, cwd=folder, env={"PATH": "/usr/bin:/bin"})
    os.remove(counting)
    counts = glob.glob(os.path.join(folder, "counts.*"))
    if len(counts) != len(counted):
        sys.exit(f"layout.py: {len(counted)} compiles were counted, found {len(counts)} counts")
    merged = os.path.join(folder, "merged")
    with open(merged, "wb") as file:
        command = [os.path.join(tools, "merge-fdata"), *counts]
        subprocess.run(command, stdout=file, stderr=subprocess.DEVNULL, check=True)
    for one in counts:
        os.remove(one)
    return merged


def emitted(job):
    tilec, example, target = job
    command = compilation(tilec, sourceOf(example), target, "-")
    return subprocess.run(command, capture_output=True, check=True).stdout


def compare(tilec, result):
    """Ends the program where the two compilers do not give the same PTX."""
    examples = jobs(tilec, COUNTED + COMPARED, 1)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for one, before, after in zip(
            examples,
            pool.map(emitted, [(tilec, *one) for one in examples]),
            pool.map(emitted, [(result, *one) for one in examples]),
        ):
            if before != after or not before:
                sys.exit(f"layout.py: {one[0]} for {one[1]} is other PTX after the layout")


def keyOf(tilec):
    """Of everything that the result depends on."""
    digest = hashlib.sha256()
    sources = [sourceOf(name) for name in COUNTED]
    for path in (tilec, os.path.abspath(__file__), *sources):
        with open(path, "rb") as file:
            digest.update(file.read())
    return digest.hexdigest()[:16]


def layOut(build, sysroot, kept, tools, output):
    """Puts the compiler at OUTPUT, from the folder of what is kept or made anew."""
    tilec = os.path.join(kept, "linked")
    relink.main(build, sysroot, "bin/tilec", tilec, "-Wl,--emit-relocs,--strip-debug")
    result = os.path.join(kept, "tilec-" + keyOf(tilec))
    if not os.path.exists(result):
        for old in glob.glob(os.path.join(kept, "tilec-*")):
            os.remove(old)
        folder = os.path.join(kept, "work")
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
        log = os.path.join(folder, "log")
        merged = count(tools, folder, tilec, log)
        laidOut = os.path.join(folder, "tilec")
        bolt = os.path.join(tools, "llvm-bolt")
        run([bolt, tilec, "-o", laidOut, "--data", merged, *OPTIONS], log)
        compare(tilec, laidOut)
        os.rename(laidOut, result)
        shutil.rmtree(folder)
    os.remove(tilec)
    shutil.copyfile(result, output)
    os.chmod(output, 0o755)


def main(build, sysroot, output):
    words = relink.linkLine(build, "bin/tilec")
    tools = next(word[2:] for word in words if word.startswith("-B"))
    if not os.access(os.path.join(tools, "llvm-bolt"), os.X_OK):
        return ABSENT
    kept = os.path.join(os.path.abspath(build), "layout")
    os.makedirs(kept, exist_ok=True)
    with open(os.path.join(kept, "lock"), "wb") as lock:  # tests pack at the same time
        fcntl.flock(lock, fcntl.LOCK_EX)
        layOut(build, sysroot, kept, tools, output)
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
