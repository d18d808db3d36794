"""Every test and golden case that docs/reference-set-rules.md names as a proof exists, and every test of the table of
docs/s3netcdf4-features.md.

usage: proofs_exist.py ROOT
"""

import fnmatch
import os
import re
import sys

PAGE = "docs/reference-set-rules.md"
FEATURES = "docs/s3netcdf4-features.md"
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


def has_test(root, path, suite, name):
    """Whether a file has it: TEST(Suite, Name), or a method of a class."""
    if not os.path.exists(os.path.join(root, path)):
        return False
    text = read(root, path)
    if path.endswith(".cc"):
        return re.search(rf"\bTEST(?:_F|_P)?\(\s*{suite},\s*{name}\)", text) is not None
    bodies = re.split(r"^class (\w+)", text, flags=re.MULTILINE)
    return any(f"    def {name}(self" in body for title, body in zip(bodies[1::2], bodies[2::2]) if title == suite)


def check_features(root):
    """What is wrong with the table of features, and how many tests it names."""
    table = read(root, FEATURES)
    rows = re.findall(r"^\| (.*) \| .* \|([^|]*)\|$", table, re.MULTILINE)[1:]
    wrong, n = [] if len(rows) >= 25 else ["features are missing"], 0
    for feature, cell in rows:
        named = re.findall(r"`([\w/]+\.(?:py|cc)): (\w+)\.(\w+)`", cell)
        n += len(named)
        if not named:
            wrong.append(f"{feature}: no test is named")
        wrong += [f"{feature}: there is no test {suite}.{name} in {path}" for path, suite, name in named
                  if not has_test(root, "autotest/" + path, suite, name)]
    return wrong, len(rows), n


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
    wrong_features, n_features, n_tests = check_features(root)
    wrong += wrong_features
    print(*wrong, f"{len(rows)} points, {n_proofs} proofs; {n_features} features, {n_tests} tests", sep="\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
