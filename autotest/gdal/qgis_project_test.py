#!/usr/bin/env python3
"""What the plugin of QGIS writes, as QGIS reads it: reference systems, a Mercator map, the view and the time step a project opens
with, colours, longitudes from 0 to 360, archives, sources that are many files.

    qgis_project_test.py [--pictures FOLDER] [test ...]

Skips without PyQGIS. Maps stay in the folder where one is given.
"""

import base64
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

import numpy as np

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
os.environ.setdefault("QGIS_PREFIX_PATH", "/usr")
os.environ.setdefault("GDAL_PAM_ENABLED", "NO")
try:
    from qgis.core import (QgsApplication, QgsCoordinateReferenceSystem, QgsCoordinateTransform, QgsDateTimeRange, QgsIdentifyContext,
                           QgsLayerDefinition, QgsMapRendererParallelJob, QgsMapSettings, QgsPointXY, QgsProject, QgsRasterLayer,
                           QgsRectangle, QgsUnitTypes)
    from qgis.gui import QgsMapCanvas, QgsMapToolIdentify
    from qgis.PyQt.QtCore import QDateTime, QSize, Qt
    from qgis.PyQt.QtGui import QColor
except ImportError:
    print("PyQGIS is not installed")
    sys.exit(77)

from pictures import read_arguments  # noqa: E402
from qgis_canvas import PLUGINS, pixels  # noqa: E402

import refs_qgis  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
SAMPLE = os.path.normpath(os.path.join(HERE, "../../data/sample.json"))
ARGUMENTS = read_arguments()
PICTURES = ARGUMENTS.pictures
MERCATOR = QgsCoordinateReferenceSystem("EPSG:3857")
WIDTH, HEIGHT = 360, 240


