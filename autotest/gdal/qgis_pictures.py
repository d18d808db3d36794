#!/usr/bin/env python3
"""Draws docs/pictures/qgis-*.png: the map without a window, and windows of QGIS as it runs on an X
server without a screen, those of the plugin by qgis_window_test.py.

usage: GDAL_DRIVER_PATH=... qgis_pictures.py   (needs qgis and xvfb)
"""
import os
import subprocess
import sys
import tempfile

import qgis_map
from qgis.PyQt.QtGui import QImage

SCREEN = "960x600x24"
DONE = "pictures are drawn"  # as qgis_windows.py says


def draw_map():
    with tempfile.TemporaryDirectory() as profile:
        application = qgis_map.start(profile)
        layer = qgis_map.open_layer(qgis_map.name_of("t2m"))
        qgis_map.style(layer)
        qgis_map.save(qgis_map.draw([layer])[0], "qgis-map.png")
        del layer
        application.exitQgis()


def draw_windows():
    here = os.path.dirname(os.path.abspath(__file__))
    with tempfile.TemporaryDirectory() as profile:
        environment = dict(os.environ, QT_QPA_PLATFORM="xcb", XDG_RUNTIME_DIR=profile,
                           PYTHONPATH=here)
        done = subprocess.run(
            ["xvfb-run", "-a", "-s", f"-screen 0 {SCREEN}", "qgis", "--nologo", "--noversioncheck",
             "--noplugins", "--profiles-path", profile, "--code",
             os.path.join(here, "qgis_windows.py")],
            cwd=os.path.join(qgis_map.DATA, ".."), env=environment, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, timeout=300)
    if DONE not in done.stdout:
        sys.exit(done.stdout)


def draw_plugin():
    here = os.path.dirname(os.path.abspath(__file__))
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, os.path.join(here, "qgis_window_test.py"), folder], check=True)
        for name in "qgis-plugin.png", "qgis-plugin-window.png":
            qgis_map.save(QImage(os.path.join(folder, name)), name)


if __name__ == "__main__":
    draw_map()
    draw_windows()
    draw_plugin()
