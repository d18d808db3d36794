"""TIFF files as sets against GDAL's GeoTIFF driver on the same files: values of all levels,
geotransform, CRS, nodata, scale, offset and unit, for files that GDAL writes with its creation
options, and for those of the folder shared/ beside the repository, where that is. REFS_SHARED_DATA
names another folder of data.
"""

import glob
import itertools
import os
import sys
import tempfile

import numpy as np
from osgeo import gdal, osr

from compared_files import compare

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
DATA = os.environ.get("REFS_SHARED_DATA", os.path.join(ROOT, "../shared/data"))

gdal.UseExceptions()
gdal.SetConfigOption("GDAL_PAM_ENABLED", "NO")
gdal.SetConfigOption("GDAL_TIFF_INTERNAL_MASK", "YES")
gdal.PushErrorHandler("CPLQuietErrorHandler")

WIDTH, HEIGHT = 143, 97
TYPES = (gdal.GDT_Byte, gdal.GDT_UInt16, gdal.GDT_Int16, gdal.GDT_UInt32, gdal.GDT_Int32,
         gdal.GDT_Float32, gdal.GDT_Float64, gdal.GDT_CFloat32, gdal.GDT_CFloat64)
LAYOUTS = (("BLOCKYSIZE=16",), ("TILED=YES", "BLOCKXSIZE=32", "BLOCKYSIZE=48"))
#: The first option of each is one that a build of GDAL may lack.
COMPRESSIONS = (("NONE",), ("LZW",), ("PACKBITS",), ("DEFLATE",), ("ZSTD",), ("LZMA",), ("LERC", "MAX_Z_ERROR=0"),
                ("LERC_DEFLATE",), ("LERC_ZSTD",))
UTM = osr.SpatialReference()
UTM.ImportFromEPSG(32633)


def options_of_gdal():
    return gdal.GetDriverByName("GTiff").GetMetadataItem("DMD_CREATIONOPTIONLIST")


def picture(n_bands, gdal_type):
    """Bands that compress, but are not the same everywhere."""
    y, x = np.mgrid[0:HEIGHT, 0:WIDTH]
    bands = [((x * 3 + y * (band + 1)) % 251 + band).astype("f8") for band in range(n_bands)]
    return [band - 1j * band[::-1] for band in bands] if gdal.DataTypeIsComplex(gdal_type) else bands


def write(path, n_bands=1, gdal_type=gdal.GDT_Byte, options=(), change=None, driver="GTiff"):
    memory = gdal.GetDriverByName("MEM").Create("", WIDTH, HEIGHT, n_bands, gdal_type)
    memory.SetGeoTransform((500000, 30, 0, 5000000, 0, -20))
    memory.SetProjection(UTM.ExportToWkt())
    for number, values in enumerate(picture(n_bands, gdal_type), 1):
        memory.GetRasterBand(number).WriteArray(values)
    if change:
        change(memory)
    gdal.GetDriverByName(driver).CreateCopy(path, memory, options=list(options))


def every_type(folder):
    for (i, layout), gdal_type, n_bands in itertools.product(enumerate(LAYOUTS), TYPES, (1, 3)):
        name = f"type_{gdal.GetDataTypeName(gdal_type)}_{i}_{n_bands}.tif"
        write(os.path.join(folder, name), n_bands, gdal_type, layout)


def every_compression(folder):
    known = options_of_gdal()
    for compression, (i, layout), gdal_type in itertools.product(
            COMPRESSIONS, enumerate(LAYOUTS), (gdal.GDT_Byte, gdal.GDT_Int16, gdal.GDT_Float32)):
        if f"<Value>{compression[0]}</Value>" not in known:
            continue
        options = (f"COMPRESS={compression[0]}", *compression[1:], *layout)
        name = f"{compression[0]}_{i}_{gdal.GetDataTypeName(gdal_type)}.tif"
        write(os.path.join(folder, name), 2, gdal_type, options)


