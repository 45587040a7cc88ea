#!/usr/bin/env python3
"""Checks what tilec says about the programs of beginners below this folder, and where that leads.

GROUP/NAME.tile is the program, GROUP/NAME.txt what is expected of it:
  mistakes: 2            how often a mistake stands in it, if not once; there are no more errors
  (what `tilec check GROUP/NAME.tile` says, to the letter)
  == fix                 `tilec fix` makes a program that compiles, or
  == follow              the program that `tilec fix` leaves compiles once its lines are changed as
  - a line               the message says
  + what stands for it
  == accepted            the language has by now what was a mistake when the program was written
--update writes the messages anew: read the difference as a stranger would.

Where NUMPY knows what the program was meant to compute, the repaired program runs on the CPU and
must give those numbers: a fix that compiles and means something else fails.
"""

import argparse
import concurrent.futures
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path = [path for path in sys.path if os.path.abspath(path) != HERE]  # the folder numpy is ours

import numpy as np  # noqa: E402

ROOT = os.path.dirname(os.path.dirname(HERE))


def _softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def _f(*shape, dtype="float32"):
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype(dtype)


def _rotated(x):
    return np.concatenate([-x[:, 32:64], x[:, 0:32]], axis=-1)


# program -> (arguments, output, its value): what the text means in its writer's language.
NUMPY = {
    "c/assignment-as-condition": ({"x": _f(300), "mode": 1}, "y", lambda x, mode: -x),
    "c/body-without-braces": ({"x": _f(40)}, "y", lambda x: np.maximum(x, 0)),
    "c/continue": ({"x": _f(5, 70)}, "y", lambda x: np.maximum(x, 0).sum(axis=1)),
    "c/early-return-value": ({"x": _f(40)}, "y", lambda x: np.log(np.where(x > 0, x, 1))),
    "c/for-loop": ({"x": _f(5, 70)}, "y", lambda x: x.sum(axis=1)),
    "c/include": ({"x": _f(300)}, "y", lambda x: np.exp(-x * x)),
    "c/increment": ({"x": _f(5, 70)}, "y", lambda x: (x > 0).sum(axis=1)),
    "c/logical-not-equal-int": (
        {"x": _f(6, 70)},
        "y",
        lambda x: np.where(np.arange(6)[:, None] % 2, 0, x),
    ),
    "c/missing-inout": ({"x": _f(300), "a": 0.5}, "y", lambda x, a: a * x),
    "c/single-ampersand": ({"x": _f(300)}, "y", lambda x: np.where((x > 0) & (x < 1), x, 0)),
    "c/std-max": ({"x": _f(300)}, "y", lambda x: np.maximum(x, 0)),
    "cuda/atomic-add-address": ({"x": _f(3000)}, "t", lambda x: x.sum(keepdims=True)),
    "cuda/c-cast": (
        {"x": np.arange(768, dtype="int32").reshape(3, 256)},
        "y",
        lambda x: x.sum(axis=1) / 256,
    ),
    "cuda/c-for-loop": ({"x": _f(5, 600)}, "y", lambda x: x.sum(axis=1)),
    "cuda/define": ({"x": _f(300), "a": 0.5}, "y", lambda x, a: a * x),
    "cuda/float-suffix": ({"x": _f(300)}, "y", lambda x: np.maximum(x, 0)),
    "cuda/fmaxf": ({"x": _f(300)}, "y", lambda x: np.fmax(x, 0)),
    "julia/colon-range": ({"x": _f(5, 70)}, "y", lambda x: x.sum(axis=1)),
    "julia/dotted-operators": ({"a": _f(300), "x": _f(300)}, "y", lambda a, x: a * x + 1),
    "julia/power-caret": ({"x": abs(_f(300))}, "y", lambda x: x**3),
    "numpy/add-to-memory": ({"x": _f(300), "y": _f(300)}, "y", lambda x, y: y + x),
    "numpy/astype": ({"x": _f(300)}, "y", lambda x: x.astype("float16")),
    "numpy/astype-string": ({"x": _f(300)}, "y", lambda x: x.astype("float16")),
    "numpy/boolean-mask-assign": ({"x": _f(300)}, "x", lambda x: np.maximum(x, 0)),
    "numpy/clip": ({"x": _f(300)}, "y", lambda x: np.clip(x, -1, 1)),
    "numpy/int-over-float": ({"y": _f(300)}, "y", lambda y: np.arange(300) / 256.0),
    "numpy/keepdims": ({"x": _f(20, 128)}, "y", _softmax),
    "numpy/negative-index": ({"x": _f(7, 64)}, "y", lambda x: np.cumsum(x, axis=1)[:, -1]),
    "numpy/np-prefix": ({"x": _f(300)}, "y", lambda x: np.exp(-x * x)),
    "numpy/reshape-minus-one": ({"x": _f(7, 64)}, "y", lambda x: x.reshape(7, -1, 2).sum(axis=2)),
    "numpy/slice-colon": ({"x": _f(20, 40)}, "y", lambda x: x * 2),
    "numpy/slice-dots": ({"x": _f(20, 64)}, "y", lambda x: x * 2),
    "numpy/sum-method": ({"x": _f(20, 100)}, "y", lambda x: x.sum(axis=1)),
    "numpy/transpose-method": ({"x": _f(20, 40)}, "y", lambda x: x.T),
    "numpy/vector-dot": ({"x": _f(7, 256), "w": _f(256)}, "y", lambda x, w: x @ w),
    "python/and": (
        {"x": _f(300), "lo": -0.5, "hi": 0.5},
        "y",
        lambda x, lo, hi: np.where((x > lo) & (x < hi), x, 0),
    ),
    "python/break": ({"x": _f(5, 70)}, "y", lambda x: (x < 0).argmax(axis=1)),
    "python/default-argument": (
        {"x": _f(5, 256)},
        "y",
        lambda x: x / np.sqrt((x * x).mean(axis=1, keepdims=True) + 1e-5),
    ),
    "python/elif": ({"x": _f(30)}, "y", np.sign),
    "python/for-in-range": ({"x": _f(300)}, "y", lambda x: x * 0.5**10 + 2 - 0.5**9),
    "python/from-import": ({"x": _f(300)}, "y", lambda x: x * 0.5 * (1 + np.vectorize(_erf)(x))),
    "python/hash-comment": ({"x": _f(300)}, "y", lambda x: 2 * x),
    "python/import-math": ({"x": _f(300)}, "y", lambda x: np.exp(-x * x)),
    "python/integer-accumulator": ({"x": _f(5, 600)}, "y", lambda x: x.sum(axis=1)),
    "python/let-reassigned": ({"x": _f(5, 600)}, "y", lambda x: x.sum(axis=1)),
    "python/no-semicolons": ({"x": _f(300), "a": 0.5}, "y", lambda x, a: a * x),
    "pytorch/float-method": (
        {"x": _f(3, 256, dtype="float16")},
        "y",
        lambda x: (
            x
            * (1 / np.sqrt((x.astype("float32") ** 2).mean(axis=1, keepdims=True) + 1e-6)).astype(
                "float32"
            )
        ),
    ),
    "pytorch/float16-type": ({"x": _f(300, dtype="float16")}, "y", lambda x: x * np.float16(0.5)),
    "pytorch/half-method": ({"x": _f(300)}, "y", lambda x: x.astype("float16")),
    "pytorch/masked-fill": (
        {"x": _f(40, 40)},
        "y",
        lambda x: np.where(np.tri(40, dtype=bool), x, -np.inf),
    ),
    "pytorch/matmul": (
        {"q": _f(70, 64, dtype="float16"), "k": _f(70, 64, dtype="float16")},
        "s",
        lambda q, k: q.astype("float32") @ k.astype("float32").T,
    ),
    "pytorch/mixed-dtypes": (
        {"x": _f(20, 64, dtype="float16"), "s": _f(20)},
        "y",
        lambda x, s: x * s[:, None],
    ),
    "pytorch/size-method": ({"x": _f(5, 300)}, "y", lambda x: x.mean(axis=1)),
    "pytorch/torch-prefix": ({"x": _f(300)}, "y", np.tanh),
    "pytorch/unsqueeze": ({"x": _f(20, 64), "b": _f(20)}, "y", lambda x, b: x + b[:, None]),
    "pytorch/view-method": (
        {"x": _f(5, 256, dtype="float16")},
        "y",
        lambda x: x.reshape(-1, 4, 64),
    ),
    "rust/constant-of-a-type": ({"x": _f(5, 600)}, "y", lambda x: x.max(axis=1)),
    "rust/expression-result": ({"x": _f(300)}, "y", lambda x: np.maximum(x, 0)),
    "rust/let-mut": ({"x": _f(5, 600)}, "y", lambda x: x.sum(axis=1)),
    "rust/literal-suffix": ({"x": _f(300)}, "y", lambda x: x * 0.5),
    "rust/method-max": ({"x": _f(300)}, "y", lambda x: np.maximum(x, 0)),
    "rust/turbofish": ({"x": _f(300)}, "y", lambda x: 3 * x),
    "triton/assign-without-let": ({"x": _f(3000), "y": _f(3000)}, "z", lambda x, y: x + y),
    "triton/atomic-add-pointer": ({"x": _f(3000)}, "out_ptr", lambda x: x.sum(keepdims=True)),
    "triton/half-accumulator": (
        {"a": _f(20, 40, dtype="float16"), "b": _f(40, 30, dtype="float16")},
        "c",
        lambda a, b: a.astype("float32") @ b.astype("float32"),
    ),
    "triton/iota-offsets": ({"x": _f(3000), "y": _f(3000)}, "z", lambda x, y: x + y),
    "triton/jit-decorator": ({"x": _f(3000), "y": _f(3000)}, "z", lambda x, y: x + y),
    "triton/mask-equals": ({"x": _f(3000), "a": 0.5}, "y", lambda x, a: a * x),
    "triton/mask-other": ({"x": _f(5, 70)}, "y", _softmax),
    "triton/maximum": ({"x": _f(3000)}, "y", lambda x: np.maximum(x, 0)),
    "triton/pointer-arithmetic": ({"x_ptr": _f(3000)}, "y_ptr", lambda x_ptr: x_ptr),
    "triton/range-cdiv": (
        {"a": _f(70, 40, dtype="float16"), "b": _f(40, 70, dtype="float16")},
        "c",
        lambda a, b: a.astype("float32") @ b.astype("float32"),
    ),
    "triton/range-loop": ({"x": _f(5, 600)}, "y", lambda x: x.sum(axis=1)),
    "triton/static-range": (
        {"x": _f(300), "w": _f(4)},
        "y",
        lambda x, w: sum(w[t] * np.append(x[t:], np.zeros(t)) for t in range(4)),
    ),
    "triton/sum-axis-equals": ({"x": _f(20, 100)}, "y", lambda x: x.sum(axis=1)),
    "triton/sum-axis-positional": ({"x": _f(20, 100)}, "y", lambda x: x.sum(axis=1)),
    "triton/tl-prefix": ({"x": _f(3000), "a": 0.5}, "y", lambda x, a: a * x),
    "triton/to-method": (
        {"a": _f(70, 40, dtype="float16"), "b": _f(40, 70, dtype="float16")},
        "c",
        lambda a, b: a.astype("float32") @ b.astype("float32"),
    ),
}


