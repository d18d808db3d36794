#!/usr/bin/env python3
"""The plugin of QGIS: its dialog, STAC items, times between which nothing is known, what it says where the driver is missing, its
command, and its archive.

    qgis_plugin_test.py PROGRAM [--pictures FOLDER] [test ...]

Skips without PyQGIS. Pictures of the dialog stay in the folder where one is given.
"""

import base64
import configparser
import datetime
import json
import os
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import unittest
import zipfile

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
os.environ.setdefault("QGIS_PREFIX_PATH", "/usr")
os.environ.setdefault("GDAL_PAM_ENABLED", "NO")
try:
    from qgis.core import QgsApplication, QgsProject
    from qgis.PyQt.QtCore import QCoreApplication, QSettings
except ImportError:
    print("PyQGIS is not installed")
    sys.exit(77)

from osgeo import gdal
from pictures import read_arguments
from qgis_canvas import PLUGINS, Canvas

import refs_qgis
from refs_qgis import dialog, layers, source, times

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.normpath(os.path.join(HERE, "../.."))
SAMPLE, SAMPLE_FILE = (os.path.join(ROOT, "data", name) for name in ("sample.json", "sample.nc"))
ARGUMENTS = read_arguments("program")
PROGRAM, PICTURES = os.path.abspath(ARGUMENTS.program), ARGUMENTS.pictures
HOUR = datetime.timedelta(hours=1)
SOON_S = 20


class Folder(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, content):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(content if isinstance(content, str) else json.dumps(content))
        return self.path(name)


# -- the dialog -----------------------------------------------------------------------------------

class Shown(Folder):
    def setUp(self):
        super().setUp()
        self.dialog = dialog.Dialog()
        self.chosen = []
        self.dialog.chosen.connect(lambda *what: self.chosen.append(what))
        self.dialog.show()
        self.addCleanup(self.dialog.close)

    def wait(self):
        while self.dialog.is_busy():
            QCoreApplication.processEvents()

    def list(self, text):
        self.dialog.source.setCurrentText(text)
        self.dialog.list_button.click()
        self.wait()  # for the variables, and for the first of them
        return [self.dialog.variables.topLevelItem(number).text(0) for number in range(self.dialog.variables.topLevelItemCount())]

    def choose(self, number):
        self.dialog.variables.setCurrentItem(self.dialog.variables.topLevelItem(number))
        self.wait()

    def add(self):
        self.dialog.add_button.click()
        self.wait()

    def picture(self, name):
        if PICTURES is not None:
            os.makedirs(PICTURES, exist_ok=True)
            QCoreApplication.processEvents()
            self.dialog.grab().save(os.path.join(PICTURES, name))


