"""`tilec check` says of each source what the front end of a compilation says, in the same order:
check.py TILEC TARGET FOLDER... It may say more only of functions that nothing calls, and of what
passes prove. The first is elaborated; the second goes by types where they decide."""

import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys

SAID = re.compile(r"^(\S+?:\d+:\d+: (?:error|warning): .*\[\w+\])$", re.M)
# Of a call: a file without kernels can be checked, not compiled. Of passes: padding in a reduction.
OF_THE_CALL = ("[E0414]",)
OF_PASSES = ("[W0104]",)


def say(arguments):
    call = subprocess.run(arguments, capture_output=True, text=True, errors="replace")
    if call.returncode not in (0, 1):
        return [f"{arguments}: status {call.returncode}: {call.stderr[:200]}"]
    return SAID.findall(call.stderr)


def compare(tilec, target, path):
    common = [f"--target={target}", "--error-limit=0", path]
    compiled = say([tilec, *common, "--stop-after=tile"])
    checked = say([tilec, "check", *common])
    compiled = [each for each in compiled if not each.endswith(OF_THE_CALL)]
    checked = [each for each in checked if not each.endswith(OF_PASSES)]
    # What is in order, without what only the check says.
    rest = iter(checked)
    lacks = [each for each in compiled if each not in rest]
    if not lacks and (len(checked) == len(compiled) or is_of_functions(path, checked, compiled)):
        return len(compiled), ""
    return len(compiled), f"{path}:\n  compiled: {compiled}\n  checked: {checked}\n"


def is_of_functions(path, checked, compiled):
    """Is all that only the check says in functions?"""
    lines = pathlib.Path(path).read_text(errors="replace").split("\n")
    for each in checked:
        line = int(each.split(":")[1])
        above = "\n".join(lines[:line])
        if each not in compiled and above.rfind("fn ") < above.rfind("kernel "):
            return False
    return True


def main(tilec, target, *folders):
    paths = sorted(str(each) for folder in folders for each in pathlib.Path(folder).rglob("*.tile"))
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(lambda path: compare(tilec, target, path), paths))
    problems = [text for _, text in results if text]
    print("".join(problems), end="")
    said = sum(count for count, _ in results)
    print(f"{len(paths)} sources, {said} reports, {len(problems)} differ")


if __name__ == "__main__":
    main(*sys.argv[1:])
