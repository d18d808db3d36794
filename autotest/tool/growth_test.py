"""Parquet sets that grow: what an append writes, and what readers see that have opened the set before, while and
after it grew.

    growth_test.py PROGRAM [test ...]
"""

import base64
import fcntl
import json
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import time
import unittest

import numpy as np
from osgeo import gdal

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../server"))
from served import Folder, Server

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


def compact(value):
    return json.dumps(value, separators=(",", ":"))


def files(folder):
    """Which file each name is, and how large."""
    found = {}
    for path, _, names in os.walk(folder):
        for name in names:
            status = os.stat(os.path.join(path, name))
            found[os.path.relpath(os.path.join(path, name), folder)] = (status.st_ino, status.st_mtime_ns, status.st_size)
    return found


class Steps(unittest.TestCase):
    """Sets of steps whose values are 100 * step + 0, 1, …, in a folder of their own."""

    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)
        self.before = os.getcwd()
        os.chdir(self.folder)
        self.addCleanup(os.chdir, self.before)

    def write(self, first, n, width=N):
        """A set of steps, with the file that it is of; the chunks of large ones are not there."""
        name = f"{first}.json"
        steps = range(first, first + n)
        data = os.path.join(self.folder, f"{first}.bin")
        refs = {".zgroup": '{"zarr_format":2}', "time/.zarray": compact(document([n], [n], "<i4")),
                "time/.zattrs": compact({"_ARRAY_DIMENSIONS": ["time"], "units": "hours since 2000-01-01"}),
                "time/0": "base64:" + base64.b64encode(struct.pack(f"<{n}i", *steps)).decode(),
                "t/.zarray": compact(document([n, width], [1, 1], "<i4")),
                "t/.zattrs": compact({"_ARRAY_DIMENSIONS": ["time", "x"]})}
        made = {"version": 1, "refs": refs}
        if width == N:
            with open(data, "wb") as file:
                file.write(b"".join(struct.pack("<i", 100 * step + x) for step in steps for x in range(N)))
            refs.update({f"t/{i}.{x}": [data, 4 * (i * N + x), 4] for i in range(n) for x in range(N)})
        else:
            made["gen"] = [{"key": "t/{{i}}.{{x}}", "url": data, "offset": "{{(i * %d + x) * 4}}" % width, "length": "4",
                            "dimensions": {"i": {"stop": n}, "x": {"stop": width}}}]
        with open(name, "w", encoding="utf-8") as file:
            json.dump(made, file)
        return name

    def make(self, n, record_size=7):
        run("combine", self.write(0, n), "--along", "time", "--record-size", str(record_size), "-o", "all.parq")

    def append(self, first, n=1, status=0):
        return run("append", "all.parq", self.write(first, n), "--along", "time", status=status)

    def open(self, name="all.parq"):
        return gdal.OpenEx(f'REFS:"{name}"', gdal.OF_MULTIDIM_RASTER)

    def expect(self, dataset, steps):
        root = dataset.GetRootGroup()
        steps = np.array(steps)
        np.testing.assert_array_equal(root.OpenMDArray("time").ReadAsArray(), steps)
        np.testing.assert_array_equal(root.OpenMDArray("t").ReadAsArray(), 100 * steps[:, None] + np.arange(N))


