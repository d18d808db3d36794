"""gdal_refs and refs: sets and data files in ZIP archives, compared with the same outside of them.

usage: archive_test.py FOLDER_OF_PACKAGE PROGRAM
"""

import json
import os
import random
import shutil
import struct
import subprocess
import sys
import unittest
import zipfile
from unittest import mock

PACKAGE, PROGRAM = sys.argv[1:3]
sys.path.insert(0, PACKAGE)
HERE = os.path.dirname(os.path.abspath(__file__))
DATA = os.path.join(HERE, "..", "..", "data")
sys.path.insert(1, os.path.join(HERE, "..", "server"))

try:
    import numpy as np
except ImportError as error:
    print(f"left out: {error}")
    sys.exit(77)

import gdal_refs  # noqa: E402
from served import Folder, Server  # noqa: E402

DEFLATED, STORED = zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED


def read(name):
    with gdal_refs.open(name) as dataset:
        return dataset["t2m"][...]


class Archives(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Folder()
        cls.addClassCleanup(cls.folder.close)
        cls.addClassCleanup(os.chdir, os.getcwd())
        os.chdir(cls.folder.served)
        for name in ("sample.json", "sample.nc"):
            shutil.copy(os.path.join(DATA, name), name)
        subprocess.run([PROGRAM, "convert", "sample.json", "-o", "s.parq", "-q"], check=True)
        cls.values = read("sample.json")

    def zip(self, name, files, how=DEFLATED):
        """An archive of files by the names of members."""
        with zipfile.ZipFile(name, "w", how) as archive:
            for member, file in files.items():
                archive.write(file, member)
        return name

    def records(self, top):
        """The files of the Parquet set, as members of a folder."""
        return {os.path.relpath(os.path.join(folder, name), top): os.path.join(folder, name)
                for folder, _, names in os.walk("s.parq") for name in names}

    def assertReads(self, name):
        np.testing.assert_array_equal(read(name), self.values, name)

    def failure(self, name):
        with self.assertRaises(gdal_refs.RefsError) as caught:
            read(name)
        return str(caught.exception)

    def test_sets_and_files_in_them_are_read(self):
        for how in DEFLATED, STORED:
            both = {"sample.json": "sample.json", "sample.nc": "sample.nc"}
            self.zip("top.parq.zip", self.records("s.parq"), how)
            self.zip("in.zip", self.records("."), how)
            self.zip("a.zip", both, how)
            self.zip("nested.zip", {"x/a.zip": "a.zip"}, how)
            for name in ("top.parq.zip", "in.zip", "a.zip", "zip://sample.json::a.zip",
                         "zip://sample.nc::a.zip", "/vsizip/{a.zip}/sample.nc",
                         "/vsizip/a.zip/sample.nc", os.path.abspath("a.zip"),
                         "zip://sample.json::zip://x/a.zip::nested.zip",
                         "zip://s.parq::in.zip"):
                with self.subTest(name, how=how):
                    self.assertReads(name)
                    done = subprocess.run([PROGRAM, "check", name], capture_output=True, text=True)
                    self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_a_server_is_asked_for_few_ranges(self):
        server = Server(self.folder)
        self.addCleanup(server.close)
        with zipfile.ZipFile("small.zip", "w", STORED) as archive:
            archive.write("sample.json", "sample.json")
            archive.write("sample.nc", "sample.nc")
        with zipfile.ZipFile("padded.zip", "w", STORED) as archive:  # by more than opening fetches
            for n, name in enumerate(("sample.json", "sample.nc", "sample.json")):
                archive.writestr(f"pad{n}", bytes(200_000))
                archive.write(name, name if n < 2 else "other")
        for name, most in (("small.zip", 5), ("padded.zip", 9)):
            before = len(server.requests(name))
            self.assertReads(f"zip://sample.json::{server.url(name)}")
            n = len(server.requests(name)) - before
            print(name, n, "requests")
            self.assertLessEqual(n, most)

    def test_what_is_absent_or_ambiguous_is_named(self):
        self.zip("a.zip", {"sample.json": "sample.json"})
        self.zip("two.zip", {"sample.json": "sample.json", **self.records(".")})
        self.assertIn('no member "b.json"', self.failure("zip://b.json::a.zip"))
        self.assertIn("no.zip", self.failure("zip://a.json::no.zip"))
        self.assertIn("0: s.parq, 1: sample.json", self.failure("two.zip"))
        self.zip("none.zip", {"readme.txt": "sample.json"})
        self.assertIn("found a ZIP archive", self.failure("none.zip"))
        name = "sample.json"
        for _ in range(6):
            name = f"/vsizip/{{{name}}}/x.zip"
        self.assertIn("nested deeper", self.failure(name))

    def test_the_last_of_members_with_one_name_counts(self):
        with zipfile.ZipFile("twice.zip", "w") as archive:
            archive.writestr("s.json", "{}")
            archive.write("sample.nc", "sample.nc")
            with self.assertWarns(UserWarning):
                archive.write("sample.json", "s.json")
        self.assertReads("zip://s.json::twice.zip")

    def test_an_archive_that_is_replaced_is_read_anew(self):
        self.zip("r.zip", {"sample.json": "sample.json", "sample.nc": "sample.nc"})
        self.assertReads("zip://sample.json::r.zip")
        os.remove("r.zip")
        self.zip("r.zip", {"other.json": "sample.json", "sample.nc": "sample.nc"})
        self.assertIn("no member", self.failure("zip://sample.json::r.zip"))
        self.assertReads("zip://other.json::r.zip")

    def test_zip64_and_comments_are_read(self):
        with mock.patch("zipfile.ZIP_FILECOUNT_LIMIT", 1), zipfile.ZipFile("big.zip", "w") as archive:
            archive.comment = b"PK\5\6 is how an end begins" * 100
            archive.write("sample.json", "sample.json")
            with archive.open("sample.nc", "w", force_zip64=True) as file, open("sample.nc", "rb") as source:
                file.write(source.read())
        self.assertReads("zip://sample.json::big.zip")

    def damaged(self, change):
        """A failure of an archive whose bytes `change` changed, given its directory's first entry."""
        self.zip("d.zip", {"sample.json": "sample.json"})
        with open("d.zip", "rb") as file:
            content = bytearray(file.read())
        content = change(content, content.index(b"PK\1\2"), content.index(b"PK\5\6")) or content
        with open("d.zip", "wb") as file:
            file.write(content)
        return self.failure("zip://sample.json::d.zip")

    def put(self, place, form, number):
        """A change of a number in the first entry of the directory."""
        return lambda content, entry, end: struct.pack_into(form, content, entry + place, number)

    def test_damage_is_an_error(self):
        for expected, change in (
                ("no end of its directory", lambda content, entry, end: content[:end]),
                ("its directory extends past", lambda content, entry, end: content[100:]),
                ("expected CRC-32 00000001", self.put(16, "<I", 1)),
                ("cannot be the", self.put(24, "<I", 2**31)),
                ("is encrypted", self.put(8, "<H", 1)),
                ("compression method 14", self.put(10, "<H", 14)),
                ("extends past the others", self.put(20, "<I", 2**30)),
                ("begins past the others", self.put(42, "<I", 2**31)),
                ("lacks its ZIP64 sizes", self.put(24, "<I", 2**32 - 1)),
                ("its directory is damaged", self.put(28, "<H", 60000)),
                ("cannot have 9 members",
                 lambda content, entry, end: struct.pack_into("<H", content, end + 10, 9)),
                ("its directory extends past",
                 lambda content, entry, end: struct.pack_into("<I", content, end + 12, 2**25)),
                ("expected at most", lambda content, entry, end: struct.pack_into(
                    "<I", content, end + 12, 2**31)),
                ("split over several files",
                 lambda content, entry, end: struct.pack_into("<H", content, end + 4, 1)),
                ("expected the header of the member",
                 lambda content, entry, end: struct.pack_into("<I", content, 0, 0))):
            with self.subTest(expected):
                self.assertIn(expected, self.damaged(change))

    def test_a_flipped_bit_of_a_name_in_the_directory_is_no_absence(self):
        self.zip("s.zip", self.records("s.parq"))
        with open("s.zip", "rb") as file:
            sound = file.read()
        name = b"t2m/refs.0.parq"
        begin = sound.rindex(name)
        for bit in range(8 * len(name)):
            content = bytearray(sound)
            content[begin + bit // 8] ^= 1 << bit % 8
            with open("f.zip", "wb") as file:
                file.write(content)
            self.assertIn("another name", self.failure("f.zip"))
            if bit % 16 == 0:
                done = subprocess.run([PROGRAM, "convert", "f.zip", "-o", "f.json"], capture_output=True, text=True)
                self.assertIn("another name", done.stderr)
                self.assertNotEqual(done.returncode, 0)

    def test_chunks_of_a_large_stored_member_on_a_server_are_read(self):
        """Several ranges of it, that are too far apart for one request."""
        server = Server(self.folder)
        self.addCleanup(server.close)
        n, apart = 30, 300_000
        content = b"".join(bytes([i]) * apart for i in range(n))
        with zipfile.ZipFile("large.zip", "w", STORED) as archive:
            archive.writestr("first", bytes(1000))
            archive.writestr("large", content)
        url = "zip://large::" + server.url("large.zip")
        array = {"zarr_format": 2, "shape": [n, 100], "chunks": [1, 100], "dtype": "|u1", "order": "C", "filters": None,
                 "compressor": None, "fill_value": None}
        refs = {".zgroup": '{"zarr_format": 2}', "t2m/.zarray": json.dumps(array), "t2m/.zattrs": '{"_ARRAY_DIMENSIONS": ["y", "x"]}',
                **{f"t2m/{i}.0": [url, i * apart + 50, 100] for i in range(n)}}
        with open("large.json", "w") as file:
            json.dump({"version": 1, "refs": refs}, file)
        before = len(server.requests("large.zip"))
        np.testing.assert_array_equal(read("large.json"), np.repeat(np.arange(n, dtype="u1"), 100).reshape(n, 100))
        self.assertLessEqual(len(server.requests("large.zip")) - before, n + 5)

    def test_bytes_that_are_changed_at_random_are_never_taken_for_others(self):
        choose = random.Random(1)
        self.zip("s.zip", {"sample.json": "sample.json"})
        with open("s.zip", "rb") as file:
            sound = file.read()
        for _ in range(300):
            content = bytearray(sound)
            content[choose.randrange(len(content))] ^= 1 << choose.randrange(8)
            with open("c.zip", "wb") as file:
                file.write(content)
            try:
                self.assertReads("zip://sample.json::c.zip")
            except gdal_refs.RefsError as error:
                self.assertIn("c.zip", str(error))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
