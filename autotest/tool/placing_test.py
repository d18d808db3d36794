"""What writes replaces the old state by the new one: programs are killed at each call that changes names of files,
and each such call fails once; what is there then is the old state or the new one, never a mixture.

    placing_test.py PROGRAM LIBRARY [test ...]
"""

import glob
import os
import shutil
import signal
import stat
import subprocess
import sys
import time
import unittest

import numpy as np
from osgeo import gdal

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "server"))
from own_folder import OwnFolder  # noqa: E402
from this_build import need  # noqa: E402

need("netcdf")
try:
    import netCDF4
except ImportError:
    print("there is no module netCDF4")
    sys.exit(77)

REFS = os.path.abspath(sys.argv.pop(1))
LIBRARY = os.path.abspath(sys.argv.pop(1))
gdal.UseExceptions()


def refs(*arguments, **more):
    before = os.environ.get("LD_PRELOAD")
    environment = dict(os.environ, **{name: str(value) for name, value in more.items()})
    if more:
        environment["LD_PRELOAD"] = f"{before}:{LIBRARY}" if before else LIBRARY
    return subprocess.run([REFS, *arguments], capture_output=True, text=True, check=False, env=environment)


def read(name):
    """Values and units, which are of one generation; None: nothing opens."""
    if not os.path.exists(name):
        return None
    root = gdal.OpenEx(f'REFS:"{name}"', gdal.OF_MULTIDIM_RASTER).GetRootGroup()
    units = root.OpenMDArray("time").GetUnit()
    return units, root.OpenMDArray("tas").ReadAsArray().tobytes()


class Placing(OwnFolder):
    def setUp(self):
        super().setUp()
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(self.folder)
        os.environ["HOME"] = self.folder
        os.mkdir("kept")

    def write(self, name, times=range(4), year=2000, missing=(), value=0):
        with netCDF4.Dataset(name, "w") as file:
            for dim, n in (("time", len(times)), ("lat", 3), ("lon", 4)):
                file.createDimension(dim, n)
                axis = file.createVariable(dim, "f8", (dim,))
                axis[:] = times if dim == "time" else np.arange(n)
                axis.units = {"time": f"days since {year}-01-01", "lat": "degrees_north", "lon": "degrees_east"}[dim]
            tas = file.createVariable("tas", "f4", ("time", "lat", "lon"), fill_value=-9999 - value)
            tas[:] = np.arange(len(times) * 12).reshape(-1, 3, 4) + value
            for step in missing:
                tas[step] = -9999 - value
        return name

    def restore(self):
        """All is as it was when `keep` was called."""
        for name in os.listdir("."):
            if name != "kept":
                (shutil.rmtree if os.path.isdir(name) else os.remove)(name)
        shutil.copytree("kept", ".", dirs_exist_ok=True)

    def keep(self):
        shutil.rmtree("kept", ignore_errors=True)
        shutil.copytree(".", "kept", ignore=shutil.ignore_patterns("kept"))

    def listing(self):
        return sorted(os.path.join(folder, name) for folder, _, names in os.walk(".") for name in names
                      if not folder.startswith("./kept"))

    def expect_all_or_nothing(self, name, *arguments):
        """What is read as `name` changes, or stays, whatever call of the program fails or is its last."""
        self.keep()
        count = self.path("kept", "count")
        files_before, before = self.listing(), read(name)
        done = refs(*arguments, AT_CALL_COUNT=count)
        self.assertEqual(done.returncode, 0, done.stderr)
        files_after, after = self.listing(), read(name)
        self.assertNotEqual(before, after)
        with open(count, encoding="ascii") as file:
            n_calls = int(file.read())
        os.remove(count)
        self.assertGreater(n_calls, 2)
        outcomes = set()
        for how in ("fail", "kill"):
            for n in range(1, n_calls + 1):
                with self.subTest(arguments=arguments, how=how, call=n, of=n_calls):
                    self.restore()
                    done = refs(*arguments, AT_CALL=n, AT_CALL_HOW=how)
                    state = read(name)
                    outcomes.add((how, state == after))
                    self.assertIn(state, (before, after), done.stderr)
                    if how == "fail":
                        self.assertIn(done.returncode, (0, 1), done.stderr)
                        self.assertEqual(state, before if done.returncode else after, done.stderr)
                        if done.returncode:
                            self.assertEqual(self.listing(), files_before)
                        continue
                    self.assertEqual(done.returncode, -signal.SIGKILL)
                    if state is not None and n % 4 == 0:
                        checked = refs("check", name, "--deep")
                        self.assertEqual(checked.returncode, 0, checked.stdout + checked.stderr)
                    if n % 3 == 0 and (state == before or arguments[0] in ("split", "index", "combine")):
                        again = refs(*arguments)
                        self.assertEqual(again.returncode, 0, again.stderr)
                        self.assertEqual((read(name), self.listing()), (after, files_after))
        self.assertLessEqual({("fail", False), ("kill", False)}, outcomes)


