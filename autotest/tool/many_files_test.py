"""Sets of many files that a server has: how many requests are under way, and how much is printed.

    many_files_test.py PROGRAM [test ...]
"""

import json
import os
import pty
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

from osgeo import gdal

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../server"))
from served import Folder, Server  # noqa: E402

REFS = os.path.abspath(sys.argv.pop(1))
N_FILES, N_CHUNKS = 40, 4
AT_ONCE = 16  # requests of index, at the most
gdal.UseExceptions()


def run(*arguments, status=0):
    done = subprocess.run([REFS, *arguments], capture_output=True, text=True, check=False)
    if done.returncode != status:
        raise AssertionError(f"{arguments}: status {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def run_on_terminal(*arguments):
    """What a terminal shows on standard error."""
    ours, its = pty.openpty()
    with subprocess.Popen([REFS, *arguments], stdout=subprocess.DEVNULL, stderr=its) as process:
        os.close(its)
        shown = b""
        while True:
            try:
                part = os.read(ours, 4096)
            except OSError:
                break
            if not part:
                break
            shown += part
    os.close(ours)
    return shown.decode()


class ManyFiles(unittest.TestCase):
    """Files of a time step each: 4 chunks of v, and the time; and a set of each and of all."""

    def setUp(self):
        self.folder = Folder()
        self.before = os.getcwd()
        self.work = tempfile.mkdtemp()
        os.chdir(self.work)
        for i in range(N_FILES):
            self.folder.write(f"{i:02}.bin", struct.pack("<d", i) + bytes([i]) * N_CHUNKS)
        self.server = Server(self.folder, options=["--latency-ms", "50"])
        os.mkdir("parts")
        every = self.describe(N_FILES)
        for i in range(N_FILES):
            refs = self.describe(1)
            for of_all in (False, True):
                self.add_file(every if of_all else refs, i, i if of_all else 0)
            with open(f"parts/{i:02}.json", "w", encoding="utf-8") as file:
                json.dump(refs, file)
        with open("all.json", "w", encoding="utf-8") as file:
            json.dump(every, file)

    def tearDown(self):
        self.server.close()
        self.folder.close()
        os.chdir(self.before)
        shutil.rmtree(self.work)

    @staticmethod
    def describe(n):
        def array(shape, chunks, dtype):
            return json.dumps({"zarr_format": 2, "shape": shape, "chunks": chunks, "dtype": dtype, "fill_value": None,
                               "order": "C", "compressor": None, "filters": None})
        return {".zgroup": '{"zarr_format": 2}',
                "time/.zarray": array([n], [1], "<f8"),
                "time/.zattrs": '{"_ARRAY_DIMENSIONS": ["time"], "units": "days since 2000-01-01"}',
                "v/.zarray": array([n, N_CHUNKS], [1, 1], "|u1"), "v/.zattrs": '{"_ARRAY_DIMENSIONS": ["time", "x"]}'}

    def add_file(self, refs, number, step):
        url = self.server.url(f"{number:02}.bin")
        refs[f"time/{step}"] = [url, 0, 8]
        for x in range(N_CHUNKS):
            refs[f"v/{step}.{x}"] = [url, 8 + x, 1]

    def under_way(self, before):
        return max(request["under_way"] for request in self.server.requests()[before:])

    def expect_many_at_once(self, before):
        """As many requests as threads: some threads may still be on their way to the next one."""
        self.assertGreaterEqual(self.under_way(before), AT_ONCE // 2)

    def test_are_checked_several_at_a_time_with_a_request_each(self):
        self.assertEqual(run("check", "all.json"), f"{N_FILES} sources, 0 problems\n")
        self.assertEqual(len(self.server.requests()), N_FILES)
        self.expect_many_at_once(0)

    def test_are_decoded_several_chunks_at_a_time(self):
        self.assertEqual(run("check", "all.json", "--deep"), f"{N_FILES} sources, 0 problems\n")
        self.assertLessEqual(len(self.server.requests()), N_FILES * (2 + N_CHUNKS))
        self.expect_many_at_once(N_FILES)

    def requests_of(self, *arguments):
        before = len(self.server.requests())
        run(*arguments)
        paths = [os.path.basename(request["path"].split("?")[0]) for request in self.server.requests()[before:]]
        return [paths.count(f"{i:02}.json") for i in range(N_FILES)], [paths.count(f"{i:02}.bin") for i in range(N_FILES)]

    def test_are_opened_once_each_where_their_coordinates_tell_along_what(self):
        """Coordinates of the first and the last are read before all others, which mostly tell nothing else."""
        names = []
        for i in range(N_FILES):
            with open(f"parts/{i:02}.json", "rb") as file:
                self.folder.write(f"{i:02}.json", file.read())
            names.append(self.server.url(f"{i:02}.json"))
        named = self.requests_of("index", *names, "--along", "time", "-o", "made.json")
        found = self.requests_of("index", *names, "-o", "made.json")
        self.assertEqual(max(found[0]), 2)  # one for its state, and one for what is in it
        self.assertEqual(found[1], [n + (i in (0, N_FILES - 1)) for i, n in enumerate(named[1])])
        run("index", *names[:-1], "-o", "grown.json")
        opened, read = self.requests_of("append", "grown.json", names[-1])
        self.assertEqual((opened, read), ([0] * (N_FILES - 1) + [1], [1] * N_FILES))  # states of all, and values of the last

    def test_are_checked_by_as_many_threads_as_people_say(self):
        run("check", "all.json", "--deep", "--threads", "2", "--sample", "20")
        self.assertEqual(self.under_way(0), 2)

    def test_are_told_apart_where_each_is_packed_in_a_way_of_its_own(self):
        """Arrays of fragments and the aggregation are read by the same fetcher, several chunks at a time."""
        size = 32
        for i in range(N_FILES):
            name = f"{i:02}.bin"
            self.folder.write(name, struct.pack("<d", i) + bytes([i]) * (N_CHUNKS * size + i))
            refs = self.describe(1)
            meta = json.loads(refs["v/.zarray"])
            refs["v/.zarray"] = json.dumps({**meta, "shape": [1, N_CHUNKS * size], "chunks": [1, size]})
            refs["v/.zattrs"] = json.dumps({"_ARRAY_DIMENSIONS": ["time", "x"], "scale_factor": 1.0 + i})
            refs["time/0"] = [self.server.url(name), 0, 8]
            refs.update({f"v/0.{x}": [self.server.url(name), 8 + x * size, size] for x in range(N_CHUNKS)})
            with open(f"parts/{i:02}.json", "w", encoding="utf-8") as file:
                json.dump(refs, file)
        run("combine", "parts/*.json", "--along", "time", "-o", "packed.parq")
        for _ in range(5):
            self.assertEqual(run("check", "packed.parq", "--deep"), f"{N_FILES} sources, 0 problems\n")

    def test_have_a_line_each_however_many_chunks_are_damaged(self):
        self.folder.write("03.bin", struct.pack("<d", 3) + b"12")
        os.remove(os.path.join(self.folder.served, "05.bin"))
        for options in ([], ["--deep"]):
            lines = run("check", "all.json", *options, status=1).splitlines()
            self.assertEqual(len(lines), 3, lines)
            self.assertIn("03.bin: has 10 bytes, but /v refers to bytes up to 12", lines[0])
            self.assertIn("05.bin: ", lines[1])
            self.assertEqual(lines[2], f"{N_FILES} sources, 2 problems")
        self.assertIn("; 2 reads failed, the first: /v: ", lines[0])
        found = [json.loads(line) for line in run("check", "all.json", "--deep", "--json", status=1).splitlines()]
        self.assertEqual([os.path.basename(one["source"]) for one in found], ["03.bin", "05.bin"])

    def test_are_checked_with_progress_on_a_terminal(self):
        shown = run_on_terminal("check", "all.json", "--deep")
        self.assertIn(f"{N_FILES} of {N_FILES} sources, ", shown)
        self.assertIn(f"{N_FILES * (1 + N_CHUNKS)} of {N_FILES * (1 + N_CHUNKS)} chunks, ", shown)
        self.assertIn(" s left", shown)
        self.assertEqual(run_on_terminal("check", "all.json", "--deep", "--quiet"), "")

    def test_are_combined_from_local_sets_several_at_a_time(self):
        run("combine", "parts/*.json", "--along", "time", "-o", "combined.json")
        self.expect_many_at_once(0)
        self.assertEqual(run("check", "combined.json"), f"{N_FILES} sources, 0 problems\n")

    def test_are_combined_so_by_the_driver_too(self):
        options = ["ALONG=time"]
        dataset = gdal.OpenEx('REFS:"parts/*.json":/v', gdal.OF_RASTER, open_options=options)
        self.assertEqual(dataset.RasterYSize, N_FILES)
        self.expect_many_at_once(0)


class Names(unittest.TestCase):
    """What cannot be joined without more being said."""

    def setUp(self):
        self.work = tempfile.TemporaryDirectory()
        self.addCleanup(self.work.cleanup)

    def refuse(self, *names, along=()):
        """What the program says, and what the driver says of a list of them."""
        command = [REFS, "index", *names, *along, "-o", os.path.join(self.work.name, "all.json")]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 1, done.stderr)
        files = os.path.join(self.work.name, "list.txt")
        with open(files, "w", encoding="utf-8") as file:
            file.write("\n".join(names))
        with self.assertRaises(RuntimeError) as caught:
            gdal.OpenEx(f'REFS:"{files}"' if len(names) > 1 else f'REFS:"{names[0]}"')
        return done.stderr, str(caught.exception)

    def write(self, name, variables, axis="x", first=0, more=None):
        """Variables along an axis whose coordinates count on from `first`, and more keys."""
        refs = {".zgroup": '{"zarr_format": 2}'}
        for each in (*variables, axis):
            refs[f"{each}/.zarray"] = json.dumps({"zarr_format": 2, "shape": [2], "chunks": [2], "dtype": "|u1", "order": "C",
                                                  "fill_value": None, "compressor": None, "filters": None})
            refs[f"{each}/.zattrs"] = json.dumps({"_ARRAY_DIMENSIONS": [axis]})
            refs[f"{each}/0"] = chr(first) + chr(first + 1)
        refs.update(more or {})
        path = os.path.join(self.work.name, name)
        with open(path, "w", encoding="utf-8") as file:
            json.dump(refs, file)
        return path

    def test_of_files_without_a_common_variable_tell_what_each_has(self):
        one, other = self.write("a.json", "pqrstu"), self.write("b.json", ["snow"], first=2)
        for said in self.refuse(one, other):
            self.assertIn(f"no variable in common: {one} has p, q, r, s, t, …, {other} has snow: ", said)

    def test_of_files_with_the_same_coordinates_ask_for_a_dimension(self):
        one, other = self.write("a.json", ["v"]), self.write("b.json", ["v"])
        for said in self.refuse(one, other):
            self.assertIn(f"the coordinates of {one} and {other} are the same: name the concat dimension", said)

    def test_of_files_without_a_common_coordinate_say_so(self):
        one, other = self.write("a.json", ["v"], axis="x"), self.write("b.json", ["v"], axis="y")
        for said in self.refuse(one, other):
            self.assertIn(f"{one} and {other} have no coordinate in common: ", said)

    def time(self, shape, value):
        """A time that is no coordinate of a dimension."""
        return {"time/.zarray": json.dumps({"zarr_format": 2, "shape": shape, "chunks": shape, "dtype": "|u1", "order": "C",
                                            "fill_value": None, "compressor": None, "filters": None}),
                "time/.zattrs": json.dumps({"_ARRAY_DIMENSIONS": ["m"][:len(shape)], "units": "days since 2000-01-01"}),
                "time/0": chr(value)}

    def test_of_files_that_differ_in_other_times_name_these(self):
        for shape, shown in (([], "time"), ([1], "time (along m)")):
            one = self.write("a.json", ["v"], more=self.time(shape, 1))
            other = self.write("b.json", ["v"], more=self.time(shape, 2))
            for said in self.refuse(one, other):
                self.assertIn(f"{one} and {other} differ in {shown}, but not in the coordinate of a dimension: name", said)
            same = self.write("b.json", ["v"], more=self.time(shape, 1))
            for said in self.refuse(one, same):
                self.assertIn("are the same", said)

    def test_are_for_no_files_that_differ_in_a_time_of_their_variables(self):
        """A number that variables name as their coordinate; the time of a forecast follows from its reference and lead time."""
        attributes = {"v/.zattrs": '{"_ARRAY_DIMENSIONS":["x"],"coordinates":"time valid lead"}'}
        one = self.write("a.json", ["v"], more={**self.time([], 1), **attributes})
        other = self.write("b.json", ["v"], more={**self.time([], 2), **attributes})
        said = subprocess.run([REFS, "index", one, other, "-o", os.path.join(self.work.name, "all.json")], capture_output=True,
                              text=True, check=False)
        self.assertEqual(said.returncode, 0, said.stderr)
        group = gdal.OpenEx(f'REFS:"{os.path.join(self.work.name, "all.json")}"', gdal.OF_MULTIDIM_RASTER).GetRootGroup()
        self.assertEqual([d.GetName() for d in group.OpenMDArray("v").GetDimensions()], ["time", "x"])

    def test_of_files_with_names_as_coordinates_say_that_these_are_not_compared(self):
        labels = {"x/.zarray": json.dumps({"zarr_format": 2, "shape": [2], "chunks": [2], "dtype": "|O", "order": "C",
                                           "fill_value": None, "compressor": None, "filters": [{"id": "json2"}]})}
        one = self.write("a.json", ["v"], more={**labels, "x/0": '["p","q","|O",[2]]'})
        other = self.write("b.json", ["v"], more={**labels, "x/0": '["r","s","|O",[2]]'})
        for said in self.refuse(one, other):
            self.assertIn(f"coordinates of {one} and {other} cannot be compared (x): name the concat dimension", said)
        for said in self.refuse(one, self.write("c.json", ["v"], more={"x/.zattrs": '{"_ARRAY_DIMENSIONS":["y"]}'})):
            self.assertIn("cannot be compared (x)", said)

    def test_that_are_given_twice_are_named(self):
        one, other = self.write("a.json", ["v"]), self.write("b.json", ["v"], first=2)
        for said in self.refuse(one, other, one):
            self.assertIn(f"duplicate source {one} (1 and 3): remove one", said)

    def test_of_folders_on_http_servers_say_what_to_give(self):
        folder = Folder()
        self.addCleanup(folder.close)
        server = Server(folder)
        self.addCleanup(server.close)
        for name in ("pre/", "pre/*.nc"):
            for said in self.refuse(server.url(name)):
                self.assertIn("folders of HTTP servers cannot be listed: give a list of URLs", said)


if __name__ == "__main__":
    unittest.main(verbosity=2)