def _erf(x):
    import math

    return math.erf(x / math.sqrt(2))


def run(tilec, folder, *arguments):
    return subprocess.run(
        [tilec, *arguments],
        cwd=folder,
        text=True,
        timeout=300,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env={**os.environ, "NO_COLOR": "1"},
    )


def read(path):
    """The parts of an expectation: how many mistakes, the message, the lines behind `==`."""
    mistakes, message, then = 1, "", None
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            text = file.read()
        if head := re.match(r"mistakes: (\d+)\n", text):
            mistakes, text = int(head[1]), text[head.end() :]
        message, *rest = re.split(r"^== ", text, maxsplit=1, flags=re.M)
        then = rest[0].splitlines() if rest else None
    return mistakes, message, then


def follow(text, lines):
    """The program with the changes of `== follow`; a line that is not there raises."""
    steps = [line for line in lines if line]
    at = 0
    while at < len(steps):
        old = []
        while at < len(steps) and steps[at].startswith("-"):
            old.append(steps[at][1:].strip())
            at += 1
        new = []
        while at < len(steps) and steps[at].startswith("+"):
            new.append(steps[at][2:])
            at += 1
        have = [line.strip() for line in text.splitlines()]
        starts = [i for i in range(len(have)) if have[i : i + len(old)] == old]
        if not old or not starts:
            raise ValueError(f"no such lines: {old}")
        whole = text.splitlines()
        whole[starts[0] : starts[0] + len(old)] = new
        text = "\n".join(whole) + "\n"
    return text