class Listings(Placing):
    """A folder of which a part cannot be listed is an error, not a smaller folder."""

    def expect_whole_or_error(self, name, *arguments, calls=range(1, 30)):
        self.keep()
        before = read(name)
        self.assertEqual(refs(*arguments).returncode, 0)
        after = read(name)
        statuses = []
        for n in calls:
            self.restore()
            done = refs(*arguments, AT_READDIR=n)
            statuses.append(done.returncode)
            with self.subTest(arguments=arguments, call=n):
                self.assertEqual(read(name), before if done.returncode else after, done.stderr)
                if done.returncode:
                    self.assertIn("Input/output error", done.stderr)
        self.assertEqual(set(statuses), {0, 1}, statuses)
        self.assertEqual(statuses[-1], 0)

    def test_of_files_of_others_end_where_there_are_enough_to_name(self):
        self.write("a.nc")
        for i in range(20):
            os.makedirs(f"others.parq/{i}")
            for k in range(20):
                os.mknod(f"others.parq/{i}/{k}")
        expected = refs("index", "a.nc", "-q", "-o", "others.parq")
        self.assertRegex(expected.stderr, "expected only files of a Parquet set, found .*, .*, .* and more: move them away")
        done = refs("index", "a.nc", "-q", "-o", "others.parq", AT_READDIR=40)
        self.assertEqual((done.returncode, done.stderr), (1, expected.stderr))

    def test_of_sources(self):
        os.mkdir("in")
        for step in range(3):
            self.write(f"in/{step}.nc", (step,))
        self.expect_whole_or_error("all.json", "index", "in", "-q", "-o", "all.json")

    def test_of_patterns(self):
        os.mkdir("in")
        for step in range(3):
            self.write(f"in/{step}.nc", (step,))
        self.expect_whole_or_error("all.json", "index", "in/*.nc", "-q", "-o", "all.json")

    def test_of_sets_that_are_replaced(self):
        self.write("a.nc")
        self.write("b.nc", year=2030, value=100)
        self.assertEqual(refs("index", "a.nc", "-q", "-o", "m.parq").returncode, 0)
        self.expect_whole_or_error("m.parq", "index", "b.nc", "-q", "-o", "m.parq", calls=range(1, 100, 4))


