"""qgis_layer_test.py in the QGIS of another Debian, whose version is 3.38 or later: one layer plays by the time range
of each of its bands.

    REFS_QGIS_TREE=FOLDER qgis_tree_test.py PROGRAM [PICTURES]

FOLDER is the root of a Debian with python3-qgis and a plugin that was built there, as matrix.sh leaves it
(root/refs/build/release/gdalplugins); a program of this build writes the layers. Needs root, for chroot; skips where no
such Debian is named. Pictures go to the folder PICTURES where one is given.
"""

import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
DATA = os.path.normpath(os.path.join(HERE, "../../data"))
PLUGINS = "root/refs/build/release/gdalplugins"


def skip(why):
    print(why)
    sys.exit(77)


def write_layers(program, folder):
    """All that the test reads, in `folder`, which has the same name in the tree: layers name their set by its path."""
    shutil.copytree(DATA, f"{folder}/data")
    os.makedirs(f"{folder}/autotest/gdal")
    shutil.copy(f"{HERE}/qgis_layer_test.py", f"{folder}/autotest/gdal")
    for ending in (".qlr", ".qgs"):
        for options in ((), ("--layers",)):
            path = f"{folder}/t2m{''.join(options)}{ending}"
            subprocess.run([program, "qgis", f"{folder}/data/sample.json", "t2m", "-o", path, *options], check=True)


def main():
    tree = os.environ.get("REFS_QGIS_TREE")
    if not tree:
        skip("REFS_QGIS_TREE names no Debian with a QGIS from 3.38 on")
    if os.geteuid() != 0:
        skip("only root may use chroot")
    if not os.path.exists(f"{tree}/{PLUGINS}/gdal_REFS.so"):
        sys.exit(f"{tree}/{PLUGINS} has no plugin: matrix.sh builds it there")
    folder = tempfile.mkdtemp(prefix="refs-qgis-")
    write_layers(os.path.abspath(sys.argv[1]), folder)
    shutil.copytree(folder, f"{tree}/{folder}")
    environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root", "LC_ALL": "C.UTF-8", "GDAL_DRIVER_PATH": f"/{PLUGINS}",
                   "REFS_QGIS_PLAYS_BANDS": "YES"}
    ran = subprocess.run(["chroot", tree, "python3", f"{folder}/autotest/gdal/qgis_layer_test.py", "-", folder, "--no-writing"],
                         env=environment, check=False)
    if len(sys.argv) > 2:
        shutil.copytree(f"{tree}/{folder}", sys.argv[2], dirs_exist_ok=True)
    shutil.rmtree(f"{tree}/{folder}")
    shutil.rmtree(folder)
    sys.exit(1 if ran.returncode == 77 else ran.returncode)  # what is named has to have QGIS


if __name__ == "__main__":
    main()
