"""Checks a packed VS Code extension: vsix.py FILE.vsix ROOT. Its manifest and its package agree,
and every file that one of them names is there.
"""

import json
import re
import sys
import zipfile
import xml.etree.ElementTree as xml

VSX = "{http://schemas.microsoft.com/developer/vsx-schema/2011}"
TYPES = "{http://schemas.openxmlformats.org/package/2006/content-types}"


def main(path, root):
    problems = []
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
        read = lambda name: archive.read(name).decode()
        if archive.testzip() or len(names) != len(set(names)):
            problems.append("the archive is damaged")
        known = {
            each.get("Extension").lower()
            for each in xml.fromstring(read("[Content_Types].xml")).iter(TYPES + "Default")
        }
        problems += [
            f"{name} has no content type"
            for name in names
            if name != "[Content_Types].xml" and "." + name.rsplit(".", 1)[-1].lower() not in known
        ]
        manifest = xml.fromstring(read("extension.vsixmanifest"))
        identity = manifest.find(f"{VSX}Metadata/{VSX}Identity")
        package = json.loads(read("extension/package.json"))
        for key, own in (("Id", "name"), ("Version", "version"), ("Publisher", "publisher")):
            if identity.get(key) != package[own]:
                problems.append(
                    f"{key} is {identity.get(key)} in the manifest and {package[own]} in"
                    " package.json"
                )
        engine = [
            each.get("Value")
            for each in manifest.iter(VSX + "Property")
            if each.get("Id") == "Microsoft.VisualStudio.Code.Engine"
        ]
        if engine != [package["engines"]["vscode"]]:
            problems.append(f"the engine is {engine}")
        problems += [
            f"asset {each.get('Path')} is not there"
            for each in manifest.iter(VSX + "Asset")
            if each.get("Path") not in names
        ]
        wanted = [package["main"]]
        wanted += [each["configuration"] for each in package["contributes"]["languages"]]
        wanted += [each["path"] for each in package["contributes"]["grammars"]]
        for name in names:
            if name.endswith(".js"):
                wanted += [
                    "./" + other for other in re.findall(r'require\("\./([^"]+)"\)', read(name))
                ]
                others = set(re.findall(r'require\("([a-z_]+)"\)', read(name))) - {
                    "vscode",
                    "child_process",
                }
                problems += [f"{name} needs the library {other}" for other in sorted(others)]
        problems += [
            f"{name} is not there"
            for name in wanted
            if "extension/" + name.removeprefix("./") not in names
        ]
        for name in names:
            if name.endswith(".json"):
                json.loads(read(name))
    print("\n".join(problems + [f"{len(names)} files, {len(problems)} problems"]))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