def every_predictor(folder):
    for predictor, gdal_type, interleave, endianness in itertools.product(
            (2, 3), TYPES[:8], ("PIXEL", "BAND"), ("LITTLE", "BIG")):
        if (predictor == 3) != (gdal_type in (gdal.GDT_Float32, gdal.GDT_Float64)):
            continue
        options = ("COMPRESS=DEFLATE", f"PREDICTOR={predictor}", f"INTERLEAVE={interleave}",
                   f"ENDIANNESS={endianness}", "TILED=YES", "BLOCKXSIZE=64", "BLOCKYSIZE=32")
        name = f"predictor_{predictor}_{gdal.GetDataTypeName(gdal_type)}_{interleave}_{endianness}.tif"
        write(os.path.join(folder, name), 3, gdal_type, options)


def pictures(folder):
    known = options_of_gdal()
    jpeg = ("COMPRESS=JPEG", "JPEG_QUALITY=90")
    tiles = ("TILED=YES", "BLOCKXSIZE=32", "BLOCKYSIZE=48")
    for name, n_bands, options in (
            ("grey", 1, jpeg), ("grey_tiles", 1, jpeg + tiles), ("rgb", 3, jpeg), ("ycbcr", 3, jpeg + ("PHOTOMETRIC=YCBCR",)),
            ("ycbcr_tiles", 3, jpeg + tiles + ("PHOTOMETRIC=YCBCR",)), ("bands", 3, jpeg + ("INTERLEAVE=BAND",)),
            ("no_tables", 3, jpeg + ("JPEGTABLESMODE=0",)), ("minisblack", 3, jpeg + ("PHOTOMETRIC=MINISBLACK",)),
            ("four", 4, jpeg + ("PHOTOMETRIC=MINISBLACK",)), ("two", 2, jpeg)):
        write(os.path.join(folder, f"jpeg_{name}.tif"), n_bands, gdal.GDT_Byte, options)
    for name, n_bands in (("rgb", 3), ("rgba", 4)):
        if "<Value>WEBP</Value>" in known:
            write(os.path.join(folder, f"webp_{name}.tif"), n_bands, gdal.GDT_Byte, ("COMPRESS=WEBP", "WEBP_LOSSLESS=YES") + tiles)


def few_bits(folder):
    for bits, options, n_bands in itertools.product((1, 2, 4, 7, 12, 15, 20), ((), ("COMPRESS=DEFLATE",), ("TILED=YES", "BLOCKXSIZE=16", "BLOCKYSIZE=16")), (1, 3)):
        def change(memory):
            for number in range(1, n_bands + 1):
                band = memory.GetRasterBand(number)
                band.WriteArray(band.ReadAsArray() % (1 << bits))
        gdal_type = gdal.GDT_Byte if bits <= 8 else gdal.GDT_UInt16 if bits <= 16 else gdal.GDT_UInt32
        name = f"bits_{bits}_{'_'.join(options)}_{n_bands}.tif".replace("=", "")
        write(os.path.join(folder, name), n_bands, gdal_type, (f"NBITS={bits}",) + options, change)
    write(os.path.join(folder, "half.tif"), 1, gdal.GDT_Float32, ("NBITS=16",))


def layouts(folder):
    write(os.path.join(folder, "bigtiff.tif"), 2, gdal.GDT_Int16, ("BIGTIFF=YES",))
    write(os.path.join(folder, "bigtiff_big_endian.tif"), 2, gdal.GDT_Int16, ("BIGTIFF=YES", "ENDIANNESS=BIG", "INTERLEAVE=BAND"))
    write(os.path.join(folder, "one_strip.tif"), 1, gdal.GDT_Float32, (f"BLOCKYSIZE={HEIGHT}",))
    for name, gdal_type, n, options in (("palette", gdal.GDT_Byte, 256, ()), ("palette_4", gdal.GDT_Byte, 16, ("NBITS=4",)),
                                        ("palette_16", gdal.GDT_UInt16, 65536, ("ENDIANNESS=BIG",))):
        def paint(memory):
            table, band = gdal.ColorTable(), memory.GetRasterBand(1)
            for i in range(n):
                table.SetColorEntry(i, (i % 256, 255 - i % 256, i * 7 % 256, 255))
            values = band.ReadAsArray()
            band.WriteArray((values.astype(np.int64) % n).astype(values.dtype))
            band.SetColorTable(table)
            band.SetNoDataValue(3)
        write(os.path.join(folder, f"{name}.tif"), 1, gdal_type, options, paint)
    write(os.path.join(folder, "miniswhite.tif"), 1, gdal.GDT_Byte, ("PHOTOMETRIC=MINISWHITE",))
    sparse = gdal.GetDriverByName("GTiff").Create(os.path.join(folder, "sparse.tif"), 100, 100, 1, gdal.GDT_Int16,
                                                  ["SPARSE_OK=YES", "TILED=YES", "BLOCKXSIZE=32", "BLOCKYSIZE=32"])
    sparse.GetRasterBand(1).SetNoDataValue(-5)
    sparse.GetRasterBand(1).WriteArray(np.ones((30, 30)), 40, 40)
    large = gdal.GetDriverByName("GTiff").Create(os.path.join(folder, "large_strip.tif"), 3000, 3001, 2, gdal.GDT_Byte,
                                                 ["BLOCKYSIZE=3001", "INTERLEAVE=BAND"])
    for number in (1, 2):
        large.GetRasterBand(number).WriteArray((np.arange(3000 * 3001) * number % 255).reshape(3001, 3000).astype("u1"))
    big_rows = gdal.GetDriverByName("GTiff").Create(os.path.join(folder, "large_strips.tif"), 3000, 5001, 2, gdal.GDT_Int16,
                                                    ["BLOCKYSIZE=2000"])
    big_rows.GetRasterBand(2).WriteArray((np.arange(3000 * 5001) % 32000).reshape(5001, 3000).astype("i2"))


