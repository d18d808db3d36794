"""qgis_layer_test.py in the QGIS of another Debian, whose version is 3.38 or later: one layer plays by the time range
of each of its bands.

    REFS_QGIS_TREE=FOLDER qgis_tree_test.py [PICTURES]

FOLDER is the root of a Debian with python3-qgis and a plugin that was built there, as matrix.sh leaves it
(root/refs/build/release/gdalplugins). It reads the layers that the plugin of QGIS writes here, and
writes its own. Needs root, for chroot; skips where no such Debian is named. Pictures go to the folder PICTURES where one is given.
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


def copy_sources(folder):
    """All that the test reads, in `folder`, which has the same name in the tree: layers name their set by its path."""
    shutil.copytree(DATA, f"{folder}/data")
    shutil.copytree(os.path.join(HERE, "../../qgis"), f"{folder}/qgis")
    os.makedirs(f"{folder}/autotest/gdal")
    for name in ("qgis_layer_test.py", "qgis_canvas.py"):
        shutil.copy(f"{HERE}/{name}", f"{folder}/autotest/gdal")


def write_layers(folder):
    """By the QGIS of this machine."""
    os.mkdir(f"{folder}/layers")
    for ending in (".qlr", ".qgs", ".qgz"):
        for name, options in ("t2m", ()), ("t2m-layers", ("--layers",)):
            subprocess.run([sys.executable, "-m", "refs_qgis", f"{folder}/data/sample.json", "t2m", "-o", f"{folder}/layers/{name}{ending}",
                            *options], env=dict(os.environ, PYTHONPATH=f"{folder}/qgis"), check=True)


def run_in(tree, folder, *arguments):
    environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root", "LC_ALL": "C.UTF-8", "GDAL_DRIVER_PATH": f"/{PLUGINS}",
                   "REFS_QGIS_PLAYS_BANDS": "YES"}
    return subprocess.run(["chroot", tree, "python3", f"{folder}/autotest/gdal/qgis_layer_test.py", *arguments], env=environment,
                          check=False).returncode


def main():
    tree = os.environ.get("REFS_QGIS_TREE")
    if not tree:
        skip("REFS_QGIS_TREE names no Debian with a QGIS from 3.38 on")
    if os.geteuid() != 0:
        skip("only root may use chroot")
    if not os.path.exists(f"{tree}/{PLUGINS}/gdal_REFS.so"):
        sys.exit(f"{tree}/{PLUGINS} has no plugin: matrix.sh builds it there")
    folder = tempfile.mkdtemp(prefix="refs-qgis-")
    copy_sources(folder)
    write_layers(folder)
    shutil.copytree(folder, f"{tree}/{folder}")
    failed = [run_in(tree, folder, f"{folder}/layers", "--no-writing"), run_in(tree, folder, f"{folder}/written")]
    if len(sys.argv) > 1:
        shutil.copytree(f"{tree}/{folder}", sys.argv[1], dirs_exist_ok=True)
    shutil.rmtree(f"{tree}/{folder}")
    shutil.rmtree(folder)
    sys.exit(1 if any(failed) else 0)  # what is named has to have QGIS: skipping is a failure


if __name__ == "__main__":
    main()
