"""gdalmdiminfo of a reference set says what it says of the netCDF file that it was made from.

Compares the sample, and every netCDF file in shared/data beside the repository where that is there
(REFS_SHARED_DATA names another folder of data): what gdalmdiminfo says, and what steps, views and
texts read. Differences must be among those that docs/multidim.md lists; each is one function below.
"""

import itertools
import json
import math
import os
import subprocess
import tempfile
import unittest
from glob import glob

import numpy as np
from osgeo import gdal, osr

gdal.UseExceptions()
osr.UseExceptions()

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
SAMPLE = os.path.join(ROOT, "data/sample")
DATA = os.environ.get("REFS_SHARED_DATA", os.path.join(ROOT, "../shared/data"))
ABSENT = "(absent)"


def info(name):
    """What gdalmdiminfo says, with named things by their names: their order is no matter."""
    said = subprocess.run(["gdalmdiminfo", name], check=True, stdout=subprocess.PIPE)
    document = json.loads(said.stdout)
    del document["driver"]
    return by_name(document)


def by_name(value):
    if isinstance(value, dict):
        return {key: by_name(member) for key, member in value.items()}
    if isinstance(value, list) and value and all(isinstance(v, dict) for v in value):
        return {element["name"]: by_name(element) for element in value}
    return value


def differences(ours, theirs, path=""):
    """(path, ours, theirs) of all that differs, as deep in the documents as can be."""
    if not isinstance(ours, dict) or not isinstance(theirs, dict):
        return [] if ours == theirs else [(path, ours, theirs)]
    return [difference for key in {**theirs, **ours}
            for difference in differences(ours.get(key, ABSENT), theirs.get(key, ABSENT),
                                          f"{path}/{key}")]


def last(path):
    return path.rsplit("/", 1)[1]


# -- the differences that docs/multidim.md lists, in its order ------------------------------------


def is_format(path, ours, theirs):
    return path == "/structural_info" and ours == ABSENT and "NC_FORMAT" in theirs


def is_one_chunk(path, ours, theirs):
    return last(path) == "block_size" and theirs == ABSENT


def is_inlined(path, ours, theirs):
    return last(path) == "structural_info" and theirs == ABSENT and ours == {"COMPRESS": "BLOSC"}


def is_text_of_number(path, ours, theirs):
    if "/attributes/" not in path or not isinstance(ours, str) or isinstance(theirs, str):
        return last(path) in ("scale", "offset") and math.isclose(ours, theirs, rel_tol=1e-7)
    return math.isclose(float(ours), theirs, rel_tol=1e-6)


def is_indexed_by_coordinates(path, ours, theirs):
    return "/dimensions/" in path and ours == ABSENT and \
        last(path) in ("type", "direction", "indexing_variable")


def is_described_elsewhere(path, ours, theirs):
    return last(path) == "indexing_variable" and isinstance(theirs, dict) and \
        ours.startswith("/") and [last(ours)] == list(theirs)


def is_named_like_an_axis(path, ours, theirs):
    return "/dimensions/" in path and last(path) == "type" and theirs in ("VERTICAL", ABSENT) and \
        last(path[:-len("/type")]).lower() in ("x", "y", "lon", "lat")


def is_never_written(path, ours, theirs):
    return last(path) in ("dimension_size", "dimensions") and \
        (ours == [0] or (isinstance(ours, dict) and all(d["size"] == 0 for d in ours.values())))


def is_same_place(path, ours, theirs):
    """The same system in other words, or one in the units of its axes and one in metres."""
    if last(path) != "wkt":
        return False
    places = []
    for wkt in (ours, theirs):
        system = osr.SpatialReference(wkt)
        system.SetAxisMappingStrategy(osr.OAMS_TRADITIONAL_GIS_ORDER)
        unit = system.GetLinearUnits() if system.IsProjected() else None
        base = system.CloneGeogCS()
        base.SetAxisMappingStrategy(osr.OAMS_TRADITIONAL_GIS_ORDER)
        transformation = osr.CoordinateTransformation(system, base)
        points = [(1e5 / unit, 2e5 / unit), (-3e5 / unit, 1e5 / unit)] if unit else [(1, 2), (-3, 4)]
        places.append([value for x, y in points
                       for value in transformation.TransformPoint(x, y)[:2]])
    return all(math.isclose(a, b, abs_tol=1e-7) for a, b in zip(*places))


def real_sets():
    """Sets made of netCDF files."""
    return sorted(glob(f"{DATA}/netcdf[34]/*.json") + glob(f"{DATA}/hdf5/*.nc.json"))


def root_of(name, *drivers):
    dataset = gdal.OpenEx(name, gdal.OF_MULTIDIM_RASTER, allowed_drivers=list(drivers))
    return dataset.GetRootGroup()


def arrays(group, path=""):
    """The full names of all arrays."""
    for name in group.GetMDArrayNames(["SHOW_ALL=YES"]) or []:
        yield f"{path}/{name}"
    for name in group.GetGroupNames() or []:
        yield from arrays(group.OpenGroup(name), f"{path}/{name}")