def metadata(folder):
    def nodata(value):
        return lambda memory: [memory.GetRasterBand(i + 1).SetNoDataValue(value) for i in range(memory.RasterCount)]

    for name, gdal_type, value in (("zero", gdal.GDT_Byte, 0), ("byte", gdal.GDT_Byte, 255), ("int16", gdal.GDT_Int16, -32768),
                                   ("nan", gdal.GDT_Float32, np.nan), ("lowest", gdal.GDT_Float32, -3.4028234663852886e38),
                                   ("double", gdal.GDT_Float64, 1e-300), ("uint32", gdal.GDT_UInt32, 4294967295)):
        write(os.path.join(folder, f"nodata_{name}.tif"), 1, gdal_type, (), nodata(value))

    def with_nan(memory):
        memory.GetRasterBand(1).SetNoDataValue(0)
        memory.GetRasterBand(1).WriteArray(np.full((3, 5), np.nan), 7, 9)

    write(os.path.join(folder, "nan_beside_nodata.tif"), 1, gdal.GDT_Float32, (), with_nan)

    def packing(memory):
        for number in (1, 2):
            band = memory.GetRasterBand(number)
            band.SetScale(0.01)
            band.SetOffset(-5.5)
            band.SetUnitType("m < 5 & more")
        memory.SetMetadataItem("KEY", "a \"text\" of <XML> & more")

    write(os.path.join(folder, "packing.tif"), 2, gdal.GDT_Int16, (), packing)

    def each(memory):
        for number in range(1, memory.RasterCount + 1):
            band = memory.GetRasterBand(number)
            band.SetDescription(f"band \"{number}\"")
            if number > 1:
                band.SetScale(0.01 * number)
                band.SetOffset(-5.5 * number)
                band.SetUnitType("m" * number)

    for n_bands, interleave in ((1, "PIXEL"), (3, "PIXEL"), (3, "BAND")):
        write(os.path.join(folder, f"each_{n_bands}_{interleave}.tif"), n_bands, gdal.GDT_Int16,
              (f"INTERLEAVE={interleave}",), each)

    def rotated(memory):
        memory.SetGeoTransform((100, 2, 0.5, 200, 0.25, -3))

    write(os.path.join(folder, "rotated.tif"), 1, gdal.GDT_Byte, (), rotated)

    def point(memory):
        memory.SetMetadataItem("AREA_OR_POINT", "Point")

    write(os.path.join(folder, "point.tif"), 1, gdal.GDT_Byte, (), point)

    def nowhere(memory):
        memory.SetGeoTransform((0, 1, 0, 0, 0, 1))
        memory.SetProjection("")

    write(os.path.join(folder, "nowhere.tif"), 1, gdal.GDT_Byte, (), nowhere)
    for name, definition in (("albers", "+proj=aea +lat_1=29.5 +lat_2=45.5 +lat_0=23 +lon_0=-96 +datum=NAD83 +units=m"),
                             ("lambert", "+proj=lcc +lat_1=25 +lat_2=60 +lat_0=42.5 +lon_0=-100 +ellps=sphere +units=m"),
                             ("polar", "EPSG:3413"), ("british", "EPSG:27700"), ("mercator", "EPSG:3857"), ("sinusoidal", "+proj=sinu +R=6371007.181"),
                             ("heights", "EPSG:4326+5773")):
        def place(memory):
            crs = osr.SpatialReference()
            crs.SetFromUserInput(definition)
            memory.SetProjection(crs.ExportToWkt())
        write(os.path.join(folder, f"crs_{name}.tif"), 1, gdal.GDT_Byte, (), place)