class Dialog(Shown):
    def test_lists_variables_and_gives_what_is_chosen(self):
        self.assertFalse(self.dialog.add_button.isEnabled())
        self.assertEqual(self.list(SAMPLE), ["/t2m", "/z"])
        self.choose(1)
        self.dialog._choices["level"].setCurrentIndex(1)
        self.picture("dialog.png")
        self.add()
        raster, each_time = self.chosen.pop()
        self.assertEqual((str(raster.name), each_time, len(raster.periods), raster.step),
                         (f'REFS:"{SAMPLE}":/z[level=#1]', False, 2, (12, "hours")))
        layer = layers.make_layer(raster)
        self.assertTrue(layer.isValid())
        self.assertEqual((layer.bandName(2), layer.name()), ("Band 2: time_12h=2024-06-01T12:00:00 level=500", "geopotential height"))

    def test_offers_a_layer_for_each_time(self):
        self.list(SAMPLE)
        self.dialog.times.setCurrentIndex(1)
        self.add()
        self.assertEqual([(str(raster.name), each_time) for raster, each_time in self.chosen], [(f'REFS:"{SAMPLE}":/t2m', True)])

    def test_says_why_a_source_does_not_open(self):
        self.assertEqual(self.list(self.path("nothing.json")), [])
        self.assertIn("nothing.json: No such file or directory", self.dialog.message.text())
        self.assertFalse(self.dialog.add_button.isEnabled())
        self.assertEqual(self.list(SAMPLE), ["/t2m", "/z"])
        self.assertTrue(self.dialog.add_button.isEnabled())

    def test_remembers_sources_that_opened(self):
        for name in (SAMPLE, self.path("nothing.json"), SAMPLE_FILE, SAMPLE):
            self.list(name)
        other = dialog.Dialog()
        self.assertEqual([other.source.itemText(number) for number in range(2)], [SAMPLE, SAMPLE_FILE])
        self.assertEqual((other.source.findText(self.path("nothing.json")), other.source.currentText()), (-1, ""))

    def test_opens_folders_patterns_and_names(self):
        os.mkdir(self.path("days"))
        shutil.copy(SAMPLE_FILE, self.path("days/a.nc"))
        for text in self.path("days"), self.path("days/*.nc"), f'REFS:"{SAMPLE}"', f"REFS:{SAMPLE}":
            self.assertEqual(self.list(text), ["/t2m", "/z"], text)
        self.assertEqual(self.list(f'REFS:"{SAMPLE}":/z[level=850]'), ["/z"])

    def test_opens_sets_in_folders(self):
        subprocess.run([PROGRAM, "convert", SAMPLE, "-o", self.path("sample.parq"), "-q"], check=True)
        self.assertEqual(self.list(self.path("sample.parq")), ["/t2m", "/z"])
        for version in "v1", "v2", "v2@v1.0":
            self.assertEqual(self.list(os.path.join(ROOT, "autotest/unit/references/icechunk/data", version)), ["/g/split"])
            self.add()
        self.assertEqual([(len(raster.periods), raster.least, raster.most) for raster, _ in self.chosen], [(0, 2, 23)] * 3)
        self.assertTrue(layers.make_layer(self.chosen[0][0]).isValid())

    def test_fits_a_screen(self):
        """Of 768 lines, with all that it may show."""
        self.list(SAMPLE)
        self.choose(1)
        self.dialog.message.setText("one line\n" * 3)
        QCoreApplication.processEvents()
        self.assertLess(self.dialog.minimumSizeHint().height(), 700)
        self.assertLess(self.dialog.height(), 700)


class WithoutDriver(Folder):
    """In a process of its own, whose GDAL has no driver."""

    def say(self, code):
        environment = {name: value for name, value in os.environ.items() if name != "GDAL_DRIVER_PATH"}
        begin = ("import os, sys\nfrom qgis.core import QgsApplication\nfrom qgis.PyQt.QtCore import QCoreApplication\n"
                 f"application = QgsApplication([], True, {self.folder!r})\napplication.initQgis()\n"
                 "from refs_qgis import dialog, driver, source\n")
        end = "\nsys.stdout.flush()\nos._exit(0)\n"
        done = subprocess.run([sys.executable, "-c", begin + code + end], env=dict(environment, PYTHONPATH=PLUGINS, GDAL_DRIVER_PATH="disable"),
                              stdout=subprocess.PIPE, text=True, check=True, timeout=120)
        return done.stdout

    def test_the_dialog_says_how_to_install_it(self):
        picture = os.path.join(os.path.abspath(PICTURES), "dialog-without-driver.png") if PICTURES else self.path("x.png")
        said = self.say("shown = dialog.Dialog()\nshown.show()\n"
                        f"QCoreApplication.processEvents()\nshown.grab().save({picture!r})\n"
                        "print(shown.body.isVisible(), shown.add_button.isVisible(), shown.height() < 700)\n"
                        "print(shown.instructions.toPlainText())")
        self.assertEqual(said.splitlines()[0], "False False True")
        with open(os.path.join(ROOT, "README.md"), encoding="utf-8") as file:
            page = file.read()
        commands = [line for line in said.splitlines() if line.startswith(("sh ", "cmake "))]
        self.assertEqual(len(commands), 4)
        for line in commands:
            self.assertIn(line, page)

    def test_the_command_says_how_to_install_it(self):
        done = subprocess.run([sys.executable, "-m", "refs_qgis", SAMPLE], stderr=subprocess.PIPE, text=True, check=False,
                              env=dict(os.environ, PYTHONPATH=PLUGINS, GDAL_DRIVER_PATH="disable"))
        self.assertEqual(done.returncode, 1)
        self.assertIn(f"The driver has to be built for GDAL {'.'.join(gdal.VersionInfo('RELEASE_NAME').split('.')[:2])}.", done.stderr)

    def test_it_is_loaded_from_a_folder_that_was_chosen(self):
        plugins = os.environ["GDAL_DRIVER_PATH"]
        said = self.say(f"print(driver.load_from({self.folder!r}))\nprint(driver.load_from({plugins!r}), driver.is_there())\n"
                        f"print(len(source.variables_of({SAMPLE!r})[0]))")
        first, *others = said.splitlines()
        self.assertIn("expected gdal_REFS.so for GDAL", first)
        self.assertEqual(others, ["None True", "2"])


