"""The verbs of the program refs as `gdal driver refs …`, of GDAL 3.11 and later: what they write is what the
program writes, and they fail as programs do.

usage: algorithms_test.py SAMPLE.nc [PROGRAM]

Ends with 77 where the GDAL that runs this is older or has no program gdal, and says so.
"""

import json
import os
import shutil
import subprocess
import sys
import unittest

from osgeo import gdal

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "server"))
from own_folder import OwnFolder  # noqa: E402

if int(gdal.VersionInfo()) < 3110000:
    print(f"GDAL {gdal.__version__} has no \"gdal driver\", which comes with 3.11")
    sys.exit(77)
if shutil.which("gdal") is None:
    print("there is no program gdal")
    sys.exit(77)

SAMPLE = os.path.abspath(sys.argv.pop(1))
PROGRAM = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 and os.path.isfile(sys.argv[1]) else None


class Verbs(OwnFolder):
    def refs(self, *words, succeeds=True):
        done = subprocess.run(["gdal", "driver", "refs", *words], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode == 0, succeeds, done.stdout + done.stderr)
        return done.stdout if succeeds else done.stdout + done.stderr

    def test_are_all_there(self):
        said = self.refs("--help")
        for verb in ("index", "combine", "append", "convert", "check", "diff", "ls", "info", "cat"):
            self.assertRegex(said, rf"(?m)^\s+(- )?{verb}\b")

    def test_index_and_ls_and_check(self):
        self.refs("index", SAMPLE, "-o", self.path("a.json"))
        with open(self.path("a.json"), encoding="utf-8") as file:
            self.assertIn("t2m/.zarray", json.load(file)["refs"])
        self.assertIn("t2m", self.refs("ls", self.path("a.json")))
        self.assertIn("/t2m", [array["path"] for array in json.loads(self.refs("ls", self.path("a.json"), "--json"))])
        self.refs("check", self.path("a.json"), "--deep")
        if PROGRAM is not None:
            subprocess.run([PROGRAM, "index", "-q", SAMPLE, "-o", self.path("b.json")], check=True)
            with open(self.path("a.json"), "rb") as one, open(self.path("b.json"), "rb") as other:
                self.assertEqual(one.read(), other.read())

    def test_options_have_values_and_come_more_than_once(self):
        self.refs("index", SAMPLE, "-o", self.path("a.parq"), "--variables", "t2m", "--record-size", "7")
        with open(self.path("a.parq/.zmetadata"), encoding="utf-8") as file:
            self.assertEqual(json.load(file)["record_size"], 7)
        self.refs("convert", self.path("a.parq"), "-o", self.path("b.json"))
        self.refs("diff", self.path("a.parq"), self.path("b.json"))

    def test_combine_and_append(self):
        self.refs("combine", SAMPLE, "--along", "time", "-o", self.path("a.json"))
        said = self.refs("append", self.path("a.json"), SAMPLE, "--along", "time", succeeds=False)
        self.assertIn("already has this source", said)

    def test_what_fails_is_said(self):
        said = self.refs("ls", self.path("none.json"), succeeds=False)
        self.assertIn("none.json", said)
        self.refs("index", SAMPLE, succeeds=False)
        self.assertEqual(os.listdir(self.folder), [])

    def test_run_in_a_program(self):
        algorithm = gdal.Algorithm("driver", "refs", "index") if hasattr(gdal, "Algorithm") else None
        if algorithm is None:
            self.skipTest("these bindings have no algorithms")
        self.assertIn("output", [algorithm.GetArg(name).GetName() for name in algorithm.GetArgNames()])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[1:]])