class Cost(Steps):
    def test_of_a_step_is_that_of_the_step(self):
        run("combine", self.write(0, 1000, 1000), "--along", "time", "-o", "all.parq")
        was = files("all.parq")
        run("append", "all.parq", self.write(1000, 1, 1000), "--along", "time")
        written = {name: now[2] for name, now in files("all.parq").items() if was.get(name) != now}
        print(f"1 of 1001 steps, 1000 of 1 001 000 references: {len(written)} of {len(files('all.parq'))} files written, "
              f"{sum(written.values())} of {sum(now[2] for now in files('all.parq').values())} bytes")
        self.assertEqual(set(written), {".zmetadata", "time/refs.0.parq", "t/refs.100.parq"})
        self.assertLess(sum(written.values()), 64 * 1024)
        self.assertEqual(os.listdir("all.parq").count("t"), 1)
        self.assertFalse([name for name in os.listdir() if "tmp" in name])

    def test_of_many_steps_stays_that_of_the_step(self):
        self.make(2)
        anew = 0
        for step in range(2, 80):
            was = files("all.parq")
            self.append(step)
            now = files("all.parq")
            anew += not any(was[name] == now[name] for name in was if name.startswith("t/"))
        self.assertLessEqual(anew, 2)  # values of times are put together once in a while
        self.expect(self.open(), range(80))


    def test_of_steps_that_lack_a_variable_is_that_of_the_step(self):
        def write(step, has_u):
            name = self.write(step, 1)
            if has_u:
                with open(name, encoding="utf-8") as file:
                    made = json.load(file)
                refs = made["refs"]
                refs["u/.zarray"] = compact({**document([1, N], [1, 1], "<i4"), "fill_value": -9})
                refs["u/.zattrs"] = compact({"_ARRAY_DIMENSIONS": ["time", "x"], "_FillValue": -9})
                refs.update({f"u/0.{x}": refs[f"t/0.{x}"] for x in range(N)})
                refs["s/.zarray"] = compact({**document([1], [1], "<i4"), "fill_value": -9})
                refs["s/.zattrs"] = compact({"_ARRAY_DIMENSIONS": ["time"], "_FillValue": -9})
                refs["s/0"] = "base64:" + base64.b64encode(struct.pack("<i", 7 * step)).decode()
                with open(name, "w", encoding="utf-8") as file:
                    json.dump(made, file)
            return name

        has_u = [True, True, False, True, False, False, True]
        how = ["--along", "time", "--record-size", "7"]
        run("combine", write(0, True), write(1, True), *how, "-o", "all.parq")
        for step in range(2, 7):
            was = files("all.parq")
            said = run("append", "all.parq", write(step, has_u[step]), "--along", "time")
            self.assertNotIn("was rewritten", said)
            now = files("all.parq")
            self.assertEqual(was["t/refs.0.parq"], now["t/refs.0.parq"])
            self.assertEqual(was["u/refs.0.parq"], now["u/refs.0.parq"])
        self.expect(self.open(), range(7))
        got = self.open().GetRootGroup().OpenMDArray("u").ReadAsArray()
        self.assertEqual(got[:, 3].tolist(), [100 * step + 3 if has else -9 for step, has in enumerate(has_u)])
        got = self.open().GetRootGroup().OpenMDArray("s").ReadAsArray()
        self.assertEqual(got.tolist(), [7 * step if has else -9 for step, has in enumerate(has_u)])
        run("combine", *[f"{step}.json" for step in range(7)], *how, "-o", "once.parq")
        run("combine", "all.parq", *how, "-o", "again.parq")
        run("diff", "once.parq", "again.parq")