def levels(folder):
    for name, options, resampling in (("plain", (), "NEAREST"), ("tiles", ("TILED=YES", "COMPRESS=DEFLATE"), "AVERAGE"),
                                      ("bands", ("INTERLEAVE=BAND",), "NEAREST")):
        path = os.path.join(folder, f"overviews_{name}.tif")
        write(path, 3, gdal.GDT_Int16, options)
        dataset = gdal.Open(path, gdal.GA_Update)
        dataset.BuildOverviews(resampling, [2, 4, 8])

    def masked(memory):
        memory.CreateMaskBand(gdal.GMF_PER_DATASET)
        mask = np.full((HEIGHT, WIDTH), 255, "u1")
        mask[:20, :30] = 0
        memory.GetRasterBand(1).GetMaskBand().WriteArray(mask)

    write(os.path.join(folder, "masked.tif"), 3, gdal.GDT_Byte, ("COMPRESS=DEFLATE",), masked)
    for name, options in (("deflate", ("COMPRESS=DEFLATE", "PREDICTOR=YES")), ("lzw", ("COMPRESS=LZW", "OVERVIEWS=IGNORE_EXISTING")),
                          ("jpeg", ("COMPRESS=JPEG",)), ("none", ())):
        write(os.path.join(folder, f"cog_{name}.tif"), 3, gdal.GDT_Byte, ("BLOCKSIZE=32", *options), None, "COG")
    path = os.path.join(folder, "masked_levels.tif")
    write(path, 2, gdal.GDT_Int16, ("TILED=YES", "BLOCKXSIZE=32", "BLOCKYSIZE=32"), masked)
    gdal.Open(path, gdal.GA_Update).BuildOverviews("NEAREST", [2, 4])
    write(os.path.join(folder, "alpha.tif"), 4, gdal.GDT_Byte, ("PHOTOMETRIC=RGB", "ALPHA=YES"))
    write(os.path.join(folder, "cog_masked.tif"), 3, gdal.GDT_Byte, ("BLOCKSIZE=32", "COMPRESS=JPEG"), masked, "COG")


WRITERS = (every_type, every_compression, every_predictor, pictures, few_bits, layouts, metadata, levels)


# -- comparing -------------------------------------------------------------------------------------


def is_same(a, b):
    return a == b or (a is not None and b is not None and bool(np.isnan(a)) and bool(np.isnan(b)))


def is_same_crs(ours, theirs):
    return ours is None if theirs is None else ours is not None and bool(ours.IsSame(theirs))


def colors_of(band):
    table = band.GetColorTable()
    return None if table is None else [table.GetColorEntry(i) for i in range(table.GetCount())]


def color_problems(ours, theirs):
    a, b = [gdal.GetColorInterpretationName(band.GetColorInterpretation()) for band in (ours, theirs)]
    if a != b:
        yield f"colour {a} is not {b}"
    # GDAL's driver has a ramp for images where white is zero, too, and does not call it a palette.
    if b == "Palette" and colors_of(ours) != colors_of(theirs):
        yield "its palette differs"


