"""Run by QGIS itself for qgis_window_test.py, when its window is there: the plugin from the menu to the temporal controller."""

import json
import os

import qgis.utils
from qgis.core import (QgsCoordinateReferenceSystem, QgsMapRendererParallelJob, QgsMapSettings, QgsProject, QgsRasterLayer,
                       QgsTemporalNavigationObject)
from qgis.PyQt.QtCore import QEventLoop, QTimer
from qgis.PyQt.QtGui import QImage
from qgis.PyQt.QtWidgets import QAction, QDockWidget
from qgis.utils import iface

ROOT = os.getcwd()
FOLDER = os.environ["REFS_WINDOW_FOLDER"]
results = {}


def wait(milliseconds=300):
    loop = QEventLoop()
    QTimer.singleShot(milliseconds, loop.quit)
    loop.exec()


def wait_for(dialog):
    wait()
    while dialog.is_busy():
        wait(50)


def add_layer():
    iface.mainWindow().findChild(QAction, "refsAddLayer").trigger()
    dialog = qgis.utils.plugins["refs_qgis"].dialog
    dialog.source.setCurrentText("data/sample.json")
    dialog.list_button.click()
    wait_for(dialog)
    results["dialog"] = dialog.height()
    wait()
    dialog.grab().save(os.path.join(FOLDER, "qgis-plugin.png"))
    dialog.add_button.click()
    wait_for(dialog)
    dialog.close()
    return list(QgsProject.instance().mapLayers().values())[0]


def draw(name):
    """The map of the window when it no longer changes: an earlier refresh may end after a later one has begun."""
    previous, image = None, drawn(name)
    while image != previous:
        previous, image = image, drawn(name)
    return image


def drawn(name):
    canvas, refreshed = iface.mapCanvas(), []
    while canvas.isDrawing():
        wait(50)
    canvas.mapCanvasRefreshed.connect(lambda: refreshed.append(True))
    canvas.refresh()
    while not refreshed or canvas.isDrawing():
        wait(50)
    path = os.path.join(FOLDER, name)
    canvas.saveAsImage(path)
    return QImage(path).convertToFormat(QImage.Format_RGB888)


def of_band(layer, hour):
    """The same map by the band alone."""
    alone = QgsRasterLayer(f'REFS:"{ROOT}/data/sample.json":/t2m[time=#{hour}]', "x", "gdal")
    renderer = layer.renderer().clone()
    renderer.setInputBand(1) if hasattr(renderer, "setInputBand") else renderer.setBand(1)
    alone.setRenderer(renderer)
    settings = QgsMapSettings(iface.mapCanvas().mapSettings())
    settings.setLayers([alone])
    settings.setIsTemporal(False)
    job = QgsMapRendererParallelJob(settings)
    job.start()
    job.waitForFinished()
    job.renderedImage().save(os.path.join(FOLDER, f"band-{hour:02}.png"))
    return job.renderedImage().convertToFormat(QImage.Format_RGB888)


def draw_frame(layer, hour, name):
    """The map, and whether it is that of the band: the window may still be on its way to a new extent or frame."""
    for _ in range(10):
        image = draw(name)
        if image == of_band(layer, hour):
            return image, True
        wait()
    return image, False


def play(layer, controller, code):
    """Each of some frames beside the layer of its band alone."""
    canvas = iface.mapCanvas()
    QgsProject.instance().setCrs(QgsCoordinateReferenceSystem(code))
    iface.setActiveLayer(layer)
    wait()
    canvas.zoomToFullExtent()
    same, seen = [], []
    for hour in (3, 13, 23):
        controller.setCurrentFrameNumber(hour)
        image, is_same = draw_frame(layer, hour, f"{code[5:]}-{hour:02}.png")
        seen.append(image)
        same.append(is_same)
    results[code] = same + [seen[0] != seen[1]]


def run():
    window = iface.mainWindow()
    window.setGeometry(0, 0, 900, 600)
    for dock in window.findChildren(QDockWidget):
        dock.setVisible(dock.objectName() in ("Layers", "Temporal Controller"))
    layer = add_layer()
    results["layers"] = len(QgsProject.instance().mapLayers())
    results["source"] = layer.source()
    controller = iface.mapCanvas().temporalController()
    controller.setNavigationMode(QgsTemporalNavigationObject.Animated)
    results["frames"] = controller.totalFrameCount()
    play(layer, controller, "EPSG:4326")
    play(layer, controller, "EPSG:3857")
    controller.setCurrentFrameNumber(13)
    draw("window.png")
    window.grab().save(os.path.join(FOLDER, "qgis-plugin-window.png"))
    results["messages"] = [message.text() for message in iface.messageBar().items()]


try:
    run()
except Exception as error:
    results["error"] = repr(error)
finally:
    with open(os.path.join(FOLDER, "results.json"), "w", encoding="utf-8") as file:
        json.dump(results, file)
    os._exit(0)  # without leaving QGIS as its users do, which would ask whether to save
