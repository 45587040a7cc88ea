"""Result files: JSON that names no folder of the machine that wrote it."""

import json
import os
import re

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# A path from the root of the file system, down to the folder of what it names.
_ELSEWHERE = re.compile(r"(?<![\w.)/])/(?:[\w.+@-]+/)+")


def portable(value, folders):
    """`value` with names for folders, in its texts at any depth. folders: pairs of path and name;
    where one folder is in another, the inner one's name counts. A folder without a name is "...".
    """
    if isinstance(value, dict):
        return {portable(key, folders): portable(one, folders) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [portable(one, folders) for one in value]
    if not isinstance(value, str):
        return value
    known = [(os.path.abspath(path), name) for path, name in folders if path]
    for path, name in sorted(known, key=lambda pair: -len(pair[0])):
        value = re.sub(rf"(?<![\w.)/]){re.escape(path)}(?![\w.-])", name, value)
    return _ELSEWHERE.sub(".../", value)


def save(path, record, against=None, sort=False):
    """Writes a record in one step. In its texts THIS stands for the release or folder that was
    measured, RELEASE for the one that it was measured against, OUT for the file's folder.
    """
    folder = os.path.dirname(os.path.abspath(path))
    folders = (
        (ROOT, "THIS"),
        (os.environ.get("TILE_HOME"), "THIS"),
        (against, "RELEASE"),
        (folder, "OUT"),
    )
    os.makedirs(folder, exist_ok=True)
    with open(path + ".new", "w", encoding="utf-8") as stream:
        json.dump(portable(record, folders), stream, indent=1, sort_keys=sort)
        stream.write("\n")
    os.replace(path + ".new", path)
