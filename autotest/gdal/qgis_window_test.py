"""The plugin in the window of QGIS, on an X server without a screen: installed from its archive, started from the menu, its
layer is played by the temporal controller on maps in EPSG:4326 and EPSG:3857.

    qgis_window_test.py [--pictures FOLDER] [test ...]

Skips without qgis or xvfb. Pictures stay in the folder where one is given.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest
import zipfile

from pictures import read_arguments

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.normpath(os.path.join(HERE, "../.."))
ARGUMENTS = read_arguments()
PICTURES = ARGUMENTS.pictures
SCREEN = "1024x768x24"
TIMEOUT_S = 300


class Window(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)

    def install(self, profile):
        """As the plugin manager does."""
        subprocess.run(["sh", os.path.join(ROOT, "packaging/qgis.sh"), self.folder], check=True, stdout=subprocess.DEVNULL)
        archive, = (name for name in os.listdir(self.folder) if name.endswith(".zip"))
        plugins = os.path.join(profile, "profiles/default/python/plugins")
        with zipfile.ZipFile(os.path.join(self.folder, archive)) as file:
            file.extractall(plugins)
        settings = os.path.join(profile, "profiles/default/QGIS")
        os.makedirs(settings)
        for name in "QGIS3.ini", "QGIS4.ini":
            with open(os.path.join(settings, name), "w", encoding="utf-8") as file:
                file.write("[PythonPlugins]\nrefs_qgis=true\n")

    def run_window(self, command, environment):
        """What it says; after TIMEOUT_S it is ended, with the X server."""
        with subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              start_new_session=True) as process:
            try:
                return process.communicate(timeout=TIMEOUT_S)[0]
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGTERM)
                return process.communicate()[0]

    def test_shows_and_plays_a_variable(self):
        profile = os.path.join(self.folder, "profile")
        self.install(profile)
        environment = dict(os.environ, QT_QPA_PLATFORM="xcb", XDG_RUNTIME_DIR=self.folder, REFS_WINDOW_FOLDER=self.folder,
                           GDAL_PAM_ENABLED="NO", PATH="/usr/bin:" + os.environ["PATH"])  # QGIS takes its Python's home from PATH
        said = self.run_window(["xvfb-run", "-a", "-s", f"-screen 0 {SCREEN}", "qgis", "--nologo", "--noversioncheck",
                                "--profiles-path", profile, "--code", os.path.join(HERE, "qgis_plugin_window.py")], environment)
        if PICTURES is not None:
            shutil.copytree(self.folder, PICTURES, dirs_exist_ok=True, ignore=shutil.ignore_patterns("profile"))
        path = os.path.join(self.folder, "results.json")
        self.assertTrue(os.path.exists(path), said)
        with open(path, encoding="utf-8") as file:
            results = json.load(file)
        self.assertLess(results.pop("dialog"), 700)
        self.assertEqual(results, {"layers": 1, "source": f'REFS:"{ROOT}/data/sample.json":/t2m', "frames": 24,
                                   "EPSG:4326": [True] * 4, "EPSG:3857": [True] * 4, "messages": []})


if __name__ == "__main__":
    if shutil.which("qgis") is None or shutil.which("xvfb-run") is None:
        print("qgis or xvfb is not installed")
        sys.exit(77)
    unittest.main(argv=[sys.argv[0], *ARGUMENTS.tests])
