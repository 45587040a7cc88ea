"""Packs the VS Code extension: pack.py OUTPUT.vsix. The same sources give the same bytes; neither
npm nor vsce is needed.
"""

import json
import os
import sys
import zipfile
from xml.sax.saxutils import quoteattr

FILES = [
    "package.json",
    "client.js",
    "protocol.js",
    "language-configuration.json",
    "tile.tmLanguage.json",
    "README.md",
]
TYPES = {
    "json": "application/json",
    "js": "application/javascript",
    "md": "text/markdown",
    "txt": "text/plain",
    "vsixmanifest": "text/xml",
}


def content_types():
    rows = "".join(
        f'<Default Extension=".{name}" ContentType="{kind}"/>'
        for name, kind in sorted(TYPES.items())
    )
    return (
        '<?xml version="1.0" encoding="utf-8"?>\n<Types'
        f' xmlns="http://schemas.openxmlformats.org/package/2006/content-types">{rows}</Types>\n'
    )


def manifest(package):
    return f"""<?xml version="1.0" encoding="utf-8"?>
<PackageManifest Version="2.0.0" xmlns="http://schemas.microsoft.com/developer/vsx-schema/2011">
  <Metadata>
    <Identity Language="en-US" Id={quoteattr(package["name"])}
      Version={quoteattr(package["version"])} Publisher={quoteattr(package["publisher"])}/>
    <DisplayName>{package["displayName"]}</DisplayName>
    <Description xml:space="preserve">{package["description"]}</Description>
    <Categories>{",".join(package["categories"])}</Categories>
    <License>extension/LICENSE.txt</License>
    <Properties>
      <Property Id="Microsoft.VisualStudio.Code.Engine"
        Value={quoteattr(package["engines"]["vscode"])}/>
    </Properties>
  </Metadata>
  <Installation><InstallationTarget Id="Microsoft.VisualStudio.Code"/></Installation>
  <Dependencies/>
  <Assets>
    <Asset Type="Microsoft.VisualStudio.Code.Manifest" Path="extension/package.json"
      Addressable="true"/>
    <Asset Type="Microsoft.VisualStudio.Services.Content.Details" Path="extension/README.md"
      Addressable="true"/>
    <Asset Type="Microsoft.VisualStudio.Services.Content.License" Path="extension/LICENSE.txt"
      Addressable="true"/>
  </Assets>
</PackageManifest>
"""


def main(output):
    folder = os.path.dirname(os.path.abspath(__file__))

    def read(*path):
        with open(os.path.join(folder, *path), encoding="utf-8") as file:
            return file.read()

    package = json.loads(read("package.json"))
    parts = {"[Content_Types].xml": content_types(), "extension.vsixmanifest": manifest(package)}
    parts |= {"extension/" + name: read(name) for name in FILES}
    parts["extension/LICENSE.txt"] = read("..", "..", "LICENSE")
    with zipfile.ZipFile(output, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in parts.items():
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, text)
    print(f"{output}: {len(parts)} files")


if __name__ == "__main__":
    main(*sys.argv[1:])