def band_problems(ours, theirs):
    yield from color_problems(ours, theirs)
    if ours.DataType != theirs.DataType:
        yield f"type {gdal.GetDataTypeName(ours.DataType)} is not {gdal.GetDataTypeName(theirs.DataType)}"
    if not is_same(ours.GetNoDataValue(), theirs.GetNoDataValue()):
        yield f"nodata {ours.GetNoDataValue()} is not {theirs.GetNoDataValue()}"
    for get, default in (("GetScale", 1), ("GetOffset", 0)):
        a, b = getattr(ours, get)(), getattr(theirs, get)()
        if (default if a is None else a) != (default if b is None else b):
            yield f"{get} {a} is not {b}"
    # GDAL has the unit of a vertical reference system, too.
    if ours.GetUnitType() != theirs.GetUnitType() and theirs.GetUnitType() != "metre":
        yield f"unit {ours.GetUnitType()!r} is not {theirs.GetUnitType()!r}"
    if theirs.GetDescription() and ours.GetDescription() != theirs.GetDescription():
        yield f"description {ours.GetDescription()!r} is not {theirs.GetDescription()!r}"
    if ours.GetOverviewCount() != theirs.GetOverviewCount():
        yield f"{ours.GetOverviewCount()} overviews are not {theirs.GetOverviewCount()}"
    levels = [(ours, theirs)] + [(ours.GetOverview(i), theirs.GetOverview(i))
                                 for i in range(min(ours.GetOverviewCount(), theirs.GetOverviewCount()))]
    for level, (a, b) in enumerate(levels):
        values, expected = a.ReadAsArray(), b.ReadAsArray()
        if not np.array_equal(values, expected, equal_nan=expected.dtype.kind in "fc"):
            yield f"{np.sum(values != expected)} pixels of level {level} differ"


def mask_problems(ours, theirs):
    if ours.GetMaskFlags() != theirs.GetMaskFlags():
        yield f"mask flags {ours.GetMaskFlags()} are not {theirs.GetMaskFlags()}"
        return
    a, b = ours.GetMaskBand(), theirs.GetMaskBand()
    if theirs.GetMaskFlags() == gdal.GMF_PER_DATASET and a.GetOverviewCount() != b.GetOverviewCount():
        yield f"{a.GetOverviewCount()} overviews of the mask are not {b.GetOverviewCount()}"
        return
    levels = [(a, b)] + [(a.GetOverview(i), b.GetOverview(i)) for i in range(b.GetOverviewCount())]
    for level, (a, b) in enumerate(levels):
        if not np.array_equal(a.ReadAsArray(), b.ReadAsArray()):
            yield f"level {level} of the mask differs"


def subdataset_problems(path, refs):
    """Reduced images and masks are no subdatasets."""
    listed = [name for name, _ in refs.GetSubDatasets()]
    if listed != [f'REFS:"{path}":/0']:
        yield f"subdatasets are {listed}"


def problems(path):
    """What differs between a file and the set that it is."""
    refs, tiff = gdal.Open(f'REFS:"{path}"'), gdal.Open(path)
    if refs.GetGeoTransform(can_return_null=True) != tiff.GetGeoTransform(can_return_null=True):
        yield f"geotransform {refs.GetGeoTransform()} is not {tiff.GetGeoTransform()}"
    if not is_same_crs(refs.GetSpatialRef(), tiff.GetSpatialRef()):
        yield f"CRS {refs.GetSpatialRef()} is not {tiff.GetSpatialRef()}"
    if refs.GetMetadataItem("AREA_OR_POINT") != tiff.GetMetadataItem("AREA_OR_POINT"):
        yield f"AREA_OR_POINT is {refs.GetMetadataItem('AREA_OR_POINT')}"
    ours = (refs.RasterXSize, refs.RasterYSize, refs.RasterCount)
    theirs = (tiff.RasterXSize, tiff.RasterYSize, tiff.RasterCount)
    if ours != theirs:
        yield f"size {ours} is not {theirs}"
        return
    for number in range(1, tiff.RasterCount + 1):
        for problem in band_problems(refs.GetRasterBand(number), tiff.GetRasterBand(number)):
            yield f"band {number}: {problem}"
        for problem in mask_problems(refs.GetRasterBand(number), tiff.GetRasterBand(number)):
            yield f"band {number}: {problem}"
    yield from subdataset_problems(path, refs)


def main():
    with tempfile.TemporaryDirectory() as folder:
        for writer in WRITERS:
            writer(folder)
        paths = sorted(glob.glob(os.path.join(folder, "*.tif"))) + sorted(glob.glob(os.path.join(DATA, "tiff/*.tif")))
        return compare(paths, problems, "TIFF files are as sets what they are to GDAL")


sys.exit(main())
