"""What tests share that open many files and compare each with what GDAL makes of it."""

import os


def compare(paths, problems, what):
    """Prints what `problems(path)` yields of each file, and how many files are equal, which `what` says.
    Returns the test's status."""
    equal = 0
    for path in paths:
        try:
            found = list(problems(path))
        except RuntimeError as error:
            found = [str(error)]
        for problem in found:
            print(os.path.basename(path), problem)
        equal += not found
    print(f"{equal} of {len(paths)} {what}")
    return 0 if equal == len(paths) else 1
