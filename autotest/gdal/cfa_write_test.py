"""What the driver writes: masters with fragments, and netCDF files.

usage: cfa_write_test.py    with GDAL_DRIVER_PATH
"""

import os
import resource
import signal
import subprocess
import sys
import unittest

import numpy
from osgeo import gdal, gdal_array, osr

try:
    import netCDF4
except ImportError:
    netCDF4 = None

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "server"))
from own_folder import OwnFolder  # noqa: E402
from this_build import need  # noqa: E402

need("netcdf")
gdal.UseExceptions()

FILL = -9999.0
VERSIONS = ("0.4", "0.5", "1.13")


def values(times=4, rows=6, columns=8):
    t, y, x = numpy.meshgrid(numpy.arange(times), numpy.arange(rows), numpy.arange(columns), indexing="ij")
    return (1000 * t + 10 * y + x + 0.25).astype("f4")


def raster(data, geographic=True):
    """A dataset in memory with time in its bands."""
    times, rows, columns = data.shape
    made = gdal.GetDriverByName("MEM").Create("", columns, rows, times, gdal.GDT_Float32)
    made.SetGeoTransform([-10, 2, 0, 51, 0, -1])
    system = osr.SpatialReference()
    system.ImportFromEPSG(4326 if geographic else 32632)
    made.SetProjection(system.ExportToWkt())
    made.SetMetadata({
        "NETCDF_DIM_EXTRA": "{time}", "NETCDF_DIM_time_DEF": f"{{{times},6}}",
        "NETCDF_DIM_time_VALUES": "{" + ",".join(str(6 * i) for i in range(times)) + "}",
        "time#units": "hours since 2000-01-01", "time#axis": "T", "NC_GLOBAL#title": "T", "tas#standard_name": "air_temperature"})
    for i in range(times):
        band = made.GetRasterBand(i + 1)
        band.WriteArray(data[i])
        band.SetNoDataValue(FILL)
        band.SetMetadataItem("NETCDF_VARNAME", "tas")
        band.SetUnitType("K")
    return made


class Case(OwnFolder):
    def setUp(self):
        super().setUp()
        gdal.SetConfigOption("HOME", self.folder)
        self.addCleanup(gdal.SetConfigOption, "HOME", None)

    def copy(self, source, name="m.nca", **options):
        """Writes `source`; the path of what was written."""
        options.setdefault("LAYOUT", "CFA")
        pairs = [f"{key}={value}" for key, value in options.items() if value is not None]
        gdal.GetDriverByName("REFS").CreateCopy(self.path(name), source, options=pairs)
        return self.path(name)

    def fails(self, source, *words, **options):
        with self.assertRaises(RuntimeError) as raised:
            self.copy(source, **options)
        for word in words:
            self.assertIn(word, str(raised.exception))

    def fragments(self, stem="m"):
        folder = self.path(stem)
        names = os.listdir(folder) if os.path.isdir(folder) else []
        return sorted(name for name in names if not name.endswith(".outline.nca"))


