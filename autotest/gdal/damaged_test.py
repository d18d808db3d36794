"""What is there and cannot be read is an error, never a nodata value and never a shorter set.

usage: damaged_test.py REFS [TEST...]
"""

import gzip
import io
import json
import os
import shutil
import struct
import subprocess
import sys
import tarfile
import tempfile
import time
import unittest
import warnings
import zipfile

import netCDF4
import numpy as np
from osgeo import gdal

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "server"))
from served import Folder, Server  # noqa: E402

gdal.UseExceptions()

DATA = os.path.join(HERE, "..", "..", "data")
REFS = os.path.abspath(sys.argv.pop(1))
RECORD = "t2m/refs.0.parq"


class InFolder(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)
        for name in ("sample.nc", "sample.json"):
            shutil.copy(os.path.join(DATA, name), self.folder)

    def path(self, *parts):
        return os.path.join(self.folder, *parts)

    def write(self, name, content):
        with open(self.path(name), "wb") as file:
            file.write(content)
        return self.path(name)


class Archives(InFolder):
    """A Parquet set in an archive: a record file that is absent means absent chunks."""

    def setUp(self):
        super().setUp()
        os.chdir(self.folder)
        subprocess.run([REFS, "index", self.path("sample.nc"), "-o", "s.parq"], check=True)
        self.files = {}
        for folder, _, names in os.walk("s.parq"):
            for name in names:
                with open(os.path.join(folder, name), "rb") as file:
                    self.files[os.path.relpath(os.path.join(folder, name), "s.parq")] = file.read()
        self.values = gdal.Open(f'REFS:"{self.path("s.parq")}":/t2m').ReadAsArray()
        self.assertGreater(self.values.std(), 0)

    def zip(self, name, files):
        with zipfile.ZipFile(self.path(name), "w", zipfile.ZIP_DEFLATED) as archive:
            for member, content in files.items():
                archive.writestr("s.parq/" + member, content)
        with open(self.path(name), "rb") as file:
            return bytearray(file.read())

    def tar(self, files):
        made = io.BytesIO()
        with tarfile.open(fileobj=made, mode="w", format=tarfile.USTAR_FORMAT) as archive:
            for member, content in files.items():
                entry = tarfile.TarInfo("s.parq/" + member)
                entry.size = len(content)
                archive.addfile(entry, io.BytesIO(content))
        return bytearray(made.getvalue())

    def read(self, prefix, path):
        return gdal.Open(f'REFS:"{prefix}{path}/s.parq":/t2m').ReadAsArray()

    def assertFails(self, prefix, path):
        with self.assertRaises(RuntimeError) as caught:
            self.read(prefix, path)
        return str(caught.exception)

    def without_record(self):
        return {name: content for name, content in self.files.items() if name != RECORD}

    def record_last(self):
        return {**self.without_record(), RECORD: self.files[RECORD]}

    def test_sound_ones_are_read(self):
        self.zip("a.zip", self.files)
        self.write("a.tar", self.tar(self.files))
        self.write("a.tar.gz", gzip.compress(self.tar(self.files)))
        for prefix, name in (("/vsizip/", "a.zip"), ("/vsitar/", "a.tar"), ("/vsitar/", "a.tar.gz")):
            np.testing.assert_array_equal(self.read(prefix, self.path(name)), self.values, name)

    def test_named_as_those_of_sets_need_no_prefix(self):
        content = self.zip("a.zip", self.files)
        found = gdal.OpenEx(self.write("a.parq.zip", content), gdal.OF_MULTIDIM_RASTER)
        self.assertIn("t2m", found.GetRootGroup().GetMDArrayNames())
        for name in (self.path("a.zip"), self.write("b.parq.zip", b"no archive")):
            with self.assertRaisesRegex(RuntimeError, "not recognized"):
                gdal.Open(name)

    def test_an_absent_record_file_is_absent_chunks(self):
        self.zip("a.zip", self.without_record())
        self.write("a.tar", self.tar(self.without_record()))
        for prefix, name in (("/vsizip/", "a.zip"), ("/vsitar/", "a.tar")):
            self.assertEqual(self.read(prefix, self.path(name)).std(), 0, name)

    def test_a_damaged_local_header_of_zip_fails(self):
        content = self.zip("a.zip", self.files)
        at = zipfile.ZipFile(self.path("a.zip")).getinfo("s.parq/" + RECORD).header_offset
        content[at:at + 30] = b"\xff" * 30
        self.assertIn(RECORD, self.assertFails("/vsizip/", self.write("b.zip", content)))

    def test_an_unknown_method_of_zip_fails(self):
        content = self.zip("a.zip", self.files)
        at = zipfile.ZipFile(self.path("a.zip")).getinfo("s.parq/" + RECORD).header_offset
        name = b"s.parq/" + RECORD.encode()
        central = content.index(name, at + 100) - 46
        struct.pack_into("<H", content, at + 8, 97)
        struct.pack_into("<H", content, central + 10, 97)
        self.assertIn(RECORD, self.assertFails("/vsizip/", self.write("b.zip", content)))

    def test_damaged_bytes_of_a_member_fail(self):
        content = self.zip("a.zip", self.files)
        at = zipfile.ZipFile(self.path("a.zip")).getinfo("s.parq/" + RECORD).header_offset
        begin = at + 30 + len("s.parq/" + RECORD)
        content[begin:begin + 40] = b"\x55" * 40
        self.assertFails("/vsizip/", self.write("b.zip", content))

    def test_a_damaged_directory_of_zip_fails(self):
        content = self.zip("a.zip", self.record_last())
        central = content.rindex(b"PK\x01\x02")
        content[central:central + 4] = b"\xff" * 4
        self.assertFails("/vsizip/", self.write("b.zip", content))

    def test_a_zip_without_its_end_fails(self):
        content = self.zip("a.zip", self.files)
        self.assertFails("/vsizip/", self.write("b.zip", content[:-40]))

    def test_a_flipped_bit_of_a_name_in_the_directory_is_no_absence(self):
        content = self.zip("a.zip", self.files)
        name = b"s.parq/" + RECORD.encode()
        begin = content.rindex(name)
        for bit in range(8 * len(name)):
            flipped = bytearray(content)
            flipped[begin + bit // 8] ^= 1 << bit % 8
            self.assertFails("/vsizip/", self.write(f"{bit}.zip", flipped))

    def test_a_flipped_bit_does_not_hide_a_member_behind_another(self):
        """Its entry gets the name of a later one, which is read in its place."""
        content = self.zip("a.zip", {**self.files, "t2m/refs.1.parq": b""})
        begin = content.rindex(RECORD.encode())
        content[begin:begin + len(RECORD)] = b"t2m/refs.1.parq"
        self.assertIn(RECORD, self.assertFails("/vsizip/", self.write("b.zip", content)))

    def test_a_damaged_header_of_tar_fails(self):
        content = self.tar(self.record_last())
        at = content.index(b"s.parq/" + RECORD.encode())
        for where in (0, 124):  # name, size
            damaged = bytearray(content)
            damaged[at + where:at + where + 6] = b"\xff" * 6
            self.assertFails("/vsitar/", self.write(f"{where}.tar", damaged))

    def test_a_tar_that_ends_early_fails(self):
        content = self.tar(self.record_last())
        at = content.index(b"s.parq/" + RECORD.encode())
        for end in (at, at + 100, at + 512, at + 600):
            self.assertFails("/vsitar/", self.write(f"{end}.tar", content[:end]))
            self.assertFails("/vsitar/", self.write(f"{end}.tar.gz", gzip.compress(content[:end])))

    def test_a_damaged_gzip_fails(self):
        packed = bytearray(gzip.compress(self.files[RECORD]))
        for at in (0, 12, len(packed) // 2):
            damaged = bytearray(packed)
            damaged[at:at + 8] = b"\xff" * 8
            self.write("r.gz", damaged)
            # A set whose folder is on disk and whose record file is packed.
            with self.assertRaises(RuntimeError):
                gdal.Open(f"REFS:/vsigzip/{self.path('r.gz')}")


class ChunksInZip(InFolder):
    """Chunks in members are read by the rules for sets in them."""

    SIZE = 1000

    def document(self, **members):
        refs = {".zgroup": '{"zarr_format": 2}'}
        for name, url in members.items():
            refs[f"{name}/.zarray"] = json.dumps({
                "zarr_format": 2, "shape": [2, self.SIZE], "chunks": [1, self.SIZE], "dtype": "|u1", "order": "C",
                "filters": None, "compressor": None, "fill_value": None})
            refs.update({f"{name}/{i}.0": [url, i * self.SIZE, self.SIZE] for i in range(2)})
        return json.dumps({"version": 1, "refs": refs})

    def zip(self, path, *members):
        with warnings.catch_warnings(), zipfile.ZipFile(path, "w") as archive:
            warnings.simplefilter("ignore")
            for name, content in members:
                archive.writestr(name, content)

    def rows(self, value, more=0):
        return bytes([value]) * (2 * self.SIZE + more)

    def test_the_last_of_members_with_one_name_counts(self):
        self.zip(self.path("a.zip"), ("t", self.rows(1)), ("u", self.rows(2)), ("t", self.rows(3)))
        self.write("s.json", self.document(t="zip://t::a.zip").encode())
        self.assertEqual(set(gdal.Open(f'REFS:"{self.path("s.json")}":/t').ReadAsArray().flat), {3})

    def test_a_flipped_bit_of_a_stored_member_fails(self):
        self.zip(self.path("a.zip"), ("t", self.rows(1)))
        with open(self.path("a.zip"), "rb") as file:
            content = bytearray(file.read())
        content[100] ^= 4
        self.write("a.zip", content)
        self.write("s.json", self.document(t="zip://t::a.zip").encode())
        with self.assertRaisesRegex(RuntimeError, "expected CRC-32"):
            gdal.Open(f'REFS:"{self.path("s.json")}":/t').ReadAsArray()

    def test_a_set_and_its_data_in_one_archive_are_read(self):
        subprocess.run([REFS, "index", "sample.nc", "-o", "r.json", "--relative"], check=True, cwd=self.folder)
        expected = gdal.Open(f'REFS:"{self.path("r.json")}":/t2m').ReadAsArray()
        for method in zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED:
            with zipfile.ZipFile(self.path("b.zip"), "w", method) as archive:
                for name in ("r.json", "sample.nc"):
                    archive.write(self.path(name), name)
            found = gdal.Open(f'REFS:"{self.path("b.zip")}":/t2m').ReadAsArray()
            np.testing.assert_array_equal(found, expected)

    def test_an_archive_on_a_server_that_is_replaced_is_read_anew(self):
        """While a dataset of the old one is open, which fails or reads what it has."""
        for stored in (0, 400_000):  # held whole, and read by ranges
            for headers in ({}, {"ETag": '"{hash}"'}, {"Last-Modified": None}):
                with self.subTest(stored=stored, headers=headers):
                    self.check_replaced(stored, headers)

    def check_replaced(self, stored, headers):
        folder = Folder()
        self.addCleanup(folder.close)
        path, padding = os.path.join(folder.served, "e.zip"), os.urandom(300_000)
        server = Server(folder, faults={"/e.zip": {"headers": headers}} if headers else {})
        self.addCleanup(server.close)
        self.zip(path, ("t", self.rows(1, stored)), ("p", padding))
        os.utime(path, (1e9, 1e9))
        name = self.write("y.json", self.document(t=f"zip://t::{server.url('e.zip')}").encode())
        dataset = gdal.Open(f'REFS:"{name}":/t')
        self.assertEqual(set(dataset.ReadAsArray(0, 0, self.SIZE, 1).flat), {1})
        self.zip(path, ("q", padding[:5000]), ("t", self.rows(2, stored)), ("p", padding[5000:]))
        os.utime(path, (1.1e9, 1.1e9))
        time.sleep(1.2)
        self.assertEqual(set(gdal.Open(f'REFS:"{name}":/t').ReadAsArray().flat), {2})
        try:
            self.assertEqual(set(dataset.ReadAsArray(0, 1, self.SIZE, 1).flat), {1})
        except RuntimeError as error:
            self.assertIn("e.zip", str(error))


class Lists(InFolder):
    """A list of files: each of its lines is a file of the set."""

    def open(self, *lines):
        return gdal.Open("REFS:" + self.write("list.txt", "\n".join(lines).encode()))

    def test_a_line_that_names_nothing_fails(self):
        for line in ("zip://second.nc", "gs2://bucket/second.nc::"):
            with self.assertRaises(RuntimeError) as caught:
                self.open(self.path("sample.nc"), line)
            self.assertIn(line, str(caught.exception))
            self.assertIn("list.txt", str(caught.exception))

    def test_a_line_of_a_file_that_is_not_there_fails(self):
        with self.assertRaises(RuntimeError) as caught:
            self.open(self.path("sample.nc"), self.path("second.nc"))
        self.assertIn("second.nc", str(caught.exception))

    def test_a_list_that_cannot_be_read_fails(self):
        name = self.write("list.txt", self.path("sample.nc").encode())
        os.chmod(self.folder, 0o755)
        os.chmod(name, 0)
        script = ("import os, sys; from osgeo import gdal; gdal.UseExceptions()\n"
                  "if os.geteuid() == 0: os.setuid(65534)\n"
                  "try: gdal.Open('REFS:' + sys.argv[1])\n"
                  "except RuntimeError as error: print(error)\n")
        done = subprocess.run([sys.executable, "-c", script, name], stdout=subprocess.PIPE, text=True, check=True)
        self.assertIn("Permission denied", done.stdout)

    def test_an_empty_list_fails(self):
        with self.assertRaises(RuntimeError) as caught:
            self.open("", "  ")
        self.assertIn("names no file", str(caught.exception))


class Sources(InFolder):
    """What a set says of its sources, by which a changed source is detected."""

    def test_records_that_cannot_be_read_fail(self):
        subprocess.run([REFS, "index", self.path("sample.nc"), "-o", self.path("s.json")], check=True)
        with open(self.path("s.json")) as file:
            made = json.load(file)
        key = ".zsources/.zattrs"
        for damaged in ("{", ["sample.nc", 10 ** 9, 10]):
            made["refs"][key] = damaged
            self.write("d.json", json.dumps(made).encode())
            with self.assertRaises(RuntimeError) as caught:
                gdal.Open(f'REFS:"{self.path("d.json")}":/t2m').ReadAsArray()
            self.assertIn(key, str(caught.exception))


class Replaced(InFolder):
    """Files of an open folder, pattern or list that are replaced before they are read."""

    def write_file(self, folder, number, value, more=False):
        path = os.path.join(folder, f"f{number}.nc")
        with netCDF4.Dataset(path + ".new", "w", format="NETCDF3_CLASSIC") as file:
            for name, size in (("time", 1), ("lat", 40), ("lon", 50)):
                file.createDimension(name, size)
            if more:
                file.createVariable("q", "f4", ("time", "lat", "lon"))[:] = 12345
            for name, size in (("time", 1), ("lat", 40), ("lon", 50)):
                axis = file.createVariable(name, "f8", (name,))
                axis.units = {"time": "days since 2000-01-01", "lat": "degrees_north", "lon": "degrees_east"}[name]
                axis[:] = np.arange(size) + (number if name == "time" else 0)
            file.createVariable("v", "f4", ("time", "lat", "lon"))[:] = value
        os.replace(path + ".new", path)
        return path

    def check(self, name, folder):
        for more in (False, True):
            for number in range(3):
                self.write_file(folder, number, 100 + number)
            dataset = gdal.Open(f'REFS:"{name}":/v')
            self.assertEqual(dataset.GetRasterBand(1).ReadAsArray()[0, 0], 100)
            self.write_file(folder, 1, 777, more)
            try:
                self.assertEqual(dataset.GetRasterBand(2).ReadAsArray()[0, 0], 101, "as it was")
            except RuntimeError as error:
                self.assertIn("f1.nc", str(error))
            again = gdal.Open(f'REFS:"{name}":/v')
            self.assertEqual(again.GetRasterBand(2).ReadAsArray()[0, 0], 777, "opened again, it is read")
            dataset = again = None

    def test_of_a_folder_or_pattern_are_errors(self):
        folder = self.path("files")
        os.mkdir(folder)
        for name in (folder + "/", folder + "/f*.nc"):
            self.check(name, folder)

    def test_of_a_list_on_a_server_are_errors(self):
        folder = Folder()
        self.addCleanup(folder.close)
        server = Server(folder, faults={f"/f{number}.nc": {"headers": {"ETag": '"{hash}"'}} for number in range(3)})
        self.addCleanup(server.close)
        name = self.write("list.txt", "".join(server.url(f"f{number}.nc\n") for number in range(3)).encode())
        gdal.SetConfigOption("REFS_TRUST_SECONDS", "0")
        self.addCleanup(gdal.SetConfigOption, "REFS_TRUST_SECONDS", None)
        gdal.SetConfigOption("REFS_READ_AHEAD", "NO")
        self.addCleanup(gdal.SetConfigOption, "REFS_READ_AHEAD", None)
        self.check(name, folder.served)


if __name__ == "__main__":
    unittest.main()
