"""Writes type, choices and first version of each open option into the tables of docs/open-options.md, from the rules of the driver
(frmts/refs/gdal/options.cpp, driver.cpp). The first version of a new option is that of the build; others keep theirs.

usage: option_table.py ROOT
"""

import pathlib
import re
import sys

HEAD = "| option | default | type and choices | since | |"
LINE = "|---|---|---|---|---|"
# Numbers that the code reads as text, with what it then checks.
CHECKED = {"FILEHANDLES": "integer from 1", "MEMORY": "size such as `500MB`", "SET": "integer from 0"}


def types(options, driver):
    """name -> type, with what it accepts."""
    found = dict(CHECKED)
    rules = re.search(r"Rule rules\[\] = \{(.*?)^\};", options, re.S | re.M)[1]
    truth = re.search(r'truth = "([^"]+)"', options)[1]
    for name, words, least, most in re.findall(r'\{"REFS_(\w+)",\s*(truth|"[^"]*"),\s*([^,]+),\s*([^,]+),', rules):
        words = words.strip('"')
        if words == "truth":
            found[name] = f"boolean: {truth}"
        elif words:
            found[name] = f"choice: {words}"
        else:
            found[name] = f"integer from {least}" + ("" if most in ("exact", "INT_MAX") else f" to {most}")
    for name, kind in re.findall(r"<Option name='(\w+)' type='([\w-]+)'", driver.replace('"\n    "', "")):
        found.setdefault(name, kind)
    return found


def rewrite(page, root):
    """The page with these columns up to date."""
    folder = root / "frmts" / "refs" / "gdal"
    known = types((folder / "options.cpp").read_text(encoding="utf-8"), (folder / "driver.cpp").read_text(encoding="utf-8"))
    version = re.search(r"project\(refs VERSION (\d+\.\d+\.\d+)", (root / "CMakeLists.txt").read_text(encoding="utf-8"))[1]
    lines = []
    for line in page.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("| option |"):
            line = HEAD
        elif line.startswith("|---"):
            line = LINE
        elif line.startswith("| `"):
            name = re.match(r"`(\w+)`", cells[0])[1]
            since = cells[3] if len(cells) == 5 else version
            default = f" {cells[1]}" if cells[1] else ""
            line = f"| {cells[0]} |{default} | {known.get(name, 'string')} | {since} | {cells[-1]} |"
        lines.append(line)
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    root = pathlib.Path(sys.argv[1])
    page = root / "docs" / "open-options.md"
    page.write_text(rewrite(page.read_text(encoding="utf-8"), root), encoding="utf-8")