class Masters(Case):
    def test_packing_is_that_of_the_band_not_of_metadata_that_are_left(self):
        for layout in ("NETCDF4", "CFA"):
            made = raster(values())
            stale = {"scale_factor": "0.01", "add_offset": "280", "_FillValue": "-32767", "valid_max": "30000"}
            made.SetMetadata({**made.GetMetadata(), **{"tas#" + key: value for key, value in stale.items()}})
            for i in range(1, made.RasterCount + 1):
                for key, value in stale.items():
                    made.GetRasterBand(i).SetMetadataItem(key, value)
            name = self.path(layout + ".nc")
            gdal.GetDriverByName("REFS").CreateCopy(name, made, options=["LAYOUT=" + layout])
            with netCDF4.Dataset(name) as file:
                self.assertEqual({*stale} & {*file["tas"].ncattrs()}, {"_FillValue"})
                self.assertEqual(file["tas"]._FillValue, FILL)
            for i in range(1, made.RasterCount + 1):
                made.GetRasterBand(i).SetScale(0.01)
                made.GetRasterBand(i).SetOffset(280)
            gdal.GetDriverByName("REFS").CreateCopy(name, made, options=["LAYOUT=" + layout])
            with netCDF4.Dataset(name) as file:
                self.assertEqual((file["tas"].scale_factor, file["tas"].add_offset, file["tas"].valid_max),
                                 (0.01, 280, 30000))

    def test_hold_what_was_copied(self):
        data = values()
        for version in VERSIONS:
            with self.subTest(version=version):
                path = self.copy(raster(data), f"v{version}.nca", CFA_VERSION=version, SUBARRAY_SHAPE="3,3,4")
                read = gdal.Open(path)
                numpy.testing.assert_array_equal(read.ReadAsArray(), data)
                self.assertEqual(read.GetRasterBand(1).GetNoDataValue(), FILL)
                self.assertEqual(read.GetRasterBand(1).GetUnitType(), "K")
                numpy.testing.assert_allclose(read.GetGeoTransform(), [-10, 2, 0, 51, 0, -1])
                self.assertEqual(read.GetMetadataItem("NETCDF_DIM_time_VALUES"), "{0,6,12,18}")
                self.assertEqual(read.GetMetadataItem("NC_GLOBAL#title"), "T")
                self.assertEqual(len(self.fragments(f"v{version}")), 8)

    def test_are_netcdf_3_too(self):
        data = values()
        for version in ("0.4", "1.13"):
            path = self.copy(raster(data), f"v{version}.nca", CFA_VERSION=version, FORMAT="NETCDF3", SUBARRAY_SHAPE="2,3,4")
            with open(path, "rb") as file:
                self.assertEqual(file.read(3), b"CDF")
            with open(self.path(f"v{version}", f"v{version}.tas.0.0.0.nc"), "rb") as file:
                self.assertEqual(file.read(4), b"CDF\1")
            numpy.testing.assert_array_equal(gdal.Open(path).ReadAsArray(), data)

    def test_of_groups_are_no_netcdf_3(self):
        self.fails(raster(values()), "netCDF-3", "CFA-0.4", FORMAT="NETCDF3")
        self.assertEqual(os.listdir(self.folder), [])

    def test_are_of_version_0_5_unless_told(self):
        with open(self.copy(raster(values())), "rb") as file:
            self.assertIn(b"CFA-0.5", file.read())

    def test_name_fragments_relative_to_themselves(self):
        self.copy(raster(values()), "in/m.nca" if os.makedirs(self.path("in")) is None else "")
        os.rename(self.path("in"), self.path("moved"))
        numpy.testing.assert_array_equal(gdal.Open(self.path("moved", "m.nca")).ReadAsArray(), values())

    def test_name_fragments_absolutely_where_that_is_asked_for(self):
        path = self.copy(raster(values()), FRAGMENT_NAMES="ABSOLUTE", CFA_VERSION="0.4")
        with open(path, "rb") as file:
            self.assertIn(self.path("m", "m.tas.0.0.0.nc").encode(), file.read())

    def test_have_projected_grids(self):
        path = self.copy(raster(values(), geographic=False))
        read = gdal.Open(path)
        self.assertEqual(read.GetSpatialRef().GetAuthorityCode(None), "32632")
        numpy.testing.assert_allclose(read.GetGeoTransform(), [-10, 2, 0, 51, 0, -1])


class Places(Case):
    """Whether rows and geotransform are those of the source, for this driver and for GDAL's netCDF driver."""

    PLACES = {"none": None, "rotated": (5e5, 30, 3, 45e5, 2, -30), "north": (5e5, 30, 0, 45e5, 0, -30), "south": (5e5, 30, 0, 45e5, 0, 30)}
    SIZES = ((4, 3), (5, 1), (1, 5), (1, 1))

    def source(self, size, place, has_crs):
        made = gdal.GetDriverByName("MEM").Create("", *size, 1, gdal.GDT_Int16)
        if place:
            made.SetGeoTransform(place)
        if has_crs:
            system = osr.SpatialReference()
            system.ImportFromEPSG(32633)
            made.SetSpatialRef(system)
        made.GetRasterBand(1).WriteArray(numpy.arange(size[0] * size[1], dtype="i2").reshape(size[1], size[0]))
        # What a source that GDAL's netCDF driver wrote would say of itself.
        made.SetMetadataItem("NC_GLOBAL#GDAL", "GDAL 3.6.2, released 2023/01/02")
        return made

    def check(self, name, source):
        read = gdal.Open(name)
        rows, place = read.ReadAsArray(), read.GetGeoTransform(can_return_null=True)
        expected = source.GetGeoTransform(can_return_null=True)
        if expected and place and place[5] * expected[5] < 0:  # rows from the south are shown from the north
            rows = rows[::-1]
            place = (*place[:3], place[3] + place[5] * read.RasterYSize, place[4], -place[5])
        self.assertEqual(rows.tolist(), source.ReadAsArray().tolist())
        self.assertEqual(place is None, expected is None)
        if expected:
            numpy.testing.assert_allclose(place, expected)
        ours, theirs = (dataset.GetSpatialRef() for dataset in (read, source))
        self.assertEqual(ours and ours.GetAuthorityCode(None), theirs and theirs.GetAuthorityCode(None))

    def test_are_those_of_the_source(self):
        drivers = ["REFS", "NETCDF"] if gdal.GetDriverByName("netCDF") and sys.byteorder == "little" else ["REFS"]
        for size in self.SIZES:
            for (kind, place), has_crs in ((pair, crs) for pair in self.PLACES.items() for crs in (True, False)):
                for layout in ("NETCDF4", "NETCDF3", "CFA"):
                    source = self.source(size, place, has_crs)
                    name = f"{size[0]}x{size[1]}_{kind}_{has_crs}_{layout}.nc"
                    path = self.copy(source, name, LAYOUT=layout, SUBARRAY_SHAPE="2,3" if layout == "CFA" else None)
                    for driver in drivers if layout != "CFA" else ["REFS"]:
                        with self.subTest(file=name, driver=driver):
                            self.check(f'{driver}:"{path}"', source)