def shape_of(array):
    return [dimension.GetSize() for dimension in array.GetDimensions()]


KNOWN = (is_format, is_one_chunk, is_inlined, is_text_of_number,
         is_indexed_by_coordinates, is_described_elsewhere, is_named_like_an_axis, is_never_written,
         is_same_place)


class InfoTest(unittest.TestCase):
    def expect_known_differences(self, path):
        found = differences(info(f"REFS:{path}.json"), info(path))
        unknown = [d for d in found if not any(is_known(*d) for is_known in KNOWN)]
        self.assertEqual(unknown, [], os.path.basename(path))
        return found

    def test_of_the_sample_differs_in_chunks_alone(self):
        found = differences(info(f"REFS:{SAMPLE}.json"), info(f"{SAMPLE}.nc"))
        kinds = {last(path) for path, ours, theirs in found
                 if not is_described_elsewhere(path, ours, theirs)}
        self.assertEqual(kinds, {"block_size", "structural_info"}, found)

    def test_of_real_files_differs_as_documented(self):
        if not real_sets():
            self.skipTest(f"{DATA} is absent")
        for name in real_sets():
            with self.subTest(os.path.basename(name)):
                self.expect_known_differences(name[:-len(".json")])

    def test_of_every_form_of_a_set_is_the_same(self):
        if not real_sets():
            self.skipTest(f"{DATA} is absent")
        for name in real_sets():
            for folder in glob(name[:-len(".json")] + ".*parq"):
                with self.subTest(os.path.basename(folder)):
                    self.assertEqual(differences(info(f"REFS:{folder}"), info(f"REFS:{name}")), [])