# -- sources --------------------------------------------------------------------------------------

class Stac(Folder):
    def item(self, assets, **members):
        return self.write("item.json", {"type": "Feature", "stac_version": "1.0.0", "id": "a", "geometry": None, "properties": {},
                                        "links": [], "assets": assets, **members})

    def test_items_have_the_variables_of_their_data(self):
        shutil.copy(SAMPLE_FILE, self.path("a.nc"))
        item = self.item({"a": {"href": "./a.nc", "roles": ["data"]}, "b": {"href": SAMPLE, "roles": ["data"]},
                          "t": {"href": "t.png", "roles": ["thumbnail"]}})
        found, _ = source.variables_of(item)
        self.assertEqual([(one.asset, str(one.name)) for one in found],
                         [(asset, f'REFS:"{item}":#{number}{path}') for number, asset in enumerate("ab") for path in ("/t2m", "/z")])
        self.assertTrue(refs_qgis.open_layer(item, "z[level=500]").source().endswith('item.json":#0/z[level=500]'))

    def test_assets_are_told_by_their_types_where_none_has_a_role(self):
        item = self.item({"a": {"href": SAMPLE_FILE, "type": "application/x-netcdf"}, "t": {"href": "t.png", "type": "image/png"}})
        self.assertEqual([str(one.name) for one in source.variables_of(item)[0]], [f'REFS:"{item}":/{name}' for name in ("t2m", "z")])

    def assert_says(self, path, text):
        with self.assertRaises(source.SourceError) as caught:
            source.variables_of(path)
        self.assertIn(text, str(caught.exception))

    def test_without_data_say_so(self):
        self.assert_says(self.item({"t": {"href": "t.png", "type": "image/png"}}), "no asset of this STAC document is a set or a data file")
        self.assert_says(self.write("b.json", '{"stac_version": '), "b.json: line 1, column 18: expected a value, found the end of the text")


class Names(unittest.TestCase):
    def test_are_read_and_written_as_they_are(self):
        for text in ('REFS:"a.json"', 'REFS:"a.json":/g/v', 'REFS:"a:b.json":/v[time=#3,level=850]?LONGITUDES=-180&MISSING=FILL',
                     'REFS:"a.nc":#0/v', 'REFS:"s3://b/k.json":/v', 'REFS:"a/[ab]*.nc":/v'):
            self.assertEqual(str(source.parse(text)), text)
        self.assertIsNone(source.parse('REFS:"a.json'))

    def test_hold_in_any_folder(self):
        self.assertEqual(source.name_of("a/*.nc").set, os.path.join(os.getcwd(), "a/*.nc"))
        self.assertEqual(source.name_of(" https://h/a.json ").set, "https://h/a.json")
        self.assertEqual(source.name_of("/vsizip/a.zip/b.json").set, "/vsizip/a.zip/b.json")
        with self.assertRaises(source.SourceError):
            source.name_of("  ")


# -- times ----------------------------------------------------------------------------------------

