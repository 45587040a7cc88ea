"""Follows a recipe of CONTRIBUTING.md: recipes.py ROOT BUILD PATCH EDITED [CREATED] applies the
patch to copies of the files that it touches, has the editors' files and the texts of dtypes written
anew, generates the headers of changed .td files anew, has the compiler check each changed or
created source and those that include a changed table, and compares the numbers of files that the
patch edits and creates.

Nothing is linked or run here, since that would build half the compiler for each recipe. By hand:
`git apply PATCH && ./dev build`, then the tests that the patch changes or brings; `git apply -R`.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

# What the scripts read and write that a recipe ends with.
FOLDERS = (
    "editors",
    "formats",
    "frontend/Sema",
    "grammar",
    "launch/core",
    "manifest",
    "python/tile_compiler",
    "runtime/include",
)
SOURCES = ("dialect", "formats", "frontend", "launch", "lsp", "manifest", "python", "runtime")


def commands(build, target):
    """The command lines by which the build makes `target`, or everything."""
    listed = subprocess.run(
        ["ninja", "-C", build, "-t", "commands"] + ([target] if target else []),
        capture_output=True,
        text=True,
        check=True,
    )
    return listed.stdout.splitlines()


def compiles(root, build, copy, path, lines):
    """The compiler's complaint about a source, with the flags that the build has for it, or for its
    neighbours if it is new. Generated headers of `copy` come before those of the build.
    """
    root = os.path.realpath(root)
    pattern = os.path.join(root, path)
    if not os.path.exists(pattern):
        pattern = os.path.dirname(pattern) + os.sep
    line = next((line for line in lines if f" -c {pattern}" in line), None)
    if line is None:
        return f"the build has no command for {path}"
    words = shlex.split(line)
    words = words[next(k for k, w in enumerate(words) if "clang" in w or w.endswith("++")) :]
    for flag in ("-o", "-MT", "-MF"):
        at = words.index(flag)
        del words[at : at + 2]
    words = [word for word in words if word != "-MD"]
    at = words.index("-c")
    changed = os.path.join(copy, path)
    words[at : at + 2] = ["-fsyntax-only", changed if os.path.exists(changed) else pattern]
    words[1:1] = ["-I" + os.path.join(copy, "generated"), "-I" + copy]
    done = subprocess.run(words, cwd=build, capture_output=True, text=True)
    return done.stderr if done.returncode else ""


# What is written from the definitions of a folder: its main file, what TableGen makes of it, and
# the source that includes the functions of these.
GENERATED = {
    "passes": ("Passes.td", ("Passes.h.inc",), None),
    "dialect/Tile": ("TileOps.td", ("TileOps.h.inc", "TileOps.cpp.inc"), "TileDialect.cpp"),
}


def generate(root, build, copy, folder):
    """Writes what is generated from a folder's definitions, with those that were changed below
    `copy`; TableGen's complaint.
    """
    main, products, _ = GENERATED[folder]
    source = os.path.join(os.path.realpath(root), folder, main)
    copied = os.path.join(copy, folder, main)
    os.makedirs(os.path.join(copy, "generated", folder))
    complaints = ""
    for product in products:
        line = commands(build, f"{folder}/{product}")[-1]
        words = shlex.split(line.split("&&")[1])
        words[words.index("-o") + 1] = os.path.join(copy, "generated", folder, product)
        del words[words.index("-d") : words.index("-d") + 2]
        if os.path.exists(copied):
            words[words.index(source)] = copied
        words[1:1] = ["-I" + copy]
        done = subprocess.run(words, cwd=copy, capture_output=True, text=True)
        complaints += done.stderr if done.returncode else ""
    return complaints


def readers(root, tables):
    """The sources that include one of the changed tables (.def), themselves or by a header beside
    it; and those of the launcher's core, which carry what check_dtypes.py writes."""
    found = []
    for path in (each for each in tables if each.endswith(".def")):
        listed = subprocess.run(
            ["grep", "-rlF", f'#include "{path}"', *SOURCES],
            cwd=root,
            capture_output=True,
            text=True,
        )
        found += listed.stdout.split()
        if path == "manifest/Dtypes.def":
            found += ["launch/core/Message.c", "launch/core/Value.c"]
    return sorted(set(found) - set(tables))


def main(root, build, patch, wanted, wantedNew=None):
    with open(patch, encoding="utf-8") as file:
        text = file.read()
    edited = re.findall(r"^--- a/(\S+)\n\+\+\+ b/\S+\n@@ -(?!0,0)", text, re.M)
    created = re.findall(r"^--- /dev/null\n\+\+\+ b/(\S+)", text, re.M)
    problems = []
    if wantedNew is not None and len(created) != int(wantedNew):
        problems.append(f"the recipe creates {len(created)} files, not {wantedNew}")
    if len(edited) != int(wanted):
        problems.append(f"the recipe edits {len(edited)} files, not {wanted}")
    with tempfile.TemporaryDirectory(prefix="tile-recipe-") as copy:
        for path in edited:
            os.makedirs(os.path.dirname(os.path.join(copy, path)), exist_ok=True)
            shutil.copy(os.path.join(root, path), os.path.join(copy, path))
        for folder in FOLDERS:
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
            for script in ("check_dtypes.py", "check_editors.py"):
                done = subprocess.run(
                    [
                        sys.executable,
                        os.path.join(root, "test", "house-rules", script),
                        copy,
                        "--update",
                    ],
                    capture_output=True,
                    text=True,
                )
                if done.returncode:
                    problems.append(f"{script}: {done.stdout}{done.stderr}")
            including = []
            for folder, (_, _, source) in GENERATED.items():
                if any(re.match(folder + r"/\w+\.td$", path) for path in edited):
                    problems += filter(None, [generate(root, build, copy, folder)])
                    including += [f"{folder}/{source}"] if source else []
            lines = commands(build, None)
            problems += filter(
                None,
                (
                    compiles(root, build, copy, path, lines)
                    for path in edited + created + readers(root, edited) + including
                    if path.endswith((".cpp", ".c")) and not path.startswith("test/")
                ),
            )
    files = f"{len(edited)} files" + (f", {len(created)} new" if created and wantedNew else "")
    print("\n".join(problems + [f"{files}, {len(problems)} problems"]))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