class ValuesTest(unittest.TestCase):
    """Arrays of sets read what those of their files read. Those that no record was written to have a
    length of their own, and a single text is not read right by the netCDF driver."""
    MOST = 20  # elements along a dimension

    def pairs(self, driver, kind=None):
        """(what, ours, theirs) of all arrays, or of those of a class of types."""
        if not real_sets():
            self.skipTest(f"{DATA} is absent")
        for name in real_sets():
            if driver == "HDF5" and "netcdf3" in name:
                continue
            ours, theirs = root_of(f"REFS:{name}"), root_of(name[:-len(".json")], driver)
            self.assertLessEqual(set(arrays(theirs)), set(arrays(ours)), name)
            for path in arrays(theirs):
                pair = [group.OpenMDArrayFromFullname(path) for group in (ours, theirs)]
                if shape_of(pair[1]) and 0 not in shape_of(pair[0]) and \
                        kind in (None, pair[1].GetDataType().GetClass()):
                    yield os.path.relpath(name, DATA) + path, *pair

    def kind_of(self, attribute):
        """The class of the type of an attribute, and how many values it has."""
        kind = attribute.GetDataType()
        if kind.GetClass() == gdal.GEDTC_STRING:
            return "text", attribute.GetTotalElementsCount()
        name = gdal.GetDataTypeName(kind.GetNumericDataType())
        return "float" if "Float" in name else "integer", attribute.GetTotalElementsCount()

    def test_attributes_are_of_kinds_that_json_tells(self):
        """kerchunk makes texts of the numbers of netCDF-3."""
        n = 0
        for what, ours, theirs in self.pairs("netCDF"):
            for attribute in theirs.GetAttributes() or []:
                name = attribute.GetName()
                kinds = [self.kind_of(array.GetAttribute(name)) for array in (ours, theirs)]
                with self.subTest(what, attribute=name):
                    if kinds[0] != ("text", 1) or not what.startswith("netcdf3"):
                        self.assertEqual(*kinds)
                        n += 1
        self.assertGreater(n, 100)

    def test_with_steps_backwards(self):
        for what, *pair in self.pairs("netCDF", gdal.GEDTC_NUMERIC):
            shape = shape_of(pair[1])
            steps = [-2 if size > 1 else 1 for size in shape]
            counts = [min((size + 1) // 2, self.MOST) for size in shape]
            with self.subTest(what):
                np.testing.assert_array_equal(*(array.ReadAsArray(
                    [size - 1 for size in shape], counts, steps) for array in pair))

    def test_through_views(self):
        for what, *pair in self.pairs("netCDF", gdal.GEDTC_NUMERIC):
            sizes = [min(size, self.MOST) for size in shape_of(pair[1])]
            views = [",".join(":" if size == 1 else f"{size - 1}::-1" if i % 2 else f"0:{size}:2"
                              for i, size in enumerate(sizes)),
                     ",".join(["0"] * (len(sizes) - 1) + [f"0:{sizes[-1]}"])]
            for view in views:
                with self.subTest(what, view=view):
                    np.testing.assert_array_equal(*(array.GetView(f"[{view}]").ReadAsArray()
                                                    for array in pair))

    def test_of_texts(self):
        n = 0
        for what, ours, theirs in self.pairs("netCDF", gdal.GEDTC_STRING):
            with self.subTest(what):
                self.assertEqual(ours.Read(), theirs.Read())
                n += 1
        self.assertGreater(n, 0)

    def test_lie_where_the_hdf5_driver_finds_them(self):
        """Or in the set itself."""
        if not hasattr(gdal.MDArray, "GetRawBlockInfo"):
            self.skipTest("this GDAL does not tell where blocks lie")
        n = 0
        for what, ours, theirs in self.pairs("HDF5"):
            if theirs.GetBlockSize() != ours.GetBlockSize():
                continue
            blocks = [size // block for size, block in zip(shape_of(ours), ours.GetBlockSize())]
            for index in itertools.islice(itertools.product(*map(range, blocks)), 30):
                block = ours.GetRawBlockInfo(index)
                if block.GetInlineData() is None:
                    other = theirs.GetRawBlockInfo(index)
                    self.assertEqual((block.GetFilename(), block.GetOffset(), block.GetSize()),
                                     (other.GetFilename(), other.GetOffset(), other.GetSize()), what)
                    n += 1
        self.assertGreater(n, 0)


class TranslateTest(unittest.TestCase):
    def translate(self, name, *options):
        target = os.path.join(self.folder.name, name)
        subprocess.run(["gdalmdimtranslate", "-q", *options, f"REFS:{SAMPLE}.json", target],
                       check=True)
        return gdal.OpenEx(target, gdal.OF_MULTIDIM_RASTER).GetRootGroup()

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()

    def tearDown(self):
        self.folder.cleanup()

    def test_makes_a_netcdf_file_with_the_same_arrays(self):
        if gdal.GetDriverByName("netCDF") is None:
            self.skipTest("there is no netCDF driver")
        copy = self.translate("copy.nc", "-of", "netCDF")
        original = gdal.OpenEx(f"{SAMPLE}.nc", gdal.OF_MULTIDIM_RASTER).GetRootGroup()
        self.assertEqual(sorted(copy.GetMDArrayNames()), sorted(original.GetMDArrayNames()))
        for name in original.GetMDArrayNames():
            ours, theirs = copy.OpenMDArray(name), original.OpenMDArray(name)
            self.assertEqual(ours.Read(), theirs.Read(), name)
            self.assertEqual(ours.GetUnit(), theirs.GetUnit(), name)
            self.assertEqual(ours.GetNoDataValueAsRaw(), theirs.GetNoDataValueAsRaw(), name)
            self.assertEqual(ours.GetScale(), theirs.GetScale(), name)

    def test_takes_a_part_of_each_second_pixel(self):
        part = self.translate("part.vrt", "-of", "VRT", "-array", "t2m", "-subset", "lat(40,50)",
                              "-scaleaxes", "lat(2),lon(2)").OpenMDArray("t2m").ReadAsArray()
        root = gdal.OpenEx(f"REFS:{SAMPLE}.json", gdal.OF_MULTIDIM_RASTER).GetRootGroup()
        latitudes = root.OpenMDArray("lat").ReadAsArray()
        inside = (latitudes >= 40) & (latitudes <= 50)
        whole = root.OpenMDArray("t2m").ReadAsArray()
        _, rows, columns = part.shape  # gdalmdimtranslate leaves out the last odd one
        self.assertEqual((rows, columns), (inside.sum() // 2, 121 // 2))
        self.assertEqual(part.tolist(),
                         whole[:, inside][:, :2 * rows:2, :2 * columns:2].tolist())

    def test_of_a_view_is_a_band_upside_down(self):
        target = os.path.join(self.folder.name, "band.tif")
        subprocess.run(["gdalmdimtranslate", "-q", "-array", "name=t2m,view=[3,::-1,:]",
                        f"REFS:{SAMPLE}.json", target], check=True)
        bands, view = gdal.Open(f'REFS:"{SAMPLE}.json":/t2m'), gdal.Open(target)
        self.assertEqual(view.ReadAsArray()[::-1].tolist(),
                         bands.GetRasterBand(4).ReadAsArray().tolist())


class ArrayTest(unittest.TestCase):
    def test_reads_into_numpy_with_steps(self):
        root = gdal.OpenEx(f"REFS:{SAMPLE}.json", gdal.OF_MULTIDIM_RASTER).GetRootGroup()
        array = root.OpenMDArray("z")
        whole = array.ReadAsArray()
        part = array.ReadAsArray(array_start_idx=[1, 0, 80, 120], count=[1, 2, 5, 4],
                                 array_step=[1, 1, -3, -7])
        self.assertEqual(part.tolist(), whole[1:, :, 80:65:-3, 120:92:-7].tolist())

    def test_raises_what_goes_wrong(self):
        with self.assertRaisesRegex(RuntimeError, "leave out the array /t2m"):
            gdal.OpenEx(f'REFS:"{SAMPLE}.json":/t2m', gdal.OF_MULTIDIM_RASTER)


if __name__ == "__main__":
    unittest.main()