class Bytes(Case):
    def test_have_no_nodata_that_their_source_has_not(self):
        data = numpy.arange(256, dtype="u1").reshape(16, 16)
        for nodata in (None, 255, 7):
            source = gdal.GetDriverByName("MEM").Create("", 16, 16, 1, gdal.GDT_Byte)
            source.GetRasterBand(1).WriteArray(data)
            if nodata is not None:
                source.GetRasterBand(1).SetNoDataValue(nodata)
            for version in (*VERSIONS, None, "packed"):
                name = f"{nodata}_{version}.nc"
                if version == "packed":
                    source.GetRasterBand(1).SetScale(0.5)
                path = (self.copy(source, name, CFA_VERSION=version, SUBARRAY_SHAPE="4,8") if version in VERSIONS
                        else self.copy(source, name, LAYOUT="NETCDF4"))
                read = gdal.Open(f'REFS:"{path}"')
                self.assertEqual(read.GetRasterBand(1).GetNoDataValue(), nodata)
                numpy.testing.assert_array_equal(read.ReadAsArray(), data)

    def test_that_are_missing_are_an_error_where_none_stands_for_them(self):
        source = gdal.GetDriverByName("MEM").Create("", 4, 4, 1, gdal.GDT_Byte)
        path = self.copy(source, SUBARRAY_SHAPE="2,4")
        os.remove(self.path("m", self.fragments()[0]))
        read = gdal.Open(path)
        with self.assertRaisesRegex(RuntimeError, "does not exist, and its integers have no missing value"):
            read.ReadAsArray()


class Values(Case):
    """Rasters without nodata: netCDF's default fill values are pixels as others, saturated ones, say."""

    DEFAULTS = {"Int16": -32767, "UInt16": 65535, "Int32": -2147483647, "UInt32": 4294967295,
                "Float32": 9.969209968386869e36, "Float64": 9.969209968386869e36}

    def check(self, read, data):
        band = read.GetRasterBand(1)
        numpy.testing.assert_array_equal(band.ReadAsArray(), data)
        self.assertEqual(band.GetMaskBand().ReadAsArray().min(), 255)

    def test_that_netcdf_takes_for_missing_ones_stay_values(self):
        for kind, default in self.DEFAULTS.items():
            source = gdal.GetDriverByName("MEM").Create("", 4, 3, 1, gdal.GetDataTypeByName(kind))
            data = numpy.arange(12).reshape(3, 4).astype(source.GetRasterBand(1).ReadAsArray().dtype)
            data[1, 1] = default
            source.GetRasterBand(1).WriteArray(data)
            for layout in ("NETCDF4", "CFA") if kind.startswith("U") else ("NETCDF4", "NETCDF3", "CFA"):
                with self.subTest(kind=kind, layout=layout):
                    path = self.copy(source, f"{kind}_{layout}.nc", LAYOUT=layout)
                    self.check(gdal.Open(f'REFS:"{path}"'), data)

    def created(self, data, name, **options):
        """The path of a raster of `data` that Create() writes."""
        path = self.path(name)
        options = [f"{key}={value}" for key, value in options.items()]
        kind = gdal_array.NumericTypeCodeToGDALTypeCode(data.dtype)
        raster = gdal.GetDriverByName("REFS").Create(path, data.shape[1], data.shape[0], 1, kind, options)
        raster.GetRasterBand(1).WriteArray(data)
        return path

    def test_stay_values_in_masters_of_netcdf_3(self):
        for kind, default in self.DEFAULTS.items():
            if kind.startswith("U"):
                continue
            source = gdal.GetDriverByName("MEM").Create("", 4, 3, 1, gdal.GetDataTypeByName(kind))
            data = numpy.full((3, 4), 5, source.GetRasterBand(1).ReadAsArray().dtype)
            data[1, 1] = default
            source.GetRasterBand(1).WriteArray(data)
            for version in ("0.4", "1.13"):
                options = {"LAYOUT": "CFA", "FORMAT": "NETCDF3", "CFA_VERSION": version}
                with self.subTest(kind=kind, version=version, how="copy"):
                    self.check(gdal.Open(self.copy(source, f"{kind}_{version}.nca", **options)), data)
                with self.subTest(kind=kind, version=version, how="create"):
                    self.check(gdal.Open(self.created(data, f"{kind}_{version}_new.nca", **options)), data)

    def test_of_arrays_too(self):
        source = gdal.GetDriverByName("MEM").CreateMultiDimensional("")
        root = source.GetRootGroup()
        dims = [root.CreateDimension(name, None, None, size) for name, size in (("y", 3), ("x", 4))]
        array = root.CreateMDArray("v", dims, gdal.ExtendedDataType.Create(gdal.GDT_UInt16))
        data = numpy.arange(12, dtype="u2").reshape(3, 4)
        data[1, 1] = 65535
        array.Write(data)
        for layout in ("NETCDF4", "CFA"):
            with self.subTest(layout=layout):
                path = self.path(f"m_{layout}.nc")
                gdal.MultiDimTranslate(path, source, format="REFS", creationOptions=["LAYOUT=" + layout])
                self.check(gdal.Open(f'REFS:"{path}":/v'), data[::-1])  # rows without coordinates go north


