"""What QGIS starts: the entry of the menu, and the player of times."""

import os

from qgis.core import Qgis, QgsProject
from qgis.PyQt.QtGui import QIcon
from qgis.PyQt.QtWidgets import QAction

from . import layers, times
from .dialog import Dialog, find_driver
from .source import SourceError

MENU = "Reference Sets"


class Plugin:
    def __init__(self, iface):
        self.iface = iface
        self.dialog = self.action = self.player = None

    def initGui(self):  # noqa: N802, which QGIS calls
        icon = QIcon(os.path.join(os.path.dirname(__file__), "icon.svg"))
        self.action = QAction(icon, "Add Reference Set Layer…", self.iface.mainWindow())
        self.action.setObjectName("refsAddLayer")
        self.action.triggered.connect(self.show)
        self.iface.addPluginToRasterMenu(MENU, self.action)
        self.iface.addRasterToolBarIcon(self.action)
        self.iface.insertAddLayerAction(self.action)
        self.player = times.Player(self.iface.mapCanvas())
        find_driver()  # before a project is opened

    def unload(self):
        self.player.close()
        self.iface.removePluginRasterMenu(MENU, self.action)
        self.iface.removeRasterToolBarIcon(self.action)
        self.iface.removeAddLayerAction(self.action)
        if self.dialog is not None:
            self.dialog.close()

    def show(self):
        if self.dialog is None:
            self.dialog = Dialog(self.iface.mainWindow())
            self.dialog.chosen.connect(self.add)
        self.dialog.show()
        self.dialog.raise_()

    def add(self, raster, each_time):
        try:
            self._add(raster, each_time)
        except SourceError as error:
            self.iface.messageBar().pushMessage("REFS", str(error), Qgis.MessageLevel.Critical)

    def _add(self, raster, each_time):
        """Adds the layers, and has the temporal controller step as the first temporal layer of a project does."""
        project = QgsProject.instance()
        is_first = not any(layer.temporalProperties() and layer.temporalProperties().isActive() for layer in project.mapLayers().values())
        made = layers.make_layers(raster, each_time)
        layers.add_layers(raster, made, project)
        self.iface.setActiveLayer(made[0])
        if raster.periods and is_first:
            layers.set_times(raster, project)
            controller = self.iface.mapCanvas().temporalController()
            controller.setTemporalExtents(times.whole_range(raster.periods))
            controller.setFrameDuration(layers.interval_of(raster.step))
        for text in raster.warnings:
            self.iface.messageBar().pushMessage("REFS", text, Qgis.MessageLevel.Warning)