def check_numbers(tilec, folder, name, problems):
    """Runs the repaired program and compares with what its writer meant."""
    arguments, out, meaning = NUMPY[name]
    call = ["run", "a.tile", "--device", "cpu"]
    for key, value in arguments.items():
        if isinstance(value, np.ndarray):
            np.save(os.path.join(folder, key + ".npy"), value)
            call += (
                []
                if key == out and name == "numpy/int-over-float"
                else ["--arg", f"{key}={key}.npy"]
            )
        else:
            call += ["--arg", f"{key}={value}"]
    if name == "numpy/int-over-float":
        call += ["--shape", "N=300"]
    result = run(tilec, folder, *call, "--out", f"{out}=result.npy")
    path = os.path.join(folder, "result.npy")
    if result.returncode or not os.path.exists(path):
        problems.append(f"the repaired program does not run:\n{result.stdout}")
        return
    found = np.load(path)
    wanted = meaning(*arguments.values())
    close = 1e-2 if found.dtype == np.float16 else 1e-4
    if not np.allclose(found.astype(float), np.asarray(wanted, float), rtol=close, atol=close):
        problems.append("the repaired program computes something else")


def check(tilec, name, update):
    """What is wrong with the program's messages."""
    problems = []
    source, wanted = (os.path.join(HERE, name + ending) for ending in (".tile", ".txt"))
    mistakes, message, then = read(wanted)
    with tempfile.TemporaryDirectory(prefix="tile-beginner-") as folder:
        shutil.copy(source, os.path.join(folder, "a.tile"))
        said = run(tilec, HERE, "check", name + ".tile").stdout
        errors = len(re.findall(r": error: ", said))
        accepted = then == ["accepted"]
        if (errors == 0) != accepted:
            problems.append("an error" if errors else "nothing is said")
        fixed = run(tilec, folder, "fix", "a.tile")
        compiles = run(tilec, folder, "check", "a.tile")
        if update:
            if errors and errors != mistakes:
                mistakes = errors
            if then is None and compiles.returncode == 0:
                then = ["fix"]
            with open(wanted, "w", encoding="utf-8") as file:
                file.write((f"mistakes: {mistakes}\n" if mistakes > 1 else "") + said)
                file.write("== " + "\n".join(then) + "\n" if then else "")
            message = said
        if said != message:
            problems.append(f"expected\n{message}found\n{said}")
        if errors > mistakes:
            problems.append(f"{errors} errors for {mistakes} mistakes")
        if then and then[0] == "follow":
            with open(os.path.join(folder, "a.tile"), encoding="utf-8") as file:
                text = file.read()
            try:
                text = follow(text, then[1:])
            except ValueError as problem:
                problems.append(f"{problem} after `tilec fix`:\n{text}")
            with open(os.path.join(folder, "a.tile"), "w", encoding="utf-8") as file:
                file.write(text)
            compiles = run(tilec, folder, "check", "a.tile")
        if then is None:
            problems.append(f"no == fix or == follow; `tilec fix` leaves\n{fixed.stdout}")
        elif compiles.returncode or ": error" in compiles.stdout:
            problems.append(f"what the messages lead to does not compile:\n{compiles.stdout}")
        elif name in NUMPY:
            check_numbers(tilec, folder, name, problems)
    return problems


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--build", default=os.path.join(ROOT, "build"))
    parser.add_argument("--update", action="store_true", help="write what is said anew")
    parser.add_argument("names", nargs="*", help="GROUP/NAME; all if none is given")
    options = parser.parse_args()
    tilec = os.path.abspath(os.path.join(options.build, "bin", "tilec"))
    names = options.names or sorted(
        os.path.relpath(os.path.join(folder, file), HERE)[: -len(".tile")]
        for folder, _, files in os.walk(HERE)
        for file in files
        if file.endswith(".tile")
    )
    unknown = [name for name in NUMPY if not os.path.exists(os.path.join(HERE, name + ".tile"))]
    failed = len(unknown)
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        found = list(pool.map(lambda name: check(tilec, name, options.update), names))
    for name, problems in zip(names, found):
        failed += bool(problems)
        for problem in problems:
            print(f"=== {name}: {problem}")
    print(f"{len(names)} programs, {failed} failed")
    return 1 if failed or len(names) == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