class Fragments(Case):
    def test_that_hold_nothing_are_not_written(self):
        data = values()
        data[2:, :3, 4:] = FILL
        for version in VERSIONS:
            path = self.copy(raster(data), f"v{version}.nca", CFA_VERSION=version, SUBARRAY_SHAPE="2,3,4")
            names = self.fragments(f"v{version}")
            self.assertEqual(len([name for name in names if ".fill." not in name]), 7)
            # CF-1.13 has no missing fragments.
            self.assertEqual(f"v{version}.tas.fill.2x3x4.nc" in names, version == "1.13")
            self.assertNotIn(f"v{version}.tas.1.0.1.nc", self.fragments(f"v{version}"))
            numpy.testing.assert_array_equal(gdal.Open(path).ReadAsArray(), data)

    def test_of_nothing_at_all_are_an_outline_alone(self):
        path = self.copy(raster(numpy.full((2, 3, 4), FILL, "f4")))
        self.assertEqual(os.listdir(self.path("m")), ["m.outline.nca"])
        self.assertTrue((gdal.Open(path).ReadAsArray() == FILL).all())

    def test_are_split_by_size(self):
        self.copy(raster(values()), SUBARRAY_SIZE=str(30 * 4))
        self.assertEqual(len(self.fragments()), 8)
        self.assertEqual(self.fragments()[0], "m.tas.0.0.0.nc")

    def test_have_shapes_by_name(self):
        self.copy(raster(values()), SUBARRAY_SHAPE="time=1")
        self.assertEqual(self.fragments(), [f"m.tas.{i}.0.0.nc" for i in range(4)])

    def test_of_odd_shapes_are_refused(self):
        for shape in ("0,1,1", "a", "time=1,2", "1,,2"):
            self.fails(raster(values()), "SUBARRAY_SHAPE", SUBARRAY_SHAPE=shape)
        self.fails(raster(values()), "time=0 is not a size", SUBARRAY_SHAPE="time=0")
        self.fails(raster(values()), "SUBARRAY_SIZE", SUBARRAY_SIZE="much")

    @unittest.skipIf(netCDF4 is None, "needs python3-netcdf4")
    def test_are_files_of_their_own(self):
        self.copy(raster(values()), SUBARRAY_SHAPE="2,3,4")
        with netCDF4.Dataset(self.path("m", "m.tas.1.0.1.nc")) as file:
            file.set_auto_mask(False)
            self.assertEqual(file.data_model, "NETCDF4")
            self.assertEqual(file["tas"].dimensions, ("time", "lat", "lon"))
            self.assertEqual(file["tas"].standard_name, "air_temperature")
            self.assertEqual(file["tas"]._FillValue, FILL)
            self.assertEqual(file["time"][:].tolist(), [12, 18])
            self.assertEqual(file["time"].units, "hours since 2000-01-01")
            self.assertEqual(file["lon"][:].tolist(), [-1, 1, 3, 5])
            self.assertEqual(file["lat"][:].tolist(), [50.5, 49.5, 48.5])
            self.assertNotIn("CFA", file.Conventions)
            numpy.testing.assert_array_equal(file["tas"][:], values()[2:, :3, 4:])

    def test_are_compressed(self):
        big = numpy.zeros((1, 400, 400), "f4")
        self.copy(raster(big), "plain.nca")
        self.copy(raster(big), "small.nca", COMPRESS="DEFLATE")
        sizes = [os.path.getsize(self.path(stem, f"{stem}.tas.0.0.0.nc")) for stem in ("plain", "small")]
        self.assertGreater(sizes[0], 20 * sizes[1])


