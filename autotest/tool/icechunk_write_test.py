"""Sets as Icechunk repositories: what index, combine, convert and append write, and what is read of it.

    icechunk_write_test.py PROGRAM [test ...]
"""

import base64
import json
import math
import os
import shutil
import signal
import struct
import subprocess
import sys
import tarfile
import tempfile
import time
import unittest
import zipfile

import netCDF4
import numpy as np
from osgeo import gdal

REFS = os.path.abspath(sys.argv.pop(1))
gdal.UseExceptions()
N = 20  # values of a step, a chunk each


def run(*arguments, status=0):
    done = subprocess.run([REFS, *arguments], capture_output=True, text=True, check=False)
    if done.returncode != status:
        raise AssertionError(f"{arguments}: status {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


def document(shape, chunks, dtype):
    return {"zarr_format": 2, "shape": shape, "chunks": chunks, "dtype": dtype, "fill_value": None, "order": "C",
            "compressor": None, "filters": None}


def files(folder):
    return {os.path.relpath(os.path.join(path, name), folder) for path, _, names in os.walk(folder) for name in names}


def history(name):
    return json.loads(run("info", "--json", name))


class Steps(unittest.TestCase):
    """Sets of steps whose values are 100 * step + 0, 1, …, in a folder of their own."""

    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)
        self.before = os.getcwd()
        os.chdir(self.folder)
        self.addCleanup(os.chdir, self.before)

    def write(self, first, n, still=100, **more):
        """A set of steps, with the file that it is of, and `still` values that all of them have."""
        steps = range(first, first + n)
        data = os.path.join(self.folder, f"{first}.bin")
        with open(data, "wb") as file:
            file.write(b"".join(struct.pack("<i", 100 * step + x) for step in steps for x in range(N)))
        refs = {".zgroup": '{"zarr_format":2}', "time/.zarray": json.dumps(document([n], [n], "<i4")),
                "time/.zattrs": '{"_ARRAY_DIMENSIONS":["time"],"units":"hours since 2000-01-01"}',
                "time/0": "base64:" + base64.b64encode(struct.pack(f"<{n}i", *steps)).decode(),
                "t/.zarray": json.dumps(document([n, N], [1, 1], "<i4")),
                "t/.zattrs": '{"_ARRAY_DIMENSIONS":["time","x"]}',
                "still/.zarray": json.dumps(document([still], [still], "<i4")),
                "still/.zattrs": '{"_ARRAY_DIMENSIONS":["y"]}',
                "still/0": "base64:" + base64.b64encode(struct.pack(f"<{still}i", *range(still))).decode()}
        refs.update({f"t/{i}.{x}": [data, 4 * (i * N + x), 4] for i in range(n) for x in range(N)})
        refs.update(more)
        with open(f"{first}.json", "w") as file:
            json.dump({"version": 1, "refs": refs}, file)
        return f"{first}.json"

    def check(self, name, steps):
        dataset = gdal.OpenEx(f"REFS:{name}", gdal.OF_MULTIDIM_RASTER)
        root = dataset.GetRootGroup()
        wanted = np.array([[100 * step + x for x in range(N)] for step in steps], np.int32)
        np.testing.assert_array_equal(root.OpenMDArray("t").ReadAsArray(), wanted)
        np.testing.assert_array_equal(root.OpenMDArray("time").ReadAsArray(), list(steps))
        np.testing.assert_array_equal(root.OpenMDArray("still").ReadAsArray(),
                                      range(root.OpenMDArray("still").GetDimensions()[0].GetSize()))


