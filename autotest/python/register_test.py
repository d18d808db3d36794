"""gdal_refs registers the driver in the GDAL of the process, and says why where it cannot.

usage: register_test.py FOLDER_OF_PACKAGE PLUGIN
"""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest

PACKAGE, PLUGIN = map(os.path.abspath, sys.argv[1:3])
ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
SAMPLE = os.path.join(ROOT, "data", "sample.json")
DRIVER = "print(gdal.GetDriverByName('REFS') is not None)"

try:
    from osgeo import gdal
except ImportError as error:
    print(f"left out: {error}")
    sys.exit(77)


def run(code, package=PACKAGE, **environment):
    """What a new process prints, and what it warns of; it has no driver of its own."""
    environment = {**{key: value for key, value in os.environ.items() if key != "GDAL_DRIVER_PATH"},
                   "PYTHONPATH": package, **environment}
    command = [sys.executable, *(code if isinstance(code, list) else ["-c", code])]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    return done.stdout.strip(), done.stderr


class Importing(unittest.TestCase):
    def test_loads_no_gdal(self):
        self.assertEqual(run("import gdal_refs; print('libgdal' in open('/proc/self/maps').read())"), ("False", ""))

    def test_registers_when_gdal_is_imported(self):
        self.assertEqual(run(f"import gdal_refs\nfrom osgeo import gdal\n{DRIVER}"), ("True", ""))

    def test_registers_where_gdal_is_loaded(self):
        self.assertEqual(run(f"from osgeo import gdal\nimport gdal_refs\n{DRIVER}"), ("True", ""))

    def test_warns_of_a_gdal_that_was_replaced_on_disk(self):
        with tempfile.TemporaryDirectory() as folder:
            loaded = "next(line.split()[-1] for line in open('/proc/self/maps') if '/libgdal' in line)"
            library = run(f"from osgeo import gdal\nprint({loaded})")[0]
            copy = shutil.copy(library, folder)
            printed, warned = run(f"import ctypes, os\nctypes.CDLL({copy!r})\nos.unlink({copy!r})\nimport gdal_refs\n"
                                  "print(gdal_refs.open)")
        self.assertIn("function open", printed, warned)
        self.assertIn(f"{copy} was replaced or deleted after this process had loaded it: restart the process", warned)

    def test_opens_a_set(self):
        code = f"import gdal_refs\nfrom osgeo import gdal\ngdal.UseExceptions()\nprint(gdal.Open('REFS:\"{SAMPLE}\":/t2m').RasterCount)"
        self.assertEqual(run(code), ("24", ""))

    def test_ignores_the_path_of_another_gdal_and_warns(self):
        printed, warned = run(f"import gdal_refs\nfrom osgeo import gdal\n{DRIVER}", GDAL_DRIVER_PATH="/opt/conda/lib/gdalplugins")
        self.assertEqual(printed, "True")
        self.assertIn("GDAL_DRIVER_PATH=/opt/conda/lib/gdalplugins is another GDAL's", warned)


class Without(unittest.TestCase):
    """A package whose plugins are for other versions of GDAL."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        package = os.path.join(self.folder.name, "gdal_refs")
        shutil.copytree(os.path.join(PACKAGE, "gdal_refs"), package, ignore=shutil.ignore_patterns("gdalplugins"))
        os.makedirs(os.path.join(package, "gdalplugins", "2.4"))
        shutil.copy(PLUGIN, os.path.join(package, "gdalplugins", "2.4"))

    def test_a_plugin_importing_warns(self):
        printed, warned = run(f"import gdal_refs\nfrom osgeo import gdal\n{DRIVER}", self.folder.name)
        self.assertEqual(printed, "False")
        self.assertRegex(warned, rf"no driver for GDAL {gdal.__version__}[^ ]* \(.*libgdal.*\): expected GDAL 2\.4\.")

    def test_a_plugin_registering_fails(self):
        printed, warned = run(["-m", "gdal_refs"], self.folder.name)
        self.assertEqual(printed, "")
        self.assertIn("no driver for GDAL", warned)

    def test_a_package_registering_fails(self):
        _, failed = run("import gdal_refs; gdal_refs.register('json')")
        self.assertIn("no GDAL in package 'json': expected one of rasterio, osgeo, pyogrio, fiona", failed)


class Program(unittest.TestCase):
    def test_says_which_gdal_has_the_driver(self):
        self.assertRegex(run(["-m", "gdal_refs"])[0], r"^GDAL [0-9.]+\w* has the driver REFS")

    def test_prints_what_a_shell_sets(self):
        folder = os.path.join(PACKAGE, "gdal_refs", "gdalplugins")
        self.assertEqual(run(["-m", "gdal_refs", "env"]), (f"export GDAL_DRIVER_PATH={folder}", ""))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
