"""Every test and golden case that docs/reference-sets.md names as a proof exists.

usage: proofs_exist.py ROOT
"""

import fnmatch
import os
import re
import sys

PAGE = "docs/reference-sets.md"
GOLDEN = "autotest/golden/refset"


def read(root, path):
    with open(os.path.join(root, path), encoding="utf-8") as file:
        return file.read()


def files(root, extensions):
    for folder, _, names in os.walk(os.path.join(root, "autotest")):
        for name in names:
            if name.endswith(extensions):
                yield os.path.relpath(os.path.join(folder, name), root)


def existing_tests(root):
    """Names of all tests: Suite.Name, and those that CMake adds."""
    found = set()
    for path in files(root, (".cc", ".txt")):
        text = read(root, path)
        found.update(map(".".join, re.findall(r"\bTEST(?:_F|_P)?\(\s*(\w+),\s*(\w+)\)", text)))
        named = re.findall(r"add_test\(NAME ([\w.]+)", text)
        named += ["driver." + name for name in re.findall(r"python_test\(([\w.]+) ", text)]
        for name in named:
            found.update([name, name.removeprefix("driver.")])
    return found


def proofs(cell):
    """What the last cell of a row names: ("golden" or "test", pattern)."""
    for part in re.sub(r"`[^`]*`", "", cell).split(";"):
        suite = golden = None
        for item in part.replace("\\*", "*").split(","):
            words = item.split()
            if not words or words[0] == "shorter":
                continue
            golden = golden or words[0] == "golden"
            name = words[-1]
            if golden:
                yield "golden", name
            elif re.fullmatch(r"[\w.]+\.[\w*]+", name):
                suite = name.rsplit(".", 1)[0]
                yield "test", name
            elif suite and re.fullmatch(r"\w+", name):
                yield "test", f"{suite}.{name}"


def main():
    root = sys.argv[1]
    tests = existing_tests(root)
    cases = os.listdir(os.path.join(root, GOLDEN))
    rows = re.findall(r"^\| (\d+) \|.*\|([^|]*)\|$", read(root, PAGE), re.MULTILINE)
    wrong = [] if [int(n) for n, _ in rows] == list(range(1, 73)) else ["points are missing"]
    n_proofs = 0
    for number, cell in rows:
        named = list(proofs(cell))
        n_proofs += len(named)
        if not named:
            wrong.append(f"{number} names no proof")
        for kind, pattern in named:
            if not fnmatch.filter(cases if kind == "golden" else tests, pattern):
                wrong.append(f"{number}: there is no {kind} {pattern}")
    print(*wrong, f"{len(rows)} points, {n_proofs} proofs", sep="\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
