"""Masters and fragments in object stores, by alias: written to and read from a server of others.

usage: object_store_test.py    with GDAL_DRIVER_PATH
"""

import json
import os
import sys
import tempfile
import unittest

import numpy
from osgeo import gdal

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "server"))
import object_store  # noqa: E402
from cfa_write_test import raster, values  # noqa: E402

if object_store.WHY_NOT:
    print(object_store.WHY_NOT)
    sys.exit(77)
gdal.UseExceptions()

MIB = 1024 * 1024


def setUpModule():
    global first, second
    first = object_store.ObjectStore("id-0", "secret-0", "data", "other")
    second = object_store.ObjectStore("id-1", "secret-1", "data")


def tearDownModule():
    first.close()
    second.close()


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        for name, value in (("HOME", self.folder), ("GDAL_HTTP_MAX_RETRY", "0"), ("AWS_EC2_METADATA_DISABLED", "YES"),
                            ("CPL_AWS_CREDENTIALS_FILE", os.path.join(self.folder, "none"))):
            gdal.SetConfigOption(name, value)
            self.addCleanup(gdal.SetConfigOption, name, None)
        gdal.VSICurlClearCache()
        self.configure()

    def configure(self, keys=None, **backend):
        """~/.s3nc.json with both stores."""
        hosts = {f"s3://tenancy-{i}": {
            "alias": f"tenancy-{i}", "url": store.url, "backend": "s3aioFileObject", "api": "S3v4",
            "credentials": dict(zip(("accessKey", "secretKey"), keys or (store.key, store.secret)))}
            for i, store in enumerate((first, second))}
        with open(os.path.join(self.folder, ".s3nc.json"), "w") as file:
            json.dump({"version": "9", "hosts": hosts, "backends": {"s3aioFileObject": backend}}, file)

    def copy(self, source, to, **options):
        options.setdefault("LAYOUT", "CFA")
        return gdal.GetDriverByName("REFS").CreateCopy(to, source, options=[f"{k}={v}" for k, v in options.items()])

    def read(self, name):
        return gdal.Open(f'REFS:"{name}"').ReadAsArray()

    def fails(self, *words, work):
        with self.assertRaises(RuntimeError) as raised:
            work()
        for word in words:
            self.assertIn(word, str(raised.exception))
        self.assertNotIn("secret", str(raised.exception))


def noise(mib):
    """An array of about so many MiB that nothing makes smaller."""
    return numpy.random.default_rng(1).random((1, 256 * mib, 1024), "f4")


class Writing(Case):
    def test_masters_come_last_and_are_read_by_alias(self):
        for version in ("0.4", "0.5", "1.13"):
            name = f"s3://tenancy-0/data/{version}/m.nca"
            before = len(first.requests())
            self.copy(raster(values()), name, CFA_VERSION=version, SUBARRAY_SHAPE="2,6,8")
            written = [path for _, method, path in first.requests()[before:] if method == "PUT"]
            self.assertEqual([path.rsplit("/", 1)[1] for path in written],
                             ["m.tas.0.0.0.nc", "m.tas.1.0.0.nc", "m.outline.nca", "m.nca"])
            numpy.testing.assert_array_equal(self.read(name), values())

    def test_fragments_are_named_by_alias_as_S3netCDF4_names_them(self):
        self.copy(raster(values()), "s3://tenancy-0/data/named/m.nca", CFA_VERSION="0.4")
        with open(os.path.join(first.root, "data", "named", "m.nca"), "rb") as file:
            self.assertIn(b"s3://tenancy-0/data/named/m/m.tas.0.0.0.nc", file.read())

    def test_names_of_gdal_stand_in_masters_as_urls(self):
        for name, value in (("AWS_S3_ENDPOINT", first.url[7:]), ("AWS_HTTPS", "NO"), ("AWS_VIRTUAL_HOSTING", "FALSE"),
                            ("AWS_ACCESS_KEY_ID", first.key), ("AWS_SECRET_ACCESS_KEY", first.secret)):
            gdal.SetConfigOption(name, value)
            self.addCleanup(gdal.SetConfigOption, name, None)
        for version in ("0.4", "0.5", "1.13"):
            self.copy(raster(values()), f"/vsis3/data/gdal/{version}.nca", CFA_VERSION=version)
            numpy.testing.assert_array_equal(self.read(f"/vsis3/data/gdal/{version}.nca"), values())

    def test_plain_files_are_written_too(self):
        for layout in ("NETCDF3", "NETCDF4"):
            self.copy(raster(values()), f"s3://tenancy-0/data/plain/{layout}.nc", LAYOUT=layout)
            numpy.testing.assert_array_equal(self.read(f"s3://tenancy-0/data/plain/{layout}.nc"), values())

    def uploads(self, name, **backend):
        """How one file was sent: methods of its requests."""
        self.configure(**backend)
        before = len(first.requests())
        self.copy(raster(noise(12)), f"s3://tenancy-0/data/{name}", LAYOUT="NETCDF4")
        return [method for _, method, path in first.requests()[before:]
                if path == f"/data/{name}" and method in ("PUT", "POST", "DELETE")]

    def test_large_files_are_sent_in_parts(self):
        self.assertEqual(self.uploads("parts.nc", maximum_part_size="6MB", maximum_parts=2),
                         ["POST", "PUT", "PUT", "PUT", "POST"])
        numpy.testing.assert_array_equal(self.read("s3://tenancy-0/data/parts.nc"), noise(12)[0])

    def test_they_are_sent_whole_where_the_file_says_so(self):
        self.assertEqual(self.uploads("whole.nc", maximum_part_size="6MB", enable_multipart_upload=False), ["PUT"])

    def test_two_tenancies_have_buckets_of_one_name(self):
        self.copy(raster(values()), "s3://tenancy-0/data/two/m.nca")
        self.copy(raster(values() + 1), "s3://tenancy-1/data/two/m.nca")
        numpy.testing.assert_array_equal(self.read("s3://tenancy-0/data/two/m.nca"), values())
        numpy.testing.assert_array_equal(self.read("s3://tenancy-1/data/two/m.nca"), values() + 1)


