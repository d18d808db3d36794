"""Layers and projects that the program refs writes for QGIS: they load, have their colours and times, and the
temporal controller shows with each the pixels of its band. With a picture of two hours. From QGIS 3.38 on one layer
does; before, and after, a layer for each time.

    qgis_layer_test.py PROGRAM [FOLDER [--no-writing]]

Skips without PyQGIS. Pictures stay in FOLDER where one is given; with --no-writing the layers are there, too. Where
REFS_QGIS_PLAYS_BANDS is set, an older QGIS is a failure.
"""

import os
import shutil
import subprocess
import sys
import tempfile

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
os.environ.setdefault("QGIS_PREFIX_PATH", "/usr")
os.environ.setdefault("GDAL_PAM_ENABLED", "NO")
try:
    from qgis.core import (Qgis, QgsApplication, QgsDateTimeRange, QgsLayerDefinition, QgsMapRendererParallelJob,
                           QgsMapSettings, QgsProject, QgsRasterLayer)
    from qgis.PyQt.QtCore import QDateTime, QSize, Qt
    from qgis.PyQt.QtGui import QColor
except ImportError:
    print("PyQGIS is not installed")
    sys.exit(77)

HERE = os.path.dirname(os.path.abspath(__file__))
SET = os.path.normpath(os.path.join(HERE, "../../data/sample.json"))
HOURS = (3, 13)
WIDTH, HEIGHT = 320, 220
HAS_BANDS_WITH_TIMES = Qgis.QGIS_VERSION_INT >= 33800
problems = []


def expect(what, found, wanted):
    if found != wanted:
        problems.append(f"{what}: {found}, not {wanted}")


def draw(layers, hour, picture):
    """The map in one hour, as bytes; `hour` None: without time."""
    settings = QgsMapSettings()
    settings.setLayers(layers)
    settings.setOutputSize(QSize(WIDTH, HEIGHT))
    settings.setExtent(layers[0].extent())
    settings.setDestinationCrs(layers[0].crs())
    settings.setBackgroundColor(QColor(255, 255, 255))
    if hour is not None:
        begin = QDateTime.fromString(f"2024-06-01T{hour:02}:00:00Z", Qt.ISODate)
        settings.setIsTemporal(True)
        settings.setTemporalRange(QgsDateTimeRange(begin, begin.addSecs(3600), True, False))
    job = QgsMapRendererParallelJob(settings)
    job.start()
    job.waitForFinished()
    image = job.renderedImage()
    image.save(picture)
    return image.constBits().asstring(image.sizeInBytes())


def load(path):
    """A project with what is in the file, and its layers from the top."""
    project = QgsProject()
    if path.endswith(".qgs"):
        expect(f"{path} is read", project.read(path), True)
    else:
        expect(f"{path} is read", QgsLayerDefinition.loadLayerDefinition(path, project, project.layerTreeRoot()), (True, ""))
    return project, [node.layer() for node in project.layerTreeRoot().findLayers()]


def of_band(layers, hour, picture):
    """The same map by the band alone, with the colours of the layer."""
    layer = QgsRasterLayer(f'REFS:"{SET}":/t2m[time=#{hour}]', "x", "gdal")
    layer.setRenderer(layers[0].renderer().clone())
    layer.setCrs(layers[0].crs())
    return draw([layer], None, picture)


def check_bands(name, properties):
    """Each band has its own hour."""
    expect(f"mode of {name}", properties.mode(), Qgis.RasterTemporalMode.FixedRangePerBand)
    ranges = properties.fixedRangePerBand()
    expect(f"bands of {name}", sorted(ranges), list(range(1, 25)))
    for band, span in ranges.items():
        begin = QDateTime.fromString(f"2024-06-01T{band - 1:02}:00:00Z", Qt.ISODate)
        expect(f"band {band} of {name}", (span.begin(), span.end()), (begin, begin.addSecs(3600)))


def check(path, n_layers, plays):
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
    if not plays:
        return
    seen = [draw(layers, hour, f"{path}.{hour:02}.png") for hour in HOURS]
    wanted = [of_band(layers, hour, f"{path}.{hour:02}.band.png") for hour in HOURS]
    expect(f"{name} shows what the bands do", seen == wanted, True)
    expect(f"{name} changes with time", seen[0] != seen[1], True)
    expect(f"colours of {name}", len(set(seen[0][i:i + 4] for i in range(0, len(seen[0]), 4))) > 20, True)
    if path.endswith(".qgs"):
        span = project.timeSettings().temporalRange()
        expect(f"times of {name}", (span.begin().toUTC().toString(Qt.ISODate), span.end().toUTC().toString(Qt.ISODate)),
               ("2024-06-01T00:00:00Z", "2024-06-02T00:00:00Z"))


def main():
    program = os.path.abspath(sys.argv[1])
    folder = os.path.abspath(sys.argv[2]) if len(sys.argv) > 2 else tempfile.mkdtemp()
    os.makedirs(folder, exist_ok=True)
    application = QgsApplication([], True, tempfile.mkdtemp())
    application.initQgis()
    if "REFS_QGIS_PLAYS_BANDS" in os.environ:
        expect(f"QGIS {Qgis.QGIS_VERSION} has times of bands", HAS_BANDS_WITH_TIMES, True)
    for ending in (".qlr", ".qgs"):
        for options, n_layers, plays in ((), 1, HAS_BANDS_WITH_TIMES), (("--layers",), 24, True):
            path = os.path.join(folder, "t2m" + "".join(options) + ending)
            if "--no-writing" not in sys.argv:
                subprocess.run([program, "qgis", SET, "t2m", "-o", path, *options], check=True)
            check(path, n_layers, plays)
    for problem in problems:
        print(problem)
    print(f"QGIS {Qgis.QGIS_VERSION}: {'one layer plays' if HAS_BANDS_WITH_TIMES else 'one layer is shown, layers of each time play'}")
    if len(sys.argv) == 2:
        shutil.rmtree(folder)
    sys.stdout.flush()
    os._exit(1 if problems else 0)  # without the end of QGIS, which crashes on some machines


main()
