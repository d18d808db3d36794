"""Texts of messages are asserted in one test file each: others look for a key word, so that a message is reworded in
one place. Pages and their tests, which show messages to users, may repeat them.

    message_texts.py ROOT
"""

import collections
import pathlib
import re
import sys

LEAST = 30  # characters without a number or name in them: what is shorter is a key word
STRING = r'"(?:[^"\\\n]|\\.)*"'
STRINGS = re.compile(rf"{STRING}(?:\s*{STRING})*")
FORMAT = re.compile(r"%[-+ #0-9.*]*(?:hh|ll|[hlzj])?[a-zA-Z]")


def literals(code):
    """All string literals, those that follow each other as one."""
    return ("".join(part[1:-1] for part in re.findall(STRING, found)) for found in STRINGS.findall(code))


def texts_of_messages(root):
    """What stands between the numbers and names of formats, in all sources of the plugin and the core."""
    texts = set()
    for pattern in ("frmts/refs/**/*.c", "frmts/refs/**/*.cpp", "frmts/refs/**/*.h"):
        for file in root.glob(pattern):
            for literal in literals(file.read_text(encoding="utf-8")):
                texts.update(part.strip(" :;,") for part in FORMAT.split(literal) if " " in part)
    return {text for text in texts if len(text) >= LEAST}


def main(root):
    asserted = collections.defaultdict(set)
    texts = texts_of_messages(root)
    for pattern in ("unit/**/*.cc", "gdal/**/*.cc", "conform/**/*.cc", "gdal/**/*.py", "tool/**/*.py", "netcdf/**/*.py"):
        for file in (root / "autotest").glob(pattern):
            whole = "\n".join(literals(file.read_text(encoding="utf-8")))
            for text in texts:
                if text in whole:
                    asserted[text].add(str(file.relative_to(root)))
    found = {text: files for text, files in asserted.items() if len(files) > 1}
    for text, files in sorted(found.items()):
        print(f"{text!r} is asserted in {', '.join(sorted(files))}")
    print(f"{len(texts)} texts, {len(asserted)} of them asserted, {len(found)} in several files")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1])))