class Failures(Case):
    def test_leave_the_archive_where_gdal_is_told_not_to_delete_it(self):
        path = self.copy(raster(values()), SUBARRAY_SHAPE="1,6,8")
        is_new = int(gdal.VersionInfo()) >= 3100000
        keep = {"@QUIET_DELETE_ON_CREATE_COPY" if is_new else "QUIET_DELETE_ON_CREATE_COPY": "NO"}
        self.fails(raster(values() + 1), SUBARRAY_SHAPE="7,7", **keep)
        numpy.testing.assert_array_equal(gdal.Open(path).ReadAsArray(), values())
        self.copy(raster(values() + 1), **keep)
        numpy.testing.assert_array_equal(gdal.Open(path).ReadAsArray(), values() + 1)

    def test_full_disks_are_told_of_and_leave_what_was_there(self):
        full = self.path("full")
        os.mkdir(full)
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", full], capture_output=True, check=False)
        if mounted.returncode != 0:
            self.skipTest("mounts no file system of its own")
        self.addCleanup(subprocess.run, ["umount", full], check=True)
        for name in ("m.nca", "m.nc"):
            with open(os.path.join(full, name), "w") as file:
                file.write("what was there")
        gdal.GetDriverByName("GTiff").CreateCopy(self.path("big.tif"), raster(numpy.random.rand(4, 200, 200).astype("f4")))
        for command in (["gdal_translate", "-co", "LAYOUT=CFA"], ["gdalwarp", "-overwrite", "-co", "LAYOUT=CFA"],
                        ["gdalwarp", "-overwrite", "-co", "LAYOUT=CFA", "-co", "COMPRESS=DEFLATE"],
                        ["gdalwarp", "-overwrite", "-co", "LAYOUT=NETCDF4", "-co", "COMPRESS=DEFLATE"],
                        ["gdal_translate", "-co", "LAYOUT=NETCDF4"], ["gdal_translate", "-co", "LAYOUT=NETCDF3"]):
            name = os.path.join(full, "n.nc")
            done = subprocess.run([*command, "-q", "-of", "REFS", self.path("big.tif"), name], capture_output=True, text=True,
                                  check=False)
            self.assertNotEqual(done.returncode, 0, done)
            self.assertIn("No space left on device", done.stderr)
            self.assertEqual(done.stderr.count("ERROR"), 1, done.stderr)
            self.assertEqual(sorted(os.listdir(full)), ["m.nc", "m.nca"])
        # Where a raster is kept until it is closed is full: what is left of it is not written.
        done = subprocess.run(["gdalwarp", "-q", "-of", "REFS", "-co", "LAYOUT=CFA", self.path("big.tif"), self.path("n.nc")],
                              capture_output=True, text=True, check=False, env={**os.environ, "CPL_TMPDIR": full})
        self.assertNotEqual(done.returncode, 0, done)
        self.assertEqual(done.stderr.count("n.nc: not written: its values could not be stored in"), 1, done.stderr)
        self.assertFalse(os.path.exists(self.path("n.nc")))

    def test_files_that_may_not_grow_so_large_are_told_of(self):
        gdal.GetDriverByName("GTiff").CreateCopy(self.path("big.tif"), raster(numpy.random.rand(4, 200, 200).astype("f4")))
        before = sorted(os.listdir(self.folder))

        def limit():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))

        for options in (["LAYOUT=CFA"], ["LAYOUT=CFA", "CFA_VERSION=1.13", "COMPRESS=DEFLATE"], ["LAYOUT=NETCDF3"]):
            command = ["gdal_translate", "-q", "-of", "REFS", *[part for option in options for part in ("-co", option)]]
            done = subprocess.run([*command, self.path("big.tif"), self.path("n.nc")], capture_output=True, text=True,
                                  check=False, preexec_fn=limit, restore_signals=False)
            self.assertEqual(done.returncode, 1, done)
            self.assertIn("File too large", done.stderr)
            self.assertEqual(done.stderr.count("ERROR"), 1, done.stderr)
            self.assertEqual(sorted(os.listdir(self.folder)), before)

    def test_what_is_flushed_and_goes_on_is_written_whole(self):
        for options in (["LAYOUT=CFA"], ["LAYOUT=CFA", "COMPRESS=DEFLATE"]):
            path = self.path(f"{len(options)}.nca")
            made = gdal.GetDriverByName("REFS").Create(path, 8, 6, 2, gdal.GDT_Float32, options)
            made.SetProjection("EPSG:4326")
            made.SetGeoTransform((0, 1, 0, 6, 0, -1))
            for band in (1, 2):
                made.GetRasterBand(band).WriteArray(values()[band])
                made.FlushCache()
            made.GetRasterBand(1).Fill(5)
            made = None
            got = gdal.Open(f'REFS:"{path}"').ReadAsArray()
            numpy.testing.assert_array_equal(got, [numpy.full((6, 8), 5), values()[2]])

    def test_of_options_are_said(self):
        self.fails(raster(values()), "LAYOUT=CFA", "refs index", LAYOUT=None)
        self.fails(raster(values()), "NETCDF4", LAYOUT="ZIP")
        self.fails(raster(values()), "0.4, 0.5 or 1.13", CFA_VERSION="0.6")
        self.fails(raster(values()), "ONE or SPLIT", OTHER_DIMENSIONS="MANY")

    def test_leave_what_was_there(self):
        path = self.copy(raster(values()), SUBARRAY_SHAPE="2,3,4")
        before = self.fragments()
        made = subprocess.run(
            [sys.executable, "-c", f"""
from osgeo import gdal
import cfa_write_test as t
try:
    gdal.GetDriverByName("REFS").CreateCopy({path!r}, t.raster(t.values()), options=["LAYOUT=CFA", "APPEND_SUBDATASET=YES"],
        callback=lambda done, text, user: 0)
except RuntimeError as problem:
    print(problem)
"""], cwd=HERE, text=True, capture_output=True, env={**os.environ, "PYTHONPATH": HERE})
        self.assertIn("interrupted", made.stdout, made.stderr)
        self.assertEqual(self.fragments(), before)
        self.assertEqual(sorted(os.listdir(self.folder)), ["m", "m.nca"])
        numpy.testing.assert_array_equal(gdal.Open(path).ReadAsArray(), values())

    def test_other_files_are_not_in_the_way_silently(self):
        os.mkdir(self.path("m"))
        with open(self.path("m", "mine.txt"), "w") as file:
            file.write("mine")
        self.fails(raster(values()), "the folder has files that are not fragments of this master")
        self.assertEqual(self.fragments(), ["mine.txt"])

    def test_folders_that_are_not_there_are_named(self):
        self.fails(raster(values()), "nowhere", name="nowhere/m.nca")


