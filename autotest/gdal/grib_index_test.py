#!/usr/bin/env python3
"""Sets of the indices beside GRIB files, as NOAA and ECMWF publish them: what they list, what they cost, and
that indices of other files are refused. Messages are those of ../conform/data, with other times and levels.
"""

import base64
import itertools
import json
import os
import subprocess
import sys
import unittest

import numpy as np
from osgeo import gdal

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../server"))
from s3_server import S3Server
from served import Folder, Server

REFS = sys.argv[1]
STEPS, LEVELS = 12, (500, 700, 850)
gdal.UseExceptions()


def sample():
    with open(os.path.join(HERE, "../conform/data/rawgrib.json")) as file:
        read = json.load(file)
    return base64.b64decode(read["encoded"]), np.frombuffer(base64.b64decode(read["decoded"])).reshape(7, 12)


MESSAGE, VALUES = sample()


def message(step, level, padding=0):
    """The sample on another day, for another step and level; bytes behind its values make it longer."""
    content = bytearray(MESSAGE)
    at = 16
    while content[at + 4] != 7:
        size = int.from_bytes(content[at:at + 4], "big")
        if content[at + 4] == 1:
            content[at + 12:at + 19] = bytes((2026 >> 8, 2026 & 255, 8, 1, 0, 0, 0))
        if content[at + 4] == 4:
            content[at + 17] = 1
            content[at + 18:at + 22] = step.to_bytes(4, "big")
            content[at + 22:at + 28] = bytes((100, 0)) + (level * 100).to_bytes(4, "big")
        at += size
    size = int.from_bytes(content[at:at + 4], "big") + padding
    content[at:at + 4] = size.to_bytes(4, "big")
    content[-4:-4] = bytes(padding)
    content[8:16] = len(content).to_bytes(8, "big")
    return bytes(content)


def at_height(step, height, bottom=None, parameter=(0, 0)):
    """The sample at a height above ground in metres, or of a layer: of temperature, or another category and number."""
    content = bytearray(message(step, 0))
    at = content.index(bytes((4, 0, 0, 0, 0))) + 18
    content[at - 13:at - 11] = bytes(parameter)
    second = bytes((255,) * 6) if bottom is None else bytes((103, 0)) + bottom.to_bytes(4, "big")
    content[at:at + 12] = bytes((103, 0)) + height.to_bytes(4, "big") + second
    return bytes(content)


def layer(step, top, bottom, parameter=(0, 0)):
    return at_height(step, top, bottom, parameter)


def with_template(content, number, more):
    """A message whose product is of another template, which has more bytes."""
    at = content.index(bytes((4, 0, 0, 0, 0))) - 4
    size = int.from_bytes(content[at:at + 4], "big")
    product = (size + len(more)).to_bytes(4, "big") + content[at + 4:at + 7] + number.to_bytes(2, "big") + content[at + 9:at + size]
    content = bytearray(content[:at] + product + more + content[at + size:])
    content[8:16] = len(content).to_bytes(8, "big")
    return bytes(content)


def interval(step, hours, statistic):
    return bytes((2026 >> 8, 2026 & 255, 8, 1, step, 0, 0, 1, 0, 0, 0, 0, statistic, 2, 1, 0, 0, 0, hours, 255, 0, 0, 0, 0))


def largest(step, hours):
    """The sample as the largest values of the last hours before a step, template 4.8."""
    return with_template(message(step - hours, 500), 8, interval(step, hours, 2))


def write_step(folder, step, padding=4000):
    """gfs.f003 with gfs.f003.idx, and 3.grib2 with 3.index."""
    messages = [message(step, level, padding + 10 * step) for level in LEVELS]
    forecast = f"{step} hour fcst" if step else "anl"
    texts, lines, offset = [], [], 0
    for number, (level, content) in enumerate(zip(LEVELS, messages), 1):
        texts.append(f"{number}:{offset}:d=2026080100:TMP:{level} mb:{forecast}:")
        lines.append(json.dumps({"date": "20260801", "time": "0000", "step": str(step), "levtype": "pl",
                                 "levelist": str(level), "param": "t", "_offset": offset,
                                 "_length": len(content)}))
        offset += len(content)
    for name, ending, index in (f"gfs.f{step:03}", ".idx", texts), (f"{step}", ".index", lines):
        with open(os.path.join(folder, name + (".grib2" if ending == ".index" else "")), "wb") as file:
            file.write(b"".join(messages))
        with open(os.path.join(folder, name + ending), "w") as file:
            file.write("\n".join(index) + "\n")


class Indices(unittest.TestCase):
    """No tests, but what they share."""

    def setUp(self):
        self.folder = Folder()
        self.addCleanup(self.folder.close)
        for step in range(STEPS):
            write_step(self.folder.served, step)
        self.set = os.path.join(self.folder.served, "set.json")

    def path(self, name):
        return os.path.join(self.folder.served, name)

    def index(self, *names):
        return subprocess.run([REFS, "index", *names, "-o", self.set], capture_output=True, text=True)

    def check(self, problem):
        """What is wrong with the index of a file that was changed."""
        done = self.index(self.path("gfs.f003.idx"))
        self.assertNotEqual(done.returncode, 0)
        self.assertIn(problem, done.stderr)
        self.assertIn("make the index again", done.stderr)

    def change(self, old, new):
        with open(self.path("gfs.f003.idx")) as file:
            text = file.read()
        self.assertIn(old, text)
        with open(self.path("gfs.f003.idx"), "w") as file:
            file.write(text.replace(old, new))


