"""Finds real files: in the folder that REFS_SHARED_DATA names, otherwise in ../shared/data.

Importing this ends the program as skipped if the folder is absent.
"""

import glob
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
DATA = os.environ.get("REFS_SHARED_DATA", os.path.join(HERE, "..", "..", "..", "shared", "data"))

if not os.path.isdir(DATA):
    print(f"left out: there is no {DATA}")
    sys.exit(77)


def files(*patterns):
    """The files of those names in that folder; ends the program as skipped if there are none."""
    found = sorted(path for pattern in patterns for path in glob.glob(os.path.join(DATA, pattern)))
    if not found:
        print(f"left out: {DATA} has no {' or '.join(patterns)}")
        sys.exit(77)
    return found