class Files(Case):
    def test_are_plain_netcdf(self):
        for layout, kind in (("NETCDF4", b"\x89HDF"), ("NETCDF3", b"CDF\1")):
            path = self.copy(raster(values()), layout + ".nc", LAYOUT=layout)
            with open(path, "rb") as file:
                self.assertEqual(file.read(4), kind)
            numpy.testing.assert_array_equal(gdal.Open(f"NETCDF:{path}:tas").ReadAsArray(), values())
        self.assertEqual(sorted(os.listdir(self.folder)), ["NETCDF3.nc", "NETCDF4.nc"])

    def test_are_written_into_virtual_file_systems(self):
        driver = gdal.GetDriverByName("REFS")
        driver.CreateCopy("/vsimem/cfa_write/m.nca", raster(values()), options=["LAYOUT=CFA", "SUBARRAY_SHAPE=2,6,8"])
        self.assertEqual(sorted(gdal.ReadDir("/vsimem/cfa_write/m")),
                         ["m.outline.nca", "m.tas.0.0.0.nc", "m.tas.1.0.0.nc"])
        numpy.testing.assert_array_equal(gdal.Open("/vsimem/cfa_write/m.nca").ReadAsArray(), values())
        gdal.RmdirRecursive("/vsimem/cfa_write")


class Parts(Case):
    def create(self, **options):
        options = {"LAYOUT": "CFA", "SUBARRAY_SHAPE": "1,6,8", **options}
        made = gdal.GetDriverByName("REFS").Create(self.path("m.nca"), 8, 6, 4, gdal.GDT_Float32,
                                                   options=[f"{k}={v}" for k, v in options.items()])
        described = raster(values())
        made.SetGeoTransform(described.GetGeoTransform())
        made.SetProjection(described.GetProjection())
        made.SetMetadata(described.GetMetadata())
        for i in range(4):
            made.GetRasterBand(i + 1).SetNoDataValue(FILL)
            made.GetRasterBand(i + 1).SetMetadataItem("NETCDF_VARNAME", "tas")
        return made

    def test_slices_are_written_in_any_order_and_the_master_when_it_is_closed(self):
        made = self.create()
        for i in (2, 0):
            made.GetRasterBand(i + 1).WriteArray(values()[i])
        made.GetRasterBand(4).WriteArray(values()[3, 1:2, 2:5], 2, 1)
        self.assertEqual(os.listdir(self.folder), [])
        del made
        self.assertEqual(self.fragments(), [f"m.tas.{i}.0.0.nc" for i in (0, 2, 3)])
        wanted = numpy.full((4, 6, 8), FILL, "f4")
        wanted[0], wanted[2], wanted[3, 1, 2:5] = values()[0], values()[2], values()[3, 1, 2:5]
        numpy.testing.assert_array_equal(gdal.Open(self.path("m.nca")).ReadAsArray(), wanted)
        numpy.testing.assert_allclose(gdal.Open(self.path("m.nca")).GetGeoTransform(), [-10, 2, 0, 51, 0, -1])

    def test_options_are_looked_at_before_anything_is_written(self):
        with self.assertRaises(RuntimeError):
            self.create(CFA_VERSION="0.6")
        with self.assertRaises(RuntimeError):
            gdal.GetDriverByName("REFS").Create(self.path("m.nca"), 8, 6, 4, gdal.GDT_Float32)

    def test_fragments_are_not_changed_in_place(self):
        path = self.copy(raster(values()))
        with self.assertRaises(RuntimeError) as raised:
            gdal.Open(path, gdal.GA_Update)
        self.assertIn("read-only", str(raised.exception))