class Times(Folder):
    def test_last_until_the_next_one(self):
        a, b, c = (datetime.datetime(2024, 1, 1) + number * HOUR for number in (0, 1, 4))
        self.assertEqual(source.periods_of([a, b, c], 60), [(a, b), (b, c), (c, c + 3 * HOUR)])
        self.assertEqual(source.periods_of([c, b, a], 60), [(c, c + 3 * HOUR), (b, c), (a, b)])
        self.assertEqual(source.periods_of([a], 3600), [(a, b)])

    def test_of_selections_stay_selected(self):
        name = source.find_variable(SAMPLE, "t2m[time=2024-06-01T06:00:2024-06-01T08:00]")
        raster = source.describe(name)
        self.assertEqual([period[0].hour for period in raster.periods], [6, 7, 8])
        made = layers.make_layers(raster, each_time=True)
        self.assertEqual([layer.bandName(1)[-8:] for layer in made], ["06:00:00", "07:00:00", "08:00:00"])

    def write_arrays(self, name, arrays):
        """A set of small arrays of integers: shape, dimensions, values and attributes of each."""
        refs = {".zgroup": json.dumps({"zarr_format": 2})}
        for array, (shape, dims, values, attributes) in arrays.items():
            meta = {"zarr_format": 2, "shape": shape, "chunks": shape, "dtype": "<i4", "fill_value": None, "order": "C", "compressor": None,
                    "filters": None}
            data = base64.b64encode(struct.pack(f"<{len(values)}i", *values)).decode()
            refs.update({f"{array}/.zarray": json.dumps(meta), f"{array}/.zattrs": json.dumps({"_ARRAY_DIMENSIONS": dims, **attributes}),
                         f"{array}/{'.'.join('0' * len(shape))}": "base64:" + data})
        return self.write(name, refs)

    def forecast(self):
        """Two runs, 12 hours apart, of steps of 6 hours."""
        return self.write_arrays("forecast.json", {
            "t": ([2, 3, 1, 2], ["time", "step", "y", "x"], list(range(12)), {"coordinates": "valid_time"}),
            "time": ([2], ["time"], [0, 12], {"units": "hours since 2024-01-01", "standard_name": "forecast_reference_time"}),
            "step": ([3], ["step"], [0, 6, 12], {"units": "hours", "standard_name": "forecast_period"})})

    def test_say_how_an_array_whose_rows_follow_latitudes_gets_a_place(self):
        """gdalwarp -geoloc takes its longitudes for those of the columns, as with the netCDF driver of GDAL."""
        path = self.write_arrays("turned.json", {
            "t": ([4, 3], ["lon", "lat"], list(range(12)), {"coordinates": "lat lon"}),
            "lon": ([4], ["lon"], [0, 10, 20, 30], {"units": "degrees_east"}),
            "lat": ([3], ["lat"], [40, 50, 60], {"units": "degrees_north"})})
        raster = source.describe(source.find_variable(path, "t"))
        self.assertIn("has no place, and lies at the numbers of its pixels: its rows follow latitudes: gdalmdimtranslate -array "
                      "name=/t,transpose=[…] and -a_srs make a map of it", "\n".join(raster.warnings))
        turned = os.path.join(self.folder, "turned.tif")
        gdal.MultiDimTranslate(turned, path, format="GTiff", arraySpecs=["name=/t,transpose=[1,0]"])
        self.assertEqual(gdal.Open(turned).GetGeoTransform(), (-5, 10, 0, 35, 0, 10))

    def test_of_a_forecast_are_along_its_steps(self):
        path = self.forecast()
        raster = source.describe(source.find_variable(path, "t"))
        self.assertEqual([period[0].hour for period in raster.periods], [0, 6, 12])
        self.assertEqual((raster.time_dimension, raster.step), ("step", (6, "hours")))
        said = "\n".join(raster.warnings)
        self.assertIn("time has 2 values: the first, ", said)
        self.assertIn("has no place", said)
        raster = source.describe(source.find_variable(path, "t[time=#1]"))
        self.assertEqual([period[0].isoformat() for period in raster.periods],
                         ["2024-01-01T12:00:00", "2024-01-01T18:00:00", "2024-01-02T00:00:00"])
        raster = source.describe(source.find_variable(path, "t[time=#1,step=#1:#2]"))
        made = layers.make_layers(raster, each_time=True)
        self.assertEqual([layer.bandName(1)[-6:] for layer in made], ["step=6", "tep=12"])

    def test_several_levels_are_not_one_layer(self):
        with self.assertRaises(source.SourceError) as caught:
            refs_qgis.open_layer(SAMPLE, "z[level=#0:#1]")
        self.assertIn("level has 2 values here, and a layer shows one: expected a selection such as [level=#0]", str(caught.exception))

    @unittest.skipIf(times.HAS_RANGES_OF_BANDS, "QGIS has the times of bands itself")
    def test_of_a_frame_have_one_band(self):
        """The last one of a frame, and none where there is none."""
        layer = refs_qgis.open_layer(SAMPLE, "t2m")
        day = datetime.datetime(2024, 6, 1)
        for begin, end, band in ((0, 1, 1), (13, 14, 14), (13.5, 13.6, 14), (6, 12, 12), (23, 30, 24), (-2, 1, 1), (-2, 0, None),
                                 (24, 25, None), (5, 5, 6)):
            frame = times.QgsDateTimeRange(times._instant(day + begin * HOUR), times._instant(day + end * HOUR))
            self.assertEqual(times.band_in(layer, frame), band, (begin, end))

    def test_are_played_after_a_project_was_saved(self):
        """In a QGIS before 3.38 by the plugin, which finds the times in the file."""
        project = QgsProject()
        layer = refs_qgis.open_layer(SAMPLE, "t2m")
        project.addMapLayer(layer)
        canvas = Canvas(project, layer.crs(), layer.extent())
        self.assertTrue(project.write(self.path("a.qgs")))
        canvas.close()
        again = QgsProject()
        canvas = Canvas(again, layer.crs(), layer.extent())
        self.assertTrue(again.read(self.path("a.qgs")))
        found = list(again.mapLayers().values())[0]
        self.assertEqual(found.source(), f'REFS:"{SAMPLE}":/t2m')
        canvas.canvas.setLayers([found])
        canvas.play(times.whole_range(source.describe(source.find_variable(SAMPLE, "t2m")).periods), 3600)
        canvas.frame(13)
        if not times.HAS_RANGES_OF_BANDS:
            self.assertEqual(found.renderer().usesBands(), [14])
        with open(self.path("a.qgs"), encoding="utf-8") as file:
            self.assertEqual(file.read().count("<range "), 24)
        canvas.close()


