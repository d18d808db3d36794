#!/bin/sh
# usage: qgis.sh [FOLDER]
#
# Makes the plugin of QGIS as an archive that its plugin manager installs, refs-VERSION.zip in FOLDER (build/qgis). The same
# files give the same bytes. REFS_MAINTAINER='Name <mailbox>' and REFS_URL replace whom and where metadata.txt names, as
# plugins.qgis.org wants to know them.
set -eu
cd "$(dirname "$0")/.."
exec python3 - "${1:-build/qgis}" "$(sh packaging/version.sh)" <<'END'
import os
import re
import sys
import zipfile

folder, version = sys.argv[1:]
SOURCE, NAME = "qgis/refs_qgis", "refs_qgis"


def metadata():
    with open(f"{SOURCE}/metadata.txt", encoding="utf-8") as file:
        text = file.read()
    if f"\nversion={version}\n" not in text:
        sys.exit(f"qgis.sh: {SOURCE}/metadata.txt: expected version {version}, that of CMakeLists.txt")
    maintainer = re.fullmatch(r"(.+) <(.+)>", os.environ.get("REFS_MAINTAINER", ""))
    if maintainer:
        text = re.sub("(?m)^author=.*", lambda _: f"author={maintainer[1]}", text)
        text = re.sub("(?m)^email=.*", lambda _: f"email={maintainer[2]}", text)
    return text.replace("https://refs.invalid", os.environ.get("REFS_URL", "https://refs.invalid")).encode()


def files():
    for name in sorted(os.listdir(SOURCE)):
        if name.endswith((".py", ".svg")):
            with open(f"{SOURCE}/{name}", "rb") as file:
                yield name, file.read()
    yield "metadata.txt", metadata()
    with open("LICENSE", "rb") as file:
        yield "LICENSE", file.read()


contents = list(files())
os.makedirs(folder, exist_ok=True)
path = f"{folder}/refs-{version}.zip"
with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
    for name, content in contents:
        entry = zipfile.ZipInfo(f"{NAME}/{name}", (1980, 1, 1, 0, 0, 0))
        entry.external_attr = 0o644 << 16
        archive.writestr(entry, content, zipfile.ZIP_DEFLATED)
print(f"{path}: {os.path.getsize(path)} bytes")
END
