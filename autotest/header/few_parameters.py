#!/usr/bin/env python3
"""usage: few_parameters.py ROOT

Fails where a function of the core, or a member of a struct that points to one, has more than five
parameters, and where one of a public header takes a bare boolean. Functions whose parameters a
library of others prescribes are named below.
"""

import pathlib
import re
import sys

MOST = 5

BARE = re.compile(r"\s*(const )?bool \w+\s*")

# Entries of netCDF-C's dispatch table, and the functions of libdeflate.
FOREIGN = re.compile(r"^(ncrefs_(inq|get)_\w+|open_file|refs_codec_inflate)$")


NOT_CODE = re.compile(r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'", re.S)
DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", re.M)
CXX = re.compile(r"#ifdef __cplusplus\n.*?#endif", re.S)


def code_of(text):
    """The text with blank lines for comments, strings, lines of the preprocessor, and what is C++."""
    for what in (CXX, NOT_CODE, DIRECTIVE):
        text = what.sub(lambda found: "\n" * found.group().count("\n"), text)
    return text


def end_of(code, begin):
    """Where the bracket at `begin` is closed."""
    depth = 0
    for at in range(begin, len(code)):
        depth += (code[at] in "({[") - (code[at] in ")}]")
        if depth == 0:
            return at
    return len(code) - 1


def split(parameters):
    depth = 0
    parts = [""]
    for c in parameters:
        depth += (c in "([{") - (c in ")]}")
        if c == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += c
    return parts


def functions_of(code):
    """Name, place and parameters of each that is declared outside of other functions;
    uses of macros, in capital letters, are among them."""
    at = 0
    name = ""
    while at < len(code):
        if code[at] == "{":
            before = code[:at].rstrip()
            at = end_of(code, at) + 1 if before.endswith((")", "=")) else at + 1
        elif code[at] == "(":
            end = end_of(code, at)
            inside = code[at + 1 : end]
            pointer = re.fullmatch(r"\s*\*\s*(?:const\s+)?(\w+)\s*(?:\[\w*\])?\s*", inside)
            if pointer:
                name = pointer.group(1)
            else:
                called = re.search(r"(\w+)\s*$", code[:at])
                yield (called.group(1) if called else name), at, split(inside)
            at = end + 1
        else:
            at += 1


def main(root):
    found = False
    files = [*root.glob("include/refs/*.h"), *root.glob("frmts/refs/**/*.h"), *root.glob("frmts/refs/**/*.c")]
    for file in sorted(files):
        if "gdal" in file.parts:
            continue
        code = code_of(file.read_text(encoding="utf-8"))
        for name, at, parameters in functions_of(code):
            where = f"{file.relative_to(root)}:{code.count(chr(10), 0, at) + 1}: {name}"
            if len(parameters) > MOST and not name.isupper() and not FOREIGN.match(name):
                print(f"{where} has {len(parameters)} parameters")
                found = True
            if "include" in file.parts and any(BARE.fullmatch(one) for one in parameters):
                print(f"{where} takes a bare boolean")
                found = True
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1])))
