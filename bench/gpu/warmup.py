"""Compilers that start at a first call and keep what they make on disk (torch.compile, Triton's
kernels of others, DeepGEMM), side by side before anything is measured.
"""

import os
import subprocess
import sys
import time

from . import lib, pack
from .lib import torch

PROCESSES = 8


def wanted(run, items):
    """The items that have such contenders, with these."""
    found = [(item, [one for one in run.chosen(item) if one.warm]) for item in items]
    return [(item, ones) for item, ones in found if ones]


def start(command, items, jobs, seconds):
    """Processes that call all such contenders once; waits for them, at most `seconds`. What goes
    wrong there goes wrong again, and is recorded, where it is measured.
    """
    count = min(PROCESSES, max(1, jobs // 2), len(items))
    # Each has compilers of its own; all together have as many as there are processors.
    environment = {**os.environ, "TORCHINDUCTOR_COMPILE_THREADS": "2"}
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    running = [
        subprocess.Popen([*command, "--warm", f"{i}/{count}"], env=environment, **quiet)
        for i in range(count)
    ]
    end = time.time() + seconds
    try:
        for process in running:
            process.wait(max(0.1, end - time.time()))
        return True
    except subprocess.TimeoutExpired:
        return False
    finally:
        for process in running:
            if process.poll() is None:
                process.kill()
                process.wait()


def work(run, items, share):
    """One of these processes: the i-th of n shares "i/n" of the items."""
    number, _, count = share.partition("/")
    pack.prepare()
    for item, contenders in wanted(run, items)[int(number) :: int(count)]:
        try:
            torch.manual_seed(0)
            data = item.inputs(lib.DEVICE)
        except Exception as error:  # noqa: BLE001: the measuring process records it
            print(f"{item.name}: {error}", file=sys.stderr)
            continue
        for contender in contenders:
            try:
                contender.build(data)()
                torch.cuda.synchronize()
            except Exception as error:  # noqa: BLE001
                print(f"{item.name}, {contender.name}: {error}", file=sys.stderr)
        del data
        torch.cuda.empty_cache()