class Tiles(Steps):
    """Sets of tiles along time and step, whose values of t are 1000 * time + 100 * step + 0, 1, …"""

    def write_tile(self, time_step, step):
        name = f"{time_step}_{step}"
        data = os.path.join(self.folder, name + ".bin")
        with open(data, "wb") as file:
            file.write(struct.pack(f"<{N}i", *(1000 * time_step + 100 * step + x for x in range(N))))
        refs = {".zgroup": '{"zarr_format":2}'}
        for array, dims, value in (("time", ["time"], time_step), ("step", ["step"], step),
                                   ("lead", ["time", "step"], 10 * time_step + step)):
            refs[array + "/.zarray"] = compact(document([1] * len(dims), [1] * len(dims), "<i4"))
            refs[array + "/.zattrs"] = compact({"_ARRAY_DIMENSIONS": dims})
            refs[array + "/" + ".".join("0" * len(dims))] = "base64:" + base64.b64encode(struct.pack("<i", value)).decode()
        refs["t/.zarray"] = compact(document([1, 1, N], [1, 1, 1], "<i4"))
        refs["t/.zattrs"] = compact({"_ARRAY_DIMENSIONS": ["time", "step", "x"]})
        refs.update({f"t/0.0.{x}": [data, 4 * x, 4] for x in range(N)})
        with open(name + ".json", "w", encoding="utf-8") as file:
            json.dump({"version": 1, "refs": refs}, file)
        return name + ".json"

    def test_that_come_late_write_the_record_files_that_they_are_in(self):
        names = [self.write_tile(time_step, step) for time_step in range(2) for step in range(3)]
        along = ("--along", "time", "--along", "step", "--record-size", "7")
        run("combine", *names[:4], names[5], "-q", *along, "-o", "all.parq")
        reader = self.open()
        reader.GetRootGroup().OpenMDArray("t").Read([0, 0, 0], [1, 1, N])
        was, folder = files("all.parq"), os.stat("all.parq").st_ino
        said = run("append", "all.parq", names[4])
        self.assertNotIn("was rewritten", said)
        self.assertEqual(os.stat("all.parq").st_ino, folder)
        now = files("all.parq")
        self.assertEqual(set(was) | {"t/refs.12.parq", "t/refs.13.parq"}, set(now))
        written = {name for name in now if was.get(name) != now[name]}
        # Chunks 80 to 99 are those of the tile; lead is one chunk.
        self.assertEqual(written, {".zmetadata", "lead/refs.0.parq", *(f"t/refs.{i}.parq" for i in range(11, 15))})
        expected = 1000 * np.arange(2)[:, None, None] + 100 * np.arange(3)[:, None] + np.arange(N)
        for dataset in (reader, self.open()):
            found = dataset.GetRootGroup().OpenMDArray("t").ReadAsArray()
            np.testing.assert_array_equal(found[[0, 0, 0, 1, 1], [0, 1, 2, 0, 2]], expected[[0, 0, 0, 1, 1], [0, 1, 2, 0, 2]])
        np.testing.assert_array_equal(found, expected)
        run("combine", *names, *along, "-o", "once.parq")
        self.assertEqual(run("diff", "all.parq", "once.parq"), "")

    def test_that_come_late_are_compared_with_chunks_of_their_own_array(self):
        """The last record file of t is written when u, whose chunks lie elsewhere, is begun."""
        names = [self.write_tile(time_step, step) for time_step in range(2) for step in range(3)]
        for name in names:
            with open(name, encoding="utf-8") as file:
                made = json.load(file)
            made["refs"].update({"u" + key[1:]: [value[0], value[1], 2] if isinstance(value, list) else value.replace("<i4", "<i2")
                                 for key, value in made["refs"].items() if key.startswith("t/")})
            with open(name, "w", encoding="utf-8") as file:
                json.dump(made, file)
        run("combine", *names[:4], names[5], "-q", "--along", "time", "--along", "step", "-o", "all.parq")
        self.assertNotIn("was rewritten", run("append", "all.parq", names[4]))
        run("combine", *names, "--along", "time", "--along", "step", "-o", "once.parq")
        self.assertEqual(run("diff", "all.parq", "once.parq"), "")

    def test_that_come_late_and_change_what_was_there_write_it_anew(self):
        names = [self.write_tile(time_step, step) for time_step in range(2) for step in range(3)]
        along = ("--along", "time", "--along", "step", "--record-size", "7")
        run("combine", *names[:4], names[5], "-q", *along, "-o", "all.parq")
        os.mkdir("moved")
        for name in os.listdir():
            if name.endswith(".bin"):
                shutil.copy(name, "moved")
        reader = self.open()
        reader.GetRootGroup().OpenMDArray("t").Read([0, 0, 0], [1, 1, N])
        said = run("append", "all.parq", names[4], "--rewrite", f"{self.folder}/=>{self.folder}/moved/")
        self.assertIn("was rewritten (t and perhaps others have other chunks, or values, where they had some)", said)
        expected = 1000 * np.arange(2)[:, None, None] + 100 * np.arange(3)[:, None] + np.arange(N)
        np.testing.assert_array_equal(self.open().GetRootGroup().OpenMDArray("t").ReadAsArray(), expected)


class Readers(Steps):
    def test_that_opened_before_see_what_there_was(self):
        self.make(5)
        before = self.open()
        for step in (5, 6, 7):
            self.append(step)
        self.expect(self.open(), range(8))
        self.expect(before, range(5))

    def test_that_open_meanwhile_see_what_there_was_until_the_last_file(self):
        self.make(5)
        shutil.copytree("all.parq", "was.parq")
        self.append(5, 2)
        new = [name for name, now in files("all.parq").items() if now != files("was.parq").get(name)]
        changed = [name for name in new if name != ".zmetadata"]
        self.assertGreater(len(changed), 2)
        for i, name in enumerate(changed):
            os.makedirs(os.path.dirname(os.path.join("was.parq", name)), exist_ok=True)
            shutil.copy(os.path.join("all.parq", name), os.path.join("was.parq", name))
            shutil.copytree("was.parq", f"between{i}.parq")  # which nobody has opened yet
            self.expect(self.open(f"between{i}.parq"), range(5))
        shutil.copy("all.parq/.zmetadata", "was.parq/.zmetadata")
        self.expect(self.open("was.parq"), range(7))

    def test_that_open_again_and_again_see_whole_states(self):
        self.make(5)
        names = [self.write(step, 1) for step in range(5, 25)]
        with subprocess.Popen(["sh", "-c", 'refs=$0; for name; do "$refs" append all.parq "$name" --along time || exit; done',
                               REFS, *names]) as appending:
            seen = set()
            while appending.poll() is None:
                # In processes of their own: this one would share what it knows of the set.
                n = json.loads(run("ls", "all.parq", "--json"))
                n = next(array["shape"][0] for array in n if array["path"] == "/t")
                dataset = self.open()
                root = dataset.GetRootGroup()
                steps = root.OpenMDArray("time").GetDimensions()[0].GetSize()
                self.expect(dataset, range(steps))
                seen |= {n, steps}
        self.assertEqual(appending.returncode, 0)
        self.assertLessEqual(seen, set(range(5, 26)))
        self.expect(self.open(), range(25))


    def test_that_opened_before_it_was_written_anew_never_mix_states(self):
        run("combine", self.write(5, 3), "--along", "time", "--record-size", "7", "-o", "all.parq")
        before = self.open().GetRootGroup().OpenMDArray("t")
        self.assertEqual(before.ReadAsArray([0, 0], [1, 2]).tolist(), [[500, 501]])
        self.assertIn("all.parq: was rewritten (t and perhaps others have other chunks, or values, where they had some): programs that have it open must open it again", self.append(0, 3))
        with self.assertRaisesRegex(RuntimeError, "all.parq: the set was rewritten since it was opened"):
            before.ReadAsArray([2, 10], [1, 5])
        self.expect(self.open(), [0, 1, 2, 5, 6, 7])
        before = self.open().GetRootGroup().OpenMDArray("t")
        os.rename("all.parq", "elsewhere.parq")
        with self.assertRaisesRegex(RuntimeError, "does not exist any more"):
            before.ReadAsArray()

    def test_that_open_while_it_is_written_anew_see_whole_states(self):
        run("combine", self.write(12, 5), "--along", "time", "--record-size", "7", "-o", "all.parq")
        names = [self.write(step, 1) for step in range(11, -1, -1)]
        with subprocess.Popen(["sh", "-c", 'refs=$0; for name; do "$refs" append -q all.parq "$name" --along time || exit; done',
                               REFS, *names]) as appending:
            while appending.poll() is None:
                shown = subprocess.run([REFS, "info", "all.parq", "t[0,19]", "--json"], capture_output=True, text=True,
                                       check=False)
                if shown.returncode != 0:
                    self.assertRegex(shown.stderr, "was rewritten|was replaced")
                dataset = self.open()
                array = dataset.GetRootGroup().OpenMDArray("time")
                try:
                    self.expect(dataset, range(17 - array.GetDimensions()[0].GetSize(), 17))
                except RuntimeError as problem:
                    self.assertRegex(str(problem), "was rewritten|not there any more|was replaced")
        self.assertEqual(appending.returncode, 0)
        self.expect(self.open(), range(17))


