"""Follows a recipe of CONTRIBUTING.md: recipes.py ROOT BUILD PATCH FILES applies the patch to
copies of what it touches, has the editors' files written anew, compiles the sources that it
changes, and counts the files that it edits, which are FILES.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile


def compiles(root, build, copy, path):
    """The compiler's complaint about a changed source, with the flags that the build has for it."""
    listed = subprocess.run(
        ["ninja", "-C", build, "-t", "commands", "-s", path + "^"], capture_output=True, text=True
    )
    if listed.returncode:
        listed = subprocess.run(
            ["ninja", "-C", build, "-t", "commands"], capture_output=True, text=True, check=True
        )
    source = os.path.join(os.path.realpath(root), path)
    for line in listed.stdout.splitlines():
        words = shlex.split(line) if f" -c {source}" in line else []
        if not words:
            continue
        first = next(k for k, word in enumerate(words) if "clang" in word or word.endswith("++"))
        words = words[first:]
        for flag in ("-o", "-MT", "-MF"):
            at = words.index(flag)
            del words[at : at + 2]
        words = [word for word in words if word != "-MD"]
        words[words.index("-c") :] = ["-fsyntax-only", os.path.join(copy, path)]
        done = subprocess.run(words, cwd=build, capture_output=True, text=True)
        return done.stderr if done.returncode else ""
    return f"the build has no command for {path}"


def main(root, build, patch, wanted):
    with open(patch, encoding="utf-8") as file:
        text = file.read()
    edited = re.findall(r"^--- a/(\S+)\n\+\+\+ b/\S+\n@@ -(?!0,0)", text, re.M)
    problems = []
    if len(edited) != int(wanted):
        problems.append(f"the recipe edits {len(edited)} files, not {wanted}")
    with tempfile.TemporaryDirectory(prefix="tile-recipe-") as copy:
        for path in edited:
            os.makedirs(os.path.dirname(os.path.join(copy, path)), exist_ok=True)
            shutil.copy(os.path.join(root, path), os.path.join(copy, path))
        for folder in ("editors", "grammar", "frontend/Sema"):
            shutil.copytree(
                os.path.join(root, folder), os.path.join(copy, folder), dirs_exist_ok=True
            )
        done = subprocess.run(
            ["git", "apply", "-C1", os.path.abspath(patch)],
            cwd=copy,
            capture_output=True,
            text=True,
            env={**os.environ, "GIT_DIR": os.devnull},
        )
        if done.returncode:
            problems.append("the patch no longer applies: " + done.stderr.strip())
        else:
            script = os.path.join(root, "test", "house-rules", "check_editors.py")
            done = subprocess.run(
                [sys.executable, script, copy, "--update"], capture_output=True, text=True
            )
            if done.returncode:
                problems.append("editors: " + done.stdout + done.stderr)
            problems += filter(
                None,
                (compiles(root, build, copy, path) for path in edited if path.endswith(".cpp")),
            )
    print("\n".join(problems + [f"{len(edited)} files, {len(problems)} problems"]))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