class Failing(Case):
    def write(self, to="s3://tenancy-0/other/failed/m.nca"):
        self.copy(raster(values()), to, SUBARRAY_SHAPE="2,6,8")

    def test_wrong_keys_are_refused_in_words_and_leave_nothing(self):
        self.configure(keys=("id-0", "secret-of-another"))
        self.fails("403", "SignatureDoesNotMatch", "with the credentials of", work=self.write)
        self.configure(keys=("nobody", "secret"))
        self.fails("cannot be written", work=self.write)
        self.configure(keys=("blank", "blank"))
        self.fails("403", "has no credentials", work=self.write)
        self.assertEqual(first.files("other"), [])

    def test_reading_with_wrong_keys_is_refused_too(self):
        self.copy(raster(values()), "s3://tenancy-0/data/guarded/m.nca")
        for keys in (("id-0", "secret-of-another"), ("blank", "blank")):
            self.configure(keys=keys)
            self.fails("403", work=lambda: self.read("s3://tenancy-0/data/guarded/m.nca"))

    def test_buckets_that_are_not_there_are_named(self):
        self.fails("nobucket", "NoSuchBucket", work=lambda: self.write("s3://tenancy-0/nobucket/m.nca"))

    def test_aliases_that_nobody_defined_are_named_with_the_file(self):
        self.fails("tenancy-9", ".s3nc.json", work=lambda: self.write("s3://tenancy-9/data/m.nca"))

    def test_what_was_sent_before_a_failure_is_removed(self):
        source, sent = raster(values()), []

        def stop(done, text, user):
            sent.append(done)
            return 0 if done > 0.6 else 1

        with self.assertRaises(RuntimeError):
            gdal.GetDriverByName("REFS").CreateCopy("s3://tenancy-0/other/stopped/m.nca", source, callback=stop,
                                                    options=["LAYOUT=CFA", "SUBARRAY_SHAPE=1,6,8"])
        self.assertIn("/other/stopped/m/m.tas.0.0.0.nc", [path for _, _, path in first.requests()])
        self.assertEqual(first.files("other"), [])


class Reading(Case):
    def test_one_pixel_takes_ranges_and_not_whole_objects(self):
        data = noise(16)
        self.copy(raster(data), "s3://tenancy-0/data/pixel/m.nca", SUBARRAY_SIZE="9MB")
        gdal.VSICurlClearCache()
        before = len(first.requests())
        got = gdal.Open('REFS:"s3://tenancy-0/data/pixel/m.nca"').ReadAsArray(5, 7, 1, 1)
        self.assertEqual(got[0][0], data[0][7][5])
        asked = [row for row in first.requests()[before:] if "/m/" in row[2]]
        self.assertEqual({path for _, _, path in asked}, {"/data/pixel/m/m.tas.0.0.0.nc"})
        self.assertEqual({status for status, _, _ in asked}, {206})
        self.assertLessEqual(len(asked), 3)


if __name__ == "__main__":
    unittest.main()
