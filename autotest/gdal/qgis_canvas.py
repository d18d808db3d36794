"""The plugin of QGIS, and a map canvas with a temporal controller as its window has them."""

import os
import sys

import numpy as np
from qgis.core import QgsInterval, QgsTemporalNavigationObject
from qgis.gui import QgsMapCanvas
from qgis.PyQt.QtCore import QCoreApplication
from qgis.PyQt.QtGui import QColor, QImage

HERE = os.path.dirname(os.path.abspath(__file__))
PLUGINS = os.path.normpath(os.path.join(HERE, "..", "..", "qgis"))
sys.path.insert(0, PLUGINS)
from refs_qgis import times  # noqa: E402


def pixels(image):
    """Red, green and blue of a picture: [row, column, colour]."""
    image = image.convertToFormat(QImage.Format.Format_RGB888)
    bits = image.constBits()
    bits.setsize(image.sizeInBytes())
    rows = np.frombuffer(bits, np.uint8).reshape(image.height(), image.bytesPerLine())
    return rows[:, :3 * image.width()].reshape(image.height(), image.width(), 3).copy()


class Canvas:
    def __init__(self, project, crs, extent, size=(320, 220)):
        self.canvas = QgsMapCanvas()
        self.canvas.setFrameStyle(0)
        self.canvas.resize(*size)
        self.canvas.setCanvasColor(QColor(255, 255, 255))
        self.canvas.setDestinationCrs(crs)
        self.player = times.Player(self.canvas, project)
        self.controller = QgsTemporalNavigationObject()
        self.canvas.setTemporalController(self.controller)
        self.canvas.setLayers([node.layer() for node in project.layerTreeRoot().findLayers()])
        self.canvas.setExtent(extent)
        self.canvas.show()

    def play(self, whole, seconds):
        """Has the controller step through a range."""
        self.controller.setTemporalExtents(whole)
        self.controller.setFrameDuration(QgsInterval(seconds))
        self.controller.setNavigationMode(QgsTemporalNavigationObject.NavigationMode.Animated)

    def frame(self, number, picture=None):
        """The pixels of the map in a frame."""
        self.controller.setCurrentFrameNumber(number)
        return self.draw(picture)

    def draw(self, picture=None):
        drawn = []
        self.canvas.mapCanvasRefreshed.connect(lambda: drawn.append(True))
        self.canvas.refresh()
        while not drawn or self.canvas.isDrawing():
            QCoreApplication.processEvents()
        image = self.canvas.grab().toImage()
        if picture is not None:
            image.save(picture)
        return pixels(image)

    def close(self):
        self.player.close()
        self.canvas.close()