class Servers(Steps):
    """What was uploaded to the name of a set that is open; nothing older than a minute is seconds apart."""

    def setUp(self):
        super().setUp()
        self.served = Folder()
        self.addCleanup(self.served.close)
        self.server = Server(self.served)
        self.addCleanup(self.server.close)
        for name, value in (("GDAL_ALLOW_REMOTE_RESOURCE_TO_ACCESS_LOCAL_FILE", "YES"), ("REFS_MAX_GAP", "0"),
                            ("REFS_READ_AHEAD", "NO"), ("REFS_TRUST_SECONDS", "0")):
            gdal.SetConfigOption(name, value)
            self.addCleanup(gdal.SetConfigOption, name, None)

    def combine(self, first, n):
        """A set whose sources are noted, as those are that index makes."""
        name = self.write(first, n)
        with open(name, encoding="utf-8") as file:
            document = json.load(file)
        data = os.path.join(self.folder, f"{first}.bin")
        status = os.stat(data)
        document["refs"][".zsources/.zgroup"] = '{"zarr_format":2}'
        document["refs"][".zsources/.zattrs"] = compact(
            {"sources": [{"url": data, "size": status.st_size, "modified": int(status.st_mtime)}]})
        with open(name, "w", encoding="utf-8") as file:
            json.dump(document, file)
        return name

    def upload(self, minutes_ago):
        """Copies what changed, as programs that upload do; each file has the time at which it came."""
        target = os.path.join(self.served.served, "all.parq")
        for path, _, names in os.walk("all.parq"):
            folder = os.path.join(target, os.path.relpath(path, "all.parq"))
            os.makedirs(folder, exist_ok=True)
            for name in names:
                source, to = os.path.join(path, name), os.path.join(folder, name)
                with open(source, "rb") as file:
                    content = file.read()
                if os.path.exists(to):
                    with open(to, "rb") as file:
                        if file.read() == content:
                            continue
                with open(to, "wb") as file:
                    file.write(content)
                then = os.stat("/proc/self").st_mtime - 60 * minutes_ago
                if minutes_ago > 0:
                    os.utime(to, (then, then))

    def array(self):
        return self.open(self.server.url("all.parq")).GetRootGroup().OpenMDArray("t")

    def make_and_open(self):
        run("combine", self.combine(5, 3), "--along", "time", "--record-size", "7", "-o", "all.parq")
        self.upload(9)
        before = self.array()
        self.assertEqual(before.ReadAsArray([0, 0], [1, 2]).tolist(), [[500, 501]])
        return before

    def requests(self):
        return len([r for r in self.server.requests() if r["path"].endswith(".zmetadata")])

    def test_that_are_as_they_were_are_asked_for_record_files_alone(self):
        before = self.make_and_open()
        n = self.requests()
        before.ReadAsArray()
        self.assertEqual(self.requests(), n)

    def expect_one_request_for_metadata(self, minutes):
        """Where the record files that are not read yet have that age."""
        before = self.make_and_open()
        for i in range(1, 9):
            to = os.path.join(self.served.served, f"all.parq/t/refs.{i}.parq")
            then = os.stat("/proc/self").st_mtime - 60 * minutes
            os.utime(to, (then, then))
        n = self.requests()
        before.ReadAsArray()
        self.assertEqual(self.requests(), n + 1)

    def test_whose_metadata_came_first_are_asked_for_them_once(self):
        self.expect_one_request_for_metadata(5)

    def test_whose_record_files_are_older_than_those_read_are_asked_for_their_metadata_once(self):
        self.expect_one_request_for_metadata(15)

    def test_that_are_replaced_by_older_ones_never_mix_states(self):
        before = self.make_and_open()
        shutil.rmtree("all.parq")
        run("combine", self.combine(0, 3), "--along", "time", "--record-size", "7", "-o", "all.parq")
        self.upload(15)
        with self.assertRaisesRegex(RuntimeError, "all.parq/.zmetadata: the set was rewritten since it was opened"):
            before.ReadAsArray([2, 10], [1, 5])
        self.assertEqual(self.array().ReadAsArray()[2, 10], 210)

    def test_that_are_written_anew_never_mix_states(self):
        before = self.make_and_open()
        shutil.rmtree("all.parq")
        run("combine", self.combine(0, 3), "--along", "time", "--record-size", "7", "-o", "all.parq")
        self.upload(5)
        with self.assertRaisesRegex(RuntimeError, "all.parq/.zmetadata: the set was rewritten since it was opened"):
            before.ReadAsArray([2, 10], [1, 5])
        self.assertEqual(self.array().ReadAsArray()[2, 10], 210)

    def test_that_are_written_twice_within_seconds_never_mix_states(self):
        run("combine", self.combine(5, 3), "--along", "time", "--record-size", "7", "-o", "all.parq")
        self.upload(0)
        before = self.array()
        shutil.rmtree("all.parq")
        run("combine", self.combine(0, 3), "--along", "time", "--record-size", "7", "-o", "all.parq")
        time.sleep(1.2)
        self.upload(0)
        with self.assertRaisesRegex(RuntimeError, "was rewritten"):
            before.ReadAsArray([2, 10], [1, 5])
        self.assertEqual(self.array().ReadAsArray()[2, 10], 210)

    def test_whose_servers_date_all_answers_as_they_are_made_are_read(self):
        self.server.close()
        now = {"headers": {"Last-Modified": "{now+0}"}}
        self.server = Server(self.served, {path: now for path in (
            "all.parq/.zmetadata", *(f"all.parq/t/refs.{i}.parq" for i in range(9)))})
        self.addCleanup(self.server.close)
        run("combine", self.write(5, 3), "--along", "time", "--record-size", "7", "-o", "all.parq")
        self.upload(9)
        before = self.array()
        time.sleep(1.2)
        n = self.requests()
        self.assertEqual(before.ReadAsArray([2, 10], [1, 1]).tolist(), [[710]])
        np.testing.assert_array_equal(before.ReadAsArray(), 100 * np.arange(5, 8)[:, None] + np.arange(N))
        self.assertLessEqual(self.requests(), n + 3)

    def test_that_are_gone_are_no_missing_values(self):
        before = self.make_and_open()
        shutil.rmtree(os.path.join(self.served.served, "all.parq"))
        with self.assertRaisesRegex(RuntimeError, "does not exist any more"):
            before.ReadAsArray([2, 10], [1, 5])

    def test_that_grow_are_read_on(self):
        before = self.make_and_open()
        run("append", "all.parq", self.combine(8, 2), "--along", "time")
        self.upload(5)
        np.testing.assert_array_equal(before.ReadAsArray(), 100 * np.arange(5, 8)[:, None] + np.arange(N))
        self.assertEqual(self.array().ReadAsArray().shape, (5, N))


