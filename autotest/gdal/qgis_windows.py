"""Run by QGIS itself for qgis_pictures.py, when its window is there: pictures of its windows."""
import os

import qgis_map
from qgis.core import QgsProject
from qgis.gui import QgsRendererRasterPropertiesWidget
from qgis.PyQt.QtCore import QEventLoop, QRect, QTimer
from qgis.PyQt.QtWidgets import QApplication, QDockWidget, QLabel, QToolBar, QToolTip
from qgis.utils import iface

SIZE = (800, 500)
FILE = "data/sample.json"
MOVED = "build/moved.json"


def wait(milliseconds=1500):
    """Lets QGIS draw what it has to."""
    loop = QEventLoop()
    QTimer.singleShot(milliseconds, loop.quit)
    loop.exec_()


def grab(widget, name, height=None):
    """A picture of a widget, or of its upper part."""
    wait()
    part = QRect(0, 0, widget.width(), height or widget.height())
    qgis_map.save(widget.grab(part).toImage(), name)


def tidy(window):
    window.setGeometry(0, 0, *SIZE)
    for dock in window.findChildren(QDockWidget):
        dock.setVisible(dock.objectName() == "Layers")
    for bar in window.findChildren(QToolBar):
        bar.setVisible(bar.objectName() in ("mMapNavToolBar",))


def draw_sublayers():
    """What QGIS asks when it is given a set. It waits for an answer: the picture draws itself."""
    def draw_and_cancel():
        dialog = QApplication.activeModalWidget()
        dialog.resize(640, 260)
        for label in dialog.findChildren(QLabel):  # which show where the set lies here
            if FILE in label.text():
                label.setText(FILE)
        grab(dialog, "qgis-sublayers.png")
        dialog.reject()

    QTimer.singleShot(1500, draw_and_cancel)
    iface.addRasterLayer(FILE)


def draw_window(window, layer):
    QgsProject.instance().addMapLayer(layer)
    iface.setActiveLayer(layer)
    iface.mapCanvas().setExtent(layer.extent())
    iface.mapCanvas().refresh()
    grab(window, "qgis-window.png")


def draw_symbology(window, layer):
    symbology = QgsRendererRasterPropertiesWidget(layer, iface.mapCanvas(), window)
    symbology.setParent(None)
    symbology.resize(480, 420)
    symbology.show()
    grab(symbology, "qgis-symbology.png", 600)
    symbology.close()


def draw_gone(window):
    """The sign beside a layer whose data file moved, with what it tells; of the screen, as that is a window of its own."""
    QgsProject.instance().clear()
    with open(FILE, encoding="utf-8") as file, open(MOVED, "w", encoding="utf-8") as moved:
        moved.write(file.read().replace("sample.nc", "/old/archive/sample.nc"))
    layer = qgis_map.open_layer(f'REFS:"{MOVED}":/t2m[time=#13]')
    QgsProject.instance().addMapLayer(layer)
    iface.mapCanvas().setExtent(layer.extent())
    iface.mapCanvas().refresh()
    wait(3000)
    view = iface.layerTreeView()
    node = QgsProject.instance().layerTreeRoot().findLayer(layer)
    view.resizeColumnToContents(0)
    view.viewport().update()
    wait()
    QToolTip.showText(view.viewport().mapToGlobal(view.viewport().rect().topRight()), view.indicators(node)[0].toolTip())
    wait()
    screen = QApplication.primaryScreen().grabWindow(0, 0, 0, *SIZE)
    qgis_map.save(screen.toImage(), "qgis-gone.png")


def draw():
    window = iface.mainWindow()
    tidy(window)
    draw_sublayers()
    layer = qgis_map.open_layer(f'REFS:"{FILE}":/t2m')
    qgis_map.style(layer)
    draw_window(window, layer)
    draw_symbology(window, layer)
    draw_gone(window)
    print("pictures are drawn", flush=True)


# Without leaving QGIS as its users do, which would ask whether to save.
try:
    draw()
finally:
    os._exit(0)
