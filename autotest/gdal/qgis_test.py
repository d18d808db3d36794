#!/usr/bin/env python3
"""QGIS, as a user of the driver: layers by name, sublayers, times, pixels, a map, and what it reads
to choose colours. Left out where PyQGIS is not installed.

The map is compared with docs/pictures/qgis-map.png, which qgis_pictures.py draws.
"""
import base64
import json
import math
import os
import re
import shutil
import sys
import tempfile
import unittest

import numpy as np
from osgeo import gdal

import qgis_map  # first: it ends the test where there is no PyQGIS
import qgis_canvas  # noqa: F401, which finds the plugin
from qgis.core import (QgsMapRendererParallelJob, QgsMapSettings, QgsPointXY, QgsProject,
                       QgsProviderRegistry, QgsRasterBandStats, QgsRasterLayer, QgsRectangle)
from qgis.gui import QgsFileWidget, QgsGui
from qgis.PyQt.QtCore import QSize
from qgis.PyQt.QtGui import QImage
from qgis.PyQt.QtWidgets import QGroupBox, QLabel

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "server"))
from served import Folder, Server  # noqa: E402

gdal.UseExceptions()

MIN_MAX = QgsRasterBandStats.Min | QgsRasterBandStats.Max
SAMPLE_SIZE = 250000  # what QGIS asks for where its accuracy is "Estimate"


def pixels(image):
    """Red, green and blue of a picture: [row, column, colour]."""
    image = image.convertToFormat(QImage.Format_RGB888)
    bits = image.constBits()
    bits.setsize(image.byteCount())
    rows = np.frombuffer(bits, np.uint8).reshape(image.height(), image.bytesPerLine())
    return rows[:, :3 * image.width()].reshape(image.height(), image.width(), 3).astype(float)


def array_metadata(shape):
    return json.dumps({"zarr_format": 2, "shape": shape, "chunks": shape, "dtype": "<f8",
                       "fill_value": None, "order": "C", "compressor": None, "filters": None})


def read_kelvin(band=qgis_map.BAND):
    dataset = gdal.Open(qgis_map.name_of("t2m"))
    band = dataset.GetRasterBand(band)
    return band.ReadAsArray() * band.GetScale() + band.GetOffset()