class Failures(Steps):
    def test_leave_the_set_as_it_was(self):
        self.make(5)
        metadata = files("all.parq")[".zmetadata"]
        os.mkdir("all.parq/t/refs.16.parq")  # in the way of one that is new
        said = self.append(5, 2, status=1)
        self.assertIn("refs.16.parq: cannot be written", said)
        self.assertEqual(files("all.parq")[".zmetadata"], metadata)
        self.expect(self.open(), range(5))
        self.assertFalse([name for name in os.listdir() if "tmp" in name])
        os.rmdir("all.parq/t/refs.16.parq")
        self.append(5)  # less than what was left
        self.expect(self.open(), range(6))

    def test_that_lose_record_files_are_told_by_check(self):
        """Readers take absent record files for absent chunks, as fsspec does."""
        self.make(5, record_size=7)
        self.assertEqual("1 source, 0 problems\n", run("check", "all.parq"))
        os.remove("all.parq/t/refs.3.parq")
        os.remove("all.parq/time/refs.0.parq")
        said = run("check", "all.parq")
        self.assertIn("refs: warning: all.parq/t/: 1 of 15 record files are missing: their chunks read as the fill value", said)
        self.assertIn("refs: warning: all.parq/time/: 1 of 1 record files are missing", said)
        shutil.rmtree("all.parq/t")
        self.assertIn("all.parq/t/: 15 of 15 record files are missing", run("check", "all.parq"))

    def test_another_program_that_appends_is_told(self):
        self.make(2)
        folder = os.open("all.parq", os.O_RDONLY)
        self.addCleanup(os.close, folder)
        fcntl.flock(folder, fcntl.LOCK_EX)
        self.assertIn("another program appends to it", self.append(2, status=1))
        fcntl.flock(folder, fcntl.LOCK_UN)
        self.append(2)
        self.expect(self.open(), range(3))


