"""What the build under test has: the one list of it, which CMake writes (autotest/CMakeLists.txt)."""

import os
import sys

# In the build folder, beside that of the plugin.
LIST = os.path.join(os.environ.get("GDAL_DRIVER_PATH", ""), "..", "autotest", "libraries.txt")


def has(library):
    """Whether the build has an optional library, by its name for REFS_WITHOUT; of a plugin that is installed, all are taken for
    granted."""
    try:
        with open(LIST, encoding="utf-8") as file:
            return library in file.read().split()
    except OSError:
        return True


def need(*libraries):
    """Skips the script where the build lacks one."""
    missing = [library for library in libraries if not has(library)]
    if missing:
        print(f"this build lacks {', '.join(missing)}")
        sys.exit(77)
