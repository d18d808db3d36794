"""Where real files are: shared/data beside the repository, or REFS_SHARED_DATA.

Importing this ends the program as skipped if the folder is absent.
"""

import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
DATA = os.environ.get("REFS_SHARED_DATA", os.path.join(HERE, "..", "..", "..", "shared", "data"))

if not os.path.isdir(DATA):
    print(f"left out: there is no {DATA}")
    sys.exit(77)