KINDS = ("packing", "type", "units", "chunks")


class Unlike(Steps):
    """Steps that differ: each of the odd ones in packing, type, units or chunk shape from those before."""

    def write_unlike(self, step, kind, odd):
        """A set of one step of t, and of s, which is small: both are 100 * step + 0, 1, … once unpacked."""
        name = f"{step}.json"
        scale = .5 if kind == "packing" and odd else 1
        dtype = "<f8" if kind == "type" and odd else "<f4"
        factor = .001 if kind == "units" and odd else 1
        attributes = {"long_name": "length", "units": "km" if factor != 1 else "m", "_FillValue": -1}
        if kind == "packing":
            attributes["scale_factor"] = scale
        width = N if kind == "chunks" and odd else 1
        values = ((100 * step + np.arange(N)) * factor / scale).astype(dtype)
        values.tofile(f"{step}.bin")
        size = values.itemsize * width
        refs = {".zgroup": '{"zarr_format":2}', "time/.zarray": compact(document([1], [1], "<i4")),
                "time/.zattrs": compact({"_ARRAY_DIMENSIONS": ["time"], "units": "hours since 2000-01-01"}),
                "time/0": "base64:" + base64.b64encode(struct.pack("<i", step)).decode(),
                "t/.zarray": compact({**document([1, N], [1, width], dtype), "fill_value": -1}),
                "t/.zattrs": compact({"_ARRAY_DIMENSIONS": ["time", "x"], **attributes}),
                "s/.zarray": compact({**document([1], [1], dtype), "fill_value": -1}),
                "s/.zattrs": compact({"_ARRAY_DIMENSIONS": ["time"], **attributes}),
                "s/0": [os.path.abspath(f"{step}.bin"), 0, values.itemsize]}
        refs.update({f"t/0.{i}": [os.path.abspath(f"{step}.bin"), i * size, size] for i in range(N // width)})
        with open(name, "w", encoding="utf-8") as file:
            json.dump({"version": 1, "refs": refs}, file)
        return name

    def expect_unlike(self, dataset, n):
        root = dataset.GetRootGroup()
        expected = 100. * np.arange(n)[:, None] + np.arange(N)
        for name, values in (("t", expected), ("s", expected[:, 0])):
            array = root.OpenMDArray(name)
            found = array.ReadAsArray() * (array.GetScale() or 1)
            np.testing.assert_allclose(found, values, rtol=1e-6, err_msg=name)

    def check(self, kind, first_odd, n):
        """Appends step by step: each writes what it adds, and whoever opened the set before reads on. What is odd comes
        from step `first_odd` on."""
        is_odd = [step >= first_odd and step % 2 == first_odd % 2 for step in range(n)]
        names = [self.write_unlike(step, kind, is_odd[step]) for step in range(n)]
        how = ["--along", "time", "--record-size", "7", "-q", "-o"]
        run("combine", *names[:4], *how, "all.parq")
        readers = []
        for step in range(4, n):
            readers.append((self.open(), step))
            half = self.open()
            half.GetRootGroup().OpenMDArray("t").Read([0, 0], [1, N])
            readers.append((half, step))
            was, folder = files("all.parq"), os.stat("all.parq").st_ino
            said = run("append", "all.parq", names[step], "--along", "time")
            self.assertEqual(os.stat("all.parq").st_ino, folder, (kind, step))
            self.assertNotIn("was rewritten", said)
            now = files("all.parq")
            self.assertLessEqual(set(was), set(now))
            inodes = {state[0] for state in was.values()}
            written = {name for name in now if was.get(name) != now[name] and now[name][0] not in inodes}
            # .zmetadata, time, s, the fragment's records, and the last one of another
            self.assertLessEqual(len(written), 10, (kind, step, written))
            for reader, n_before in readers:
                self.expect_unlike(reader, n_before)
            self.expect_unlike(self.open(), step + 1)
        run("combine", *names, *how, "once.parq")
        self.assertEqual(run("diff", "all.parq", "once.parq"), "")
        run("combine", "all.parq", *how, "again.parq")
        for name in files("once.parq"):
            with open(os.path.join("once.parq", name), "rb") as one, open(os.path.join("again.parq", name), "rb") as other:
                self.assertEqual(one.read(), other.read(), name)

    def test_steps_of_an_aggregation_cost_what_they_add(self):
        for kind in KINDS:
            with self.subTest(kind=kind):
                self.check(kind, 1, 9)

    def test_the_first_unlike_step_leaves_readers_what_they_read(self):
        for kind in KINDS:
            with self.subTest(kind=kind):
                self.check(kind, 6, 10)

    def test_are_warned_of_when_they_come_first(self):
        names = [self.write_unlike(step, "packing", step % 2 == 1) for step in range(4)]
        run("combine", names[0], names[2], "--along", "time", "-o", "all.parq")
        told = ("differ in scale_factor 1 and 0.5: it becomes an aggregation, which kerchunk, VirtualiZarr and "
                "zarr-python do not read; for these, make one set of the sources of each kind")
        self.assertIn(told, run("append", "all.parq", self.write_unlike(5, "packing", True), "--along", "time"))
        self.assertEqual(run("append", "all.parq", self.write_unlike(7, "packing", True), "--along", "time"), "")


class Remembered(Steps):
    def write_named(self, step):
        """A data file of netCDF-3 without a coordinate: its name says its time. It has a variable that is not wanted."""
        name = f"t_{step:03}.nc"
        def text(value):
            raw = value.encode()
            return struct.pack(">i", len(raw)) + raw + b"\0" * (-len(raw) % 4)
        header = b"CDF\1" + struct.pack(">i", 0)
        header += struct.pack(">2i", 10, 1) + text("x") + struct.pack(">i", N) + struct.pack(">2i", 0, 0)
        variables = struct.pack(">2i", 11, 2)
        size = len(header) + 8 + 2 * (4 + 4 + 4 + 4 + 8 + 4 + 4 + 4)
        for i, variable in enumerate(("t", "u")):
            variables += text(variable) + struct.pack(">2i", 1, 0) + struct.pack(">2i", 0, 0)
            variables += struct.pack(">3i", 4, 4 * N, size + 4 * N * i)
        values = b"".join(struct.pack(">i", 100 * step + x) for x in range(N))
        with open(name, "wb") as file:
            file.write((header + variables).ljust(size, b"\0") + 2 * values)
        return name

    def test_how_a_set_was_joined_is_not_asked_for_again(self):
        names = [self.write_named(step) for step in range(4)]
        for output in ("all.json", "all.parq"):
            with self.subTest(output=output):
                run("index", *names[:2], "--pattern", "t_{time:d}.nc", "--variables", "t", "-o", output)
                run("append", output, names[2])
                run("append", output, names[3])
                run("index", *names, "--pattern", "t_{time:d}.nc", "--variables", "t", "-o", "once.json")
                self.expect(self.open(output), range(4))
                self.assertNotIn("u", self.open(output).GetRootGroup().GetMDArrayNames())
                self.assertEqual(run("diff", output, "once.json"), "")

    def test_sets_of_single_files_say_what_they_would_have_said_at_once(self):
        names = [self.write_named(step) for step in range(3)]
        how = ("--pattern", "t_{time:d}.nc", "--variables", "t")
        for name in names:
            run("index", name, *how, "-o", name + ".json")
        run("combine", *(name + ".json" for name in names), "--along", "time", "-o", "all.json")
        run("index", *names, *how, "-o", "once.json")
        with open("all.json", "rb") as one, open("once.json", "rb") as other:
            self.assertEqual(one.read(), other.read())
        run("append", "all.json", self.write_named(3))
        self.expect(self.open("all.json"), range(4))

    def test_what_is_damaged_in_it_is_an_error_that_names_the_member(self):
        self.make(2)
        run("convert", "all.parq", "-o", "all.json")
        with open("all.json", encoding="utf-8") as file:
            made = json.load(file)
        refs = made.get("refs", made)
        (key,) = [key for key in refs if "joined" in refs[key]]
        attributes = json.loads(refs[key]) if isinstance(refs[key], str) else refs[key]
        for joined, expected in (({"along": [1]}, 'expected a list of strings as "along"'),
                                 ({"along": "time"}, 'expected a list of strings as "along"'),
                                 ({"along": ["time", None]}, 'expected a list of strings as "along"'),
                                 ({"variables": {}}, 'expected a list of strings as "variables"'),
                                 ({"pattern": 5}, 'expected a string as "pattern"'), ({"group": ["g"]}, 'expected a string as "group"'),
                                 ({"inline": "many"}, 'expected a number of bytes as "inline"'), ([], '"joined": expected an object')):
            with self.subTest(joined):
                refs[key] = json.dumps({**attributes, "joined": joined})
                with open("all.json", "w", encoding="utf-8") as file:
                    json.dump(made, file)
                said = run("append", "all.json", self.write(2, 1), status=1)
                self.assertIn(expected, said)
                if isinstance(joined, dict):
                    self.assertTrue(said.startswith("refs: all.json: cannot read how it was combined"), said)

    def test_records_of_sources_that_are_damaged_are_told_with_the_set(self):
        self.make(2)
        run("convert", "all.parq", "-o", "all.json")
        with open("all.json", encoding="utf-8") as file:
            made = json.load(file)
        refs = made.get("refs", made)
        (key,) = [key for key in refs if "joined" in refs[key]]
        attributes = json.loads(refs[key]) if isinstance(refs[key], str) else refs[key]
        for sources, problem in ((5, "sources: expected a list"), ([{}], "sources[0] has no url")):
            refs[key] = json.dumps({**attributes, "sources": sources})
            with open("all.json", "w", encoding="utf-8") as file:
                json.dump(made, file)
            for verb in (["info", "all.json"], ["check", "all.json"], ["convert", "all.json", "-o", "o.json"],
                         ["append", "all.json", self.write(2, 1)]):
                with self.subTest(verb, problem=problem):
                    self.assertIn(f"refs: all.json: {key}: {problem}: index all sources again\n",
                                  run(*verb, status=1))

    def test_what_contradicts_it_is_an_error_that_names_both(self):
        self.make(2)
        said = run("append", "all.parq", self.write(2, 1), "--along", "x", status=1)
        self.assertIn("all.parq was combined along time, but --along says x: leave the option out, or index all sources again", said)
        said = run("append", "all.parq", self.write(2, 1), "--pattern", "{x:d}.json", status=1)
        self.assertIn("but --pattern says x", said)
        run("append", "all.parq", self.write(2, 1))
        self.expect(self.open(), range(3))


class Anew(Steps):
    def test_is_written_what_does_not_only_grow(self):
        run("combine", self.write(5, 3), "--along", "time", "--record-size", "7", "-o", "all.parq")
        self.append(0, 3)
        self.expect(self.open(), [0, 1, 2, 5, 6, 7])
        self.append(3, 2)
        self.expect(self.open(), range(8))

    def test_is_written_what_others_wrote(self):
        self.make(5)
        name = "all.parq/.zmetadata"
        with open(name, encoding="utf-8") as file:
            made = json.load(file)
        made["metadata"] = {key: json.dumps(value) for key, value in made["metadata"].items()}
        with open(name, "w", encoding="utf-8") as file:
            json.dump(made, file)
        self.append(5)
        self.expect(self.open(), range(6))
        self.append(6)
        self.expect(self.open(), range(7))

    def test_gives_what_joining_gives(self):
        names = [self.write(step, 1) for step in range(6)]
        how = ["--along", "time", "--record-size", "7", "-o"]
        run("combine", *names[:2], *how, "all.parq")
        for name in names[2:]:
            run("append", "all.parq", name, "--along", "time")
        run("combine", *names, *how, "once.parq")
        run("combine", "all.parq", *how, "again.parq")
        self.assertIn("t/refs.11.parq", files("once.parq"))
        for name in files("once.parq"):
            with open(os.path.join("once.parq", name), "rb") as one, open(os.path.join("again.parq", name), "rb") as other:
                self.assertEqual(one.read(), other.read(), name)
        self.expect(self.open("all.parq"), range(6))

    def test_has_the_values_of_joining_all_at_once_for_diff(self):
        names = [self.write(step, 1) for step in range(4)]
        run("combine", *names[:3], "--along", "time", "-o", "all.parq")
        run("append", "all.parq", names[3], "--along", "time")
        run("combine", *names, "--along", "time", "-o", "once.parq")
        self.assertEqual(run("diff", "all.parq", "once.parq"), "")
        run("combine", *names[:3], self.write(5, 1), "--along", "time", "-o", "other.parq")
        self.assertIn("time: other values", run("diff", "all.parq", "other.parq", status=1))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[1:]])