def run(*arguments, status=0, **settings):
    """The command of the plugin."""
    environment = dict(os.environ, PYTHONPATH=PLUGINS, **settings)
    done = subprocess.run([sys.executable, "-m", "refs_qgis", *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          env=environment)
    assert done.returncode == status, done.stdout
    return done.stdout


class References:
    """A set whose values are in it."""

    def __init__(self):
        self.refs = {".zgroup": '{"zarr_format": 2}'}

    def add(self, name, values, dims, chunks=None, **attributes):
        values = np.asarray(values)
        values = values.astype(values.dtype.newbyteorder("<"))
        chunks = list(chunks or values.shape)
        self.refs[f"{name}/.zarray"] = json.dumps(
            {"zarr_format": 2, "shape": list(values.shape), "chunks": chunks, "dtype": values.dtype.str, "fill_value": None,
             "order": "C", "compressor": None, "filters": None})
        self.refs[f"{name}/.zattrs"] = json.dumps({"_ARRAY_DIMENSIONS": list(dims), **attributes})
        for index in np.ndindex(*[-(-n // size) for n, size in zip(values.shape, chunks)]):
            part = values[tuple(slice(i * size, (i + 1) * size) for i, size in zip(index, chunks))]
            full = np.zeros(chunks, values.dtype)
            full[tuple(slice(0, n) for n in part.shape)] = part
            key = ".".join(map(str, index)) or "0"
            self.refs[f"{name}/{key}"] = "base64:" + base64.b64encode(full.tobytes()).decode()
        return self

    def write(self, path):
        with open(path, "w", encoding="utf-8") as file:
            json.dump(self.refs, file)
        return path


def lonlat(refs, longitudes, latitudes):
    refs.add("lat", np.asarray(latitudes, "f8"), ["lat"], standard_name="latitude", units="degrees_north")
    return refs.add("lon", np.asarray(longitudes, "f8"), ["lon"], standard_name="longitude", units="degrees_east")


def world(days=4, first=0.0, units="days since 2024-06-01", times=None):
    """The whole world by 2 degrees, from longitude `first` on: the value is the latitude, and 100 times the day more."""
    refs = References()
    longitudes, latitudes = first + np.arange(180) * 2 + 1, np.arange(89, -90, -2)
    times = np.arange(days) if times is None else np.asarray(times)
    lonlat(refs, longitudes, latitudes).add("time", times.astype("i4"), ["time"], standard_name="time", units=units, axis="T")
    values = latitudes[None, :, None] + 100.0 * np.arange(len(times))[:, None, None] + np.zeros((1, 1, 180))
    return refs.add("v", values.astype("f4"), ["time", "lat", "lon"])


def load(path):
    project = QgsProject()
    if path.endswith(".qlr"):
        assert QgsLayerDefinition.loadLayerDefinition(path, project, project.layerTreeRoot()) == (True, "")
    else:
        assert project.read(path), project.error()
    return project, [node.layer() for node in project.layerTreeRoot().findLayers()]


def day_of(number):
    begin = QDateTime.fromString(f"2024-06-{number + 1:02}T00:00:00Z", Qt.ISODate)
    return QgsDateTimeRange(begin, begin.addDays(1), True, False)


def settings_of(layers, extent, period):
    settings = QgsMapSettings()
    settings.setLayers(layers)
    settings.setOutputSize(QSize(WIDTH, HEIGHT))
    settings.setDestinationCrs(MERCATOR)
    settings.setExtent(extent)
    settings.setBackgroundColor(QColor(255, 255, 255))
    if period is not None:
        settings.setIsTemporal(True)
        settings.setTemporalRange(period)
    return settings


WORLD = QgsRectangle(-20037508, -13358338, 20037508, 13358338)


def draw(layers, extent=WORLD, period=None, picture=None):
    """A map in EPSG:3857."""
    job = QgsMapRendererParallelJob(settings_of(layers, extent, period))
    job.start()
    job.waitForFinished()
    image = job.renderedImage()
    if PICTURES is not None and picture is not None:
        os.makedirs(PICTURES, exist_ok=True)
        image.save(os.path.join(PICTURES, picture))
    return pixels(image)


def drawn(image):
    """The share of pixels that are not background."""
    return (image != 255).any(axis=2).mean()


def by_hand(name, like):
    """A layer of the same source as QGIS adds it, with the colours of another."""
    layer = QgsRasterLayer(name, "by hand", "gdal")
    assert layer.isValid(), layer.error().message()
    layer.setRenderer(like.renderer().clone())
    return layer


class Folder(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)
        self.addCleanup(os.chdir, HERE)  # QGIS goes to the folder of a layer definition

    def path(self, name):
        return os.path.join(self.folder, name)

    def written(self, source, variable, output="out.qgs", longitudes=None, *, each_time=False):
        refs_qgis.write(source, variable, self.path(output), longitudes, each_time=each_time)
        return load(self.path(output))


class Crs(Folder):
    def assert_drawn_as_by_hand(self, source, variable, picture=None):
        for output in ("out.qlr", "out.qgs", "out.qgz"):
            _, layers = self.written(source, variable, output)
            self.assertTrue(layers[0].crs().isValid(), output)
            hand = by_hand(layers[0].source(), layers[0])
            self.assertEqual(layers[0].crs().toProj(), hand.crs().toProj())
            extent = QgsCoordinateTransform(hand.crs(), MERCATOR, QgsProject.instance()).transformBoundingBox(hand.extent())
            found, wanted = draw(layers, extent, picture=picture), draw([hand], extent)
            np.testing.assert_array_equal(found, wanted)
            self.assertGreater(drawn(found), .4)
        return layers[0].crs()

    def test_of_longitudes_and_latitudes(self):
        self.assertEqual(self.assert_drawn_as_by_hand(SAMPLE, "t2m", "sample-mercator.png").authid(), "EPSG:4326")

    def test_of_each_layer_of_times(self):
        _, layers = self.written(SAMPLE, "t2m", each_time=True)
        self.assertEqual([(layer.crs().isValid(), layer.crs().authid()) for layer in layers], [(True, "EPSG:4326")] * 24)

    def plane(self, size, x=0.0, y=0.0, **mapping):
        """A grid of metres around a point."""
        refs = References()
        for name, centre in ("y", y), ("x", x):
            refs.add(name, (np.arange(40) - 20) * size + centre, [name], units="m", standard_name=f"projection_{name}_coordinate")
        refs.add("crs", np.int32(0).reshape(()), [], **mapping)
        values = np.arange(1600.0).reshape(40, 40)
        return refs.add("v", values, ["y", "x"], grid_mapping="crs").write(self.path("plane.json"))

    def test_of_a_projection(self):
        path = self.plane(50e3, grid_mapping_name="lambert_azimuthal_equal_area", latitude_of_projection_origin=52.,
                          longitude_of_projection_origin=10., false_easting=0., false_northing=0., semi_major_axis=6378137.,
                          inverse_flattening=298.257223563)
        self.assertIn("+proj=laea", self.assert_drawn_as_by_hand(path, "v").toProj())

    def test_of_codes(self):
        for code, x, y in ("EPSG:32633", 5e5, 5e6), ("EPSG:32733", 5e5, 5e6), ("EPSG:3035", 4e6, 3e6):
            path = self.plane(1e3, x, y, crs_wkt=QgsCoordinateReferenceSystem(code).toWkt(QgsCoordinateReferenceSystem.WKT2_2019))
            self.assertEqual(self.assert_drawn_as_by_hand(path, "v").authid(), code)

    def test_of_a_rotated_pole(self):
        refs = References()
        for name, of in ("rlat", "latitude"), ("rlon", "longitude"):
            refs.add(name, (np.arange(40) - 20) * .5, [name], units="degrees", standard_name=f"grid_{of}")
        refs.add("pole", np.int32(0).reshape(()), [], grid_mapping_name="rotated_latitude_longitude",
                 grid_north_pole_latitude=39.25, grid_north_pole_longitude=-162., earth_radius=6371229.)
        refs.add("v", np.arange(1600.0).reshape(40, 40), ["rlat", "rlon"], grid_mapping="pole").write(self.path("pole.json"))
        self.assertIn("ob_tran", self.assert_drawn_as_by_hand(self.path("pole.json"), "v").toProj())


class View(Folder):
    def test_is_that_of_the_data(self):
        for output in "out.qgs", "out.qgz":
            project, layers = self.written(SAMPLE, "t2m", output)
            self.assertEqual(project.crs().authid(), "EPSG:4326")
            view = project.viewSettings().defaultViewExtent()
            self.assertEqual(view.crs().authid(), "EPSG:4326")
            for extent in view, layers[0].extent():
                np.testing.assert_allclose((extent.xMinimum(), extent.yMinimum(), extent.xMaximum(), extent.yMaximum()),
                                           (-25.25, 31.75, 35.25, 72.25))

    def test_is_that_of_a_window(self):
        refs_qgis.write(SAMPLE, "t2m", self.path("out.qgs"))
        canvas = QgsMapCanvas()
        canvas.setObjectName("theMapCanvas")
        canvas.resize(605, 405)
        QgsProject.instance().readProject.connect(canvas.readProject)
        self.assertTrue(QgsProject.instance().read(self.path("out.qgs")))
        extent = canvas.extent()
        QgsProject.instance().clear()
        self.assertTrue(extent.contains(QgsRectangle(-25.2, 31.8, 35.2, 72.2)), extent.toString())
        self.assertLess(extent.area(), 1.2 * 60.5 * 40.5)

    def step_of(self, **times):
        world(**times).write(self.path("world.json"))
        project, _ = self.written(self.path("world.json"), "v")
        settings = project.timeSettings()
        return settings.timeStep(), QgsUnitTypes.encodeUnit(settings.timeStepUnit())

    def test_has_the_time_step_of_the_data(self):
        self.assertEqual(self.step_of(), (1, "d"))
        self.assertEqual(self.step_of(units="hours since 2024-06-01", times=[0, 24, 48]), (1, "d"))
        self.assertEqual(self.step_of(units="hours since 2024-06-01", times=[0, 6, 12, 24]), (6, "h"))
        self.assertEqual(self.step_of(units="minutes since 2024-06-01", times=[0, 15, 30]), (15, "min"))
        self.assertEqual(self.step_of(units="seconds since 2024-06-01", times=[60, 30, 0]), (30, "s"))
        self.assertEqual(self.step_of(units="days since 2024-01-01", times=[0, 31, 60]), (1, "mon"))
        self.assertEqual(self.step_of(units="hours since 2024-01-16T12:00", times=[0, 30 * 24, 60 * 24 + 12]), (1, "mon"))
        self.assertEqual(self.step_of(units="days since 2020-01-01", times=[0, 366, 731]), (1, "y"))
        self.assertEqual(self.step_of(units="days since 2023-01-01", times=[0, 90, 120, 151]), (1, "mon"))
        self.assertEqual(self.step_of(units="days since 2020-01-01", times=[0, 731, 1096]), (1, "y"))
        self.assertEqual(self.step_of(units="hours since 2024-06-01", times=[5]), (1, "h"))


class Colours(Folder):
    def colours(self, values, **attributes):
        refs = lonlat(References(), np.linspace(-179, 179, values.shape[1]), np.linspace(89, -89, values.shape[0]))
        refs.add("v", values, ["lat", "lon"], chunks=attributes.pop("chunks", None), **attributes).write(self.path("v.json"))
        _, layers = self.written(self.path("v.json"), "v")
        renderer = layers[0].renderer()
        return renderer.classificationMin(), renderer.classificationMax()

    def test_cover_the_whole_raster(self):
        """Which is larger than what is sampled, in few chunks and in many."""
        values = np.linspace(0, 1000, 1800)[:, None] + np.zeros((1, 1600))
        for chunks in (1800, 1600), (900, 1600), (100, 50), (7, 1600):
            low, high = self.colours(values.astype("f4"), chunks=chunks)
            self.assertTrue(0 <= low < 60 and 940 < high <= 1000, (chunks, low, high))

    def test_leave_out_outliers(self):
        values = np.linspace(0, 100, 200)[:, None] + np.zeros((1, 300))
        values[0, 0], values[100, 100] = -1e6, 1e6
        low, high = self.colours(values)
        np.testing.assert_allclose((low, high), (2, 98), atol=.6)

    def test_are_all_values_where_most_are_one(self):
        values = np.zeros((200, 300))
        values[50, 50] = 12
        self.assertEqual(self.colours(values), (0, 12))

    def test_are_found_without_histograms_beside_the_data(self):
        refs = lonlat(References(), np.linspace(-179, 179, 30), np.linspace(89, -89, 20))
        refs.add("time", np.arange(3.), ["time"], units="days since 2000-01-01")
        values = np.arange(1800).reshape(3, 20, 30).astype("f4")
        values[0] = 0
        refs.add("v", values, ["time", "lat", "lon"]).write(self.path("v.json"))
        for options in (), ("--layers",):
            said = run(self.path("v.json"), "v", "-o", self.path("v.qgs"), *options, GDAL_PAM_ENABLED="YES")
            self.assertNotIn("ERROR", said)
            self.assertEqual(sorted(os.listdir(self.folder)), ["v.json", "v.qgs"])

    def test_are_unpacked_without_missing(self):
        values = np.arange(200 * 300).reshape(200, 300) % 100
        values[::2] = -999
        low, high = self.colours(values.astype("i2"), scale_factor=.5, add_offset=10., _FillValue=-999)
        np.testing.assert_allclose((low, high), (11, 58.5), atol=.6)


class Longitudes(Folder):
    def test_from_0_to_360_cover_the_map(self):
        path = world().write(self.path("world.json"))
        for each_time in False, True:
            _, layers = self.written(path, "v", each_time=each_time)
            self.assertIn("?LONGITUDES=-180", layers[0].source())
            self.assertEqual((layers[0].extent().xMinimum(), layers[0].extent().xMaximum()), (-180, 180))
            image = draw(layers, period=day_of(0), picture="world-mercator.png")
            self.assertGreater(drawn(image), .98)

    def test_stay_where_that_is_wanted(self):
        path = world().write(self.path("world.json"))
        _, layers = self.written(path, "v", longitudes="AS_IS")
        self.assertEqual((layers[0].extent().xMinimum(), layers[0].extent().xMaximum()), (0, 360))
        self.assertNotIn("LONGITUDES", layers[0].source())
        self.assertIn("choose from '-180', '0', 'AS_IS'", run(path, "v", "-o", self.path("x.qgs"), "--longitudes", "90", status=2))

    def test_that_do_not_cross_have_no_option(self):
        path = world(first=-180).write(self.path("world.json"))
        _, layers = self.written(path, "v")
        self.assertNotIn("LONGITUDES", layers[0].source())
        _, layers = self.written(path, "v", longitudes="0")
        self.assertIn("?LONGITUDES=0", layers[0].source())
        self.assertEqual(layers[0].extent().xMinimum(), 0)


class Identify(Folder):
    def test_finds_the_frame_that_is_shown(self):
        """The second day at 39 N, on a Mercator map, from all layers and from the one layer of its day."""
        path = world().write(self.path("world.json"))
        project, layers = self.written(path, "v", each_time=True)
        canvas = QgsMapCanvas()
        canvas.resize(WIDTH, HEIGHT)
        canvas.setDestinationCrs(MERCATOR)
        canvas.setLayers(layers)
        canvas.setExtent(WORLD)
        canvas.setTemporalRange(day_of(1))
        context = QgsIdentifyContext()
        context.setTemporalRange(day_of(1))
        tool = QgsMapToolIdentify(canvas)
        point = QgsCoordinateTransform(QgsCoordinateReferenceSystem("EPSG:4326"), MERCATOR, project).transform(QgsPointXY(-100, 39.2))
        place = canvas.getCoordinateTransform().transform(point)
        for among in layers, layers[1:2]:
            found = tool.identify(int(place.x()), int(place.y()), among, QgsMapToolIdentify.TopDownAll, context)
            self.assertEqual([(one.mLayer.id(), {round(float(value)) for value in one.mAttributes.values()}) for one in found],
                             [(layers[1].id(), {139})])


class Sources(Folder):
    def setUp(self):
        super().setUp()
        os.mkdir(self.path("days"))
        for day in range(3):
            refs = world(days=1, times=[day])
            refs.write(self.path(f"days/{day}.json"))

    def test_may_be_patterns_and_folders(self):
        for source in self.path("days/*.json"), self.path("days"), "days/*.json", "days":
            os.chdir(self.folder)
            run(source, "v", "-o", "out.qgs")
            project, layers = load(self.path("out.qgs"))
            name = f'REFS:"{self.folder}/days' + ("/*.json" if "*" in source else "") + '":/v?LONGITUDES=-180'
            self.assertEqual((layers[0].source(), layers[0].isValid(), layers[0].bandCount()), (name, True, 3))
            self.assertEqual(project.timeSettings().timeStep(), 1)
        self.assertEqual(sorted(os.listdir(self.folder)), ["days", "out.qgs"])

    def test_of_two_assets_are_told_by_their_numbers(self):
        with open(self.path("item.json"), "w", encoding="utf-8") as file:
            json.dump({"type": "Feature", "stac_version": "1.0.0", "id": "i", "geometry": None, "properties": {}, "links": [],
                       "assets": {key: {"href": f"days/{day}.json", "roles": ["references"], "type": "application/json"}
                                  for day, key in enumerate(("one", "two"))}}, file)
        item = f'REFS:"{self.path("item.json")}":#'
        listed = run(self.path("item.json"))
        self.assertEqual([(line.split()[0], line.rpartition(" ")[2]) for line in listed.splitlines()],
                         [(item + "0/v", "(one)"), (item + "1/v", "(two)")])
        self.assertIn(f"v is in 2 sets of {self.path('item.json')}: give the source as one of {item}0, {item}1",
                      run(self.path("item.json"), "v", "-o", self.path("o.qlr"), status=1))
        run(item + "1", "v", "-o", self.path("o.qgs"))
        project, layers = load(self.path("o.qgs"))
        self.assertEqual((layers[0].source(), len(project.mapLayers())), (f"{item}1/v?LONGITUDES=-180", 1))

    def test_need_modules_of_python_which_a_sentence_names(self):
        with open(os.path.join(self.folder, "numpy.py"), "w", encoding="utf-8") as file:
            file.write("raise ModuleNotFoundError('gone', name='numpy')\n")
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join([self.folder, PLUGINS])}
        done = subprocess.run([sys.executable, "-m", "refs_qgis", "a.json"], env=environment, capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stderr),
                         (1, "refs_qgis: the Python module numpy is missing: install NumPy (python3-numpy)\n"))

    def test_that_cannot_be_joined_are_an_error(self):
        os.mkdir(self.path("empty"))
        said = run(self.path("empty"), "v", "-o", self.path("x.qgs"), status=1)
        self.assertRegex(said, "^refs_qgis: .*/empty: expected a file, found a folder [^\n]*\n$")
        with open(self.path("empty/.zmetadata"), "w", encoding="utf-8") as file:
            file.write("{")  # a set that is damaged
        said = run(self.path("empty"), "v", "-o", self.path("x.qgs"), status=1)
        self.assertRegex(said, "^refs_qgis: .*/empty/.zmetadata: line 1, [^\n]*\n$")

    def test_name_their_variables_where_one_is_not_there(self):
        said = run(SAMPLE, "tm2", "-o", self.path("out.qgs"), status=1)
        self.assertEqual(said, f'refs_qgis: {SAMPLE}: no variable "tm2": expected one of its 2 rasters: t2m, z\n')


if __name__ == "__main__":
    application = QgsApplication([], True, tempfile.mkdtemp())
    application.initQgis()
    result = unittest.main(argv=[sys.argv[0], *ARGUMENTS.tests], exit=False).result
    sys.stdout.flush()
    os._exit(0 if result.wasSuccessful() else 1)  # without the end of QGIS, which crashes on some machines