@unittest.skipIf(netCDF4 is None, "needs python3-netcdf4")
class Groups(Case):
    def write_source(self):
        with netCDF4.Dataset(self.path("source.nc"), "w") as file:
            file.title = "Everything"
            for name, size in (("member", 2), ("time", 4), ("y", 3), ("x", 5), ("nv", 2)):
                file.createDimension(name, size)
            time = file.createVariable("time", "f8", ("time",))
            time.units = "days since 2000-01-01"
            time.bounds = "time_bnds"
            time[:] = [0, 1, 2, 3]
            file.createVariable("time_bnds", "f8", ("time", "nv"))[:] = [[i, i + 1] for i in range(4)]
            lat = file.createVariable("lat", "f4", ("y", "x"))
            lat.units = "degrees_north"
            lat[:] = numpy.arange(15).reshape(3, 5)
            file.createVariable("names", str, ("member",))[:] = numpy.array(["one", "two"], dtype=object)
            tas = file.createVariable("tas", "i2", ("member", "time", "y", "x"), fill_value=-1)
            tas.coordinates = "lat names"
            tas.scale_factor = 0.5
            tas.set_auto_maskandscale(False)
            tas[:] = numpy.arange(120).reshape(2, 4, 3, 5)
            inside = file.createGroup("model").createVariable("pr", "f4", ("time", "y", "x"))
            inside[:] = numpy.arange(60).reshape(4, 3, 5)
        return self.path("source.nc")

    def translate(self, **options):
        pairs = [f"{key}={value}" for key, value in options.items()]
        source = gdal.OpenEx(f'REFS:"{self.write_source()}"', gdal.OF_MULTIDIM_RASTER)
        gdal.MultiDimTranslate(self.path("m.nca"), source, format="REFS", creationOptions=["LAYOUT=CFA", *pairs])
        return gdal.OpenEx(self.path("m.nca"), gdal.OF_MULTIDIM_RASTER).GetRootGroup()

    def test_variables_groups_and_attributes_are_in_one_master(self):
        for version in VERSIONS:
            root = self.translate(CFA_VERSION=version)
            # In CF-1.13 fragments are unpacked before they are aggregated.
            scale = None if version == "1.13" else 0.5
            packed = numpy.arange(120).reshape(2, 4, 3, 5)
            numpy.testing.assert_array_equal(root.OpenMDArray("tas").ReadAsArray(), packed if scale else packed * 0.5)
            self.assertEqual(root.OpenMDArray("tas").GetScale(), scale)
            inside = root.OpenMDArrayFromFullname("/model/pr")
            numpy.testing.assert_array_equal(inside.ReadAsArray(), numpy.arange(60).reshape(4, 3, 5))
            self.assertEqual(root.GetAttribute("title").ReadAsString(), "Everything")
            self.assertEqual(self.fragments(), ["m.model.pr.0.0.0.nc", "m.tas.0.0.0.0.nc", "m.tas.1.0.0.0.nc"])

    def test_fragments_have_the_bounds_and_coordinates_of_their_part(self):
        self.translate(SUBARRAY_SHAPE="member=1,time=3,x=2")
        with netCDF4.Dataset(self.path("m", "m.tas.1.1.0.2.nc")) as file:
            file.set_auto_maskandscale(False)
            self.assertEqual(file["time_bnds"][:].tolist(), [[3, 4]])
            self.assertEqual(file["lat"][:].tolist(), [[4], [9], [14]])
            self.assertEqual(file["names"][:].tolist(), ["two"])
            self.assertEqual(file["tas"][:].ravel().tolist(), [109, 114, 119])
            self.assertEqual(file.title, "Everything")
        with netCDF4.Dataset(self.path("m", "m.model.pr.1.0.0.nc")) as file:
            self.assertEqual(file["model/pr"].shape, (1, 3, 2))

    def test_other_dimensions_are_split_as_needed_where_that_is_asked_for(self):
        self.translate(OTHER_DIMENSIONS="SPLIT")
        self.assertIn("m.tas.0.0.0.0.nc", self.fragments())
        self.assertNotIn("m.tas.1.0.0.0.nc", self.fragments())

    def test_numbers_of_attributes_stay_what_they_are(self):
        numbers = {"nan": numpy.float64("nan"), "infinite": numpy.array([numpy.inf, -numpy.inf]), "whole": numpy.float64(5),
                   "largest": numpy.uint64(2**64 - 1), "unsigned": numpy.array([2**64 - 1, 3], "u8"),
                   "signed": numpy.array([2**53 + 1, -(2**63)], "i8"), "small": numpy.int32(-3)}
        missing = {"one": ("i2", numpy.int16(7)), "more": ("i2", numpy.array([7, 8], "i2")), "real": ("f4", numpy.float32(7)),
                   "nothing": ("f8", numpy.float64("nan"))}
        with netCDF4.Dataset(self.path("source.nc"), "w") as file:
            file.createDimension("x", 4)
            file.setncatts(numbers)
            for name, (kind, value) in missing.items():
                file.createVariable(name, kind, ("x",), fill_value=-5).missing_value = value
                file[name].set_auto_mask(False)
                file[name][:] = [1, 7, 8, -5]
        for pairs in (["LAYOUT=NETCDF4"], ["LAYOUT=CFA"], ["LAYOUT=CFA", "CFA_VERSION=0.4"], ["LAYOUT=CFA", "CFA_VERSION=1.13"]):
            with self.subTest(options=pairs):
                gdal.MultiDimTranslate(self.path("m.nca"), f'REFS:"{self.path("source.nc")}"', format="REFS", creationOptions=pairs)
                with netCDF4.Dataset(self.path("m.nca")) as file:
                    for name, value in numbers.items():
                        found = file.getncattr(name)
                        numpy.testing.assert_array_equal(found, value, name)
                        self.assertEqual(numpy.asarray(found).dtype, numpy.asarray(value).dtype, name)
                    for name, (kind, value) in missing.items():
                        numpy.testing.assert_array_equal(file[name].missing_value, value)
                        self.assertEqual(numpy.asarray(file[name].missing_value).dtype, numpy.dtype(kind))
                        self.assertEqual(file[name]._FillValue, -5)

    def test_only_names_of_masters_have_an_end(self):
        with netCDF4.Dataset(self.path("one.nc"), "w") as file:
            file.createDimension("x", 4)
            file.createVariable("v", "f4", ("x",))[:] = range(4)
        for pairs in (["LAYOUT=NETCDF4"], ["LAYOUT=NETCDF3"]):
            with self.subTest(options=pairs):
                gdal.MultiDimTranslate(self.path("copy"), f'REFS:"{self.path("one.nc")}"', format="REFS", creationOptions=pairs)
                with netCDF4.Dataset(self.path("copy")) as file:
                    self.assertEqual(file["v"][:].tolist(), [0, 1, 2, 3])
        with self.assertRaisesRegex(RuntimeError, "cannot be a master with fragments"):
            gdal.MultiDimTranslate(self.path("m"), f'REFS:"{self.path("one.nc")}"', format="REFS", creationOptions=["LAYOUT=CFA"])

    def test_variables_without_elements_are_kept(self):
        with netCDF4.Dataset(self.path("empty.nc"), "w") as file:
            for dim, n in (("time", None), ("station", None), ("x", 4)):
                file.createDimension(dim, n)
            for name, kind, dims in (("t", "f4", ("time", "x")), ("s", "f4", ("x", "station")), ("names", str, ("station",))):
                file.createVariable(name, kind, dims).comment = name
            file.createVariable("full", "f4", ("x",))[:] = range(4)
        options = [["LAYOUT=NETCDF4"], *([f"LAYOUT=CFA", "CFA_VERSION=" + version] for version in VERSIONS)]
        for pairs in options:
            with self.subTest(options=pairs):
                gdal.MultiDimTranslate(self.path("m.nca"), f'REFS:"{self.path("empty.nc")}"', format="REFS", creationOptions=pairs)
                with netCDF4.Dataset(self.path("m.nca")) as file:
                    self.assertEqual((file["t"].shape, file["s"].shape, file["names"].shape), ((0, 4), (4, 0), (0,)))
                    self.assertEqual(file["s"].comment, "s")
                self.assertEqual(gdal.OpenEx(f'REFS:"{self.path("m.nca")}"', gdal.OF_MULTIDIM_RASTER).GetRootGroup()
                                 .OpenMDArray("full").ReadAsArray().tolist(), [0, 1, 2, 3])

    def test_dimensions_may_be_unlimited(self):
        self.translate(UNLIMITED="time")
        with netCDF4.Dataset(self.path("m.nca")) as file:
            self.assertTrue(file.dimensions["time"].isunlimited())
            self.assertEqual(len(file.dimensions["time"]), 4)


if __name__ == "__main__":
    unittest.main()