class Masters(Placing):
    VERSIONS = ("0.4", "0.5", "1.13")

    def test_are_split_anew_with_all_their_fragments_or_not_at_all(self):
        self.write("a.nc", missing=(2, 3))
        self.write("b.nc", year=2030, missing=(0, 1), value=100)
        for version in self.VERSIONS:
            options = ("--subarray-shape", "time=2", "--cfa-version", version, "-q")
            self.assertEqual(refs("split", "a.nc", "-o", "m.nca", *options).returncode, 0)
            self.expect_all_or_nothing("m.nca", "split", "b.nc", "-o", "m.nca", *options)
            self.assertIn("m/m.tas.1.0.0.nc", refs("info", "m.nca", "--partition", "all").stdout)
            shutil.rmtree("m")
            os.remove("m.nca")

    def test_are_split_with_all_their_fragments_or_not_at_all(self):
        self.write("a.nc")
        self.expect_all_or_nothing("m.nca", "split", "a.nc", "-o", "m.nca", "--subarray-shape", "time=2", "-q")

    def test_are_combined_with_what_stands_for_missing_fragments_or_not_at_all(self):
        for value, year in ((0, 2000), (100, 2030)):
            for step in (0, 2):
                self.write(f"d{year}.{step}.nc", (step,), year, value=value)
            with netCDF4.Dataset(f"d{year}.1.nc", "w") as file:
                for dim, n in (("time", 1), ("lat", 3), ("lon", 4)):
                    file.createDimension(dim, n)
                    file.createVariable(dim, "f8", (dim,))[:] = np.arange(n)
                file["time"].units = f"days since {year}-01-01"
                file["time"][:] = 1
                file["lat"].units, file["lon"].units = "degrees_north", "degrees_east"
                file.createVariable("other", "f4", ("time", "lat", "lon"))[:] = 1
        old, new = ([f"d{year}.{step}.nc" for step in range(3)] for year in (2000, 2030))
        options = ("-o", "m.nca", "--format", "cfa", "--cfa-version", "1.13", "-q")
        self.assertEqual(refs("combine", *old, *options).returncode, 0)
        self.expect_all_or_nothing("m.nca", "combine", *new, *options)

    def test_grow_or_stay(self):
        for step in range(2):
            self.write(f"d{step}.nc", (step,))
        for version in self.VERSIONS:
            options = ("-o", "m.nca", "--format", "cfa", "--cfa-version", version, "-q")
            self.assertEqual(refs("combine", "d0.nc", *options).returncode, 0)
            self.expect_all_or_nothing("m.nca", "append", "m.nca", "d1.nc", "-q")

    def test_with_a_folder_in_common_keep_their_own_fragments(self):
        self.write("a.nc")
        self.write("b.nc", year=2030, value=100)
        refs("split", "a.nc", "-o", "m.nca", "-q")
        before = read("m.nca")
        for _ in range(2):
            self.assertEqual(refs("split", "b.nc", "-o", "m.nc", "-q").returncode, 0)
            self.assertEqual(read("m.nca"), before)
            self.assertEqual(refs("check", "m.nc", "--deep").returncode, 0)
        self.assertEqual(len(glob.glob("m.nc.g*")), 1)

    def test_at_any_moment(self):
        self.write("a.nc")
        self.write("b.nc", year=2030, value=100)
        options = ("--subarray-shape", "1,1,1", "-q")
        refs("split", "a.nc", "-o", "m.nca", *options)
        self.keep()
        before = read("m.nca")
        begun = time.monotonic()
        refs("split", "b.nc", "-o", "m.nca", *options)
        took = time.monotonic() - begun
        after = read("m.nca")
        for part in range(24):
            self.restore()
            running = subprocess.Popen([REFS, "split", "b.nc", "-o", "m.nca", *options])
            time.sleep(took * part / 20)
            running.kill()
            running.wait()
            self.assertIn(read("m.nca"), (before, after))


class Sets(Placing):
    def test_are_written_anew_or_not_at_all(self):
        self.write("a.nc")
        self.write("b.nc", year=2030, value=100)
        for name in ("all.json", "all.json.zst", "all.parq"):
            self.assertEqual(refs("index", "a.nc", "-o", name, "-q").returncode, 0)
            self.expect_all_or_nothing(name, "index", "b.nc", "-o", name, "-q")

    def test_grow_or_stay(self):
        for step in range(2):
            self.write(f"d{step}.nc", (step,))
        for name in ("all.json", "all.parq"):
            self.assertEqual(refs("index", "d0.nc", "-o", name, "-q").returncode, 0)
            self.expect_all_or_nothing(name, "append", name, "d1.nc", "-q")

    def test_grow_or_stay_when_a_written_file_is_lost(self):
        for values, lost in (((0, 0, 0), "tas/refs.*.parq"), ((0, 1, 2), "tas_fragments/*/tas/refs.*.parq")):
            shutil.rmtree("all.parq", ignore_errors=True)
            for step, value in enumerate(values):
                self.write(f"d{step}.nc", (step,), value=value)
            self.assertEqual(refs("index", "d0.nc", "d1.nc", "-o", "all.parq", "-q").returncode, 0)
            self.keep()
            before = read("all.parq")
            self.assertEqual(refs("append", "all.parq", "d2.nc", "-q", AT_CALL_COUNT="kept/count").returncode, 0)
            after = read("all.parq")
            with open("kept/count", encoding="ascii") as file:
                n_calls = int(file.read())
            os.remove("kept/count")
            statuses = set()
            for n in range(1, n_calls + 1):
                with self.subTest(lost=lost, call=n, of=n_calls):
                    self.restore()
                    done = refs("append", "all.parq", "d2.nc", "-q", AT_CALL=n, AT_CALL_LOSE=f"*.tmp-*/{lost}")
                    statuses.add(done.returncode)
                    self.assertEqual(read("all.parq"), before if done.returncode else after, done.stderr)
            self.assertEqual(statuses, {0, 1})

    def test_get_the_names_of_new_fragments_by_one_call_each(self):
        """Of files, of folders, and of what waits for the disk; a fragment is a file in two folders of its own."""
        for step in range(10):
            self.write(f"d{step}.nc", (step,), value=step)
        n_calls = []
        for end in (4, 10):
            shutil.rmtree("all.parq", ignore_errors=True)
            self.assertEqual(refs("index", "d0.nc", "d1.nc", "-o", "all.parq", "-q").returncode, 0)
            done = refs("append", "all.parq", *[f"d{step}.nc" for step in range(2, end)], "-q", AT_CALL_COUNT="count")
            self.assertEqual(done.returncode, 0, done.stderr)
            with open("count", encoding="ascii") as file:
                n_calls.append(int(file.read()))
        # tas_fragments, the folders and the file are made; what is new is synced; it moves at once
        self.assertEqual(n_calls[1] - n_calls[0], 6 * (3 + 3 + 1))
        values = np.frombuffer(read("all.parq")[1], "f4").reshape(10, 12)
        np.testing.assert_array_equal(values, np.arange(12) + np.arange(10)[:, None])

    def test_are_converted_or_not_at_all(self):
        self.write("a.nc")
        self.write("b.nc", year=2030, value=100)
        refs("index", "a.nc", "-o", "all.parq", "-q")
        refs("index", "b.nc", "-o", "b.json", "-q")
        self.expect_all_or_nothing("all.parq", "convert", "b.json", "-o", "all.parq", "-q")