class Repositories(Steps):
    """index, combine, convert, append, history, tag, gc"""

    def test_are_read_as_what_they_were_made_of(self):
        run("combine", self.write(0, 3), self.write(3, 2), "--along", "time", "-o", "all.icechunk")
        self.check("all.icechunk", range(5))
        self.assertEqual(run("check", "--deep", "all.icechunk").splitlines()[-1][-10:], "0 problems")
        found = history("all.icechunk")
        self.assertEqual([one["message"] for one in found["snapshots"]],
                         ["refs combine: 2 sources", "Repository initialized"])
        run("index", self.write(0, 3), self.write(3, 2), "--along", "time", "-o", "indexed.icechunk")
        self.assertEqual(history("indexed.icechunk")["snapshots"][0]["message"], "refs index: 2 sources")
        run("convert", "all.icechunk", "-o", "all.parq")
        self.check("all.parq", range(5))

    def test_are_chosen_by_the_option_whatever_the_name(self):
        run("convert", self.write(0, 2), "--format", "icechunk", "-o", "some.thing", "--message", "why")
        self.check("some.thing", range(2))
        self.assertEqual(history("some.thing")["snapshots"][0]["message"], "why")
        for option in ("--record-size", "10"), ("--message", "why"):
            self.assertIn(f"refs: {option[0]} is for ", run("convert", "0.json", *option, "-o", "x.json", status=2))
        self.assertIn('--format: expected json, parquet or icechunk, found "x"',
                      run("convert", "0.json", "--format", "x", "-o", "y", status=2))
        self.assertIn("x.nc: this file extension means an aggregation: leave out --format json",
                      run("index", "0.json", "--format", "json", "-o", "x.nc", status=2))

    def test_give_the_sets_again_that_they_were_made_of(self):
        names = [self.write(0, 3), self.write(3, 2)]
        run("combine", *names, "--along", "time", "-o", "at_once.json")
        for name in names:
            run("convert", name, "-o", name.replace("json", "icechunk"))
        run("combine", "0.icechunk", "3.icechunk", "--along", "time", "-o", "of_parts.json")
        self.assertEqual(run("diff", "at_once.json", "of_parts.json"), "")
        run("combine", "0.icechunk", "--along", "time", "-o", "again.json")
        self.assertEqual(run("diff", "0.json", "again.json"), "")
        for copy in "copy.json", "copy.parq":
            run("convert", "0.icechunk", "-o", copy)
            self.assertEqual(run("diff", "0.json", copy), "")
        for names in ("0.json", "0.icechunk"), ("0.icechunk", "0.json"):
            self.assertRegex(run("diff", *names, status=1),
                             "^refs: (still|t|time): expected two sets of one version of Zarr, found versions [23] and [23]: write the "
                             r"repository as a set in JSON \(refs convert\), which is of version 2 again, and compare that\n$")

    def test_give_maps_without_a_time_again(self):
        """A separator and a fill value of NaN are spelled as before."""
        still = document([2], [1], "<f4") | {"fill_value": "NaN", "dimension_separator": "."}
        slashes = document([2, 2], [1, 1], "<i4") | {"dimension_separator": "/"}
        refs = {".zgroup": '{"zarr_format":2}', "g/.zgroup": '{"zarr_format":2}', "g/.zattrs": '{"title":"x"}',
                "g/map/.zarray": json.dumps(still), "g/map/.zattrs": '{"_ARRAY_DIMENSIONS":["y"],"_FillValue":"NaN"}',
                "g/map/0": "base64:AACAPw==", "g/map/1": "base64:AAAAQA==",
                "s/.zarray": json.dumps(slashes), "s/1/0": "base64:BwAAAA=="}
        with open("map.json", "w") as file:
            json.dump({"version": 1, "refs": refs}, file)
        run("convert", "map.json", "-o", "map.icechunk")
        for copy in "copy.json", "copy.parq":
            run("convert", "map.icechunk", "-o", copy)
            self.assertEqual(run("diff", "map.json", copy, status=1), "s/.zarray: other metadata\n"
                             "s/1/0: only in the first\ns/1.0: only in the second\n")
            root = gdal.OpenEx(f"REFS:{copy}", gdal.OF_MULTIDIM_RASTER).GetRootGroup()
            self.assertEqual(root.OpenMDArrayFromFullname("/g/map").ReadAsArray().tolist(), [1, 2])
            self.assertEqual(root.OpenMDArray("s").ReadAsArray().tolist(), [[0, 0], [7, 0]])

    def test_leave_version_3_alone_if_it_never_was_version_2(self):
        array = {"zarr_format": 3, "node_type": "array", "shape": [1], "data_type": "int32", "fill_value": 0,
                 "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [1]}}, "attributes": {},
                 "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
                 "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}]}
        with open("other.json", "w") as file:
            json.dump({"version": 1, "refs": {"zarr.json": '{"zarr_format":3,"node_type":"group"}',
                                              "a/zarr.json": json.dumps(array), "a/c/0": "base64:BwAAAA=="}}, file)
        run("convert", "other.json", "-o", "copy.json")
        self.assertEqual(run("diff", "other.json", "copy.json"), "")
        self.assertRegex(run("convert", "other.json", "-o", "all.parq", status=1),
                         "^refs: all.parq: Parquet sets can hold only Zarr version 2, and zarr.json is of version 3: write JSON "
                         r"\(a name that ends in .json\), or version 2 by refs combine with --along and a dimension\n$")

    def test_declare_the_fill_values_that_kerchunk_moved_into_the_metadata(self):
        """xarray masks the fill_value of Zarr 2, and of Zarr 3 the attribute alone."""
        wide = {"i2": -999, "f4": 7.5, "i8": -(2**60), "u4": 5}
        for others, zero in (({}, None), ({"other": ("<i4", -2147483647), "none": ("<i2", None)}, 0)):
            refs = {".zgroup": '{"zarr_format":2}'}
            arrays = {name: ("<" + name, fill) for name, fill in wide.items()}
            for name, (dtype, fill) in {**arrays, "zero": ("<i2", 0), "byte": ("|u1", 255), **others}.items():
                refs[f"{name}/.zarray"] = json.dumps({**document([2, 2], [2, 2], dtype), "fill_value": fill})
                refs[f"{name}/.zattrs"] = json.dumps({"_ARRAY_DIMENSIONS": ["y", "x"]})
            with open("k.json", "w", encoding="utf-8") as file:
                json.dump({"version": 1, "refs": refs}, file)
            expected = {**wide, **{name: fill for name, (_, fill) in others.items()}, "zero": zero, "byte": None}
            for verb in ("convert", "index"):
                shutil.rmtree("k.icechunk", ignore_errors=True)
                run(verb, "k.json", "-o", "k.icechunk")
                for name, fill in expected.items():
                    declared = json.loads(run("cat", "k.icechunk", f"{name}/zarr.json"))["attributes"].get("_FillValue")
                    if isinstance(declared, str):
                        declared = struct.unpack("<d", base64.b64decode(declared))[0]
                    self.assertEqual(declared, fill, f"{verb} {name} {zero}")

    def test_declare_fill_values_that_are_not_finite_as_xarray_reads_them(self):
        words = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}
        refs = {".zgroup": '{"zarr_format":2}'}
        for dtype in "f4", "f8":
            for word in words:
                refs[f"{dtype}{word}/.zarray"] = json.dumps({**document([2], [2], "<" + dtype), "fill_value": word})
                refs[f"{dtype}{word}/.zattrs"] = json.dumps({"_ARRAY_DIMENSIONS": ["x"]})
        with open("k.json", "w", encoding="utf-8") as file:
            json.dump({"version": 1, "refs": refs}, file)
        run("convert", "k.json", "-o", "k.icechunk")
        for dtype in "f4", "f8":
            for word, value in words.items():
                text = run("cat", "k.icechunk", f"{dtype}{word}/zarr.json")
                declared = base64.b64decode(json.loads(text)["attributes"]["_FillValue"], validate=True)
                self.assertEqual(declared, struct.pack("<d", value), f"{dtype} {word}")

    def test_declare_no_fill_value_that_xarray_does_not_read(self):
        """It refuses a whole group for one of characters, times or words: missing_value stands in its place."""
        rows = {"<M8[ns]": (-(2**63), None), "<m8[s]": (-1, None), "|S1": ("-", None), "|S3": ("-", None), "<U2": ("-", None), "<c8": ([2.0, 0.0], None),
                "<i4": ([2, 3], None), "<i2": ([2], 2), "<u4": (7, 7), "<u2": ("7", None), "|b1": (False, False), "<f8": ([2.0, 3.0], None), "|O": ("-", None),
                "<f4": ("NaN", "AAAAAAAA+H8="), "<f2": (["-Infinity"], "AAAAAAAA8P8="), ">f8": ("none", None)}
        for others in {}, {"missing_value": 5}:
            refs = {".zgroup": '{"zarr_format":2}'}
            for i, (dtype, (fill, _)) in enumerate(rows.items()):
                refs[f"v{i}/.zarray"] = json.dumps(document([2], [2], dtype))
                refs[f"v{i}/.zattrs"] = json.dumps({"_ARRAY_DIMENSIONS": ["x"], "_FillValue": fill, **others})
            with open("k.json", "w", encoding="utf-8") as file:
                json.dump({"version": 1, "refs": refs}, file)
            shutil.rmtree("k.icechunk", ignore_errors=True)
            run("convert", "k.json", "-o", "k.icechunk")
            for i, (dtype, (fill, stays)) in enumerate(rows.items()):
                found = json.loads(run("cat", "k.icechunk", f"v{i}/zarr.json"))["attributes"]
                self.assertEqual(found, {**others, "_FillValue": stays} if stays is not None else others or {"missing_value": fill}, dtype)
            run("combine", "k.icechunk", "--along", "x", "-o", "again.json")
            with open("again.json", encoding="utf-8") as file:
                again = json.load(file)["refs"]
            for i, (dtype, (_, stays)) in enumerate(rows.items()):
                if stays is None:
                    self.assertEqual(json.loads(again[f"v{i}/.zattrs"]), json.loads(refs[f"v{i}/.zattrs"]), dtype)

    def test_take_strings_with_a_fill_value_later(self):
        for i in range(3):
            with netCDF4.Dataset(f"{i}.nc", "w") as file:
                file.createDimension("time", None)
                file.createVariable("time", "f8", ("time",)).units = "hours since 2000-01-01"
                file["time"][:] = [i]
                if i < 2:
                    file.createVariable("label", str, ("time",), fill_value="none")[:] = np.array([f"s{i}"], object)
        run("index", "0.nc", "-o", "all.icechunk")
        run("append", "all.icechunk", "1.nc")
        self.assertIn("label is missing in 1 of 2 sources", run("append", "all.icechunk", "2.nc"))
        label = gdal.OpenEx("REFS:all.icechunk", gdal.OF_MULTIDIM_RASTER).GetRootGroup().OpenMDArray("label")
        self.assertEqual(label.Read(), ["s0", "s1", "none"])

    def test_get_equal_files_of_equal_sets(self):
        run("convert", self.write(0, 3), "-o", "one.icechunk")
        run("convert", "0.json", "-o", "two.icechunk")
        self.assertEqual({name for name in files("one.icechunk") if name.startswith("manifests")},
                         {name for name in files("two.icechunk") if name.startswith("manifests")})

    def test_get_a_commit_and_the_manifests_that_change(self):
        run("convert", self.write(0, 130), "-o", "a.icechunk", "--manifest-size", "16384")  # 1024 references
        before = files("a.icechunk")
        self.assertEqual(len([name for name in before if name.startswith("manifests")]), 5)  # 3, and two of one
        run("append", "a.icechunk", self.write(130, 1), "--manifest-size", "16384")
        added = files("a.icechunk") - before
        self.assertEqual(len([name for name in added if name.startswith("manifests")]), 2)  # t and time
        self.assertEqual(len([name for name in added if name.startswith("chunks")]), 1)  # time[130]
        self.assertTrue(before <= files("a.icechunk") | {"repo"})
        self.check("a.icechunk", range(131))
        self.check("a.icechunk@" + history("a.icechunk")["snapshots"][1]["id"], range(130))
        self.assertEqual([one["message"] for one in history("a.icechunk")["snapshots"]],
                         ["refs append: 1 source", "refs convert: 1 source", "Repository initialized"])

    def test_keep_their_history_when_they_are_made_again(self):
        run("convert", self.write(0, 3), "-o", "a.icechunk")
        first = history("a.icechunk")["snapshots"][0]["id"]
        run("convert", self.write(10, 4), "-o", "a.icechunk")
        self.check("a.icechunk", range(10, 14))
        self.check("a.icechunk@" + first, range(3))
        run("convert", "10.json", "-o", "a.icechunk")  # nothing changes: no commit
        self.assertEqual(len(history("a.icechunk")["snapshots"]), 3)

    def test_hold_large_values_as_files_of_their_own(self):
        run("convert", self.write(0, 1, still=300), "-o", "a.icechunk")
        before = files("a.icechunk")
        chunks = [name for name in before if name.startswith("chunks")]
        self.assertEqual([os.path.getsize(os.path.join("a.icechunk", name)) for name in chunks], [1200])
        info = json.loads(run("info", "--json", "a.icechunk"))
        self.assertEqual((info["sources"], info["own_files"]), (1, 1))
        self.assertIn("in 1 source and 1 chunk files of the repository", run("info", "a.icechunk"))
        self.assertIn("1 source and 1 chunk file of the repository, 0 problems", run("check", "a.icechunk"))
        run("append", "a.icechunk", self.write(1, 1, still=300))
        self.check("a.icechunk", range(2))
        added = files("a.icechunk") - before
        self.assertEqual(len([name for name in added if name.startswith("manifests")]), 2)  # t and time
        self.assertEqual(len([name for name in added if name.startswith("chunks")]), 0)

    def test_remember_holes_when_they_grow(self):
        extra = {"u/.zarray": json.dumps(document([2, 1], [1, 1], "<i4")),
                 "u/.zattrs": '{"_ARRAY_DIMENSIONS":["time","x"]}'}
        self.write(0, 2, **extra)
        self.write(2, 2)
        self.write(4, 2, **extra)
        run("combine", "0.json", "2.json", "--along", "time", "-o", "a.icechunk")
        run("append", "a.icechunk", "4.json")
        run("combine", "a.icechunk", "--along", "time", "-o", "of_parts.json")
        run("combine", "0.json", "2.json", "4.json", "--along", "time", "-o", "at_once.json")
        run("combine", "at_once.json", "--along", "time", "-o", "at_once.json")
        self.assertEqual(run("diff", "at_once.json", "of_parts.json"), "")

    def test_keep_attributes_of_aggregations_when_they_grow(self):
        def attributes(units):
            return {"t/.zattrs": json.dumps({"_ARRAY_DIMENSIONS": ["time", "x"], "units": units, "long_name": "heat"})}
        for step, (dtype, units) in enumerate((("<i4", "K"), ("<u4", "K"), ("<i4", "K"), ("<i4", "degC"))):
            self.write(step, 1, **attributes(units), **{"t/.zarray": json.dumps(document([1, N], [1, 1], dtype))})
        for name in ("a.icechunk", "a.json"):
            run("index", "0.json", "-a", "time", "-o", name)
            for step in range(1, 4):
                run("append", name, f"{step}.json")
        self.assertIn("fragments", run("ls", "a.icechunk"))
        values = {}
        for name in ("a.icechunk", "a.json"):
            array = gdal.OpenEx(f"REFS:{name}", gdal.OF_MULTIDIM_RASTER).GetRootGroup().OpenMDArray("t")
            self.assertEqual((array.GetUnit(), array.GetAttribute("long_name").Read()), ("K", "heat"))
            values[name] = array.ReadAsArray()
        self.assertEqual(values["a.icechunk"][3].tolist(), [300 + x + 273.15 for x in range(N)])
        np.testing.assert_array_equal(values["a.icechunk"], values["a.json"])

    def test_keep_holes_when_they_are_copied(self):
        extra = {"u/.zarray": json.dumps(document([2, 1], [1, 1], "<i4")),
                 "u/.zattrs": '{"_ARRAY_DIMENSIONS":["time","x"]}'}
        self.write(0, 2, **extra)
        self.write(2, 2)
        run("combine", "0.json", "2.json", "--along", "time", "-o", "a.icechunk")
        run("convert", "a.icechunk", "-o", "copy.icechunk")
        for name in ("a.icechunk", "copy.icechunk"):
            kept = json.loads(run("cat", name, "u/zarr.json"))["refs_v2"]
            self.assertEqual(kept["refs_holes"]["steps"], [[2, 4]])

    def test_keep_holes_when_they_are_copied_into_other_manifests(self):
        self.write(0, 2, **{"u/.zarray": json.dumps(document([2, 100], [1, 1], "<i4")),
                            "u/.zattrs": '{"_ARRAY_DIMENSIONS":["time","x"]}'},
                   **{f"u/{i}.{k}": "base64:AAAAAA==" for i in range(2) for k in range(100)})
        self.write(2, 2)
        run("combine", "0.json", "2.json", "--along", "time", "-o", "a.icechunk")
        run("convert", "a.icechunk", "-o", "copy.icechunk", "--manifest-size", "1024")
        self.assertGreater(len(files("copy.icechunk")), len(files("a.icechunk")))
        self.assertEqual(run("diff", "a.icechunk", "copy.icechunk"), "")

    def test_leave_other_folders_alone(self):
        os.mkdir("a.icechunk")
        with open("a.icechunk/mine.txt", "w"):
            pass
        self.assertIn("a.icechunk: cannot write to it",
                      run("convert", self.write(0, 1), "-o", "a.icechunk", status=1))
        self.assertEqual(files("a.icechunk"), {"mine.txt"})

    def test_refuse_what_icechunk_has_no_place_for(self):
        filters = {"filters": [{"id": "zlib"}, {"id": "delta", "dtype": "<i4"}]}
        self.write(0, 1, **{"x/.zarray": json.dumps(document([1], [1], "<i4") | filters)})
        self.assertIn('/x: Zarr version 3, which Icechunk requires, cannot have filter "delta" after one', run("convert", "0.json", "-o", "a.icechunk", status=1))
        self.assertFalse(os.path.exists("a.icechunk"))
        self.assertEqual([name for name in os.listdir(".") if "tmp" in name], [])

    def test_keep_the_old_state_when_a_writer_is_killed(self):
        run("convert", self.write(0, 40), "-o", "a.icechunk")
        self.write(40, 400)
        seen = set()
        for i in range(12):
            shutil.copytree("a.icechunk", "b.icechunk")
            process = subprocess.Popen([REFS, "append", "b.icechunk", "40.json"], stderr=subprocess.DEVNULL)
            time.sleep(0.004 * i)
            process.send_signal(signal.SIGKILL)
            process.wait()
            steps = 440 if len(history("b.icechunk")["snapshots"]) == 3 else 40
            self.check("b.icechunk", range(steps))
            run("append", "b.icechunk", self.write(1000, 1))  # removes what the killed one left beside it
            self.assertEqual([name for name in os.listdir(".") if "tmp" in name], [])
            seen.add(steps)
            shutil.rmtree("b.icechunk")
        self.assertIn(40, seen)

    def test_are_written_by_several_at_a_time(self):
        run("convert", self.write(0, 2), "-o", "a.icechunk")
        names = [self.write(10 * i, 1) for i in range(1, 4)]
        running = [subprocess.Popen([REFS, "append", "-q", "a.icechunk", name], stderr=subprocess.PIPE, text=True)
                   for name in names]
        for process in running:
            self.assertEqual((process.communicate()[1], process.returncode), ("", 0))
        self.assertEqual(len(history("a.icechunk")["snapshots"]), 5)
        self.check("a.icechunk", [0, 1, 10, 20, 30])

    def test_get_all_steps_whose_names_come_by_standard_input(self):
        run("convert", self.write(0, 2), "-o", "a.icechunk")
        running = []
        for i in range(1, 9):
            with open("names", "w", encoding="utf-8") as file:
                file.write(self.write(10 * i, 1))
            with open("names", encoding="utf-8") as file:
                running.append(subprocess.Popen([REFS, "append", "-q", "a.icechunk", "-"], stdin=file))
            os.remove("names")
        self.assertEqual([process.wait() for process in running], [0] * 8)
        self.check("a.icechunk", [0, 1, *range(10, 90, 10)])

    def test_get_each_step_once_if_several_append_it(self):
        run("convert", self.write(0, 2), "-o", "a.icechunk")
        names = [self.write(10, 1), "other.json"]
        shutil.copyfile("10.bin", "other.bin")
        with open(names[0]) as file, open(names[1], "w") as other:
            other.write(file.read().replace("10.bin", "other.bin"))
        running = [subprocess.Popen([REFS, "append", "-q", "a.icechunk", name], stderr=subprocess.PIPE, text=True) for name in names]
        told = [process.communicate()[1] for process in running]
        self.assertEqual(sorted(process.returncode for process in running), [0, 1], told)
        self.assertIn("2000-01-01T10:00:00", "".join(told))
        self.check("a.icechunk", [0, 1, 10])

    def test_get_tags(self):
        run("convert", self.write(0, 2), "-o", "a.icechunk")
        run("tag", "a.icechunk", "v1")
        run("append", "a.icechunk", self.write(2, 1))
        run("tag", "a.icechunk@v1", "a/b & c")
        run("tag", "a.icechunk#branch=main", "now")
        self.check("a.icechunk@v1", range(2))
        self.check("a.icechunk#tag=a/b %26 c", range(2))
        self.check("a.icechunk@now", range(3))
        self.assertEqual([one["name"] for one in json.loads(run("history", "--json", "a.icechunk"))["tags"]],
                         ["a/b & c", "now", "v1"])
        self.assertIn('a.icechunk: the tag "v1" exists, and tags do not move: choose another name',
                      run("tag", "a.icechunk", "v1", status=1))
        self.assertIn("a tag has no name: expected at least one character", run("tag", "a.icechunk", "", status=1))
        self.assertIn("usage: refs tag REPOSITORY NAME", run("tag", "a.icechunk", status=2))
        run("convert", "a.icechunk", "-o", "set.json")
        for verb in (("tag", "set.json", "v1"), ("gc", "--dry-run", "set.json"), ("tag", ".", "v1")):
            self.assertIn(f"{verb[1] if verb[0] == 'tag' else 'set.json'}: expected an Icechunk repository of format 2, a folder with a file "
                          "repo, found none: refs convert SET -o NAME.icechunk makes one of a set", run(*verb, status=1))
        self.assertIn("cannot write there (expected s3://BUCKET/KEY", run("tag", "https://127.0.0.1:1/r", "x", status=1))
        self.assertEqual([name for name in os.listdir(".") if "tmp" in name], [])

    def test_list_their_history(self):
        run("convert", self.write(0, 2), "-o", "a.icechunk", "--message", "first")
        lines = run("history", "a.icechunk").splitlines()
        self.assertEqual([line.split()[0] for line in lines], ["branch", "snapshot", "snapshot", "status"])
        self.assertEqual(lines[1][-9:], '* "first"')
        self.assertIn("0.json: has no history: expected an Icechunk repository", run("history", "0.json", status=1))
        self.assertIn("usage: refs history REPOSITORY", run("history", status=2))

    def test_list_files_that_are_not_needed(self):
        run("convert", self.write(0, 2, still=300), "-o", "a.icechunk")
        run("append", "a.icechunk", self.write(2, 1, still=300))
        run("tag", "a.icechunk", "v1")
        self.assertEqual(run("gc", "--dry-run", "a.icechunk"), "0 files, 0 bytes, not needed\n")
        for folder in ("chunks", "manifests", "snapshots", "transactions", "overwritten"):
            shutil.copy("0.bin", f"a.icechunk/{folder}/0000000000000000000G")
        os.mkdir("a.icechunk.tmp-0-1-0")
        os.mkdir("a.icechunk2.tmp-0-1-0")  # of another result
        lines = run("gc", "--dry-run", "a.icechunk").splitlines()
        self.assertEqual([line.split()[0] for line in lines[:-1]],
                         [f"{folder}/0000000000000000000G" for folder in
                          ("chunks", "manifests", "overwritten", "snapshots", "transactions")] + ["a.icechunk.tmp-0-1-0"])
        self.assertEqual(lines[-1].split(",")[0], "6 files")
        self.assertIn("usage: refs gc --dry-run REPOSITORY", run("gc", "a.icechunk", status=2))

    def test_leave_no_garbage_that_is_not_listed_when_a_writer_is_killed(self):
        self.write(100, 300, still=300)
        for i in range(8):
            run("convert", self.write(0, 40), "-o", "a.icechunk")
            process = subprocess.Popen([REFS, "append", "a.icechunk", "100.json"], stderr=subprocess.DEVNULL)
            time.sleep(0.006 * i)
            process.send_signal(signal.SIGKILL)
            process.wait()
            unused = {line.split()[0] for line in run("gc", "--dry-run", "a.icechunk").splitlines()[:-1]}
            for name in unused:
                shutil.rmtree(name) if os.path.isdir(name) else os.remove(os.path.join("a.icechunk", name))
            self.check("a.icechunk", range(40) if len(history("a.icechunk")["snapshots"]) == 2 else
                       [*range(40), *range(100, 400)])
            shutil.rmtree("a.icechunk")

    def test_say_that_too_many_members_are_kept(self):
        """Five of version 2 are kept, and others that an array has: none is dropped without a word."""
        for n_others, status in ((7, 0), (8, 1)):
            others = {f"other_{i}": i for i in range(n_others)}
            names = [self.write(first, 2, **{"t/.zarray": json.dumps({**document([2, N], [1, 1], "<i4"), **others})})
                     for first in (0, 2)]
            run("convert", names[0], "-o", "a.icechunk")
            said = run("append", "a.icechunk", names[1], status=status)
            if status:
                self.assertIn('/t: expected at most 12 members of "refs_v2", found more', said)
            else:
                self.check("a.icechunk", range(4))
            shutil.rmtree("a.icechunk")

    def test_grow_by_names_that_arrive(self):
        run("convert", self.write(0, 2), "-o", "a.icechunk")
        names = [self.write(2, 1), self.write(3, 1), self.write(4, 1)]
        took = []
        with subprocess.Popen([REFS, "append", "-q", "--stdin", "a.icechunk"], stdin=subprocess.PIPE,
                              text=True) as process:
            for i, name in enumerate(names[:2]):
                process.stdin.write(name + "\n")
                process.stdin.flush()
                begin = time.monotonic()
                while len(history("a.icechunk")["snapshots"]) < 3 + i:
                    self.assertLess(time.monotonic() - begin, 60)
                    time.sleep(0.05)
                took.append(time.monotonic() - begin)
            process.stdin.write("\n" + names[2])  # the last line has no end
            process.stdin.close()
            self.assertEqual(process.wait(), 0)
        self.assertLess(min(took), 5)  # seconds until a name is visible; a busy machine may delay one
        self.check("a.icechunk", range(5))

    def test_say_which_of_the_names_that_arrive_fail(self):
        run("convert", self.write(0, 2), "-o", "a.icechunk")
        done = subprocess.run([REFS, "append", "-q", "--stdin", "a.icechunk"], input="missing.json\n", text=True,
                              capture_output=True, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("missing.json", done.stderr)
        self.check("a.icechunk", range(2))
        # Those that arrive with it are appended, and it is once it is there.
        names = [self.write(2, 1), self.write(3, 1), self.write(4, 1)]
        os.rename(names[1], "late.json")
        for arriving, steps in ((names, (0, 1, 2, 4)), (names[1:2], range(5))):
            done = subprocess.run([REFS, "append", "-q", "--stdin", "a.icechunk"], input="\n".join(arriving), text=True,
                                  capture_output=True, check=False)
            self.check("a.icechunk", steps)
            self.assertEqual((done.returncode, names[1] in done.stderr), (1, True) if len(steps) == 4 else (0, False))
            if len(steps) == 4:
                os.rename("late.json", names[1])
        self.assertIn("usage: refs append SET SOURCE..., or refs append --stdin SET",
                      run("append", "--stdin", "a.icechunk", "b.json", status=2))
        done = subprocess.run([REFS, "append", "--stdin", "a.icechunk"], input="x" * 70000, text=True,
                              capture_output=True, check=False)
        self.assertEqual(done.stderr, "refs: standard input: expected lines of less than 65536 bytes\n")

    def test_grow_by_names_that_arrive_without_a_pause(self):
        """The names of each MiB are appended on their own."""
        run("convert", self.write(0, 2), "-o", "a.icechunk")
        done = subprocess.run([REFS, "append", "-q", "--stdin", "a.icechunk"], input=("y" * 60000 + "\n") * 40, text=True,
                              capture_output=True, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stderr.count("refs: none of the sources"), 3, done.stderr[-200:])

    def test_say_why_no_more_names_can_be_read(self):
        run("convert", self.write(0, 2), "-o", "a.icechunk")
        folder = os.open(".", os.O_RDONLY)
        self.addCleanup(os.close, folder)
        done = subprocess.run([REFS, "append", "-q", "--stdin", "a.icechunk"], stdin=folder, text=True,
                              capture_output=True, check=False)
        self.assertEqual(done.stderr, "refs: standard input: Is a directory\n")
        self.assertEqual(done.returncode, 1)


class Parts(Steps):
    """index --part"""

    def test_are_those_of_all_sources_in_order(self):
        names = [self.write(2 * i, 2) for i in range(5)]
        made = [run("index", "--part", f"{i}/3", *names, "-o", "parts").split() for i in (1, 2, 3)]
        self.assertEqual([len(one) for one in made], [1, 1, 1])
        self.assertEqual(sorted(os.listdir("parts")), sorted(os.path.basename(one[0]) for one in made))
        run("combine", "parts", "-o", "of_parts.json")
        run("index", *names, "-o", "at_once.json")
        self.assertEqual(run("diff", "at_once.json", "of_parts.json"), "")

    def test_that_are_made_twice_are_there_once(self):
        names = [self.write(2 * i, 2) for i in range(3)]
        first = run("index", "--part", "2/2", *names, "-o", "parts")
        self.assertEqual(run("index", "--part", "2/2", *names, "-o", "parts"), first)
        self.assertEqual(len(os.listdir("parts")), 1)

    def index_parts(self, n, names, folder="parts"):
        return [run("index", "--part", f"{i}/{n}", *names, "-o", folder).strip() for i in range(1, n + 1)]

    def test_that_are_missing_in_a_folder_are_named(self):
        """10 parts of 7 sources: parts 1, 4 and 7 are empty."""
        names = [self.write(2 * i, 2) for i in range(7)]
        parts = self.index_parts(10, names)
        self.assertEqual([i + 1 for i in range(10) if not parts[i]], [1, 4, 7])
        run("combine", "parts", "-o", "all.json")
        self.check("all.json", range(14))
        for left_out, message in (
                ([10], "part 10 of 10 is missing in parts: run refs index --part 10/10 again"),
                ([5], "part 5 of 10 is missing in parts: run refs index --part 5/10 again"),
                ([2, 5, 8], "3 parts of 10 are missing in parts (2, 5, 8): run refs index --part I/10 again for each of them")):
            some = [one for i, one in enumerate(parts, 1) if one and i not in left_out]
            for one in left_out:
                os.rename(parts[one - 1], f"{one}.part")
            for source in "parts", "parts/*.json":
                with self.subTest(left_out=left_out, source=source):
                    self.assertEqual(run("combine", source, "-o", "some.json", status=1),
                                     f"refs: {message}, or add --skip-errors\n")
                    self.assertFalse(os.path.exists("some.json"))
            self.assertIn(f"refs: left out: {message}\n",
                          run("combine", "--skip-errors", "parts", "-o", "skipped.json", status=1))
            run("combine", *some, "-o", "named.json")
            self.assertEqual(run("diff", "named.json", "skipped.json"), "")
            for one in left_out:
                os.rename(f"{one}.part", parts[one - 1])

    def test_may_be_missing_where_sets_are_named(self):
        """A tree of combines: results of some parts are no parts."""
        parts = self.index_parts(4, [self.write(2 * i, 2) for i in range(4)])
        os.mkdir("tree")
        run("combine", *parts[:2], "-o", "tree/a.json")
        run("combine", *parts[2:], "-o", "tree/b.parq")
        run("combine", "tree", "-o", "all.json")
        self.check("all.json", range(8))
        run("append", "tree/a.json", parts[2])
        self.check("tree/a.json", range(6))
        done = subprocess.run([REFS, "combine", "-", "-o", "listed.json"], input="\n".join(parts[:3]), text=True, check=False)
        self.assertEqual(done.returncode, 0)
        self.check("listed.json", range(6))

    def test_of_different_jobs_in_a_folder_are_refused(self):
        names = [self.write(2 * i, 2) for i in range(4)]
        for n, others in (3, names), (2, names[:3]), (2, [*names[:3], self.write(20, 2)]):
            with self.subTest(n=n, others=others):
                self.index_parts(2, names)
                self.index_parts(n, others)
                self.assertRegex(run("combine", "--skip-errors", "parts", "-o", "all.json", "--along", "time", status=1),
                                 "^refs: expected parts of one job with one list of sources, found "
                                 rf"parts/\w+.json \(part \d of [2{n}], [4{len(others)}] sources\) and "
                                 rf"parts/\w+.json \(part \d of [2{n}], [4{len(others)}] sources\): "
                                 r"move those of one job to another folder\n$")
                shutil.rmtree("parts")

    def test_that_are_there_twice_are_refused(self):
        """A source has changed between two runs of a task, or someone has copied a part."""
        names = [self.write(2 * i, 2) for i in range(2)]
        parts = self.index_parts(2, names)
        self.write(2, 3)
        self.index_parts(2, names)
        message = r"^refs: part 2 of 2 is there twice: remove parts/\w+.json or parts/\w+.json\n$"
        self.assertRegex(run("combine", "parts", "-o", "all.json", status=1), message)
        os.remove(parts[1])
        run("combine", "parts", "-o", "all.json")
        self.check("all.json", range(5))
        shutil.copy(parts[0], "parts/copy.json")
        self.assertRegex(run("combine", "parts", "--along", "time", "-o", "all.json", status=1),
                         message.replace("2 of 2", "1 of 2"))

    def test_that_say_nonsense_are_damaged(self):
        part = self.index_parts(2, [self.write(2 * i, 2) for i in range(2)])[0]
        with open(part, encoding="utf-8") as file:
            content = json.load(file)
        attributes = json.loads(content["refs"][".zsources/.zattrs"])
        made = attributes["joined"]["part"]
        self.assertEqual({**made, "list": ""}, {"number": 1, "of": 2, "sources": 2, "list": ""})
        for part_of in [], {**made, "number": 0}, {**made, "number": 3}, {**made, "of": 1 << 62}, {**made, "list": 1}, {"number": 1}:
            attributes["joined"]["part"] = part_of
            content["refs"][".zsources/.zattrs"] = json.dumps(attributes)
            with open(part, "w", encoding="utf-8") as file:
                json.dump(content, file)
            self.assertIn('expected a part of a job as "part"', run("combine", "parts", "-o", "all.json", status=1))

    def test_that_are_damaged_are_no_missing_parts(self):
        """A folder may hold other files, but what is left of a part is none of these."""
        names = [self.write(2 * i, 2) for i in range(3)]
        for i in (1, 2, 3):
            part = run("index", "--part", f"{i}/3", *names, "-o", "parts").strip()
        for i, other in enumerate(('{"author": "me"}\n', '"text"', "12\n", "null", "version https://git-lfs.github.com/spec/v1\nsize 1\n")):
            with open(f"parts/notes{i}.json", "w", encoding="utf-8") as file:
                file.write(other)
        self.assertIn("parts/notes0.json and 4 more: skipped: not a reference set",
                      run("combine", "parts", "-o", "all.json"))
        with open(part, "rb") as file:
            content = file.read()
        for left in (b"", b" \n", *(content[:n] for n in (1, 2, 9, 40, len(content) // 2, len(content) - 3)), bytes(len(content)),
                     bytes(5000)):
            with open(part, "wb") as file:
                file.write(left)
            self.assertIn(part, run("combine", "parts", "-o", "damaged.json", status=1), left[:50])
            self.assertFalse(os.path.exists("damaged.json"))

    def test_that_are_compressed_are_found(self):
        """The first block of zstd has 128 KiB of the document, of which nothing can be unpacked before it is whole."""
        os.mkdir("parts")
        for i, end in enumerate(("", ".gz", ".zst", ".zstd")):
            noise = {f"inline/{k}": "base64:" + base64.b64encode(os.urandom(90)).decode() for k in range(3000)}
            noise["inline/.zarray"] = json.dumps(document([3000], [1], "S90"))
            run("convert", self.write(2 * i, 2, **noise), "-o", f"parts/{i}.json{end}")
        self.assertEqual("", run("combine", "parts", "-o", "all.json", "--along", "time", "-v", "t", "-v", "time", "-v", "still"))
        self.check("all.json", range(8))
        for name in sorted(os.listdir("parts"))[1:]:
            with open(f"parts/{name}", "rb") as file:
                content = file.read()
            for left in (b"", content[:9], content[:200], content[:5000], content[:200000], content[:9] + bytes(300000)):
                with open(f"parts/{name}", "wb") as file:
                    file.write(left)
                self.assertIn(f"parts/{name}", run("combine", "parts", "-o", "damaged.json", status=1), left[:50])
            with open(f"parts/{name}", "wb") as file:
                file.write(content)

    def test_that_are_skipped_are_told(self):
        os.makedirs("linked")
        os.mkdir("parts")
        for i in range(2):
            run("index", self.write(2 * i, 2), "-o", f"parts/{i}.json")
        for name in ("a", "b"):
            os.symlink("../linked", f"parts/{name}")
            os.mkfifo(f"parts/{name}.nc")
            with open(f"parts/{name}.nc.gz", "wb") as file:
                file.write(b"\x1f\x8b")
            with zipfile.ZipFile(f"parts/{name}.json.zip", "w") as archive:
                archive.write("parts/0.json")
            with tarfile.open(f"parts/{name}.tar", "w") as archive:
                archive.add("parts/0.json")
        os.mkdir("parts/2020")
        os.symlink("2020", "parts/latest")
        said = run("combine", "parts", "-o", "all.json")
        self.assertNotIn("latest", said)
        for name, reason in (("a", "a link to a folder: add its target"), ("a.nc", "a device"), ("a.nc.gz", "compressed, and"),
                             ("a.json.zip", "a ZIP archive"), ("a.tar", "a TAR archive: unpack it")):
            self.assertIn(f"refs: warning: parts/{name} and 1 more: skipped: {reason}", said)
        self.check("all.json", range(4))

    def test_that_are_damaged_repositories_are_told(self):
        os.mkdir("parts")
        for i in range(2):
            run("index", self.write(2 * i, 2), "-o", f"parts/{i}.json")
        run("index", self.write(4, 2), "-o", "parts/2.icechunk")
        os.rename("parts/2.icechunk", "parts/repository")
        for name in ("", "repo", "snapshots", "transactions"):
            if name != "":
                os.rename(f"parts/repository/{name}", "lost")
            self.assertIn("parts/repository: skipped: an Icechunk repository", run("combine", "parts", "-o", "all.json"))
            if name != "":
                os.rename("lost", f"parts/repository/{name}")
        os.mkdir("parts/3.icechunk")
        self.assertIn("parts/3.icechunk: skipped: an Icechunk repository", run("combine", "parts", "-o", "all.json"))

    def test_that_lack_their_metadata_are_no_missing_parts(self):
        os.mkdir("parts")
        for i in range(3):
            run("index", self.write(2 * i, 2), "-o", f"parts/{i}.parq")
        os.remove("parts/2.parq/.zmetadata")
        self.assertIn("found a folder that has neither .zmetadata nor",
                      run("combine", "parts", "-o", "damaged.json", status=1))
        os.mkdir("parts/2.parq/group")
        os.rename("parts/2.parq/t", "parts/2.parq/group/t")
        for name in ("time", "still"):
            shutil.rmtree(f"parts/2.parq/{name}")
        self.assertIn("parts/2.parq", run("combine", "parts", "-o", "damaged.json", status=1))

    def test_are_no_tables(self):
        """fastparquet and Dask write a table as a folder NAME.parq."""
        os.makedirs("parts/table.parq/year=2020")
        for i in range(2):
            run("index", self.write(2 * i, 2), "-o", f"parts/{i}.parq")
        for name in ("_metadata", "part.0.parquet", "year=2020/part.0.parquet"):
            with open(f"parts/table.parq/{name}", "wb") as file:
                file.write(b"PAR1PAR1")
        run("combine", "parts", "-o", "all.json")
        self.check("all.json", range(4))

    def test_without_sources_are_none(self):
        self.assertEqual(run("index", "--part", "1/2", self.write(0, 2), "-o", "parts"), "")
        self.assertEqual(os.listdir("parts"), [])
        for text in ("0/2", "3/2", "1", "x/2", "1/1000001"):
            self.assertIn(f'--part: expected I/N with I from 1 to N, and N at most 1000000, found "{text}"',
                          run("index", "--part", text, "0.json", "-o", "parts", status=2))
        for arguments in ((), ("-o", "parts", "--format", "parquet"), ("-o", "parts", "--objects")):
            self.assertIn("--part writes sets in JSON to a local folder: expected -o FOLDER, no other --format, and no --objects",
                          run("index", "--part", "1/2", "0.json", *arguments, status=2))
        run("index", "--part", "1/1", "0.json", "-o", "parts", "--format", "json")


if __name__ == "__main__":
    unittest.main()
