"""The programs of the wheel: each takes the place of this process."""

import os
import sys

_FOLDER = os.path.dirname(os.path.abspath(__file__))


def _run(program, arguments):
    if os.path.exists(os.path.join(_FOLDER, "proj", "proj.db")):
        os.environ.setdefault("PROJ_DATA", os.path.join(_FOLDER, "proj"))
    os.execvp(program, arguments)


def refs():
    _run(os.path.join(_FOLDER, "bin", "refs"), ["refs", *sys.argv[1:]])


def ncrefs():
    if len(sys.argv) < 2:
        sys.exit("usage: ncrefs PROGRAM [ARGUMENT ...]")
    preloaded = [os.path.join(_FOLDER, "lib", "libncrefs.so"), os.environ.get("LD_PRELOAD")]
    os.environ["LD_PRELOAD"] = ":".join(filter(None, preloaded))
    try:
        _run(sys.argv[1], sys.argv[1:])
    except OSError as error:
        sys.exit(f"ncrefs: {sys.argv[1]}: {error.strerror}")