class Links(Placing):
    """What others put where files are going to be written."""

    def test_are_not_followed_by_what_is_written(self):
        self.write("a.nc")
        self.write("b.nc", year=2030)
        refs("split", "a.nc", "-o", "m.nca", "-q")
        refs("index", "a.nc", "-o", "a.json", "-q")
        with open("precious", "w", encoding="ascii") as file:
            file.write("precious")
        for arguments in (("mv", "m.nca", "--rewrite", "=>./"), ("index", "a.nc", "-o", "a.json", "-q"),
                          ("convert", "a.json", "-o", "c.json", "-q"), ("split", "b.nc", "-o", "m.nca", "-q")):
            done = refs(*arguments, AT_OPEN_LINK_TO=os.path.abspath("precious"))
            with open("precious", encoding="ascii") as file:
                self.assertEqual(file.read(), "precious", arguments)
            self.assertEqual(done.returncode, 1, (arguments, done.stderr))

    def test_under_the_name_of_a_result_lead_nothing_out_of_its_folder(self):
        self.write("a.nc")
        self.write("b.nc", year=2030, value=100)
        os.mkdir("kept/elsewhere")
        for name in ("kept/elsewhere/precious", "kept/elsewhere/m.tas.0.nc"):
            with open(name, "w", encoding="ascii") as file:
                file.write("precious")

        def elsewhere():
            return sorted((path, *names, *files) for path, names, files in os.walk("kept"))

        before = elsewhere()
        refs("split", "a.nc", "-o", "m.nca", "-q")
        self.assertEqual(sorted(glob.glob("m*")), ["m", "m.nca"])
        os.mkdir("first")
        for name in ("m", "m.nca"):
            shutil.move(name, "first")
        for name, to in (("m", "kept/elsewhere"), ("m.nca", "kept/elsewhere/precious")):
            n, n_calls = 1, 1
            while n <= n_calls:
                for left in glob.glob("m*"):
                    shutil.rmtree(left) if os.path.isdir(left) and not os.path.islink(left) else os.remove(left)
                shutil.copytree("first", ".", dirs_exist_ok=True)
                refs("split", "b.nc", "-o", "m.nca", "-q", AT_CALL=n, AT_CALL_COUNT="count", AT_CALL_LINK=name,
                     AT_CALL_LINK_TO=os.path.abspath(to))
                self.assertEqual(elsewhere(), before, (name, n))
                with open("kept/elsewhere/precious", encoding="ascii") as file:
                    self.assertEqual(file.read(), "precious", (name, n))
                with open("count", encoding="ascii") as file:
                    n_calls = int(file.read())
                n += 1
            self.assertGreater(n_calls, 20)

    @unittest.skipUnless(os.geteuid() == 0, "makes files of others as root")
    def test_of_others_are_not_followed(self):
        self.write("a.nc")
        os.mkdir("shared")
        os.chmod("shared", 0o1777)
        with open("kept/precious", "w", encoding="ascii") as file:
            file.write("precious")
        for name, to in (("m.nca", "kept/precious"), ("m", "kept")):
            os.symlink(os.path.abspath(to), f"shared/{name}")
            os.chown(f"shared/{name}", 65534, 65534, follow_symlinks=False)
            done = refs("split", "a.nc", "-o", "shared/m.nca", "-q")
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertIn("the symbolic link belongs to user 65534", done.stderr)
            self.assertEqual(os.listdir("kept"), ["precious"])
            os.remove(f"shared/{name}")

    @unittest.skipUnless(os.geteuid() == 0, "makes files of others as root")
    def test_and_what_belongs_to_others_is_not_swept(self):
        self.write("a.nc")
        refs("index", "a.nc", "-o", "a.json", "-q", AT_CALL=2, AT_CALL_HOW="kill")
        (unfinished,) = glob.glob("a.json.tmp-*")
        folder, other, others = (unfinished[:-1] + number for number in "123")
        os.makedirs(folder + "/within")
        os.symlink(os.path.abspath("kept"), folder + "/link")
        with open("kept/precious", "w", encoding="ascii") as file:
            file.write("precious")
        os.mknod(other)
        os.mkdir(others)
        for name in (other, others):
            os.chown(name, 65534, 65534)
        self.assertEqual(refs("index", "a.nc", "-o", "a.json", "-q").returncode, 0)
        self.assertEqual(sorted(os.listdir(".")), sorted(["a.json", "a.nc", "kept", other, others]))
        self.assertTrue(os.path.exists("kept/precious"))


