#!/usr/bin/env python3
"""Every file of test data and every picture is in a row of autotest/DATA.md, and rows name what is there.

usage: data_origins.py ROOT
"""

import fnmatch
import os
import re
import sys

ROOT = sys.argv[1]
FOLDERS = ("autotest", "data", "docs", "examples")
CODE = (".c", ".cc", ".cpp", ".h", ".py", ".sh", ".md", ".cmake")
LEFT_BY_PROGRAMS = (".pyc", ".aux.xml")


def data_files():
    for top in FOLDERS:
        for folder, _, files in os.walk(os.path.join(ROOT, top)):
            for file in files:
                if file != "CMakeLists.txt" and not file.endswith(CODE + LEFT_BY_PROGRAMS):
                    yield os.path.relpath(os.path.join(folder, file), ROOT)


def rows():
    """The patterns of a row, and what made the files."""
    with open(os.path.join(ROOT, "autotest/DATA.md"), encoding="utf-8") as page:
        for line in page:
            cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
            if line.startswith("| `") and len(cells) == 3 and all(cells):
                yield re.findall("`([^`]+)`", cells[0]), cells[1]


def main():
    files, wrong, known = sorted(data_files()), [], []
    for patterns, maker in rows():
        known += patterns
        wrong += [f"{pattern}: no such file" for pattern in patterns if not fnmatch.filter(files, pattern)]
        path = maker.strip("`")
        if maker != "by hand" and not os.path.exists(os.path.join(ROOT, path)):
            wrong.append(f"{patterns[0]}: made by {maker}, which is not there")
    wrong += [f"{file}: say in autotest/DATA.md where it comes from" for file in files
              if not any(fnmatch.fnmatch(file, pattern) for pattern in known)]
    print("\n".join(wrong) or f"{len(files)} files, {len(known)} patterns")
    return len(wrong) > 0


sys.exit(main())
