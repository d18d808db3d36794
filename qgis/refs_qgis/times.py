"""Times of bands in one layer.

QGIS from 3.38 on has a time range for each band. For versions before, a layer keeps them in a property, the Player below
shows the band of the frame, and files are written as 3.38 reads them.
"""

import bisect
import functools

from qgis.core import Qgis, QgsDateTimeRange, QgsMapLayer, QgsProject, QgsRasterLayer
from qgis.PyQt.QtCore import QDateTime, Qt

HAS_RANGES_OF_BANDS = Qgis.QGIS_VERSION_INT >= 33800
PERIODS = "refs/periods"
RANGE_PER_BAND = 3  # Qgis.RasterTemporalMode.FixedRangePerBand, as projects have it


def _instant(time):
    return QDateTime.fromString(time.isoformat(timespec="milliseconds") + "Z", Qt.DateFormat.ISODateWithMs)


def whole_range(periods):
    begins, ends = [begin for begin, _ in periods], [end for _, end in periods]
    return QgsDateTimeRange(_instant(min(begins)), _instant(max(ends)))


def _fix(layer, begin, end):
    properties = layer.temporalProperties()
    properties.setMode(Qgis.RasterTemporalMode.FixedTemporalRange)
    properties.setFixedTemporalRange(QgsDateTimeRange(begin, end))
    properties.setIsActive(True)


def set_period(layer, period):
    """A layer of one time. Files keep ranges with both ends and in whole seconds, a frame of the temporal controller ends where
    the next one begins, and QGIS 3.22 takes a layer that begins there for one of both: so a second is left out at each end."""
    begin, end = (_instant(time) for time in period)
    margin = 1 if begin.secsTo(end) > 2 else 0
    _fix(layer, begin.addSecs(margin), end.addSecs(-margin))


def set_periods(layer, periods):
    """A layer with a time for each band."""
    if not periods:
        return
    if HAS_RANGES_OF_BANDS:
        properties = layer.temporalProperties()
        properties.setMode(Qgis.RasterTemporalMode.FixedRangePerBand)
        properties.setFixedRangePerBand({number + 1: QgsDateTimeRange(_instant(begin), _instant(end), True, False)
                                         for number, (begin, end) in enumerate(periods)})
        properties.setIsActive(True)
        return
    layer.setCustomProperty(PERIODS, " ".join(f"{begin.isoformat()}/{end.isoformat()}" for begin, end in periods))
    adopt(layer)


@functools.lru_cache(maxsize=32)
def _ranges(text):
    """[(begin, end, number of the band)] of the property, by time."""
    pairs = [one.split("/") for one in text.split()]
    return sorted((QDateTime.fromString(begin + "Z", Qt.DateFormat.ISODateWithMs), QDateTime.fromString(end + "Z", Qt.DateFormat.ISODateWithMs),
                   number + 1) for number, (begin, end) in enumerate(pairs))


def ranges_of(layer):
    text = layer.customProperty(PERIODS) if isinstance(layer, QgsMapLayer) else None
    return _ranges(text) if text else []


def adopt(layer):
    """A layer that was just made or read from a file by a QGIS before 3.38, which has no such mode."""
    ranges = ranges_of(layer)
    if ranges and not HAS_RANGES_OF_BANDS:
        _fix(layer, ranges[0][0], max(end for _, end, _ in ranges).addSecs(-1))


@functools.lru_cache(maxsize=32)
def _milliseconds(text):
    return [begin.toMSecsSinceEpoch() for begin, _, _ in _ranges(text)]


def band_in(layer, frame):
    """The band of a frame: of several the last one, as QGIS does; None where there is none."""
    ranges = ranges_of(layer)
    if not ranges:
        return None
    begin, end = frame.begin().toMSecsSinceEpoch(), frame.end().toMSecsSinceEpoch()
    last = bisect.bisect_left(_milliseconds(layer.customProperty(PERIODS)), max(end, begin + 1)) - 1
    return ranges[last][2] if last >= 0 and ranges[last][1].toMSecsSinceEpoch() > begin else None


def _show_band(layer, band):
    renderer = layer.renderer()
    for setter in ("setInputBand", "setBand", "setGrayBand"):
        if renderer is not None and hasattr(renderer, setter):
            if renderer.usesBands() != [band]:
                getattr(renderer, setter)(band)
                layer.triggerRepaint()
                layer.legendChanged.emit()
            return


def _text(instant):
    return instant.toString(Qt.DateFormat.ISODateWithMs if instant.time().msec() else Qt.DateFormat.ISODate)


def write_ranges(layer, element, document):
    """Adds the ranges of bands to the element of a layer in a project or definition that a QGIS before 3.38 writes."""
    ranges = ranges_of(layer)
    temporal = element.firstChildElement("temporal")
    if HAS_RANGES_OF_BANDS or not ranges or temporal.isNull():
        return
    temporal.setAttribute("mode", RANGE_PER_BAND)
    parent = document.createElement("ranges")
    for begin, end, number in ranges:
        one = document.createElement("range")
        one.setAttribute("band", number)
        one.setAttribute("begin", _text(begin))
        one.setAttribute("end", _text(end))
        one.setAttribute("includeBeginning", "1")
        one.setAttribute("includeEnd", "0")
        parent.appendChild(one)
    temporal.appendChild(parent)


class Player:
    """Shows the band of the frame of a map canvas, in a QGIS before 3.38; later ones do that by themselves."""

    def __init__(self, canvas, project=None):
        self._canvas, self._project = canvas, project or QgsProject.instance()
        if HAS_RANGES_OF_BANDS:
            return
        canvas.temporalRangeChanged.connect(self._show_frame)
        self._project.layersAdded.connect(self._adopt)
        self._project.writeMapLayer.connect(write_ranges)
        self._adopt(self._project.mapLayers().values())

    def close(self):
        if HAS_RANGES_OF_BANDS:
            return
        self._canvas.temporalRangeChanged.disconnect(self._show_frame)
        self._project.layersAdded.disconnect(self._adopt)
        self._project.writeMapLayer.disconnect(write_ranges)

    def _show_frame(self):
        settings = self._canvas.mapSettings()
        if not settings.isTemporal():
            return
        for layer in self._project.mapLayers().values():
            band = band_in(layer, settings.temporalRange())
            if band is not None:
                _show_band(layer, band)

    def _adopt(self, layers):
        for layer in layers:
            if isinstance(layer, QgsRasterLayer):
                adopt(layer)
        self._show_frame()