class Neighbours(Placing):
    def test_that_are_no_masters_keep_no_fragments(self):
        split = ("split", self.write("d0.nc"), "-o", "m.nca", "-q")
        self.assertEqual(refs(*split).returncode, 0)
        with open("m.log", "w", encoding="utf-8") as file:
            file.write("a log")
        os.symlink("m.txt", "m.txt")  # leads nowhere
        before = self.listing()
        done = refs(*split)
        self.assertEqual((done.returncode, self.listing()), (0, before), done.stderr)
        shutil.copy("m.nca", "m.nc4")  # names m/, too
        self.assertEqual(refs(*split).returncode, 0)
        self.assertLess(set(before), set(self.listing()))


class Permissions(Placing):
    def mode(self, name):
        return stat.S_IMODE(os.stat(name).st_mode)

    def expect_kept(self, name, *arguments):
        for mode in (0o600, 0o640, 0o666):
            os.chmod(name, mode)
            done = refs(*arguments)
            self.assertEqual((done.returncode, oct(self.mode(name))), (0, oct(mode)), done.stderr)

    def test_of_files_that_are_replaced_are_kept(self):
        for step in range(7):
            self.write(f"d{step}.nc", (step,))
        for name in ("all.json", "all.json.zst"):
            refs("index", "d0.nc", "-o", name, "-q")
            self.assertEqual(self.mode(name), 0o666 & ~self.umask())
            self.expect_kept(name, "index", "d1.nc", "-o", name, "-q")
        refs("split", "d0.nc", "-o", "m.nca", "-q")
        self.expect_kept("m.nca", "split", "d1.nc", "-o", "m.nca", "-q")
        self.expect_kept("m.nca", "mv", "m.nca", "--rewrite", "=>./")
        refs("combine", "d0.nc", "-o", "g.nca", "--format", "cfa")
        self.expect_kept("g.nca", "combine", "d1.nc", "-o", "g.nca", "--format", "cfa")
        os.chmod("g.nca", 0o600)
        self.assertEqual(refs("append", "g.nca", "d2.nc", "-q").returncode, 0)
        self.assertEqual(self.mode("g.nca"), 0o600)

    def test_of_folders_and_what_is_in_them_are_kept(self):
        for step in range(3):
            self.write(f"d{step}.nc", (step,))
        refs("index", "d0.nc", "-o", "all.parq", "-q")
        refs("split", "d0.nc", "-o", "m.nca", "--subarray-shape", "1,1,4", "-q")
        for folder, *verbs in (("all.parq", ("append", "all.parq", "d1.nc", "-q"), ("index", "d0.nc", "d2.nc", "-o", "all.parq", "-q")),
                               ("m", ("split", "d1.nc", "-o", "m.nca", "--subarray-shape", "1,1,1", "-q"))):
            for path, folders, files in os.walk(folder):
                os.chmod(path, 0o700)
                for name in files:
                    os.chmod(os.path.join(path, name), 0o600)
            for arguments in verbs:
                done = refs(*arguments)
                self.assertEqual(done.returncode, 0, done.stderr)
                for path, folders, files in os.walk(folder):
                    self.assertEqual((path, oct(self.mode(path))), (path, oct(0o700)))
                    for name in files:
                        self.assertEqual((name, oct(self.mode(os.path.join(path, name)))), (name, oct(0o600)))

    def test_of_what_is_unfinished_let_nobody_else_in(self):
        for form in ("NETCDF4", "NETCDF3"):
            split = ("split", self.write("d0.nc"), "-o", "m.nca", "--format", form, "--cfa-version", "1.13", "-q")
            done = refs(*split)
            self.assertEqual(done.returncode, 0, done.stderr)
            for path in self.listing():
                os.chmod(path, 0o600)
            os.chmod("m", 0o700)
            self.keep()
            for verb in (split, ("mv", "m.nca", "--rewrite", "=>" + 80 * "x" + "/")):
                for call in range(1, 1000):
                    self.restore()
                    status = refs(*verb, AT_CALL=call, AT_CALL_HOW="kill").returncode
                    with self.subTest(verb=verb, call=call):
                        self.assertEqual([path for path in self.listing() if self.mode(path) & 0o77 and
                                          (os.path.dirname(path) == "." or self.mode(os.path.dirname(path)) & 0o77)], [])
                    if status == 0:
                        break
            self.restore()

    @unittest.skipUnless(os.geteuid() == 0, "gives files to others as root")
    def test_belong_to_whom_they_belonged(self):
        self.write("d0.nc", (0,))
        refs("index", "d0.nc", "-o", "all.json", "-q")
        os.chown("all.json", 65534, 65534)
        self.assertEqual(refs("index", "d0.nc", "-o", "all.json", "-q").returncode, 0)
        self.assertEqual((os.stat("all.json").st_uid, os.stat("all.json").st_gid), (65534, 65534))

    @staticmethod
    def umask():
        mask = os.umask(0)
        os.umask(mask)
        return mask