class Sample(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.layer = qgis_map.open_layer(qgis_map.name_of("t2m"))

    @classmethod
    def tearDownClass(cls):
        del cls.layer

    def test_is_a_layer_where_its_pixels_lie(self):
        self.assertTrue(self.layer.isValid(), self.layer.error().message())
        extent = self.layer.extent()
        np.testing.assert_allclose((extent.xMinimum(), extent.yMinimum(), extent.xMaximum(),
                                    extent.yMaximum()), (-25.25, 31.75, 35.25, 72.25))
        self.assertEqual(self.layer.crs().authid(), "EPSG:4326")
        self.assertEqual((self.layer.width(), self.layer.height(), self.layer.bandCount()),
                         (121, 81, 24))

    def test_names_of_bands_show_the_time(self):
        self.assertEqual([self.layer.bandName(i + 1) for i in range(24)],
                         [f"Band {i + 1:02}: time=2024-06-01T{i:02}:00:00" for i in range(24)])

    def test_pixels_are_those_of_gdal(self):
        kelvin = read_kelvin()
        block = self.layer.dataProvider().block(14, self.layer.extent(), 121, 81)
        given = [[block.value(y, x) for x in range(121)] for y in range(81)]
        np.testing.assert_allclose(given, kelvin, rtol=1e-6)
        value, found = self.layer.dataProvider().sample(QgsPointXY(5, 52), 14)
        self.assertTrue(found)
        self.assertAlmostEqual(value, kelvin[40, 60], places=4)

    def test_selection_is_a_layer_of_its_own(self):
        layer = qgis_map.open_layer(qgis_map.name_of("t2m[time=2024-06-01T13:00]"))
        self.assertTrue(layer.isValid(), layer.error().message())
        self.assertEqual((layer.bandCount(), layer.bandName(1)),
                         (1, "Band 1: time=2024-06-01T13:00:00"))
        self.assertAlmostEqual(layer.dataProvider().sample(QgsPointXY(5, 52), 1)[0],
                               read_kelvin()[40, 60], places=4)

    def test_set_offers_its_variables_as_sublayers(self):
        for name in (f"{qgis_map.DATA}/sample.json", f'REFS:"{qgis_map.DATA}/sample.json"'):
            sublayers = QgsProviderRegistry.instance().providerMetadata("gdal").querySublayers(name)
            self.assertEqual([(one.uri(), one.description()) for one in sublayers],
                             [(qgis_map.name_of("t2m"),
                               "[24x81x121] air_temperature (16-bit integer)"),
                              (qgis_map.name_of("z"),
                               "[2x2x81x121] geopotential_height (32-bit floating-point)")])
            for one in sublayers:
                self.assertEqual(one.providerKey(), "gdal")
                self.assertTrue(QgsRasterLayer(one.uri(), one.name(), "gdal").isValid())

    def test_file_is_a_set_of_rasters_and_nothing_else(self):
        sublayers = QgsProviderRegistry.instance().querySublayers(f"{qgis_map.DATA}/sample.json")
        self.assertEqual([(one.providerKey(), one.name()) for one in sublayers],
                         [("gdal", "/t2m"), ("gdal", "/z")])

    def test_dialog_takes_names(self):
        """It takes quotes out of them, as it has marks of its own between files."""
        providers = QgsGui.sourceSelectProviderRegistry().providers()
        gdal_provider = next(one for one in providers if one.providerKey() == "gdal")
        for name, bands in ((qgis_map.name_of("t2m"), 24), (qgis_map.name_of("z"), 4),
                            (qgis_map.name_of("t2m[time=2024-06-01T13:00]"), 1)):
            dialog = gdal_provider.createDataSourceWidget()
            added = []
            dialog.addRasterLayers.connect(added.extend)
            dialog.findChild(QgsFileWidget, "mFileWidget").setFilePath(name)
            dialog.addButtonClicked()
            self.assertEqual([qgis_map.open_layer(one).bandCount() for one in added], [bands])


    def test_dialog_fits_a_screen_with_its_open_options(self):
        """Of 768 lines, of which the desktop and the title take some."""
        providers = QgsGui.sourceSelectProviderRegistry().providers()
        dialog = next(one for one in providers if one.providerKey() == "gdal").createDataSourceWidget()
        dialog.findChild(QgsFileWidget, "mFileWidget").setFilePath(qgis_map.name_of("t2m"))
        options = dialog.findChild(QGroupBox, "mOpenOptionsGroupBox")
        shown = [label.text() for label in options.findChildren(QLabel) if label.text().replace("_", "").isupper()]
        self.assertEqual(shown, ["ALONG", "ASSUME_LONGLAT", "COORDINATES", "LIST_ALL_ARRAYS", "LONGITUDES", "MISSING", "URL_REWRITE"])
        self.assertLess(dialog.minimumSizeHint().height(), 700)


class Map(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.layer = qgis_map.open_layer(qgis_map.name_of("t2m"))
        qgis_map.style(cls.layer)
        cls.image, cls.extent = qgis_map.draw([cls.layer])
        cls.pixels = pixels(cls.image)

    @classmethod
    def tearDownClass(cls):
        del cls.layer

    def test_is_the_picture_of_the_documentation(self):
        expected = pixels(QImage(os.path.join(qgis_map.PICTURES, "qgis-map.png")))
        self.assertEqual(self.pixels.shape, expected.shape)
        self.assertLess(np.abs(self.pixels - expected).mean(), 3)

    def test_colours_are_those_of_the_values(self):
        """In each pixel of the map whose centre is not on the edge of one of the array."""
        kelvin = read_kelvin()
        x = self.extent.xMinimum() + (np.arange(qgis_map.WIDTH) + .5) * (
            self.extent.width() / qgis_map.WIDTH)
        y = self.extent.yMaximum() - (np.arange(qgis_map.HEIGHT) + .5) * (
            self.extent.height() / qgis_map.HEIGHT)
        column, row = np.meshgrid((x + 25.25) / .5, (72.25 - y) / .5)
        edge = .15
        inside = ((column > 0) & (column < 121) & (row > 0) & (row < 81)
                  & (np.abs(column % 1 - .5) < .5 - edge) & (np.abs(row % 1 - .5) < .5 - edge))
        self.assertGreater(inside.sum(), 10000)
        values = kelvin[row[inside].astype(int), column[inside].astype(int)]
        for colour in range(3):
            expected = np.interp(values, [kelvin for kelvin, _ in qgis_map.RAMP],
                                 [rgb[colour] for _, rgb in qgis_map.RAMP])
            self.assertLess(np.abs(self.pixels[inside][:, colour] - expected).mean(), 1.5)

    def test_another_hour_is_another_picture(self):
        layer = qgis_map.open_layer(qgis_map.name_of("t2m"))
        qgis_map.style(layer, 2)
        self.assertGreater(np.abs(pixels(qgis_map.draw([layer])[0]) - self.pixels).mean(), 3)

    def test_temporal_controller_chooses_the_layer_of_its_hour(self):
        layers = []
        for time in ("2024-06-01T01:00", "2024-06-01T13:00"):
            layers.append(qgis_map.open_layer(qgis_map.name_of(f"t2m[time={time}]")))
            qgis_map.style(layers[-1], 1)
            qgis_map.show_at(layers[-1], qgis_map.time_of(layers[-1].bandName(1)))
        shown, _ = qgis_map.draw(layers, qgis_map.time_of(layers[1].bandName(1)))
        np.testing.assert_array_equal(pixels(shown), self.pixels)


class GoneTarget(unittest.TestCase):
    """A set whose data file is not there: what QGIS would say of a layer that does not open is less."""

    def setUp(self):
        self.folder = Folder()
        self.addCleanup(self.folder.close)
        self.path = self.folder.file("set.json")
        with open(self.path, "w", encoding="utf-8") as file:
            json.dump({".zgroup": '{"zarr_format": 2}', "v/.zarray": array_metadata([3, 4]),
                       "v/0.0": ["gone.bin", 0, 96]}, file)

    def test_is_an_empty_layer_with_a_message_that_names_it(self):
        layer = QgsRasterLayer(f'REFS:"{self.path}":/v', "v", "gdal")
        self.assertTrue(layer.isValid(), layer.error().message())
        settings = QgsMapSettings()
        settings.setLayers([layer])
        settings.setExtent(layer.extent())
        settings.setOutputSize(QSize(40, 30))
        job = QgsMapRendererParallelJob(settings)
        job.start()
        job.waitForFinished()
        self.assertEqual(np.unique(pixels(job.renderedImage())).tolist(), [255])
        said = {error.message for error in job.errors()}  # shown by the sign beside the layer
        self.assertEqual(len(said), 1)
        self.assertIn(f"{self.path}: v/0.0: {self.folder.file('gone.bin')} [0+96]: No such file or directory", said.pop())


class Documentation(unittest.TestCase):
    def test_its_python_runs(self):
        with open(os.path.join(HERE, "..", "..", "docs", "qgis.md"), encoding="utf-8") as page:
            blocks = re.findall(r"^```python qgis.*?\n(.*?)^```$", page.read(), re.MULTILINE | re.DOTALL)
        self.assertGreater(len(blocks), 0)
        before = os.getcwd()
        os.chdir(os.path.join(qgis_map.DATA, ".."))
        try:
            names = {}
            for block in blocks:
                exec(compile(block, "docs/qgis.md", "exec"), names)
            layers = QgsProject.instance().mapLayers().values()
            self.assertEqual(sorted((layer.bandCount(), layer.temporalProperties().isActive()) for layer in layers),
                             [(24, False), (24, True)])
            self.assertTrue(all(layer.isValid() for layer in layers))
        finally:
            QgsProject.instance().clear()
            os.chdir(before)


def samples_at_opening():
    """Whether this QGIS samples the bands of any raster when it is opened, as 3.22 does; 3.44 leaves it to the map."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "any.tif")
        dataset = gdal.GetDriverByName("GTiff").Create(path, 2, 1, 1, gdal.GDT_UInt16)
        dataset.GetRasterBand(1).WriteArray(np.array([[1, 1000]], "<u2"))
        del dataset
        return not math.isnan(QgsRasterLayer(path, "any", "gdal").renderer().contrastEnhancement().minimumValue())


class ServedSet(unittest.TestCase):
    """Bands of 40 x 40 chunks. What is counted is the chunks whose bytes were asked for."""
    CHUNK, ACROSS, BANDS = 32, 40, 4

    def setUp(self):
        self.folder = Folder()
        self.addCleanup(self.folder.close)
        self.write_set()
        self.server = Server(self.folder)
        self.addCleanup(self.server.close)
        self.name = f'REFS:"{self.server.url("refs.json")}":/v'
        self.shown = (1, 2, 3) if samples_at_opening() else ()

    def write_array(self, name, across):
        """References of an array of so many chunks across and down, whose bytes lie in one file."""
        size, n = self.CHUNK, across * self.CHUNK
        chunks = self.BANDS * across ** 2
        self.folder.write(f"{name}.bin", np.arange(chunks * size * size).astype("<u2").tobytes())
        refs = {f"{name}/.zarray": json.dumps(
            {"zarr_format": 2, "shape": [self.BANDS, n, n], "chunks": [1, size, size],
             "dtype": "<u2", "fill_value": None, "order": "C", "compressor": None,
             "filters": None})}
        numbers = iter(range(chunks))
        for band in range(self.BANDS):
            for y in range(across):
                for x in range(across):
                    refs[f"{name}/{band}.{y}.{x}"] = [
                        f"{name}.bin", next(numbers) * 2 * size * size, 2 * size * size]
        return refs

    def chunks_read(self):
        """How many chunks of each band were fetched so far."""
        touched = set()
        for request in self.server.requests("v.bin"):
            if request["method"] != "GET":
                continue
            begin, last = map(int, re.match(r"bytes=(\d+)-(\d+)$",
                                            request["headers"]["range"]).groups())
            size = 2 * self.CHUNK ** 2
            touched.update(range(begin // size, last // size + 1))
        return [sum(number // self.ACROSS ** 2 == band for number in touched)
                for band in range(self.BANDS)]

    def open(self):
        layer = QgsRasterLayer(self.name, "v", "gdal")
        self.assertTrue(layer.isValid(), layer.error().message())
        return layer


class Served(ServedSet):
    def write_set(self):
        refs = {".zgroup": '{"zarr_format": 2}'}
        refs.update(self.write_array("v", self.ACROSS))
        self.folder.write("refs.json", json.dumps(refs))

    def assert_sampled(self, bands, count):
        """Band by band about the square root of its chunks was read, or none."""
        few = 2 * math.isqrt(self.ACROSS ** 2)
        for band, n in enumerate(count):
            if band + 1 in bands:
                self.assertTrue(0 < n <= few, count)
            else:
                self.assertEqual(n, 0, count)

    def test_url_as_the_dialog_writes_it_opens(self):
        layer = QgsRasterLayer("/vsicurl/" + self.server.url("refs.json"), "v", "gdal")
        self.assertTrue(layer.isValid(), layer.error().message())
        self.assertEqual(layer.bandCount(), self.BANDS)

    def test_opening_samples_the_bands_it_shows(self):
        self.open()
        self.assert_sampled(self.shown, self.chunks_read())

    def test_extremes_are_sampled(self):
        layer = self.open()
        for extent in (QgsRectangle(), layer.extent()):
            found = layer.dataProvider().bandStatistics(4, MIN_MAX, extent, SAMPLE_SIZE)
            self.assertLess(found.minimumValue, found.maximumValue)
        self.assert_sampled((*self.shown, 4), self.chunks_read())

    def test_histograms_are_sampled(self):
        layer = self.open()
        for extent in (QgsRectangle(), layer.extent()):
            found = layer.dataProvider().histogram(4, 256, 0, 65535, extent, SAMPLE_SIZE)
            self.assertGreater(sum(found.histogramVector), 0)
            self.assertEqual(found.binCount, 256)
        self.assert_sampled((*self.shown, 4), self.chunks_read())

    def test_cuts_are_sampled(self):
        layer = self.open()
        low, high = layer.dataProvider().cumulativeCut(4, .02, .98, layer.extent(), SAMPLE_SIZE)
        self.assertLess(low, high)
        self.assert_sampled((*self.shown, 4), self.chunks_read())

    def test_exact_extremes_are_those_of_all_pixels(self):
        """So the count above counts what it says."""
        layer = self.open()
        found = layer.dataProvider().bandStatistics(4, MIN_MAX, QgsRectangle(), 0)
        self.assertEqual((found.minimumValue, found.maximumValue), (0, 65535))
        self.assertEqual(self.chunks_read()[3], self.ACROSS ** 2)

    def test_sublayers_are_listed_without_pixels(self):
        provider = QgsProviderRegistry.instance().providerMetadata("gdal")
        sublayers = provider.querySublayers(self.name)
        self.assertEqual(len(sublayers), 1)
        self.assertEqual(self.chunks_read(), [0] * self.BANDS)


class ServedPyramid(ServedSet):
    """The same with a quarter of its pixels across and down in another array."""

    def write_set(self):
        refs = {".zgroup": '{"zarr_format": 2}', ".zattrs": json.dumps(
            {"multiscales": [{"datasets": [{"path": "v"}, {"path": "quarter"}]}]})}
        refs.update(self.write_array("v", self.ACROSS))
        refs.update(self.write_array("quarter", self.ACROSS // 4))
        self.folder.write("refs.json", json.dumps(refs))

    def test_whole_is_drawn_and_sampled_from_the_pyramid(self):
        layer = self.open()
        provider = layer.dataProvider()
        provider.bandStatistics(4, MIN_MAX, QgsRectangle(), SAMPLE_SIZE)
        provider.histogram(4, 256, 0, 65535, QgsRectangle(), SAMPLE_SIZE)
        self.assertTrue(provider.block(4, layer.extent(), 300, 300).isValid())
        self.assertEqual(self.chunks_read(), [0] * self.BANDS)
        self.assertGreater(len(self.server.requests("quarter.bin")), 0)


class Gone(unittest.TestCase):
    """A set whose data file is not there: nothing is drawn, and what to do is said."""

    def test_is_an_empty_map_with_the_message(self):
        folder = Folder()
        self.addCleanup(folder.close)
        axes = {"y": [2, [50, 40], "degrees_north"], "x": [3, [5, 15, 25], "degrees_east"]}
        refs = {"v/.zarray": array_metadata([2, 3]), "v/.zattrs": '{"_ARRAY_DIMENSIONS": ["y", "x"]}',
                "v/0.0": ["gone.nc", 0, 48]}
        for name, (size, values, unit) in axes.items():
            refs[f"{name}/.zarray"] = array_metadata([size])
            refs[f"{name}/.zattrs"] = json.dumps({"_ARRAY_DIMENSIONS": [name], "units": unit})
            refs[f"{name}/0"] = "base64:" + base64.b64encode(np.array(values, "<f8")).decode()
        folder.write("refs.json", json.dumps(refs))
        layer = qgis_map.open_layer(f'REFS:"{os.path.join(folder.served, "refs.json")}":/v')
        settings = QgsMapSettings()
        settings.setLayers([layer])
        settings.setExtent(layer.extent())
        settings.setOutputSize(QSize(30, 20))
        job = QgsMapRendererParallelJob(settings)
        job.start()
        job.waitForFinished()
        errors = [error.message for error in job.errors()]
        self.assertTrue(errors)
        for error in errors:
            self.assertIn(os.path.join(folder.served, "gone.nc"), error)
            self.assertIn("where files moved, -oo URL_REWRITE=old=>new", error)
        self.assertEqual(layer.dataProvider().bandStatistics(1, MIN_MAX).elementCount, 0)


class ServedTerabyte(unittest.TestCase):
    """One band of a million chunks."""

    def setUp(self):
        self.folder = Folder()
        self.addCleanup(self.folder.close)
        self.folder.write_terabyte()
        self.server = Server(self.folder)
        self.addCleanup(self.server.close)
        self.across, self.size = Folder.TERABYTE

    def chunks_read(self):
        return len({request["path"] for request in self.server.requests("v.bin")})

    def test_is_added_asked_and_drawn_without_being_read(self):
        few = 2 * self.across
        layer = QgsRasterLayer(f'REFS:"{self.server.url("refs.json")}":/v', "v", "gdal")
        self.assertTrue(layer.isValid(), layer.error().message())
        self.assertEqual(layer.width() * layer.height(), 1 << 40)
        self.assertLessEqual(self.chunks_read(), few)
        self.assertEqual(self.chunks_read() > 0, samples_at_opening())
        provider = layer.dataProvider()
        provider.bandStatistics(1, MIN_MAX, layer.extent(), SAMPLE_SIZE)
        provider.histogram(1, 256, 0, 255, layer.extent(), SAMPLE_SIZE)
        provider.cumulativeCut(1, .02, .98, layer.extent(), SAMPLE_SIZE)
        before = self.chunks_read()
        self.assertLessEqual(before, few)  # the same ones again
        extent, size = layer.extent(), self.size
        corner = (extent.xMinimum() + 70 * size, extent.yMaximum() - 90 * size)
        part = QgsRectangle(corner[0] - qgis_map.WIDTH / 2, corner[1] - qgis_map.HEIGHT / 2,
                            corner[0] + qgis_map.WIDTH / 2, corner[1] + qgis_map.HEIGHT / 2)
        layer.renderer().contrastEnhancement().setMinimumValue(0)
        layer.renderer().contrastEnhancement().setMaximumValue(255)
        drawn, _ = qgis_map.draw([layer], extent=part)
        self.assertGreater(pixels(drawn).std(), 1)
        self.assertLessEqual(self.chunks_read() - before, 4)


def main():
    profile = tempfile.mkdtemp()
    application = qgis_map.start(profile)
    try:
        result = unittest.main(exit=False).result
    finally:
        application.exitQgis()
        shutil.rmtree(profile)
    return 0 if result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
