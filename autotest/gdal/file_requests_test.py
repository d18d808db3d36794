"""How many requests data files take over HTTP that open as sets, whatever they are called: each format is
told by its bytes. Skips without h5py.
"""

import os
import re
import sys
import unittest

import numpy as np
from osgeo import gdal, osr

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../server"))
from served import Folder, Server

try:
    import h5py
except ImportError:
    h5py = None

SKIPPED = 77
VALUES = np.arange(60 * 50, dtype="i4").reshape(60, 50)


def write_hdf5(path, **options):
    with h5py.File(path, "w", **options) as file:
        file.create_dataset("v", data=VALUES, chunks=(20, 50), compression="gzip")


def write_by_gdal(path, driver, *options):
    memory = gdal.GetDriverByName("MEM").Create("", 50, 60, 1, gdal.GDT_Int32)
    memory.SetGeoTransform([0, 1, 0, 60, 0, -1])
    reference = osr.SpatialReference()
    reference.ImportFromEPSG(4326)
    memory.SetProjection(reference.ExportToWkt())
    memory.WriteArray(VALUES)
    gdal.GetDriverByName(driver).CreateCopy(path, memory, options=options)
    if os.path.exists(path + ".aux.xml"):
        os.remove(path + ".aux.xml")


def read(name):
    """The values of the only raster, as they were written: where nothing says which way is up, GDAL turns
    the rows of netCDF around."""
    values = gdal.Open(f'REFS:"{name}"').ReadAsArray()
    return values if values[0, 0] == 0 else values[::-1]


class Requests(unittest.TestCase):
    def setUp(self):
        self.folder = Folder()
        self.addCleanup(self.folder.close)

    def path(self, name):
        return os.path.join(self.folder.served, name)

    def requests(self, name):
        """Of opening and reading all of a file: what was asked for, and the values."""
        server = Server(self.folder)
        self.addCleanup(server.close)
        values = read(server.url(name))
        return [(r["method"], r["headers"].get("range")) for r in server.requests()], values

    def gets(self, server):
        """Requests but for GDAL's, which looks for a cache of an array (x.gmac) where one is read."""
        return sum(not request["path"].endswith(".gmac") for request in server.requests())

    def expect(self, name, most, values=VALUES):
        """What has no ending may be a repository: two of its files are asked for first."""
        asked, found = self.requests(name)
        asked = asked[2 if re.fullmatch(r"\w+", name) else 0:]
        self.assertTrue(np.array_equal(found, values), name)
        self.assertEqual({method for method, _ in asked}, {"GET"})
        self.assertNotIn(None, [ranges for _, ranges in asked], f"{name}: it was fetched whole")
        self.assertLessEqual(len(asked), most, asked)

    def test_small_files_take_one_whatever_they_are_called(self):
        writers = {"hdf5": write_hdf5,
                   "netcdf3": lambda path: write_by_gdal(path, "netCDF", "FORMAT=NC"),
                   "tiff": lambda path: write_by_gdal(path, "GTiff", "TILED=YES", "COMPRESS=DEFLATE"),
                   "grib2": lambda path: write_by_gdal(path, "GRIB")}
        for format_name, write in writers.items():
            for name in ("x", "x.json", "x.zst", "x.he5"):
                with self.subTest(f"{format_name} called {name}"):
                    write(self.path("written"))
                    os.replace(self.path("written"), self.path(name))
                    self.expect(name, 1)

    def test_what_scanning_cost_is_shown(self):
        write_hdf5(self.path("x"))
        server = Server(self.folder)
        self.addCleanup(server.close)
        dataset = gdal.Open(f'REFS:"{server.url("x")}":/v')
        shown = dataset.GetMetadata("REFS")
        self.assertEqual(shown["SCAN_READS"], "1")
        self.assertEqual(shown["SCAN_BYTES"], str(os.path.getsize(self.path("x"))))
        self.assertIn("SCAN_MILLISECONDS", shown)
        dataset.ReadAsArray()
        self.assertEqual(dataset.GetMetadataItem("CHUNKS_INDEXED", "REFS"), "3")

    def test_large_files_are_never_fetched_whole(self):
        with h5py.File(self.path("download"), "w") as file:
            file.create_dataset("v", data=VALUES, chunks=(20, 50))
            file["v"].attrs["noise"] = np.zeros(4000)
            file.create_dataset("noise", data=np.zeros(3 << 20, "u1"))
        self.expect("download?id=3", 3)

    def test_user_blocks_take_few(self):
        for size in [512 << n for n in range(15)]:
            with self.subTest(size):
                write_hdf5(self.path("x.he5"), userblock_size=size)
                self.assertTrue(np.array_equal(read(self.path("x.he5")), VALUES))
                self.expect("x.he5", 1 if size < 32768 else 8 if size < 1 << 20 else 12)

    def test_files_of_up_to_a_megabyte_take_two(self):
        with h5py.File(self.path("x.he5"), "w") as file:
            for i in range(10):
                file.create_dataset(f"noise{i}", data=np.zeros(70000, "u1"))
                file[f"noise{i}"].attrs["a"] = np.zeros(1000)
            file.create_dataset("v", data=VALUES, chunks=(20, 50))
        self.assertLess(os.path.getsize(self.path("x.he5")), 1 << 20)
        server = Server(self.folder)
        self.addCleanup(server.close)
        root = gdal.OpenEx(f'REFS:"{server.url("x.he5")}"', gdal.OF_MULTIDIM_RASTER).GetRootGroup()
        self.assertTrue(np.array_equal(root.OpenMDArray("v").ReadAsArray(), VALUES))
        self.assertLessEqual(self.gets(server), 2)

    def test_metadata_in_pages_take_two(self):
        access, creation = h5py.h5p.create(h5py.h5p.FILE_ACCESS), h5py.h5p.create(h5py.h5p.FILE_CREATE)
        access.set_libver_bounds(h5py.h5f.LIBVER_V110, h5py.h5f.LIBVER_V110)
        creation.set_file_space_strategy(h5py.h5f.FSPACE_STRATEGY_PAGE, False, 1)
        creation.set_file_space_page_size(1 << 20)
        with h5py.File(h5py.h5f.create(self.path("x.he5").encode(), fcpl=creation, fapl=access)) as file:
            for i in range(120):
                file.create_dataset(f"noise{i}", data=np.zeros(30000, "u1")).attrs["a"] = np.zeros(500)
            file.create_dataset("v", data=VALUES, chunks=(20, 50))
        self.assertGreater(os.path.getsize(self.path("x.he5")), 4 << 20)
        server = Server(self.folder)
        self.addCleanup(server.close)
        root = gdal.OpenEx(f'REFS:"{server.url("x.he5")}"', gdal.OF_MULTIDIM_RASTER).GetRootGroup()
        self.assertEqual(len(root.GetMDArrayNames()), 121)
        self.assertLessEqual(self.gets(server), 2)
        self.assertTrue(np.array_equal(root.OpenMDArray("v").ReadAsArray(), VALUES))
        self.assertLessEqual(self.gets(server), 3)

    def test_what_is_no_set_is_told_soon(self):
        with open(self.path("x.he5"), "wb") as file:
            file.write(b"x" * (8 << 20))
        server = Server(self.folder)
        self.addCleanup(server.close)
        with self.assertRaisesRegex(RuntimeError, "expected an HDF5 file, as its name says"):
            gdal.Open(f"REFS:{server.url('x.he5')}")
        self.assertLessEqual(len(server.requests()), 9)


if __name__ == "__main__":
    if h5py is None:
        print("no h5py")
        sys.exit(SKIPPED)
    gdal.UseExceptions()
    unittest.main()