class Replaced(Placing):
    """Sources whose place other files take while they are read."""

    def test_are_known_by_what_was_read(self):
        """Whenever that happens, the record is of what was read, or check tells."""
        outcomes = set()
        for verb, output in ((("index",), "all.json"), (("index", "--resume"), "all.json"), (("index",), "all.nca"),
                             (("combine", "--format", "cfa"), "m.nca")):
            for n in range(1, 100):
                for name in ("a.nc", "a.nc.next"):
                    self.write(name, range(4 if name == "a.nc" else 8), value=len(name))
                os.utime("a.nc", (1, 1))
                done = refs(*verb, "a.nc", "-q", "-o", output, AT_OPEN=n, AT_OPEN_REPLACE="a.nc")
                with self.subTest(verb=verb, output=output, n=n):
                    if done.returncode == 0 and refs("check", output).returncode == 0:
                        time, values = read(output)
                        root = gdal.OpenEx('REFS:"a.nc"', gdal.OF_MULTIDIM_RASTER).GetRootGroup()
                        self.assertEqual(values, root.OpenMDArray("tas").ReadAsArray().tobytes())
                        outcomes.add("same")
                    elif done.returncode == 0:
                        outcomes.add("told")
                for path in (output, "all.json.resume", "m"):
                    shutil.rmtree(path, ignore_errors=True) if os.path.isdir(path) else os.path.exists(path) and os.remove(path)
                if os.path.exists("a.nc.next"):
                    break
            self.assertGreater(n, 2, verb)
        self.assertEqual(outcomes, {"same", "told"})

    def test_masters_that_grow_are_read_once(self):
        """Opened to be recognised and to be read, by the lock, to see their format, for the values that they have and, of those
        of index, to see whether another program edited them."""
        for day in range(3):
            self.write(f"{day}.nc", (day,))
        for end in ("nc", "nca"):
            for verb in (("index", "--along", "time"), ("combine", "--format", "cfa")):
                with self.subTest(end=end, verb=verb):
                    name = "m." + end
                    self.assertEqual(refs(*verb, "0.nc", "1.nc", "-q", "-o", name).returncode, 0)
                    done = refs("append", name, "2.nc", "-q", AT_OPEN_REPLACE=name, AT_OPEN_COUNT="count")
                    self.assertEqual((done.returncode, done.stderr), (0, ""))
                    self.assertEqual(len(read(name)[1]), 3 * 12 * 4)
                    with open("count", encoding="ascii") as file:
                        self.assertLessEqual(int(file.read()), 9 if verb[0] == "combine" else 6)


if __name__ == "__main__":
    unittest.main()