class Lists(Indices):
    def check_run(self, names):
        done = self.index(*names)
        self.assertEqual(done.returncode, 0, done.stderr)
        dataset = gdal.Open(f'REFS:"{self.set}":/t_isobaricInhPa')
        self.assertEqual(dataset.RasterCount, STEPS * len(LEVELS))
        last = dataset.GetRasterBand(STEPS * len(LEVELS))
        self.assertEqual(last.GetMetadataItem("TIME"), "2026-08-01T11:00:00")
        self.assertEqual(last.GetMetadataItem("NETCDF_DIM_isobaricInhPa"), "850")
        np.testing.assert_array_equal(last.ReadAsArray(), VALUES)

    def test_a_run_by_texts_of_noaa(self):
        self.check_run([self.path(f"gfs.f{step:03}.idx") for step in range(STEPS)])

    def test_a_run_by_lines_of_ecmwf(self):
        self.check_run([self.path(f"{step}.index") for step in range(STEPS)])

    def test_lines_that_end_in_carriage_returns(self):
        for step in range(STEPS):
            for name in (f"gfs.f{step:03}.idx", f"{step}.index"):
                with open(self.path(name), "rb") as file:
                    content = file.read()
                with open(self.path(name), "wb") as file:
                    file.write(content.replace(b"\n", b"\r\n"))
        self.check_run([self.path(f"gfs.f{step:03}.idx") for step in range(STEPS)])
        os.remove(self.set)
        self.check_run([self.path(f"{step}.index") for step in range(STEPS)])

    def test_a_pattern_without_a_set(self):
        dataset = gdal.Open(f'REFS:"{self.path("gfs.*.idx")}":/t_isobaricInhPa[step=6h,isobaricInhPa=500]')
        self.assertEqual(dataset.RasterCount, 1)
        self.assertEqual(dataset.GetRasterBand(1).GetMetadataItem("TIME"), "2026-08-01T06:00:00")

    def test_names_do_not_follow_from_what_else_is_there(self):
        for step in (0, 1):
            self.index(self.path(f"gfs.f{step:03}.idx"))
            root = gdal.OpenEx(f'REFS:"{self.set}"', gdal.OF_MULTIDIM_RASTER).GetRootGroup()
            self.assertIn("t_isobaricInhPa", root.GetMDArrayNames())
            os.remove(self.set)

    def test_layers_are_the_same_by_an_index_and_without_one(self):
        """Layers with one top: files with other layers, and with one alone, are not taken for those with two."""
        for step, bottoms in (0, (1000, 6000)), (1, (1000, 6000)), (2, (6000,)), (3, (500, 1000, 6000)):
            contents = [layer(step, 0, bottom) for bottom in bottoms]
            with open(self.path(f"shear{step}.grib2"), "wb") as file:
                file.write(b"".join(contents))
            with open(self.path(f"shear{step}.grib2.idx"), "w") as file:
                file.writelines(f"{i + 1}:{i * len(contents[0])}:d=2026080100:TMP:0-{bottom} m above ground:"
                                f"{f'{step} hour fcst' if step else 'anl'}:\n" for i, bottom in enumerate(bottoms))
        found = []
        for pattern in "shear[01].grib2", "shear[01].grib2.idx":
            done = self.index(self.path(pattern))
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            shown = {}
            for name, _ in gdal.Open(f'REFS:"{self.set}"').GetSubDatasets():
                if name.split("/")[-1].startswith("t_"):
                    dataset = gdal.Open(name)
                    band = dataset.GetRasterBand(2)
                    shown[name.split("/")[-1]] = band.GetMetadataItem("long_name"), sorted(
                        value for key, value in band.GetMetadata().items() if key.startswith("NETCDF_DIM_height"))
            found.append(shown)
            checked = subprocess.run([REFS, "check", "--deep", self.set], capture_output=True, text=True)
            self.assertEqual(checked.returncode, 0, checked.stdout)
            os.remove(self.set)
        self.assertEqual(found[0], {f"t_heightAboveGroundLayer_0_{bottom}": (f"Temperature, layer 0 to {bottom} m", ["0", f"{{0,{bottom}}}"])
                                    for bottom in (1000, 6000)})
        self.assertEqual(found[1], found[0])
        done = self.index(self.path("shear*.grib2"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("differs between", done.stderr)
        with open(self.set) as file:
            refs = json.load(file)["refs"]
        for bottom, steps in (500, [3]), (1000, [0, 1, 3]), (6000, [0, 1, 3]):
            name = f"heightAboveGroundLayer_0_{bottom}"
            self.assertEqual([step for step in range(4) if f"t_{name}/{step}.0.0" in refs], steps)
            self.assertIn(f" {name} ", json.loads(refs[f"t_{name}/.zattrs"])["coordinates"])
            bounds = gdal.OpenEx(f'REFS:"{self.set}"', gdal.OF_MULTIDIM_RASTER).GetRootGroup().OpenMDArray(f"{name}_bounds")
            self.assertEqual(bounds.ReadAsArray().tolist(), [0, bottom])

    def combine_in_any_order(self, files):
        """Combines files, which are messages by their names; the coordinates of variables, by the names of these."""
        for name, content in files.items():
            with open(self.path(name), "wb") as file:
                file.write(content)
        found = []
        for order in itertools.permutations(files):
            done = self.index(*map(self.path, order), "--along", "step")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertNotIn("differs between", done.stderr)
            with open(self.set) as file:
                refs = json.load(file)["refs"]
            root = gdal.OpenEx(f'REFS:"{self.set}"', gdal.OF_MULTIDIM_RASTER).GetRootGroup()
            arrays = {name: root.OpenMDArray(name).ReadAsArray().tolist() for name in
                      (key.split("/")[0] for key in refs if key.endswith("/.zarray"))}
            shown = {}
            for name in arrays:
                for word in json.loads(refs[f"{name}/.zattrs"]).get("coordinates", "").split():
                    if word.startswith("heightAboveGround"):
                        shown[name] = word, arrays[word], arrays.get(json.loads(refs[f"{word}/.zattrs"]).get("bounds"))
            found.append(shown)
            checked = subprocess.run([REFS, "check", "--deep", self.set], capture_output=True, text=True)
            self.assertEqual(checked.returncode, 0, checked.stdout)
            os.remove(self.set)
        self.assertEqual(found, found[:1] * len(found))
        return found[0]

    def test_heights_have_one_name_whichever_file_comes_first(self):
        """Files of one variable each have their height by one name, a file of both has two: 2 m and 10 m stay apart."""
        wind = (2, 2)
        expected = {"t2m": ("heightAboveGround", 2, None), "u10": ("heightAboveGround_2", 10, None)}
        files = {"t0.grib2": at_height(0, 2), "t6.grib2": at_height(6, 2), "u0.grib2": at_height(0, 10, None, wind),
                 "u6.grib2": at_height(6, 10, None, wind)}
        self.assertEqual(self.combine_in_any_order(files), expected)
        both = at_height(0, 2) + at_height(0, 10, None, wind)
        self.assertEqual(self.combine_in_any_order({"both0.grib2": both, "u6.grib2": at_height(6, 10, None, wind)}), expected)
        self.assertEqual(self.combine_in_any_order({"t6.grib2": at_height(6, 2), "both0.grib2": both, "u9.grib2": at_height(9, 10, None, wind)}),
                         expected)

    def test_a_height_may_be_added_before_those_of_a_set(self):
        wind = (2, 2)
        for name, content in ("u0", at_height(0, 10, None, wind)), ("u6", at_height(6, 10, None, wind)), ("t0", at_height(0, 2)):
            with open(self.path(f"{name}.grib2"), "wb") as file:
                file.write(content)
        self.assertEqual(self.index(self.path("u0.grib2"), self.path("u6.grib2")).returncode, 0)
        done = subprocess.run([REFS, "append", self.set, self.path("t0.grib2")], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        root = gdal.OpenEx(f'REFS:"{self.set}"', gdal.OF_MULTIDIM_RASTER).GetRootGroup()
        self.assertEqual([float(root.OpenMDArray(f"heightAboveGround{end}").ReadAsArray()) for end in ("", "_2")], [2, 10])
        checked = subprocess.run([REFS, "check", "--deep", self.set], capture_output=True, text=True)
        self.assertEqual(checked.returncode, 0, checked.stdout)

    def test_axes_of_heights_have_one_name_whichever_files_lack_messages(self):
        """Files number the heights that they have: wind lies along one axis, also if no temperature is before it, and the numbers follow
        the values. Chunks are the messages of their heights."""
        wind, humidity = (2, 2), (1, 1)
        sets = (
            {"both0": {(0, 0): [2], wind: [10, 100]}, "wind6": {wind: [100, 10]}, "both12": {wind: [10, 100], (0, 0): [2]}},
            {"two0": {wind: [10, 80]}, "two6": {(0, 0): [2, 80], wind: [10, 80]}},
            {"all0": {(0, 0): [2], humidity: [2, 80], wind: [10, 100]}, "some6": {humidity: [2, 80], (0, 0): [2]}, "wind12": {wind: [10, 100]}})
        names = ({(0, 0): "", wind: "_2"}, {(0, 0): "", wind: "_2"}, {(0, 0): "", humidity: "_2", wind: "_3"})
        for files, expected in zip(sets, names):
            heights, at = {}, {}
            for name, variables in files.items():
                step, offset = int(name.strip("abcdefghijklmnopqrstuvwxyz")), 0
                with open(self.path(f"{name}.grib2"), "wb") as file:
                    for parameter, values in variables.items():
                        heights[parameter] = sorted(values)
                        for height in values:
                            content = at_height(step, height, None, parameter)
                            file.write(content)
                            at[os.path.basename(file.name), offset] = parameter, step, height
                            offset += len(content)
            for order in itertools.permutations(files):
                paths = [self.path(f"{name}.grib2") for name in order]
                done = self.index(*paths)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertNotIn("differs between", done.stderr)
                with open(self.set, "rb") as file:
                    made = file.read()
                refs = json.loads(made)["refs"]
                root = gdal.OpenEx(f'REFS:"{self.set}"', gdal.OF_MULTIDIM_RASTER).GetRootGroup()
                steps = root.OpenMDArray("step").ReadAsArray().tolist()
                found = {name: [] for name in at.values()}
                for key, ref in refs.items():
                    if not isinstance(ref, list):
                        continue
                    place = at[os.path.basename(ref[0]), ref[1]]
                    variable, index = key.split("/")
                    level = [f"heightAboveGround{expected[place[0]]}"]
                    dims = [dim.GetName() for dim in root.OpenMDArray(variable).GetDimensions()]
                    words = json.loads(refs[f"{variable}/.zattrs"])["coordinates"].split()
                    self.assertEqual([name for name in {*dims, *words} if name.startswith("height")], level, (order, key))
                    values = np.atleast_1d(root.OpenMDArray(level[0]).ReadAsArray()).tolist()
                    self.assertEqual(values, heights[place[0]])
                    index = dict(zip(dims, map(int, index.split("."))))
                    found[place].append((steps[index["step"]], values[index.get(level[0], 0)]))
                self.assertEqual(found, {place: [place[1:]] for place in at.values()})
                self.assertEqual(len({key.split("/")[0] for key in refs if key.startswith("heightAboveGround")}), len(expected))
                checked = subprocess.run([REFS, "check", "--deep", self.set], capture_output=True, text=True)
                self.assertEqual(checked.returncode, 0, checked.stdout)
                os.remove(self.set)
                # files that are added one by one
                for path in paths:
                    verb = ["append", self.set, path] if os.path.exists(self.set) else ["index", path, "-o", self.set, "--along", "step"]
                    done = subprocess.run([REFS, *verb], capture_output=True, text=True)
                    self.assertEqual(done.returncode, 0, done.stderr)
                with open(self.set, "rb") as file:
                    self.assertEqual(json.loads(file.read())["refs"].keys(), refs.keys())
                os.remove(self.set)

    def test_a_height_of_one_variable_is_none_of_another_along_its_own(self):
        """Wind has heights of its own, so the height of temperature cannot be a dimension of it, too."""
        for step in (0, 6):
            with open(self.path(f"w{step}.grib2"), "wb") as file:
                file.write(b"".join((at_height(step, 2), at_height(step, 10, None, (2, 2)), at_height(step, 100, None, (2, 2)))))
        done = self.index(self.path("w0.grib2"), self.path("w6.grib2"), "--along", "step", "--along", "heightAboveGround")
        self.assertEqual(done.returncode, 1)
        self.assertIn("u: heightAboveGround is 2 m in ", done.stderr)
        self.assertIn("w0.grib2, but it lies along heightAboveGround_2: do not combine along heightAboveGround, or leave it out (--variables)",
                      done.stderr)

    def test_layers_of_one_top_get_a_name_each_or_are_refused(self):
        """Files of one layer each, whose tops are the same: of two variables both are kept, of one it is an error."""
        humidity = (1, 1)
        files = {"t0.grib2": layer(0, 0, 1000), "t6.grib2": layer(6, 0, 1000), "r0.grib2": layer(0, 0, 6000, humidity),
                 "r6.grib2": layer(6, 0, 6000, humidity)}
        self.assertEqual(self.combine_in_any_order(files),
                         {"t": ("heightAboveGroundLayer", 0, [0, 1000]), "r": ("heightAboveGroundLayer_2", 0, [0, 6000])})
        with open(self.path("other.grib2"), "wb") as file:
            file.write(layer(6, 0, 6000))
        for order in ("t0.grib2", "other.grib2"), ("other.grib2", "t0.grib2"):
            done = self.index(*map(self.path, order))
            self.assertEqual(done.returncode, 1)
            self.assertIn("element 1 of heightAboveGroundLayer_bounds is 1000 and 6000: expected one level for all variables that name it",
                          done.stderr)

    def test_largest_values_of_three_hours_and_of_six_are_apart(self):
        """Their lines say the step alone: of the first one the hours are also those since the reference time."""
        for step, hours in ((3, (3,)), (6, (6, 3)), (9, (6, 3))):
            lines, offset = [], 0
            with open(self.path(f"mx{step}.grib2"), "wb") as file:
                for n in hours:
                    content = largest(step, n)
                    lines.append(json.dumps({"date": "20260801", "time": "0000", "step": str(step), "param": f"mx2t{n}",
                                             "_offset": offset, "_length": len(content)}) + "\n")
                    offset += len(content)
                    file.write(content)
            with open(self.path(f"mx{step}.index"), "w") as file:
                file.writelines(lines)
        done = self.index(*(self.path(f"mx{step}.index") for step in (3, 6, 9)))
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(self.set) as file:
            refs = json.load(file)["refs"]
        places = {name: [refs[f"t_isobaricInhPa_max{name}/0.{i}.0.0"][1] for i in range(3)
                         if f"t_isobaricInhPa_max{name}/0.{i}.0.0" in refs] for name in ("", "_2")}
        size = len(largest(3, 3))
        self.assertEqual(places, {"": [0, size, size], "_2": [0, 0]})

    def test_intervals_are_said_as_far_as_files_agree(self):
        """Sums of the last hours and those from the reference time, of which each file has both."""
        def total(step, hours):
            return with_template(message(step - hours, 500), 8, interval(step, hours, 1))
        for step in (6, 12, 18):
            with open(self.path(f"sum{step:02}.grib2"), "wb") as file:
                file.write(total(step, 6 if step < 18 else 3) + total(step, step) + message(step, 500))
        shown = []
        for names in (6,), (6, 12), (6, 12, 18), (12, 18):
            done = self.index(*(self.path(f"sum{step:02}.grib2") for step in names))
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            shown.append(self.intervals())
            os.remove(self.set)
        self.assertEqual(shown, [{"t": (None, None), "t_accum": (0, 6), "t_accum_2": (0, 6)},
                                 {"t": (None, None), "t_accum": (None, 6), "t_accum_2": (0, None)},
                                 {"t": (None, None), "t_accum": (None, None), "t_accum_2": (0, None)},
                                 {"t": (None, None), "t_accum": (None, None), "t_accum_2": (0, None)}])
        # What appending finds is what indexing all at once finds, and a message that is another is found.
        self.assertEqual(self.index(self.path("sum06.grib2")).returncode, 0)
        for step, expected in (12, shown[1]), (18, shown[2]):
            done = subprocess.run([REFS, "append", self.set, self.path(f"sum{step}.grib2")], capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertEqual(self.intervals(), expected)
        checked = subprocess.run([REFS, "check", "--deep", self.set], capture_output=True, text=True)
        self.assertEqual(checked.returncode, 0, checked.stdout)
        with open(self.path("all.grib2"), "wb") as file:
            for step in (6, 12, 18):
                with open(self.path(f"sum{step:02}.grib2"), "rb") as part:
                    file.write(part.read())
        os.remove(self.set)
        self.assertEqual(self.index(self.path("all.grib2")).returncode, 0)
        self.assertEqual(self.intervals(), shown[2])

    def test_intervals_that_an_index_does_not_state_are_left_out(self):
        """Means of 0-3 and 3-6 hours, and maxima of 0-3 and 0-6: another message shows neither start nor length."""
        for statistic, hours in ((0, 3), (2, 6)):
            for stated in False, True:
                for step in (3, 6):
                    length = min(hours, step)
                    content = with_template(message(step - length, 500), 8, interval(step, length, statistic))
                    with open(self.path(f"i{step}.grib2"), "wb") as file:
                        file.write(content)
                    with open(self.path(f"i{step}.index"), "w") as file:
                        file.write(json.dumps({"date": "20260801", "time": "0000", "param": "t", "_offset": 0, "_length": len(content),
                                               "step": f"{step - length}-{step}" if stated else str(step)}) + "\n")
                self.assertEqual(self.index(self.path("i3.index"), self.path("i6.index")).returncode, 0)
                expected = (None, 3) if statistic == 0 else (0, None)
                found = list(self.intervals().values())
                self.assertEqual(found, [expected if stated else (None, None)], statistic)
                checked = subprocess.run([REFS, "check", "--deep", self.set], capture_output=True, text=True)
                self.assertEqual((checked.returncode, checked.stderr), (0, ""), checked.stdout)
                os.remove(self.set)

    def intervals(self):
        """Start and length that the driver shows."""
        root = gdal.OpenEx(f'REFS:"{self.set}"', gdal.OF_MULTIDIM_RASTER).GetRootGroup()
        found = {}
        for name in root.GetMDArrayNames():
            attributes = {a.GetName(): a.Read() for a in root.OpenMDArray(name).GetAttributes()}
            if "GRIB_stepType" in attributes:
                found[name] = attributes.get("GRIB_startStep"), attributes.get("GRIB_lengthOfTimeRange")
        return found

    def test_long_names_tell_statistics_apart_as_names_do(self):
        """Means of an ensemble at an instant and of the least values of three hours, templates 4.2 and 4.12."""
        with open(self.path("means.grib2"), "wb") as file:
            file.write(with_template(message(3, 500), 2, bytes((0, 9))))
            file.write(with_template(message(0, 500), 12, bytes((0, 9)) + interval(3, 3, 3)))
        done = self.index(self.path("means.grib2"))
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(self.set) as file:
            refs = json.load(file)["refs"]
        long_names = {name: json.loads(refs[name + "/.zattrs"])["long_name"] for name in ("t_mean", "t_min_mean")}
        self.assertEqual(long_names, {"t_mean": "Temperature, unweighted mean of all members",
                                      "t_min_mean": "Temperature, minimum over time, unweighted mean of all members"})

    def test_instantaneous_fields_are_joined_apart_from_statistics(self):
        """The first file has no statistics, as those of the first step, and the others have them before the rest."""
        for step in (0, 3, 6):
            with open(self.path(f"mixed{step}.grib2"), "wb") as file:
                file.write((largest(step, 3) if step else b"") + message(step, 500))
        done = self.index(self.path("mixed*.grib2"))
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(self.set) as file:
            refs = json.load(file)["refs"]
        size = len(largest(3, 3))
        places = {name: [refs.get(f"{name}/{i}.0.0", [None, None])[1] for i in range(3)] for name in ("t", "t_max")}
        self.assertEqual(places, {"t": [0, size, size], "t_max": [None, 0, 0]})
        self.assertEqual([json.loads(refs[f"{name}/.zattrs"])["GRIB_stepType"] for name in ("t", "t_max")], ["instant", "max"])

    def test_arrays_of_one_name_and_two_statistics_are_not_joined(self):
        for name, kind in (("one", "instant"), ("two", "max")):
            with open(self.path("3.grib2" if kind == "instant" else "max.grib2"), "wb") as file:
                file.write(message(3, 500) if kind == "instant" else largest(6, 3))
            self.set = self.path(name + ".json")
            self.assertEqual(self.index(file.name).returncode, 0)
            with open(self.set) as file:
                text = file.read()
            with open(self.set, "w") as file:
                file.write(text.replace("t_max", "t"))
        self.set = self.path("set.json")
        done = self.index(self.path("one.json"), self.path("two.json"))
        self.assertNotEqual(done.returncode, 0)
        self.assertIn('GRIB_stepType is "instant" in', done.stderr)

    def test_files_of_one_time_each_are_joined_along_the_time_that_differs(self):
        for step in range(STEPS):
            with open(self.path(f"one{step:02}.grib2"), "wb") as file:
                file.write(message(step, 500))
        dataset = gdal.Open(f'REFS:"{self.path("one*.grib2")}":/t')
        self.assertEqual(dataset.GetRasterBand(STEPS).GetMetadataItem("TIME"), "2026-08-01T11:00:00")
        self.assertEqual(dataset.GetRasterBand(STEPS).GetMetadataItem("NETCDF_DIM_step"), "11")

    def test_a_file_that_was_replaced_is_refused(self):
        """States of GRIB files are recorded beside those of their indices, of files that were not read, too."""
        for names in ([f"gfs.f{step:03}.idx" for step in range(STEPS)], [f"{step}.index" for step in range(STEPS)]):
            with self.subTest(names[0]):
                done = self.index(*map(self.path, names))
                self.assertEqual(done.returncode, 0, done.stderr)
                replaced = self.path(names[9].removesuffix(".idx").replace("index", "grib2"))
                with open(replaced, "rb") as file:
                    content = file.read()
                os.remove(replaced)
                with open(replaced, "wb") as file:
                    file.write(content.replace(MESSAGE[-40:-8], MESSAGE[-40:-8][::-1]))
                os.utime(replaced, (1e9, 1e9))
                with self.assertRaisesRegex(RuntimeError, "it changed after"):
                    gdal.Open(f'REFS:"{self.set}":/t_isobaricInhPa[step=9h]').ReadAsArray()
                checked = subprocess.run([REFS, "check", "--deep", self.set], capture_output=True, text=True)
                self.assertNotEqual(checked.returncode, 0, checked.stdout)
                os.remove(self.set)
                write_step(self.folder.served, 9)

    def test_what_words_do_not_say_is_read(self):
        self.change("3 hour fcst", "someday")
        self.assertEqual(self.index(self.path("gfs.f003.idx")).returncode, 0)
        dataset = gdal.Open(f'REFS:"{self.set}":/t_isobaricInhPa')
        self.assertEqual(dataset.GetRasterBand(1).GetMetadataItem("TIME"), "2026-08-01T03:00:00")


class Refusals(Indices):
    def test_of_another_reference_time(self):
        self.change("d=2026080100", "d=2026080106")
        self.check("found another reference time")

    def test_of_another_step(self):
        self.change("3 hour fcst", "4 hour fcst")
        self.check("found another step")

    def test_of_another_step_of_the_last_message_whose_words_are_learnt_here(self):
        content = [message(step, 500) for step in (1, 3, 2)]
        with open(self.path("gfs.f003"), "wb") as file:
            file.write(b"".join(content))
        with open(self.path("gfs.f003.idx"), "w") as file:
            file.write("".join(f"{step}:{(step - 1) * len(content[0])}:d=2026080100:TMP:500 mb:{step} hour fcst:\n"
                               for step in (1, 2, 3)))
        self.check("line 2: expected TMP:500 mb:fcst: at byte")

    def test_of_two_lines_of_one_message(self):
        with open(self.path("3.index")) as file:
            lines = [json.loads(line) for line in file]
        for offset, problem in ((lines[1]["_offset"], "found byte"), (lines[1]["_offset"] + 9, "found byte")):
            lines[2]["_offset"] = offset
            with open(self.path("3.index"), "w") as file:
                file.write("".join(json.dumps(line) + "\n" for line in lines))
            done = self.index(self.path("3.index"))
            self.assertNotEqual(done.returncode, 0)
            self.assertIn("line 3: expected a message after that of line 2", done.stderr)
            self.assertIn(problem, done.stderr)

    def test_of_lines_of_fewer_messages_than_there_are(self):
        with open(self.path("3.index")) as file:
            lines = file.readlines()
        with open(self.path("3.index"), "w") as file:
            file.writelines(lines[:2])
        done = self.index(self.path("3.index"))
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("after the last message", done.stderr)

    def test_of_a_message_on_a_grid_that_is_not_supported(self):
        names = [self.path(f"gfs.f{step:03}.idx") for step in (2, 3)]
        with open(self.path("gfs.f003"), "rb") as file:
            content = bytearray(file.read())
        for begin in range(0, len(content), len(content) // 3):
            at = begin + 16
            while content[at + 4] != 4:
                at += int.from_bytes(content[at:at + 4], "big")
            content[at + 7:at + 9] = (999).to_bytes(2, "big")
        with open(self.path("gfs.f003"), "wb") as file:
            file.write(content)
        done = self.index(*names)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("found a message whose grid or product definition template is not supported", done.stderr)

    def test_of_places_without_a_message(self):
        with open(self.path("gfs.f003.idx")) as file:
            second = file.readlines()[1].split(":")[1]
        self.change(f":{second}:", f":{int(second) + 7}:")
        self.check("found a message of another length")

    def test_of_lines_whose_levels_are_those_of_others(self):
        """The names of another file of the run, which are known already."""
        self.change("500 mb", "600 mb")
        self.change("700 mb", "500 mb")
        self.change("600 mb", "700 mb")
        for names in (["gfs.f002.idx", "gfs.f003.idx"], ["gfs.f003.idx", "gfs.f002.idx"]):
            done = self.index(*map(self.path, names))
            self.assertEqual(done.returncode, 1)
            self.assertIn(f"{names[1]}: GRIB index: line 1: expected TMP:", done.stderr)
            self.assertIn("found another level: make the index again", done.stderr)

    def test_without_the_first_lines(self):
        server = Server(self.folder)
        self.addCleanup(server.close)
        for name, key in (("gfs.f003.idx", "gfs.f003"), ("3.index", "3.grib2")):
            with open(self.path(name)) as file:
                lines = file.readlines()
            with open(self.path(name), "w") as file:
                file.writelines(lines[1:])
            for names in ([self.path(name)], [server.url(name)], [server.url(name.replace("3", "2")), server.url(name)]):
                done = self.index(*names)
                self.assertEqual(done.returncode, 1)
                self.assertRegex(done.stderr, f"line 1: expected the first message of .*{key}, found that at byte [0-9]+: make the index again")

    def test_of_fewer_messages_than_there_are(self):
        with open(self.path("gfs.f003.idx")) as file:
            lines = file.readlines()
        self.change("".join(lines), "".join(lines[:-1]))
        self.check("after the last message")

    def test_of_files_with_bytes_between_and_behind_messages_are_none(self):
        """Bulletins have lines around messages, and copies from tapes zeros behind the last one."""
        messages = [message(3, level, 4030) for level in LEVELS]
        with open(self.path("gfs.f003"), "wb") as file:
            places = [(file.tell(), file.write(content), file.write(b"\r\r\n\3" + bytes(500))) for content in messages]
        with open(self.path("gfs.f003.idx"), "w") as file:
            file.writelines(f"{number}:{place[0]}:d=2026080100:TMP:{level} mb:3 hour fcst:\n"
                            for number, (level, place) in enumerate(zip(LEVELS, places), 1))
        with open(self.path("3.grib2"), "ab") as file:
            file.write(bytes(1000))
        for name in "gfs.f003.idx", "3.index":
            done = self.index(self.path(name))
            self.assertEqual(done.returncode, 0, done.stderr)
            values = gdal.Open(f'REFS:"{self.set}":/t_isobaricInhPa').ReadAsArray()
            np.testing.assert_array_equal(values, np.broadcast_to(values[0], values.shape))
            self.assertEqual(values.shape, (len(LEVELS), *VALUES.shape))

    def test_of_messages_that_are_not_there(self):
        self.change("1:0:", "4:9999999:d=2026080100:TMP:925 mb:3 hour fcst:\n1:0:")
        self.check("line 1: expected TMP:925 mb:fcst: at byte 9999999")

    def test_of_lines_that_are_none(self):
        self.change("2:", "two:")
        done = self.index(self.path("gfs.f003.idx"))
        self.assertIn('line 2: expected one of wgrib2 ("1:0:d=', done.stderr)

    def test_without_the_file(self):
        """Also of an index that says lengths, so that the file would not have to be opened."""
        for index, name in ("gfs.f003.idx", "gfs.f003"), ("3.index", "3.grib2"):
            os.remove(self.path(name))
            names = [self.path(index.replace("3", step)) for step in "23"]
            said = self.index(*names).stderr
            self.assertIn(f"{index}: GRIB index: expected its GRIB file {self.path(name)} beside it, found no such file: "
                          "fetch the file, or leave the index out", said)

    def test_of_a_file_that_is_incomplete(self):
        for index, name, key in (("gfs.f003.idx", "gfs.f003", "TMP:850 mb:fcst:"), ("3.index", "3.grib2", '{"levelist":"850"')):
            for size in os.path.getsize(self.path(name)) - 1, 6000, 0:
                os.truncate(self.path(name), size)
                said = self.index(*(self.path(index.replace("3", step)) for step in "23")).stderr
                self.assertIn(f"{index}: GRIB index: line 3: expected {key}", said)
                self.assertIn(f" of {self.path(name)}, found a file of {size} bytes: fetch the file again", said)

    def test_of_a_later_file_that_is_another(self):
        """Known words are compared with a message of the first file that they are applied to."""
        with open(self.path("gfs.f003"), "wb") as file:
            file.write(b"".join(message(3, level, 4030) for level in (850, 700, 500)))
        done = self.index(self.path("gfs.f002.idx"), self.path("gfs.f003.idx"))
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("found another level", done.stderr)


    def put_on_another_grid(self, step, name, index):
        """As many rows as there were columns, in messages of the same length."""
        size = len(message(step, 500, 4000 + 10 * step))
        with open(self.path(name), "r+b") as file:
            content = bytearray(file.read())
            for begin in range(0, len(content), size):
                at = begin + 16
                while content[at + 4] != 3:
                    at += int.from_bytes(content[at:at + 4], "big")
                content[at + 30:at + 38] = content[at + 34:at + 38] + content[at + 30:at + 34]
            file.seek(0)
            file.write(content)
        return self.path(index)

    def check_grid(self, *names):
        done = self.index(*names)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("found another grid: make the index again", done.stderr)

    def test_of_any_text_of_a_file_on_another_grid(self):
        names = [self.path(f"gfs.f{step:03}.idx") for step in range(STEPS)]
        names[9] = self.put_on_another_grid(9, "gfs.f009", "gfs.f009.idx")
        self.check_grid(*names)

    def test_of_a_file_on_another_grid_that_has_new_words(self):
        """The message whose words are learnt is compared with nothing."""
        names = [self.path(f"gfs.f{step:03}.idx") for step in range(4)]
        self.put_on_another_grid(3, "gfs.f003", "gfs.f003.idx")
        self.change("TMP:850 mb", "TMP:other words")
        self.check_grid(*names)

    def test_of_lines_of_another_folder_on_another_grid(self):
        os.mkdir(self.path("0p4"))
        self.put_on_another_grid(9, "9.grib2", "9.index")
        names = [self.path(f"{step}.index") for step in range(STEPS)]
        for ending in ".grib2", ".index":
            os.rename(self.path("9" + ending), self.path("0p4/9" + ending))
        names[9] = self.path("0p4/9.index")
        self.check_grid(*names)


class Checks(Indices):
    """`refs check --deep` compares each message with what the index said, of which few were read."""

    def check_deep(self, *expected):
        done = subprocess.run([REFS, "check", "--deep", self.set], capture_output=True, text=True)
        self.assertEqual(done.returncode, 1 if expected else 0, done.stdout + done.stderr)
        for text in expected:
            self.assertIn(text, done.stdout)

    def change_lines(self, step, change):
        """Lines of 5.index, which is neither the first file nor one of new words."""
        with open(self.path(f"{step}.index")) as file:
            lines = [json.loads(line) for line in file]
        change(lines)
        with open(self.path(f"{step}.index"), "w") as file:
            file.writelines(json.dumps(line) + "\n" for line in lines)

    def index_lines(self, n=STEPS, wrong=None):
        """Of files on a server; of local ones all messages are compared, so that what is wrong is found at once."""
        done = self.index(*(self.path(f"{step}.index") for step in range(n)))
        self.assertEqual(done.returncode, 1 if wrong else 0, done.stderr)
        self.assertIn(wrong or "", done.stderr)
        server = Server(self.folder)
        self.addCleanup(server.close)
        done = self.index(*(server.url(f"{step}.index") for step in range(n)))
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_find_nothing_in_a_set_that_is_right(self):
        self.index_lines()
        self.check_deep()
        os.remove(self.set)
        done = self.index(*(self.path(f"gfs.f{step:03}.idx") for step in range(STEPS)))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.check_deep()

    def test_find_messages_of_another_level(self):
        def swap(lines):
            for name in "_offset", "_length":
                lines[0][name], lines[1][name] = lines[1][name], lines[0][name]
        self.change_lines(5, swap)
        self.index_lines(wrong="found another level: make the index again")
        self.check_deep("5.grib2: 2 reads failed, the first: /t_isobaricInhPa: t_isobaricInhPa/0.5.0.0.0: expected "
                        "isobaricInhPa 500 hPa, found 700 hPa in the message at byte ", "make the set again", ", 1 problem\n")

    def test_find_messages_of_another_layer(self):
        """Layers have their tops as levels: those of one top differ in their bottoms."""
        with open(self.path("layer.grib2"), "wb") as file:
            file.write(layer(0, 0, 1000))
        self.assertEqual(self.index(self.path("layer.grib2")).returncode, 0)
        self.check_deep()
        with open(self.set) as file:
            refs = json.load(file)
        refs["refs"]["heightAboveGroundLayer_bounds/0"] = "base64:" + base64.b64encode(np.array([0., 6000]).tobytes()).decode()
        with open(self.set, "w") as file:
            json.dump(refs, file)
        self.check_deep("layer.grib2: /t: t/0.0: expected heightAboveGroundLayer 0 to 6000 m, found 0 to 1000 m in the message at "
                        "byte 0: ")

    def test_find_messages_of_another_step(self):
        def move(lines):
            for line in lines[:-1]:
                line["step"] = "9"
        self.change_lines(5, move)
        self.index_lines(6, "found another step: make the index again")
        self.check_deep("5.grib2: 2 reads failed, the first: /t_isobaricInhPa: t_isobaricInhPa/0.6.0.0.0: expected "
                        "step 9 hours, found 5 hours in the message at byte 0: ")

    def test_find_messages_of_another_reference_time(self):
        self.index_lines(2)
        with open(self.set) as file:
            refs = json.load(file)
        refs["refs"]["time/0"] = "base64:" + base64.b64encode(np.array([1785628800.0]).tobytes()).decode()
        with open(self.set, "w") as file:
            json.dump(refs, file)
        self.check_deep("0.grib2: 3 reads failed, the first: /t_isobaricInhPa: t_isobaricInhPa/0.0.0.0.0: "
                        "expected time 2026-08-02T00:00:00, found 2026-08-01T00:00:00 in the message at byte 0: ")

    def test_find_messages_of_another_parameter(self):
        """Files have temperature and humidity at one level, of which 5.index has one for the other."""
        for step in range(6):
            contents = [message(step, 500, 10), bytearray(message(step, 500, 20)), message(step, 850, 10)]
            at = 16
            while contents[1][at + 4] != 4:
                at += int.from_bytes(contents[1][at:at + 4], "big")
            contents[1][at + 9:at + 11] = bytes((1, 0))
            with open(self.path(f"{step}.grib2"), "wb") as file:
                file.write(b"".join(contents))
            sizes = [len(content) for content in contents]
            with open(self.path(f"{step}.index"), "w") as file:
                for i, name in enumerate(("qt" if step == 5 else "tq") + "t"):
                    file.write(json.dumps({"date": "20260801", "time": "0000", "step": str(step), "levtype": "pl",
                                           "levelist": "850" if i == 2 else "500", "param": name,
                                           "_offset": sum(sizes[:i]), "_length": sizes[i]}) + "\n")
        self.index_lines(6, "found another parameter: make the index again")
        self.check_deep("5.grib2: 2 reads failed, the first: /q_isobaricInhPa: q_isobaricInhPa/0.5.0.0: "
                        "expected GRIB_parameterCategory 1, found 0 in the message at byte 0: ")

    def test_find_nothing_in_the_set_of_another_program_that_is_right(self):
        """Attributes and levels are those of ecCodes there, and are not compared."""
        self.index_lines(2)
        with open(self.set) as file:
            refs = json.load(file)
        attributes = json.loads(refs["refs"]["t_isobaricInhPa/.zattrs"])
        for name in list(attributes):
            if name.startswith("GRIB_"):
                del attributes[name]
        refs["refs"]["t_isobaricInhPa/.zattrs"] = json.dumps(attributes)
        with open(self.set, "w") as file:
            json.dump(refs, file)
        self.check_deep()


class Lengths(Indices):
    def write(self, without):
        """3.index whose lines lack their length where `without` says so."""
        with open(self.path("3.index")) as file:
            lines = [json.loads(line) for line in file]
        for i in without:
            del lines[i]["_length"]
        with open(self.path("3.index"), "w") as file:
            file.write("".join(json.dumps(line) + "\n" for line in lines))
        return self.index(self.path("3.index"))

    def test_are_found_of_the_lines_without(self):
        for without in ((1,), (2,), (1, 2)):
            with self.subTest(without):
                done = self.write(without)
                self.assertEqual(done.returncode, 0, done.stderr)
                dataset = gdal.Open(f'REFS:"{self.set}":/t_isobaricInhPa')
                for band in range(len(LEVELS)):
                    np.testing.assert_array_equal(dataset.GetRasterBand(band + 1).ReadAsArray(), VALUES)
                os.remove(self.set)
                write_step(self.folder.served, 3)


class Requests(Indices):
    def count(self, names):
        server = Server(self.folder)
        self.addCleanup(server.close)
        done = self.index(*(server.url(name) for name in names))
        self.assertEqual(done.returncode, 0, done.stderr)
        return [request["path"].rsplit("/", 1)[-1] for request in server.requests()]

    def test_of_texts_are_two_for_each_file(self):
        paths = self.count(f"gfs.f{step:03}.idx" for step in range(STEPS))
        self.assertLessEqual(sum(path.endswith(".idx") for path in paths), STEPS + 1)
        self.assertLessEqual(sum(not path.endswith(".idx") for path in paths), STEPS + 2)

    def test_of_lines_is_one_for_each_file(self):
        paths = self.count(f"{step}.index" for step in range(STEPS))
        self.assertLessEqual(sum(path.endswith(".index") for path in paths), STEPS + 1)
        self.assertLessEqual(sum(not path.endswith(".index") for path in paths), 4)


class Stores(Indices):
    """A store lists the sizes of files, and when they and their indices were modified."""

    def setUp(self):
        super().setUp()
        self.objects = {f"/b/run/{name}": self.folder.read(name) for name in os.listdir(self.folder.served)}
        self.server = S3Server(self.objects, {})
        self.addCleanup(self.server.close)
        self.server.modified = {name: f"2026-08-01T04:00:0{int(name.endswith('.idx'))}.000Z" for name in self.objects}

    def run_refs(self, *arguments):
        return subprocess.run([REFS, *arguments], capture_output=True, text=True,
                              env={**os.environ, "AWS_ENDPOINT_URL": self.server.url, "AWS_NO_SIGN_REQUEST": "YES"})

    def index_run(self):
        done = self.run_refs("index", "s3://b/run/gfs.f*.idx", "-o", self.set)
        return done, [path.rsplit("/", 1)[-1] for _, path, _, _ in self.server.asked]

    def lengths(self):
        with open(self.set) as file:
            refs = json.load(file)["refs"]
        return [refs[f"t_isobaricInhPa/0.{step}.2.0.0"][2] for step in range(STEPS)]

    def test_are_asked_for_a_list_and_each_index(self):
        done, paths = self.index_run()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.lengths(), [len(message(step, 850, 4000 + 10 * step)) for step in range(STEPS)])
        self.assertLessEqual(sum(path.endswith(".idx") for path in paths), STEPS + 1)
        self.assertLessEqual(sum(not path.endswith(".idx") for path in paths), 4, paths)

    def test_say_the_states_of_the_files(self):
        """By their list, or as they said themselves where they were read."""
        self.index_run()
        with open(self.set) as file:
            refs = json.load(file)["refs"]
        states = {state["url"].rsplit("/", 1)[-1]: state for state in json.loads(refs[".zsources/.zattrs"])["sources"]}
        self.assertEqual([states[f"gfs.f{step:03}"]["size"] for step in range(STEPS)],
                         [len(self.objects[f"/b/run/gfs.f{step:03}"]) for step in range(STEPS)])
        self.assertEqual(states["gfs.f009"]["modified"], 1785556800)

    def test_are_asked_by_the_driver_as_often(self):
        code = ("from osgeo import gdal; gdal.UseExceptions(); "
                "print(gdal.Open('REFS:\"s3://b/run/gfs.f*.idx\":/t_isobaricInhPa').RasterCount)")
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True,
                              env={**os.environ, "AWS_S3_ENDPOINT": self.server.url[len("http://"):], "AWS_HTTPS": "NO",
                                   "AWS_VIRTUAL_HOSTING": "FALSE", "AWS_NO_SIGN_REQUEST": "YES"})
        self.assertEqual(done.stdout.strip(), str(STEPS * len(LEVELS)), done.stderr)
        self.assertLessEqual(sum(not path.endswith(".idx") for _, path, _, _ in self.server.asked), 8)

    def test_with_files_that_are_younger_than_their_index_are_asked_for_these(self):
        self.server.modified["/b/run/gfs.f003"] = "2026-08-01T05:00:00.000Z"
        self.objects["/b/run/gfs.f003"] += message(3, 925, 30)
        done, _ = self.index_run()
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("expected /vsis3/b/run/gfs.f003 to end at byte", done.stderr.replace("s3://", "/vsis3/"))

    def test_with_files_that_go_on_for_long_are_asked_for_these(self):
        """As if the index had been written later, of a part of the file."""
        self.objects["/b/run/gfs.f003"] += message(3, 925, 30000)
        done, _ = self.index_run()
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("after the last message", done.stderr)

    def test_with_files_that_go_on_without_a_message_are_read(self):
        self.objects["/b/run/gfs.f003"] += bytes(30)
        self.objects["/b/run/5.grib2"] += bytes(30)
        for done in self.index_run()[0], self.run_refs("index", "s3://b/run/*.index", "-o", self.set):
            self.assertEqual(done.returncode, 0, done.stderr)

    def test_without_dates_are_asked_for_each_file(self):
        self.server.modified = {}
        done, paths = self.index_run()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertGreaterEqual(sum(path.startswith("gfs") and not path.endswith(".idx") for path in paths), STEPS)

    def test_with_lines_that_say_lengths_are_compared_with_the_list(self):
        self.objects["/b/run/5.grib2"] += message(5, 925, 30)
        done = self.run_refs("index", "s3://b/run/*.index", "-o", self.set)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("after the last message", done.stderr)


if __name__ == "__main__":
    sys.exit(not unittest.main(exit=False, argv=[sys.argv[0], *sys.argv[2:]]).result.wasSuccessful())
