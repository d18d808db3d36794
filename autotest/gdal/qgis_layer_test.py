"""Layers and projects that the plugin of QGIS writes: they load, have their colours and times, and the temporal controller
shows in each frame the pixels of its band, on maps in EPSG:4326 and EPSG:3857. From QGIS 3.38 on one layer does by itself,
before by the plugin; a layer for each time does in all.

    qgis_layer_test.py [FOLDER]

Skips without PyQGIS. Layers and pictures stay in FOLDER where one is given.
"""

import os
import shutil
import sys
import tempfile

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
os.environ.setdefault("QGIS_PREFIX_PATH", "/usr")
os.environ.setdefault("GDAL_PAM_ENABLED", "NO")
try:
    from qgis.core import (Qgis, QgsApplication, QgsCoordinateReferenceSystem, QgsCoordinateTransform, QgsDateTimeRange,
                           QgsLayerDefinition, QgsProject, QgsRasterLayer)
    from qgis.PyQt.QtCore import QDateTime, Qt
except ImportError:
    print("PyQGIS is not installed")
    sys.exit(77)

import numpy as np
from qgis_canvas import Canvas

import refs_qgis

HERE = os.path.dirname(os.path.abspath(__file__))
SET = os.path.normpath(os.path.join(HERE, "../../data/sample.json"))
HOURS = (3, 13, 23)
HAS_BANDS_WITH_TIMES = Qgis.QGIS_VERSION_INT >= 33800
DAY = QDateTime.fromString("2024-06-01T00:00:00Z", Qt.DateFormat.ISODate)
problems = []


def expect(what, found, wanted):
    if found != wanted:
        problems.append(f"{what}: {found}, not {wanted}")


def load(path):
    """A project with what is in the file, and its layers from the top."""
    project = QgsProject()
    if path.endswith(".qlr"):
        expect(f"{path} is read", QgsLayerDefinition.loadLayerDefinition(path, project, project.layerTreeRoot()), (True, ""))
    else:
        expect(f"{path} is read", project.read(path), True)
    return project, [node.layer() for node in project.layerTreeRoot().findLayers()]


def frames(project, layers, crs, path=None):
    """The map in each of HOURS, by the temporal controller."""
    extent = QgsCoordinateTransform(layers[0].crs(), crs, project).transformBoundingBox(layers[0].extent())
    canvas = Canvas(project, crs, extent)
    canvas.play(QgsDateTimeRange(DAY, DAY.addDays(1), True, False), 3600)
    seen = [canvas.frame(hour, path and f"{path}.{crs.postgisSrid()}.{hour:02}.png") for hour in HOURS]
    canvas.close()
    return seen


def of_bands(like, crs):
    """The same maps by each band alone, with the colours of the layer."""
    seen = []
    for hour in HOURS:
        layer = QgsRasterLayer(f'REFS:"{SET}":/t2m[time=#{hour}]', "x", "gdal")
        renderer = like.renderer().clone()
        renderer.setInputBand(1) if hasattr(renderer, "setInputBand") else renderer.setBand(1)
        layer.setRenderer(renderer)
        project = QgsProject()
        project.addMapLayer(layer)
        extent = QgsCoordinateTransform(layer.crs(), crs, project).transformBoundingBox(layer.extent())
        canvas = Canvas(project, crs, extent)
        seen.append(canvas.draw())
        canvas.close()
    return seen


def check_bands(name, properties):
    """Each band has its own hour."""
    expect(f"mode of {name}", properties.mode(), Qgis.RasterTemporalMode.FixedRangePerBand)
    ranges = properties.fixedRangePerBand()
    expect(f"bands of {name}", sorted(ranges), list(range(1, 25)))
    for band, span in ranges.items():
        begin = DAY.addSecs(3600 * (band - 1))
        expect(f"band {band} of {name}", (span.begin(), span.end()), (begin, begin.addSecs(3600)))


def check(path, n_layers):
    project, layers = load(path)
    name = os.path.basename(path)
    expect(f"layers of {name}", len(layers), n_layers)
    if len(layers) != n_layers or not all(layer is not None and layer.isValid() for layer in layers):
        problems.append(f"{name} has layers that QGIS does not take")
        return
    expect(f"CRS of {name}", layers[0].crs().authid(), "EPSG:4326")
    expect(f"renderer of {name}", layers[0].renderer().type(), "singlebandpseudocolor")
    expect(f"{name} has times", layers[0].temporalProperties().isActive(), True)
    if n_layers == 1 and HAS_BANDS_WITH_TIMES:
        check_bands(name, layers[0].temporalProperties())
    for code in "EPSG:4326", "EPSG:3857":
        crs = QgsCoordinateReferenceSystem(code)
        seen, wanted = frames(project, layers, crs, path), of_bands(layers[0], crs)
        expect(f"{name} shows what the bands do in {code}", [np.array_equal(*pair) for pair in zip(seen, wanted)], [True] * len(HOURS))
        expect(f"{name} changes with time in {code}", np.array_equal(seen[0], seen[1]), False)
        expect(f"{name} is drawn in {code}", (seen[0] != 255).any(axis=2).mean() > .4, True)
        expect(f"colours of {name} in {code}", len(np.unique(seen[0].reshape(-1, 3), axis=0)) > 20, True)
    if not path.endswith(".qlr"):
        span = project.timeSettings().temporalRange()
        expect(f"times of {name}", (span.begin().toUTC().toString(Qt.DateFormat.ISODate), span.end().toUTC().toString(Qt.DateFormat.ISODate)),
               ("2024-06-01T00:00:00Z", "2024-06-02T00:00:00Z"))


def check_file(path):
    """Whatever version wrote it, later ones find the range of each band."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    expect(f"ranges in {path}", (text.count("<range "), text.count('mode="3"')), (24, 1))


def main():
    folder = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else tempfile.mkdtemp()
    os.makedirs(folder, exist_ok=True)
    application = QgsApplication([], True, tempfile.mkdtemp())
    application.initQgis()
    for ending in ".qlr", ".qgs", ".qgz":
        for each_time, n_layers in (False, 1), (True, 24):
            path = os.path.join(folder, "t2m" + ("-layers" if each_time else "") + ending)
            expect(f"warnings of {path}", refs_qgis.write(SET, "t2m", path, each_time=each_time), [])
            check(path, n_layers)
            if n_layers == 1 and ending != ".qgz":
                check_file(path)
    for problem in problems:
        print(problem)
    print(f"QGIS {Qgis.QGIS_VERSION}: one layer plays {'by itself' if HAS_BANDS_WITH_TIMES else 'by the plugin'}")
    if len(sys.argv) == 1:
        shutil.rmtree(folder)
    sys.stdout.flush()
    os._exit(1 if problems else 0)  # without the end of QGIS, which crashes on some machines


main()
