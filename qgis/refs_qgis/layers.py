"""Layers of QGIS, and projects and layer definitions with them."""

import os
import tempfile

from qgis.core import (Qgis, QgsColorRampShader, QgsGradientColorRamp, QgsGradientStop, QgsInterval, QgsLayerDefinition, QgsProject,
                       QgsRasterLayer, QgsRasterShader, QgsReadWriteContext, QgsReferencedRectangle, QgsSingleBandPseudoColorRenderer,
                       QgsUnitTypes)
from qgis.PyQt.QtGui import QColor
from qgis.PyQt.QtXml import QDomDocument

from . import times
from .source import SourceError, is_remote

# The colour map Viridis of Matplotlib (CC0), at fifths.
COLORS = [QColor(68, 1, 84), QColor(59, 82, 139), QColor(33, 145, 140), QColor(94, 201, 98), QColor(253, 231, 37)]

ENDINGS = (".qlr", ".qgs", ".qgz")

# Without names of enumerations between, which QGIS 3.30 and 3.38 moved.
_UNITS = {"seconds": QgsUnitTypes.TemporalSeconds, "minutes": QgsUnitTypes.TemporalMinutes,
          "hours": QgsUnitTypes.TemporalHours, "days": QgsUnitTypes.TemporalDays,
          "months": QgsUnitTypes.TemporalMonths, "years": QgsUnitTypes.TemporalYears}


# -- layers ---------------------------------------------------------------------------------------

def _renderer(raster, layer):
    least, most = raster.least, raster.most
    last = len(COLORS) - 1
    shader_function = QgsColorRampShader(least, most)
    shader_function.setColorRampType(QgsColorRampShader.Interpolated)
    shader_function.setSourceColorRamp(QgsGradientColorRamp(COLORS[0], COLORS[-1], False, [
        QgsGradientStop(number / last, color) for number, color in enumerate(COLORS) if 0 < number < last]))
    values = [least + (most - least) * number / last for number in range(len(COLORS))]
    shader_function.setColorRampItemList([QgsColorRampShader.ColorRampItem(value, color, f"{value:.4g} {raster.unit}".strip())
                                          for value, color in zip(values, COLORS)])
    shader = QgsRasterShader()
    shader.setRasterShaderFunction(shader_function)
    renderer = QgsSingleBandPseudoColorRenderer(layer.dataProvider(), 1, shader)
    renderer.setClassificationMin(least)
    renderer.setClassificationMax(most)
    return renderer


def _layer(raster, name, title):
    """Without the default style, for which QGIS would read pixels."""
    options = QgsRasterLayer.LayerOptions()
    options.loadDefaultStyle = False
    layer = QgsRasterLayer(str(name), title, "gdal", options)
    if not layer.isValid():
        raise SourceError(layer.error().summary())
    layer.setRenderer(_renderer(raster, layer))
    return layer


def make_layer(raster):
    """One layer of all times."""
    layer = _layer(raster, raster.name, raster.title)
    times.set_periods(layer, raster.periods)
    return layer


def make_layers(raster, each_time=False):
    """The layers of a raster: one, or with each_time one of each time."""
    if not each_time or not raster.periods:
        return [make_layer(raster)]
    layers = []
    for name, title, period in raster.for_each_time():
        layers.append(_layer(raster, name, title))
        times.set_period(layers[-1], period)
    return layers


def add_layers(raster, layers, project):
    """Adds layers to a project, several in a group of their own, and returns the nodes of its tree that they have."""
    if len(layers) == 1:
        project.addMapLayer(layers[0])
        return [project.layerTreeRoot().findLayer(layers[0])]
    project.addMapLayers(layers, False)
    group = project.layerTreeRoot().insertGroup(0, raster.title)
    group.setExpanded(False)
    for layer in layers:
        group.addLayer(layer).setExpanded(False)
    return [group]


def interval_of(step):
    return QgsInterval(step[0], _UNITS[step[1]])


def set_times(raster, project):
    """The range and step of the temporal controller."""
    if raster.periods:
        settings = project.timeSettings()
        settings.setTemporalRange(times.whole_range(raster.periods))
        settings.setTimeStep(raster.step[0])
        settings.setTimeStepUnit(_UNITS[raster.step[1]])
        settings.setFramesPerSecond(2)


# -- files ----------------------------------------------------------------------------------------

def _set_view(raster, layer, project):
    project.setTitle(raster.title)
    project.setCrs(layer.crs())
    project.viewSettings().setDefaultViewExtent(QgsReferencedRectangle(layer.extent(), layer.crs()))
    set_times(raster, project)
    project.setFilePathStorage(Qgis.FilePathType.Absolute)


def _write_project(project, path):
    project.writeMapLayer.connect(times.write_ranges)
    if not project.write(path):
        raise SourceError(f"{path}: {project.error()}")


def _write_definition(project, nodes, path):
    document = QDomDocument("qgis-layer-definition")
    context = QgsReadWriteContext()
    done, message = QgsLayerDefinition.exportLayerDefinition(document, nodes, context)
    if not done:
        raise SourceError(f"{path}: {message}")
    elements = document.elementsByTagName("maplayer")
    for element in (elements.at(number).toElement() for number in range(elements.count())):
        times.write_ranges(project.mapLayer(element.firstChildElement("id").text()), element, document)
    with open(path, "w", encoding="utf-8") as file:
        file.write(document.toString())


def _check_output(raster, path):
    if not path.endswith(ENDINGS):
        raise SourceError(f"{path}: expected a name that ends in .qlr, .qgs or .qgz")
    if not is_remote(raster.name.set) and os.path.exists(path) and os.path.exists(raster.name.set) and os.path.samefile(path, raster.name.set):
        raise SourceError(f"{path} is the source: expected another name for the result")


def _replace(path, content):
    """Writes a file beside the one that is meant, by an exclusive name, and puts it in its place."""
    path = os.path.realpath(path)
    part = os.path.join(os.path.dirname(path), f".{os.path.basename(path)}.{os.getpid()}.part")
    with open(os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_BINARY", 0), 0o666), "wb") as file:
        file.write(content)
    os.replace(part, path)


def write(raster, path, each_time=False):
    """Writes a layer definition (.qlr), or a project (.qgs, .qgz) that opens at the extent and in the CRS of the data and whose
    temporal controller steps as they do. What was there is replaced when all is written."""
    path = os.path.abspath(path)
    _check_output(raster, path)
    project = QgsProject()
    layers = make_layers(raster, each_time)
    nodes = add_layers(raster, layers, project)
    with tempfile.TemporaryDirectory() as folder:
        made = os.path.join(folder, os.path.basename(path))
        if path.endswith(".qlr"):
            _write_definition(project, nodes, made)
        else:
            _set_view(raster, layers[0], project)
            _write_project(project, made)
        with open(made, "rb") as file:
            _replace(path, file.read())
