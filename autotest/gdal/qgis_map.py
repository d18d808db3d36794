"""QGIS without a screen, and the map that its test and its pictures show: the temperature of the
sample at one hour, with a colour ramp."""
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
DATA = os.path.normpath(os.path.join(HERE, "..", "..", "data"))
PICTURES = os.path.normpath(os.path.join(HERE, "..", "..", "docs", "pictures"))
WIDTH, HEIGHT = 320, 220
BAND = 14  # 13:00

# Kelvin and colour, linear between.
RAMP = ((270, (49, 54, 149)), (280, (116, 173, 209)), (285, (224, 243, 248)),
        (290, (254, 224, 144)), (295, (244, 109, 67)), (310, (165, 0, 38)))

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
os.environ.setdefault("QGIS_PREFIX_PATH", "/usr")
os.environ.setdefault("GDAL_PAM_ENABLED", "NO")
try:
    from qgis.core import (QgsApplication, QgsColorRampShader, QgsDateTimeRange,
                           QgsGradientColorRamp, QgsGradientStop, QgsMapRendererParallelJob,
                           QgsMapSettings, QgsRasterLayer, QgsRasterLayerTemporalProperties,
                           QgsRasterShader,
                           QgsSingleBandPseudoColorRenderer)
    from qgis.PyQt.QtCore import QDateTime, QSize, Qt
    from qgis.PyQt.QtGui import QColor, QImage
except ImportError:
    print("PyQGIS is not installed", file=sys.stderr)
    sys.exit(77)


def start(profile):
    """QGIS with no settings but those in the folder `profile`."""
    application = QgsApplication([], True, profile)
    application.initQgis()
    return application


def name_of(variable, data=DATA):
    return f'REFS:"{data}/sample.json":/{variable}'


def open_layer(name):
    return QgsRasterLayer(name, "2 metre temperature", "gdal")


def style(layer, band=BAND):
    """Shows `band` with the colour ramp."""
    least, most = RAMP[0][0], RAMP[-1][0]
    ramp = QgsColorRampShader(least, most)
    ramp.setColorRampType(QgsColorRampShader.Interpolated)
    ramp.setSourceColorRamp(QgsGradientColorRamp(
        QColor(*RAMP[0][1]), QColor(*RAMP[-1][1]), False,
        [QgsGradientStop((kelvin - least) / (most - least), QColor(*rgb))
         for kelvin, rgb in RAMP[1:-1]]))
    ramp.setColorRampItemList([QgsColorRampShader.ColorRampItem(kelvin, QColor(*rgb), f"{kelvin} K")
                               for kelvin, rgb in RAMP])
    shader = QgsRasterShader()
    shader.setRasterShaderFunction(ramp)
    renderer = QgsSingleBandPseudoColorRenderer(layer.dataProvider(), band, shader)
    renderer.setClassificationMin(least)
    renderer.setClassificationMax(most)
    layer.setRenderer(renderer)


def time_of(band):
    """The hour from the time in the name of a band of the sample, as QGIS shows it."""
    begin = QDateTime.fromString(band.split("time=")[1], Qt.ISODate)
    return QgsDateTimeRange(begin, begin.addSecs(3600), True, False)


def show_at(layer, period):
    """Has a layer drawn in that period alone, as the temporal controller asks for it."""
    properties = layer.temporalProperties()
    properties.setMode(QgsRasterLayerTemporalProperties.ModeFixedTemporalRange)
    properties.setFixedTemporalRange(period)
    properties.setIsActive(True)


def draw(layers, period=None, extent=None):
    """A map of the layers, or of a part of them, and the extent it has."""
    settings = QgsMapSettings()
    settings.setLayers(layers)
    settings.setDestinationCrs(layers[0].crs())
    settings.setExtent(extent or layers[0].extent())
    settings.setOutputSize(QSize(WIDTH, HEIGHT))
    settings.setBackgroundColor(QColor("white"))
    if period is not None:
        settings.setIsTemporal(True)
        settings.setTemporalRange(period)
    job = QgsMapRendererParallelJob(settings)
    job.start()
    job.waitForFinished()
    return job.renderedImage(), settings.visibleExtent()


def save(image, name):
    """A picture beside the documentation, packed as well as may be."""
    os.makedirs(PICTURES, exist_ok=True)
    if not image.convertToFormat(QImage.Format_RGB888).save(os.path.join(PICTURES, name), "PNG", 0):
        raise OSError(f"{name} cannot be written")
