"""Where a pixel comes from (domain LocationInfo), and which parts of a band are there at all
(GetDataCoverageStatus), of sets and of aggregations.
"""

import base64
import json
import os
import sys
import tempfile

import numpy as np
from osgeo import gdal

gdal.UseExceptions()
DATA, EMPTY = gdal.GDAL_DATA_COVERAGE_STATUS_DATA, gdal.GDAL_DATA_COVERAGE_STATUS_EMPTY


def array(refs, name, values, dims, chunks=None, **attributes):
    """Adds an array; without chunks of its own it is one, in the set itself."""
    meta = {"zarr_format": 2, "shape": values.shape, "chunks": chunks or values.shape,
            "dtype": values.dtype.str, "compressor": None, "filters": None, "order": "C",
            "fill_value": -1 if chunks else None}
    refs[name + "/.zarray"] = json.dumps(meta)
    refs[name + "/.zattrs"] = json.dumps({"_ARRAY_DIMENSIONS": dims, **attributes})
    if not chunks:
        key = name + "/" + (".".join("0" * values.ndim) or "0")
        refs[key] = "base64:" + base64.b64encode(values.tobytes()).decode()


def write_set(folder):
    """An array of three chunks side by side: a range, a whole file, none; and an aggregation of it,
    with a hole beside it."""
    refs = {".zgroup": '{"zarr_format": 2}'}
    array(refs, "part/v", np.zeros((2, 6), "<i2"), ["y", "x"], [2, 2])
    refs["part/v/0.0"] = ["data.bin", 4, 8]
    refs["part/v/0.1"] = ["whole.bin"]
    array(refs, "m", np.array([[2, -1], [6, 3]], "<i4"), ["j", "i"])
    array(refs, "u", np.array([["", ""]], "S8"), ["f", "g"])
    array(refs, "n", np.array([["/part/v", ""]], "S8"), ["f", "g"])
    array(refs, "a", np.array(0, "<i2"), [], aggregated_dimensions="y x", _FillValue=-1,
          aggregated_data="map: m uris: u identifiers: n")
    for name, values in (("data.bin", np.arange(8)), ("whole.bin", np.arange(4))):
        values.astype("<i2").tofile(os.path.join(folder, name))
    path = os.path.join(folder, "set.json")
    with open(path, "w", encoding="ascii") as out:
        json.dump({"version": 1, "refs": refs}, out)
    return path


def location(dataset, x, y):
    return dataset.GetRasterBand(1).GetMetadataItem("Pixel_%d_%d" % (x, y), "LocationInfo")


def expect(found, wanted):
    assert found == wanted, "%s instead of %s" % (found, wanted)


def main():
    with tempfile.TemporaryDirectory() as folder:
        path = write_set(folder)
        plain = gdal.Open('REFS:"%s":/part/v' % path)
        of_range = ("<File>%s/data.bin</File><Variable>/part/v</Variable><Offset>4</Offset>"
                    "<Length>8</Length>" % folder)
        expect(location(plain, 1, 1), "<LocationInfo>" + of_range + "</LocationInfo>")
        expect(location(plain, 2, 0), "<LocationInfo><File>%s/whole.bin</File><Variable>/part/v"
               "</Variable></LocationInfo>" % folder)
        expect(location(plain, 5, 0), "<LocationInfo><Variable>/part/v</Variable><Absent/>"
               "</LocationInfo>")
        expect(location(plain, 6, 0), None)
        band = plain.GetRasterBand(1)
        expect(band.GetDataCoverageStatus(0, 0, 4, 2), [DATA, 100.0])
        expect(band.GetDataCoverageStatus(4, 0, 2, 2), [EMPTY, 0.0])
        expect(band.GetDataCoverageStatus(2, 0, 4, 1), [DATA | EMPTY, 50.0])

        joined = gdal.Open('REFS:"%s":/a' % path)
        expect(joined.RasterXSize, 9)
        expect(location(joined, 1, 1),
               "<LocationInfo><Partition>0,0</Partition>" + of_range + "</LocationInfo>")
        expect(location(joined, 8, 0), "<LocationInfo><Partition>0,1</Partition><Variable>/a"
               "</Variable><Absent/></LocationInfo>")
        band = joined.GetRasterBand(1)
        expect(band.GetDataCoverageStatus(0, 0, 6, 2), [DATA, 100.0])
        expect(band.GetDataCoverageStatus(6, 0, 3, 1), [EMPTY, 0.0])
        expect(band.GetDataCoverageStatus(5, 0, 2, 2), [DATA | EMPTY, 50.0])


main()
sys.exit(0)