# -- the command ----------------------------------------------------------------------------------

class Command(Folder):
    def run_it(self, *arguments, status=0):
        done = subprocess.run([sys.executable, "-m", "refs_qgis", *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              env=dict(os.environ, PYTHONPATH=PLUGINS, TMPDIR=self.folder), cwd=self.folder, check=False)
        self.assertEqual(done.returncode, status, done.stdout)
        return done.stdout

    def test_lists_variables(self):
        self.assertEqual([line.split()[0] for line in self.run_it(SAMPLE).splitlines()], ["/t2m", "/z"])
        self.assertEqual(os.listdir(self.folder), [])

    def test_wants_a_name_that_it_knows(self):
        self.assertIn("expected a name that ends in .qlr, .qgs or .qgz", self.run_it(SAMPLE, "t2m", "-o", "a.txt", status=1))
        self.assertIn("expected SOURCE, or SOURCE VARIABLE -o LAYER", self.run_it(SAMPLE, "t2m", status=2))
        self.assertEqual(os.listdir(self.folder), [])

    def test_does_not_write_over_its_source(self):
        shutil.copy(SAMPLE_FILE, self.path("layer.qlr"))
        self.assertIn("is the source", self.run_it("layer.qlr", "t2m", "-o", "layer.qlr", status=1))
        self.assertEqual(os.path.getsize(self.path("layer.qlr")), os.path.getsize(SAMPLE_FILE))
        os.symlink("layer.qlr", self.path("link.qlr"))
        self.assertIn("is the source", self.run_it("layer.qlr", "t2m", "-o", "link.qlr", status=1))
        self.assertEqual(sorted(os.listdir(self.folder)), ["layer.qlr", "link.qlr"])

    def test_replaces_a_file_and_follows_no_link_in_its_way(self):
        self.write("precious", "precious")
        self.write("a.qlr", "old")
        self.run_it(SAMPLE, "t2m", "-o", "a.qlr")
        with open(self.path("a.qlr"), encoding="utf-8") as file:
            self.assertIn("<qlr>", file.read())
        os.symlink(self.path("precious"), self.path(f".b.qlr.{os.getpid()}.part"))
        raster = source.describe(source.find_variable(SAMPLE, "t2m"))
        with self.assertRaises(FileExistsError):
            layers.write(raster, self.path("b.qlr"))
        with open(self.path("precious"), encoding="utf-8") as file:
            self.assertEqual(file.read(), "precious")

    def test_shows_aggregations_as_what_they_stand_for(self):
        shutil.copy(SAMPLE_FILE, self.path("source.nc"))
        for version in "1.13", "0.4", "0.5":
            subprocess.run([PROGRAM, "split", "source.nc", "-o", "m.nca", "--cfa-version", version, "--subarray-shape", "time=6", "-q"],
                           cwd=self.folder, check=True)
            master, single = (source.describe(source.find_variable(self.path(name), "t2m")) for name in ("m.nca", "source.nc"))
            self.assertEqual((master.periods, master.least, master.most, master.title, master.step),
                             (single.periods, single.least, single.most, single.title, single.step))
            self.assertEqual(refs_qgis.open_layer(self.path("m.nca"), "t2m").bandCount(), 24)
            shutil.rmtree(self.path("m"))
            os.remove(self.path("m.nca"))

    def test_ends_when_it_is_interrupted(self):
        with socket.socket() as server:
            server.bind(("127.0.0.1", 0))
            server.listen(5)
            for number in signal.SIGINT, signal.SIGTERM:
                url = f"http://127.0.0.1:{server.getsockname()[1]}/a.json"
                with subprocess.Popen([sys.executable, "-m", "refs_qgis", url, "v", "-o", "a.qlr"], stderr=subprocess.PIPE, cwd=self.folder,
                                      env=dict(os.environ, PYTHONPATH=PLUGINS, TMPDIR=self.folder)) as process:
                    connection, _ = server.accept()
                    process.send_signal(number)
                    _, said = process.communicate(timeout=SOON_S)
                    connection.close()
                self.assertEqual((process.returncode, said), (-number, b"refs_qgis: interrupted\n"))
                self.assertEqual(os.listdir(self.folder), [])


class Archive(Folder):
    def test_is_one_that_qgis_installs(self):
        for name in "first", "second":
            subprocess.run(["sh", os.path.join(ROOT, "packaging/qgis.sh"), self.path(name)], check=True, stdout=subprocess.DEVNULL)
        archive, = os.listdir(self.path("first"))
        contents = []
        for name in "first", "second":
            with open(os.path.join(self.path(name), archive), "rb") as file:
                contents.append(file.read())
        self.assertEqual(contents[0], contents[1])
        with zipfile.ZipFile(os.path.join(self.path("first"), archive)) as file:
            file.extractall(self.path("installed"))
        self.assertEqual(os.listdir(self.path("installed")), ["refs_qgis"])
        found = sorted(os.listdir(self.path("installed/refs_qgis")))
        self.assertEqual([name for name in found if not name.endswith(".py")], ["LICENSE", "icon.svg", "metadata.txt"])
        metadata = configparser.ConfigParser()
        metadata.read(self.path("installed/refs_qgis/metadata.txt"), encoding="utf-8")
        general = metadata["general"]
        for key in "name", "qgisMinimumVersion", "description", "about", "version", "author", "email", "repository", "tracker", "license":
            self.assertTrue(general[key], key)
        self.assertEqual(archive, f"refs-{general['version']}.zip")
        done = subprocess.run([sys.executable, "-m", "refs_qgis", SAMPLE], env=dict(os.environ, PYTHONPATH=self.path("installed")),
                              stdout=subprocess.PIPE, text=True, check=True)
        self.assertEqual(len(done.stdout.splitlines()), 2)


if __name__ == "__main__":
    profile = tempfile.mkdtemp()
    QSettings.setPath(QSettings.Format.IniFormat, QSettings.Scope.UserScope, profile)
    application = QgsApplication([], True, profile)
    application.initQgis()
    result = unittest.main(argv=[sys.argv[0], *ARGUMENTS.tests], exit=False).result
    sys.stdout.flush()
    os._exit(0 if result.wasSuccessful() else 1)  # without the end of QGIS, which crashes on some machines
